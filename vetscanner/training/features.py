"""Photos -> views -> features of the frozen network."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vetscanner.schema import SignClass
from vetscanner.training.augment import (
    Pixels,
    cut_eyes,
    mirror,
    random_view,
    to_square,
)
from vetscanner.training.backbone import PIXEL_MEAN, PIXEL_SCALE, without_gates
from vetscanner.training.drawn_negatives import iter_drawn_negatives
from vetscanner.training.labels import SIGNS, LabelledPhoto, read_pixels

if TYPE_CHECKING:
    import torch
    from transformers import EfficientNetForImageClassification

RANDOM_VIEWS = 2
# One drawn picture for every so many photos: enough to be known, too few to crowd out animals.
PHOTOS_PER_NEGATIVE = 20
# Owner of a picture that was drawn here: it belongs to no photo, so to no fold.
NO_OWNER = -1
_BATCH_SIZE = 32


@dataclass(frozen=True, slots=True)
class View:
    """One picture that the network sees.

    Attributes:
        pixels: A square of `IMAGE_SIZE_PX`.
        label: Index into `SIGNS`.
        owner: Index of the photo that it was made from, or `NO_OWNER`.
        is_random: Whether it was changed at random: for training, never for measuring.
    """

    pixels: Pixels
    label: int
    owner: int
    is_random: bool


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Features of many views.

    Attributes:
        features: float32 (views, 1280).
        labels: Indices into `SIGNS` (views,).
        owners: Index of the photo of each view (views,), or `NO_OWNER`.
        is_random: Which views are for training alone (views,).
    """

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    owners: NDArray[np.int64]
    is_random: NDArray[np.bool_]


def iter_views(photos: tuple[LabelledPhoto, ...], seed: int) -> Iterator[View]:
    """Yield the views of all photos, the healthy eyes, and the drawn negatives.

    Args:
        photos: Labelled photos.
        seed: Every photo has its own generator, so its views do not depend on the others.
    """
    for owner, photo in enumerate(photos):
        rng = np.random.default_rng((seed, owner))
        pixels = read_pixels(photo.path)
        label = SIGNS.index(photo.sign)
        whole = to_square(pixels)
        yield View(whole, label, owner, is_random=False)
        yield View(mirror(whole), label, owner, is_random=False)
        for _ in range(RANDOM_VIEWS):
            yield View(random_view(pixels, rng), label, owner, is_random=True)
        if photo.subtype == "healthy_face":
            for eye in cut_eyes(pixels):
                yield View(random_view(eye, rng), label, owner, is_random=True)
    not_cattle = SIGNS.index(SignClass.NOT_CATTLE)
    rng = np.random.default_rng((seed, len(photos)))
    for drawn in iter_drawn_negatives(len(photos) // PHOTOS_PER_NEGATIVE, rng):
        yield View(to_square(drawn), not_cattle, NO_OWNER, is_random=True)


def embed(model: "EfficientNetForImageClassification", views: Iterable[View]) -> FeatureTable:
    """Compute the pooled features of views, in small batches.

    Args:
        model: Network in eval mode.
        views: Consumed one batch at a time.
    """
    features: list[NDArray[np.float32]] = []
    labels: list[int] = []
    owners: list[int] = []
    is_random: list[bool] = []
    stream = iter(views)
    with without_gates(model):
        while batch := list(islice(stream, _BATCH_SIZE)):
            features.append(_pooled(model, [view.pixels for view in batch]))
            labels += [view.label for view in batch]
            owners += [view.owner for view in batch]
            is_random += [view.is_random for view in batch]
    return FeatureTable(
        np.concatenate(features), np.array(labels), np.array(owners), np.array(is_random)
    )


def to_pixel_values(pictures: list[Pixels]) -> "torch.Tensor":
    """Scale squares (H, W, 3) as the ImageNet weights expect: float32 (pictures, 3, H, W)."""
    import torch

    stacked = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float()
    scaled = (stacked - PIXEL_MEAN) / PIXEL_SCALE
    return scaled.contiguous(memory_format=torch.channels_last)


def fast_arithmetic() -> AbstractContextManager[None]:
    """Use bfloat16 where the processor has it: three times as fast; else change nothing."""
    import torch

    has_bfloat16 = bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bfloat16)


def _pooled(
    model: "EfficientNetForImageClassification", pictures: list[Pixels]
) -> NDArray[np.float32]:
    """Return the pooled features (pictures, 1280)."""
    import torch

    with torch.inference_mode(), fast_arithmetic():
        pooled = model.efficientnet(to_pixel_values(pictures)).pooler_output
    return np.asarray(pooled.float().numpy())
