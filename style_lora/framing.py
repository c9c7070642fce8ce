"""How a picture lies in its bucket, and what SDXL is told about it; pure arithmetic."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from style_lora.schema import Size

# Width and height in pixels, each with its mirror image: SD_XL_BASE_RATIOS, as Stability
# published them with SDXL.
_SDXL_LANDSCAPE: Final[tuple[Size, ...]] = (
    (1024, 1024), (1024, 960), (1088, 960), (1088, 896), (1152, 896), (1152, 832), (1216, 832),
    (1280, 768), (1344, 768), (1344, 704), (1408, 704), (1472, 704), (1536, 640), (1600, 640),
    (1664, 576), (1728, 576),
)  # fmt: skip
_SDXL_SIDE_PX: Final = 1024
_STEP_PX: Final = 64
# Of buckets that are made to measure, and of resolutions too small for steps of 64.
_FINE_STEP_PX: Final = 32
_TINY_STEP_PX: Final = 8
_TINY_BELOW_PX: Final = 512


@dataclass(frozen=True, slots=True)
class Framing:
    """How a picture is brought to its bucket: resized, then cut.

    Attributes:
        original: Size of the picture, px.
        resized: Size after resizing, which covers the bucket, px.
        left_px: Where the cut begins in the resized picture.
        top_px: Likewise.
        bucket: Size of the cut, px.
    """

    original: Size
    resized: Size
    left_px: int
    top_px: int
    bucket: Size

    @property
    def time_ids(self) -> tuple[int, int, int, int, int, int]:
        """Return SDXL's micro-conditions: original height and width, crop top and left, target."""
        return (*self.original[::-1], self.top_px, self.left_px, *self.bucket[::-1])

    @property
    def cut_box(self) -> tuple[int, int, int, int]:
        """Return x0, y0, x1, y1 of the cut in the resized picture, half-open."""
        width, height = self.bucket
        return self.left_px, self.top_px, self.left_px + width, self.top_px + height


def frame_picture(size: Size, resolution: int) -> Framing:
    """Choose the bucket of a picture and where it is cut: in the middle.

    Args:
        size: Width and height of the picture, px.
        resolution: Side of the square whose area the buckets have, px.

    Returns:
        The framing. A picture is never enlarged, because a LoRA would learn the blur: one that
        covers no bucket of full size gets a smaller one, unless it is smaller than a step.
    """
    bucket = _choose_bucket(size, resolution)
    scale = max(bucket[0] / size[0], bucket[1] / size[1])
    resized = max(bucket[0], round(size[0] * scale)), max(bucket[1], round(size[1] * scale))
    left_px, top_px = (resized[0] - bucket[0]) // 2, (resized[1] - bucket[1]) // 2
    return Framing(size, resized, left_px, top_px, bucket)


def list_buckets(resolution: int) -> list[Size]:
    """Return all buckets of full size for a resolution in pixels."""
    return sorted(set(_scale_buckets(resolution)))


def _choose_bucket(size: Size, resolution: int) -> Size:
    wanted = math.log(size[0] / size[1])
    best = min(
        list_buckets(resolution), key=lambda bucket: abs(math.log(bucket[0] / bucket[1]) - wanted)
    )
    if best[0] <= size[0] and best[1] <= size[1]:
        return best
    return _bucket_inside(size, resolution) or best


def _bucket_inside(size: Size, resolution: int) -> Size | None:
    """Return the largest bucket that needs no enlarging, or None where there is none."""
    step = _FINE_STEP_PX if resolution >= _TINY_BELOW_PX else _TINY_STEP_PX
    shrink = min(1.0, resolution / math.sqrt(size[0] * size[1]))
    width, height = (int(side * shrink) // step * step for side in size)
    return (width, height) if width and height else None


def _scale_buckets(resolution: int) -> Iterator[Size]:
    step = _STEP_PX if resolution >= _TINY_BELOW_PX else _TINY_STEP_PX
    for sides in _SDXL_LANDSCAPE:
        width, height = (
            max(step, round(side * resolution / _SDXL_SIDE_PX / step) * step) for side in sides
        )
        yield width, height
        yield height, width
