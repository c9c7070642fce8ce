"""What the VAE and the text encoders say of a dataset, once, on the disk.

Both are needed no more after that, so they need not share the GPU with the UNet. One file a
picture and one a caption: memory does not grow with the dataset, and a stopped run goes on.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from style_lora.atomic_files import write_atomically
from style_lora.framing import Framing, frame_picture
from style_lora.schema import Example

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class LatentSpread:
    """The VAE's distribution of one picture, scaled as the UNet wants it; (4, H/8, W/8), 32 bit."""

    mean: "torch.Tensor"
    deviation: "torch.Tensor"


@dataclass(frozen=True, slots=True)
class CaptionEmbedding:
    """Both text encoders' words (77, 2048) and the second one's summary (1280)."""

    words: "torch.Tensor"
    summary: "torch.Tensor"


class EmbeddingCache:
    """A folder of latents and caption embeddings."""

    def __init__(self, folder: Path, resolution: int) -> None:
        """Name the cache.

        Args:
            folder: Of this dataset, base, and resolution alone.
            resolution: Side of the square whose area the buckets have, px.
        """
        self._folder = folder
        self._resolution = resolution

    def frame(self, example: Example) -> Framing:
        """Return how a picture lies in its bucket."""
        return frame_picture(example.size, self._resolution)

    def list_missing_pictures(self, examples: Sequence[Example]) -> list[Example]:
        """Return the pictures whose latents are not there yet."""
        return [one for one in examples if not self._latent_path(one).exists()]

    def list_missing_captions(self, captions: Sequence[str]) -> list[str]:
        """Return the captions whose embeddings are not there yet, each once, in order."""
        return [one for one in dict.fromkeys(captions) if not self._caption_path(one).exists()]

    def add_latents(self, example: Example, spread: LatentSpread) -> None:
        """Keep the latents of a picture.

        Raises:
            DiskSpaceError: The disk is full.
        """
        _save(self._latent_path(example), {"mean": spread.mean, "deviation": spread.deviation})

    def add_caption(self, caption: str, embedding: CaptionEmbedding) -> None:
        """Keep the embedding of a caption.

        Raises:
            DiskSpaceError: The disk is full.
        """
        path = self._caption_path(caption)
        _save(path, {"words": embedding.words, "summary": embedding.summary})

    def read_latents(self, example: Example) -> LatentSpread:
        """Return the latents of a picture."""
        tensors = _load(self._latent_path(example))
        return LatentSpread(tensors["mean"], tensors["deviation"])

    def read_caption(self, caption: str) -> CaptionEmbedding:
        """Return the embedding of a caption."""
        tensors = _load(self._caption_path(caption))
        return CaptionEmbedding(tensors["words"], tensors["summary"])

    def _latent_path(self, example: Example) -> Path:
        name = _shorten(f"{example.name}/{example.crc}")
        return self._folder / "latents" / f"{name}.safetensors"

    def _caption_path(self, caption: str) -> Path:
        return self._folder / "captions" / f"{_shorten(caption)}.safetensors"


def _shorten(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _save(path: Path, tensors: dict[str, Any]) -> None:
    from safetensors.torch import save_file

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, lambda partial: save_file(whole, partial))


def _load(path: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    tensors: dict[str, Any] = load_file(path)
    return tensors
