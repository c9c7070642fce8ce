"""Aspect buckets: the picture sizes that SDXL was trained on, and smaller ones; pure arithmetic."""

import math
from collections.abc import Iterable

Size = tuple[int, int]

# Width and height in pixels; each stands for its mirror image too. From the table that Stability
# published with SDXL (SD_XL_BASE_RATIOS).
_SDXL_LANDSCAPE: tuple[Size, ...] = (
    (1024, 1024), (1024, 960), (1088, 960), (1088, 896), (1152, 896), (1152, 832), (1216, 832),
    (1280, 768), (1344, 768), (1344, 704), (1408, 704), (1472, 704), (1536, 640), (1600, 640),
    (1664, 576), (1728, 576),
)  # fmt: skip
_SDXL_SIDE_PX = 1024
_STEP_PX = 64
# The VAE takes multiples of 8; small sizes (for tests and thumbnails) need the finer step.
_SMALL_STEP_PX = 8
_SMALL_BELOW_PX = 512
# A smaller bucket may have the better shape; this much of the pixels it must keep.
_LEAST_AREA_SHARE = 0.75


def choose_bucket(width: int, height: int, side_px: int, upscale: bool) -> Size:
    """Choose the bucket whose shape a picture fits best.

    Args:
        width: Width of the picture in pixels.
        height: Height of the picture in pixels.
        side_px: 1024 gives SDXL's own buckets, other sides proportional ones.
        upscale: Allow a bucket larger than the picture.

    Returns:
        Width and height of the bucket. Without `upscale` a picture that covers no bucket of full
        size gets a smaller one that it covers.
    """
    wanted = math.log(width / height)
    best = min(_full_buckets(side_px), key=lambda size: abs(math.log(size[0] / size[1]) - wanted))
    if upscale or (best[0] <= width and best[1] <= height):
        return best
    return _smaller_bucket(width, height, side_px)


def _full_buckets(side_px: int) -> Iterable[Size]:
    step = _step(side_px)
    for long, short in _SDXL_LANDSCAPE:
        scaled = (_scale(long, side_px, step), _scale(short, side_px, step))
        yield scaled
        yield scaled[::-1]


def _smaller_bucket(width: int, height: int, side_px: int) -> Size:
    """Choose among all multiples of the step inside the picture the one that cuts off least."""
    step = _step(side_px)
    if width < step or height < step:
        return min(width, side_px), min(height, side_px)
    limit_px = side_px * side_px
    sizes = [
        (across, min(_floor(height, step), _floor(limit_px // across, step)))
        for across in range(step, width + 1, step)
        if limit_px // across >= step
    ]
    sizes += [
        (across, down)
        for across, most in sizes
        for down in range(max(step, most - 2 * step), most, step)
    ]
    largest = max(across * down for across, down in sizes)
    large = [size for size in sizes if size[0] * size[1] >= _LEAST_AREA_SHARE * largest]
    return max(large, key=lambda size: (_kept_share(size, width, height), size[0] * size[1]))


def _kept_share(bucket: Size, width: int, height: int) -> float:
    """Return the share of a picture that is left when it covers a bucket."""
    ratio = (bucket[0] / bucket[1]) / (width / height)
    return min(ratio, 1 / ratio)


def _step(side_px: int) -> int:
    return _STEP_PX if side_px >= _SMALL_BELOW_PX else _SMALL_STEP_PX


def _scale(length: int, side_px: int, step: int) -> int:
    return max(step, round(length * side_px / _SDXL_SIDE_PX / step) * step)


def _floor(length: int, step: int) -> int:
    return length // step * step
