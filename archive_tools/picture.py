"""One picture of the dataset: cleaned, fitted, toned, measured and encoded; pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from archive_tools import duplicates, finishing, fitting, quality
from archive_tools.config import DatasetConfig, ImageFormat, PageFilter
from archive_tools.finish_steps import finish, tone_paper
from archive_tools.schema import Record

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a page or a part of it gives no picture, in a few words."""

    reason: str


def make_record(
    pixels: Pixels,
    config: DatasetConfig,
    illustrations: Sequence[Box] = (),
    is_encoded: bool = True,
) -> Record | Rejection:
    """Make the picture of a page, or of a part of one.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        config: Options of the run.
        illustrations: Boxes in pixels that a cut should keep.
        is_encoded: False leaves the encoded file empty, for a survey of copies.

    Returns:
        The picture, its box in pixels of `pixels`; or why there is none.
    """
    height, width = pixels.shape[:2]
    finished = finish(pixels, config.finishing)
    rejection = _reject(finished.grey, config)
    if rejection is not None:
        return rejection
    left, top = finished.box[:2]
    moved = [(x0 - left, y0 - top, x1 - left, y1 - top) for x0, y0, x1, y1 in illustrations]
    fitted, (x0, y0, x1, y1) = fitting.fit_picture(finished.pixels, config, moved)
    picture, steps = tone_paper(fitted, finished, config.finishing)
    is_measured = config.finishing.is_on or config.best_copy
    sharpness = quality.measure_sharpness(picture) if is_measured else None
    return Record(
        jpeg=_encode(picture, config) if is_encoded else b"",
        width=picture.shape[1],
        height=picture.shape[0],
        bbox=(left + x0, top + y0, left + x1, top + y1),
        page_width=width,
        page_height=height,
        phash=duplicates.perceptual_hash(picture),
        # Of the page as it was scanned: a step may do a little more to one copy than to another.
        signatures=duplicates.picture_signatures(pixels) if config.wants_signatures else (),
        sharpness=sharpness,
        finishing=steps,
        flags=quality.flag(sharpness) if config.finishing.is_on else "",
        extension=config.image_format.value,
    )


def foresee_rejection(pixels: Pixels, config: DatasetConfig) -> Rejection | None:
    """Say why a page would give no picture, without making one.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        config: Options of the run.
    """
    # The steps that only change how it looks are left out.
    trim = replace(config.finishing, deskew=False, neutral_paper=False, descreen=False)
    return _reject(finish(pixels, trim).grey, config)


def _reject(grey: Pixels, config: DatasetConfig) -> Rejection | None:
    """Say why a picture is not worth having."""
    height, width = grey.shape[:2]
    if width * height < config.least_side_px**2:
        return Rejection(
            f"too small: {width} x {height} px are fewer than {config.least_side_px} x "
            f"{config.least_side_px} (min_size {math.isqrt(width * height)} would keep it)"
        )
    # `auto` knows better: a pale drawing has as little ink as a stained blank page.
    is_judged = config.finishing.is_on and config.filter is PageFilter.SIGMA
    if is_judged and quality.is_nearly_blank(grey):
        return Rejection("nearly blank")
    return None


def _encode(picture: Pixels, config: DatasetConfig) -> bytes:
    if config.image_format is ImageFormat.PNG:
        return finishing.encode_png(picture)
    return finishing.encode_jpeg(picture, config.jpeg_quality)
