"""Finishing: cleans a page before it is fitted, and its paper after; pure.

Each step first looks at a thumbnail whether there is anything to do, so that a clean page costs a
few milliseconds and comes out as it went in.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools import borders, descreen, deskew, paper_tone, wedges
from archive_tools.config import Finishing
from archive_tools.finishing import paper_colour

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Finished:
    """A cleaned page.

    Attributes:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        grey: The same in grey, but not turned, nor cut after that: to look at; with finishing off
            as it came.
        box: The part of the page that they show.
        aged_paper: Colour of its paper where that is to be neutralised.
        steps: What was done, in words.
    """

    pixels: Pixels
    grey: Pixels
    box: Box
    aged_paper: tuple[int, int, int] | None
    steps: tuple[str, ...]


def finish(pixels: Pixels, finishing: Finishing) -> Finished:
    """Trim, turn and descreen a page where it needs it.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        finishing: The steps that are wanted.
    """
    height, width = pixels.shape[:2]
    if not finishing.is_on:
        return Finished(pixels, pixels, (0, 0, width, height), None, ())
    box: Box = (0, 0, width, height)
    steps: list[str] = []
    grey = to_grey(pixels)  # once: each look at a grey page is three times as fast
    if finishing.trim and (found := borders.find_page_box(grey)) != box:
        box = found
        pixels, grey = (layer[box[1] : box[3], box[0] : box[2]] for layer in (pixels, grey))
        steps.append("trimmed")
    degrees = deskew.find_slant(grey) if finishing.deskew else 0.0
    if degrees:
        pixels = deskew.turn(pixels, degrees, paper_colour(pixels))
        steps.append(f"deskewed {degrees:g}")
    if finishing.trim and (inner := _find_box_inside_wedges(grey, degrees)):
        pixels = pixels[inner[1] : inner[3], inner[0] : inner[2]]
        left, top = box[:2]
        box = (left + inner[0], top + inner[1], left + inner[2], top + inner[3])
        if "trimmed" not in steps:
            steps.append("trimmed")
    if finishing.descreen and (period_px := descreen.find_screen(pixels)):
        pixels = descreen.smooth_screen(pixels, period_px)
        steps.append("descreened")
    return Finished(pixels, grey, box, _find_aged_paper(pixels, finishing), tuple(steps))


def _find_box_inside_wedges(grey: Pixels, degrees: float) -> Box | None:
    """Return the part of a page without the wedges that its turning leaves; None for all of it."""
    height, width = grey.shape
    look = borders.shrink_to_grey(grey)
    is_page = np.ones(look.shape, dtype=np.bool_)
    if degrees:
        light = deskew.turn(np.full_like(look, 255), degrees, (0, 0, 0))
        is_page = light == 255  # what is mixed with the corners is neither page nor frame
        look = deskew.turn(look, degrees, (0, 0, 0))
    left, top, right, bottom = wedges.find_wedges(look, is_page)
    if not any((left, top, right, bottom)):
        return None
    return (
        round(left * width),
        round(top * height),
        width - round(right * width),
        height - round(bottom * height),
    )


def to_grey(pixels: Pixels) -> Pixels:
    """Return the luma of a picture.

    Args:
        pixels: uint8 RGB (H, W, 3), or grey (H, W) already.
    """
    if pixels.ndim == 2:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def tone_paper(
    picture: Pixels, finished: Finished, finishing: Finishing
) -> tuple[Pixels, str | None]:
    """Neutralise the paper of a fitted picture.

    Args:
        picture: uint8 RGB (H, W, 3), from the finished page.
        finished: The page.
        finishing: The steps that are wanted.

    Returns:
        The picture, and all steps in words for the metadata; None with finishing off.
    """
    if not finishing.is_on:
        return picture, None
    steps = finished.steps
    if finished.aged_paper is not None:
        picture = paper_tone.neutralise(picture, finished.aged_paper)
        steps = (*steps, "paper neutralised")
    return picture, "; ".join(steps)


def _find_aged_paper(pixels: Pixels, finishing: Finishing) -> tuple[int, int, int] | None:
    if not finishing.neutral_paper or pixels.ndim == 2:
        return None
    paper = paper_colour(pixels)
    return paper if paper_tone.is_aged_paper(pixels, paper) else None
