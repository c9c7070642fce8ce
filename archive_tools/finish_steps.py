"""Finishing: cleans a page before it is fitted, and its paper after; pure.

Each step first looks at a thumbnail whether there is anything to do, so that a clean page costs a
few milliseconds and comes out as it went in.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools import borders, descreen, deskew, paper_tone
from archive_tools.config import Finishing
from archive_tools.finishing import paper_colour

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Finished:
    """A cleaned page.

    Attributes:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        grey: The same in grey, but not turned: to look at; with finishing off as it came.
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
    if finishing.deskew and (degrees := deskew.find_slant(grey)):
        pixels = deskew.turn(pixels, degrees, paper_colour(pixels))
        steps.append(f"deskewed {degrees:g}")
    if finishing.descreen and (period_px := descreen.find_screen(pixels)):
        pixels = descreen.smooth_screen(pixels, period_px)
        steps.append("descreened")
    return Finished(pixels, grey, box, _find_aged_paper(pixels, finishing), tuple(steps))


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
