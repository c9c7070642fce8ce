"""Everything before the first step: read, check, plan, and fill the cache."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from style_lora.atomic_files import require_space, share_disk, write_text
from style_lora.base_model import open_text_parts, open_vae
from style_lora.base_source import fetch_base, fetch_vae
from style_lora.config import TrainConfig
from style_lora.dataset_zip import DatasetZip
from style_lora.devices import empty_caches, name_device, pick_device, pick_precision, to_dtype
from style_lora.embedding_cache import EmbeddingCache
from style_lora.encoding import cut_picture, encode_caption, encode_picture
from style_lora.estimate import Plan, estimate_bytes, make_plan, tell_plan
from style_lora.hub_files import hub_cache
from style_lora.prompt_length import find_cut
from style_lora.schema import Example, Examples, Phase, TrainProgress
from style_lora.slice_clock import SliceClock

if TYPE_CHECKING:
    import torch

Tell = Callable[[TrainProgress], None]


@dataclass(frozen=True, slots=True)
class Job:
    """A training that is ready to begin.

    Attributes:
        dataset: File name of the ZIP.
        out: Folder of the results.
        config: Settings.
        examples: The dataset.
        plan: How many steps.
        cache: For latents and embeddings.
        cache_folder: Where it lies.
        prompts: Of the sample pictures.
        device: Where to compute.
        dtype: Number format of the base.
        fingerprint: Of names, pictures and captions.
        base: Folder of the base, once `fetch_models` has found it.
        vae: Folder of another VAE, likewise.
    """

    dataset: str
    out: Path
    config: TrainConfig
    examples: Examples
    plan: Plan
    cache: EmbeddingCache
    cache_folder: Path
    prompts: tuple[str, ...]
    device: "torch.device"
    dtype: "torch.dtype"
    fingerprint: str
    base: Path = Path()
    vae: Path | None = None


def prepare(pictures: DatasetZip, dataset: Path, out: Path, config: TrainConfig, tell: Tell) -> Job:
    """Check the dataset and the disk, and say what will happen.

    Args:
        pictures: The dataset.
        dataset: Its path.
        out: Folder of the results.
        config: Settings.
        tell: Told what goes on.

    Raises:
        DatasetError: The dataset cannot be trained on.
        DiskSpaceError: There is too little room.
    """
    # A slice need not decode what one before has found in order.
    checked = out / "cache" / f"checked_{pictures.fingerprint()}"
    examples = pictures.read_examples(
        config.validation_share,
        config.seed,
        lambda done, total: tell(TrainProgress(Phase.CHECKING, done, total)),
        decode=not checked.exists(),
    )
    count = len(examples.every)
    require_space(out, estimate_bytes(count, config), "this training")
    device = pick_device()
    precision = pick_precision(device) if config.precision == "auto" else config.precision
    cache_folder = out / "cache" / _name_cache(config, precision)
    cache = EmbeddingCache(cache_folder, config.resolution)
    plan = make_plan(examples, [cache.frame(one).bucket for one in examples.training], config)
    message = tell_plan(plan, config, len(examples.training), name_device(device))
    tell(TrainProgress(Phase.CHECKING, count, count, message=message))
    write_text(checked, "")
    return Job(
        dataset.name,
        out,
        config,
        examples,
        plan,
        cache,
        cache_folder,
        _choose_prompts(config, examples),
        device,
        to_dtype(precision),
        _fingerprint(examples),
    )


def fetch_models(job: Job, tell: Tell) -> Job:
    """Find base and VAE, and fetch what of them lies on the hub only; gigabytes, so all else first.

    Args:
        job: The training.
        tell: Told what goes on.

    Raises:
        BaseModelError: One is not there, or is no SDXL.
        HubError: The hub cannot be reached, or does not give it.
        DiskSpaceError: There is too little room.
    """

    def say(message: str) -> None:
        tell(TrainProgress(Phase.FETCHING, message=message))

    beside_bytes = 0
    if share_disk(job.out, hub_cache()):
        beside_bytes = estimate_bytes(len(job.examples.every), job.config)
    base = fetch_base(job.config.base, job.dtype.itemsize == 2, say, beside_bytes)
    vae = fetch_vae(job.config.vae, say) if job.config.vae else None
    return replace(job, base=base, vae=vae)


def fill_cache(job: Job, pictures: DatasetZip, clock: SliceClock, tell: Tell) -> bool:
    """Encode what is not in the cache yet, each model opened for that and dropped again.

    Args:
        job: The training.
        pictures: Its dataset.
        clock: Of the slice.
        tell: Told what goes on.

    Returns:
        Whether the cache is full; False when the slice is over before.

    Raises:
        BaseModelError: A model cannot be loaded.
        DiskSpaceError: The disk is full.
    """
    examples = job.examples.every
    captions = [one.caption for one in examples] + list(job.prompts)
    missing_captions = job.cache.list_missing_captions(captions)
    missing_pictures = job.cache.list_missing_pictures(examples)
    if missing_captions and not _encode_captions(job, missing_captions, clock, tell):
        return False
    return not missing_pictures or _encode_pictures(job, missing_pictures, pictures, clock, tell)


def _encode_captions(job: Job, captions: Sequence[str], clock: SliceClock, tell: Tell) -> bool:
    parts = open_text_parts(job.base, job.dtype)
    _tell_cut(parts.tokenizers[0], captions, tell)
    for encoder in parts.encoders:
        encoder.to(job.device)

    def encode(caption: str) -> None:
        job.cache.add_caption(caption, encode_caption(parts, caption))

    is_done = _encode_each(captions, encode, clock, tell)
    for encoder in parts.encoders:
        encoder.to("meta")  # gives the memory back now, whoever still holds the encoder
    empty_caches(job.device)
    return is_done


def _tell_cut(tokenizer: Any, captions: Sequence[str], tell: Tell) -> None:
    """Say which captions are longer than the text encoders read."""
    cuts = [cut for cut in (find_cut(tokenizer, caption) for caption in captions) if cut]
    if cuts:
        message = (
            f"{len(cuts)} of {len(captions)} captions are longer than the text encoders read; "
            f"their ends are not learned, such as: {cuts[0]}"
        )
        tell(TrainProgress(Phase.CACHING, 0, len(captions), message=message))


def _encode_pictures(
    job: Job, examples: Sequence[Example], pictures: DatasetZip, clock: SliceClock, tell: Tell
) -> bool:
    vae = open_vae(job.base, job.vae).to(job.device)

    def encode(example: Example) -> None:
        framing = job.cache.frame(example)
        picture = cut_picture(pictures.open_picture(example.name), framing)
        job.cache.add_latents(example, encode_picture(vae, picture))

    is_done = _encode_each(examples, encode, clock, tell)
    vae.to("meta")
    empty_caches(job.device)
    return is_done


def _encode_each(
    items: Sequence[Any], encode: Callable[[Any], None], clock: SliceClock, tell: Tell
) -> bool:
    for done, item in enumerate(items, 1):
        encode(item)
        tell(TrainProgress(Phase.CACHING, done, len(items)))
        if clock.is_over() and done < len(items):
            return False
    return True


def _name_cache(config: TrainConfig, precision: str) -> str:
    """Return a folder name that changes with whatever changes the cache's content."""
    content = f"{config.base}/{config.vae}/{config.resolution}/{precision}"
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _choose_prompts(config: TrainConfig, examples: Examples) -> tuple[str, ...]:
    if not config.sample_every:
        return ()
    captions = tuple(dict.fromkeys(one.caption for one in examples.training))
    return config.sample_prompts or captions[:2]


def _fingerprint(examples: Examples) -> str:
    lines = [f"{one.name}/{one.crc}/{one.caption}" for one in examples.every]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
