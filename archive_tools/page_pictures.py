"""The pictures that a kept page gives: the whole page, or each of its illustrations."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from archive_tools.config import Content, DatasetConfig, Finishing, Fit
from archive_tools.illustrations import HalfVerdict
from archive_tools.open_documents import OpenPage
from archive_tools.page_judgement import Findings, PageJudgement, find_on, pages_of_spread
from archive_tools.page_views import PageView
from archive_tools.picture import Box, Pixels, Rejection, make_record
from archive_tools.regions import place_cuts, turn_box, zoom_for_cuts
from archive_tools.schema import Purpose, Record

Made = Record | Rejection
Halves = tuple[HalfVerdict, ...]


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
    return _zoom_for_size((page.width_pt, page.height_pt), config)


def _zoom_for_size(sides_pt: tuple[float, float], config: DatasetConfig) -> float:
    return config.size_px / (max(sides_pt) if config.fit is Fit.SQUARE else min(sides_pt))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A part of a page that becomes a picture.

    Attributes:
        box: Where it lies, in pixels of the page as it is shown.
        part: `left` or `right` for what lies on that page of a spread, else empty.
        illustrations: Boxes that a square cut should keep, in pixels of the page.
    """

    box: Box
    part: str = ""
    illustrations: tuple[Box, ...] = ()


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
        The picture of the page, or one of each page of a spread, or one of each illustration from
        top to bottom; in place of each that came to nothing, why.
    """
    by_region = config.content is Content.REGIONS and judged.findings is not None
    show = _show_regions if by_region else _show_page
    if halves := pages_of_spread(judged, config):
        show = partial(_show_halves, halves=halves)
    pixels, cuts = show(at_hand, judged, config)
    turns = _turns_to_upright(judged, config)
    if by_region:
        config = replace(config, finishing=_finishing_of_cuts(config.finishing))
    maker = _PictureMaker(pixels, config, turns, purpose)
    return tuple(_with_text(maker.make(cut), at_hand.page, config) for cut in cuts)


def _show_page(
    at_hand: PageAtHand, judged: PageJudgement, config: DatasetConfig
) -> tuple[Pixels, list[_Cut]]:
    pixels = at_hand.view.show(zoom_for_page(at_hand.page, config))
    whole = (0, 0, *_size_of(pixels))
    if config.fit is not Fit.CROP:
        return pixels, [_Cut(whole)]
    findings = judged.findings or find_on(at_hand.view, config)
    boxes = place_cuts(findings.boxes, findings.looked_size, _size_of(pixels))
    return pixels, [_Cut(whole, illustrations=boxes)]


def _show_halves(
    at_hand: PageAtHand, judged: PageJudgement, config: DatasetConfig, halves: Halves
) -> tuple[Pixels, list[_Cut]]:
    """Show a spread as finely as each of its pages needs."""
    findings = _findings_of(judged)
    page, looked_size = at_hand.page, findings.looked_size
    width_pt = min(half.box[2] - half.box[0] for half in halves) / looked_size[0] * page.width_pt
    zoom = _zoom_for_size((width_pt, page.height_pt), config)
    pixels = page.choose_view(zoom).show(zoom)
    size = _size_of(pixels)
    places = place_cuts([half.box for half in halves], looked_size, size, margin_share=0)
    boxes = [[found.box for found in half.illustrations] for half in halves]
    return pixels, [
        _Cut(place, half.side, place_cuts(inside, looked_size, size))
        for place, half, inside in zip(places, halves, boxes, strict=True)
    ]


def _show_regions(
    at_hand: PageAtHand, judged: PageJudgement, config: DatasetConfig
) -> tuple[Pixels, list[_Cut]]:
    """Show a page as finely as its illustrations need."""
    findings = _findings_of(judged)
    page, boxes = at_hand.page, findings.boxes
    size_pt = (page.width_pt, page.height_pt)
    zoom = zoom_for_cuts(boxes, findings.looked_size, size_pt, config.size_px)
    pixels = page.choose_view(zoom).show(zoom)
    places = place_cuts(boxes, findings.looked_size, _size_of(pixels))
    parts = [findings.verdict.side_of(box) for box in boxes]
    return pixels, [_Cut(place, part) for place, part in zip(places, parts, strict=True)]


@dataclass(frozen=True, slots=True)
class _PictureMaker:
    """Makes pictures of parts of one page.

    Attributes:
        pixels: The page.
        config: Options of the run.
        turns: Quarter turns against the clock that bring it upright.
        purpose: How far the work goes.
    """

    pixels: Pixels
    config: DatasetConfig
    turns: int
    purpose: Purpose

    def make(self, cut: _Cut) -> Made:
        """Make one picture, its box in pixels of the page."""
        left, top, right, bottom = cut.box
        size = (right - left, bottom - top)
        part = self.pixels[top:bottom, left:right]
        boxes = [turn_box(_moved(box, -left, -top), size, self.turns) for box in cut.illustrations]
        if self.turns:
            part = np.ascontiguousarray(np.rot90(part, self.turns))
        is_encoded = self.purpose is not Purpose.MEASURE
        made = make_record(part, self.config, boxes, is_encoded=is_encoded)
        if isinstance(made, Rejection):
            return made
        width, height = _size_of(self.pixels)
        shown = turn_box(made.bbox, _size_of(part), -self.turns)
        made = replace(made, bbox=_moved(shown, left, top), page_width=width, page_height=height)
        return replace(made, part=cut.part, finishing=self._tell_finishing(made))

    def _tell_finishing(self, made: Record) -> str | None:
        turned = "turned upright" if self.turns else None
        steps = [step for step in (turned, made.finishing) if step]
        return "; ".join(steps) if steps else made.finishing


def _turns_to_upright(judged: PageJudgement, config: DatasetConfig) -> int:
    """By how many quarter turns against the clock a page is brought upright."""
    if judged.findings is None or not config.finishing.deskew:
        return 0
    return -judged.findings.verdict.quarter_turns % 4


def _findings_of(judged: PageJudgement) -> Findings:
    if judged.findings is None:
        raise ValueError("the illustrations of the page were not looked for")
    return judged.findings


def _moved(box: Box, across: int, down: int) -> Box:
    return (box[0] + across, box[1] + down, box[2] + across, box[3] + down)


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
