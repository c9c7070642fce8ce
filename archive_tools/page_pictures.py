"""The pictures that a kept page gives: the whole page, or each of its illustrations."""

from dataclasses import dataclass, replace

from archive_tools.config import Content, DatasetConfig, Finishing, Fit
from archive_tools.open_documents import OpenPage
from archive_tools.page_judgement import Findings, PageJudgement, find_on
from archive_tools.page_views import PageView
from archive_tools.picture import Box, Pixels, Rejection, make_record
from archive_tools.regions import place_cuts, zoom_for_cuts
from archive_tools.schema import Purpose, Record

Made = Record | Rejection


@dataclass(frozen=True, slots=True)
class PageAtHand:
    """An open page and how it was looked at.

    Attributes:
        page: The page.
        view: The view that it was judged by.
    """

    page: OpenPage
    view: PageView


def zoom_for_page(page: OpenPage, config: DatasetConfig) -> float:
    """Return the pixels per point at which the picture of a whole page needs no enlargement.

    Args:
        page: The open page.
        config: Fit and size.
    """
    sides = (page.width_pt, page.height_pt)
    return config.size_px / (max(sides) if config.fit is Fit.SQUARE else min(sides))


def make_pictures(
    at_hand: PageAtHand, judged: PageJudgement, config: DatasetConfig, purpose: Purpose
) -> tuple[Made, ...]:
    """Make the pictures of a page that is kept.

    Args:
        at_hand: The page.
        judged: What is thought of it.
        config: Options of the run.
        purpose: How far the work goes.

    Returns:
        The picture of the page, or one of each illustration from top to bottom; in place of each
        that came to nothing, why.
    """
    is_encoded = purpose is not Purpose.MEASURE
    if config.content is Content.REGIONS and judged.findings is not None:
        made = _cut_regions(at_hand, judged.findings, config, is_encoded)
    else:
        made = [_show_page(at_hand, judged, config, is_encoded)]
    return tuple(_with_text(one, at_hand.page, config) for one in made)


def _show_page(
    at_hand: PageAtHand, judged: PageJudgement, config: DatasetConfig, is_encoded: bool
) -> Made:
    pixels = at_hand.view.show(zoom_for_page(at_hand.page, config))
    boxes: tuple[Box, ...] = ()
    if config.fit is Fit.CROP:
        findings = judged.findings or find_on(at_hand.view, config)
        boxes = place_cuts(findings.boxes, findings.looked_size, _size_of(pixels))
    return make_record(pixels, config, boxes, is_encoded=is_encoded)


def _cut_regions(
    at_hand: PageAtHand, findings: Findings, config: DatasetConfig, is_encoded: bool
) -> list[Made]:
    """Cut out each illustration, the page shown as finely as they need it."""
    page = at_hand.page
    size_pt = (page.width_pt, page.height_pt)
    zoom = zoom_for_cuts(findings.boxes, findings.looked_size, size_pt, config.size_px)
    pixels = page.choose_view(zoom).show(zoom)
    config = replace(config, finishing=_finishing_of_cuts(config.finishing))
    cuts = place_cuts(findings.boxes, findings.looked_size, _size_of(pixels))
    return [_cut(pixels, cut, config, is_encoded) for cut in cuts]


def _cut(pixels: Pixels, cut: Box, config: DatasetConfig, is_encoded: bool) -> Made:
    """Make the picture of one illustration, its box in pixels of the page."""
    left, top, right, bottom = cut
    part = pixels[top:bottom, left:right]
    made = make_record(part, config, is_encoded=is_encoded)
    if isinstance(made, Rejection):
        return made
    x0, y0, x1, y1 = made.bbox
    box = (left + x0, top + y0, left + x1, top + y1)
    width, height = _size_of(pixels)
    return replace(made, bbox=box, page_width=width, page_height=height)


def _finishing_of_cuts(finishing: Finishing) -> Finishing:
    """Leave out the steps that go by a page's edges and text lines: a picture has neither."""
    return replace(finishing, trim=False, deskew=False)


def _with_text(made: Made, page: OpenPage, config: DatasetConfig) -> Made:
    """Add the page's text beside the picture, where captions ask for it."""
    if isinstance(made, Rejection) or not config.wants_text:
        return made
    x0, y0, x1, y1 = made.bbox
    width, height = made.page_width, made.page_height
    box = (x0 / width, y0 / height, x1 / width, y1 / height)
    return replace(made, text=page.read_text(box))


def _size_of(pixels: Pixels) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]
