"""Which pictures make up which batch: follows from seed and epoch alone.

Nothing is drawn from a running generator, so a resumed training sees the same pictures in the same
batches, however often it has stopped.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import count

from style_lora.schema import Size


def derive_seed(*parts: object) -> int:
    """Return a seed of 63 bits that follows from some values and from nothing else."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1


def count_epoch_batches(buckets: Sequence[Size], batch_size: int) -> int:
    """Return the batches of one pass over the data.

    Args:
        buckets: The bucket of each picture.
        batch_size: Most pictures a batch; all of one are of one bucket.
    """
    counts = [buckets.count(bucket) for bucket in set(buckets)]
    return sum(-(-pictures // batch_size) for pictures in counts)


def order_epoch(
    buckets: Sequence[Size], batch_size: int, seed: int, epoch: int
) -> list[tuple[int, ...]]:
    """Return one epoch: each batch has indices of pictures that share a bucket.

    Args:
        buckets: The bucket of each picture.
        batch_size: Most pictures a batch.
        seed: Of the training.
        epoch: From 0.

    Returns:
        Batches in their order; each picture is in one of them.
    """
    shuffling = random.Random(derive_seed(seed, "order", epoch))
    batches = []
    for bucket in sorted(set(buckets)):
        members = [index for index, own in enumerate(buckets) if own == bucket]
        shuffling.shuffle(members)
        batches += [
            tuple(members[start : start + batch_size])
            for start in range(0, len(members), batch_size)
        ]
    shuffling.shuffle(batches)
    return batches


def iter_batches(
    buckets: Sequence[Size], batch_size: int, seed: int, first_batch: int
) -> Iterator[tuple[int, ...]]:
    """Yield batches without end, from one on.

    Args:
        buckets: The bucket of each picture.
        batch_size: Most pictures a batch.
        seed: Of the training.
        first_batch: Batches that are done already.
    """
    first_epoch, skipped = divmod(first_batch, count_epoch_batches(buckets, batch_size))
    for epoch in count(first_epoch):
        yield from order_epoch(buckets, batch_size, seed, epoch)[skipped:]
        skipped = 0
