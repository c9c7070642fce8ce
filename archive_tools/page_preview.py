"""A page and its pictures in small, to be looked at before a dataset is built; pure."""

from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools import page_filter
from archive_tools.config import Content, DatasetConfig, PageFilter
from archive_tools.finishing import encode_jpeg, fitted_size
from archive_tools.page_judgement import (
    Findings,
    PageJudgement,
    find_on,
    judge_view,
    reason_without_region,
)
from archive_tools.page_views import PageView
from archive_tools.reader import REFERENCE_ZOOM
from archive_tools.schema import PagePreview, Record

Pixels = npt.NDArray[np.uint8]

THUMBNAIL_PX = 280
COMPARED_PX = 448
"""Long side of a thumbnail, and of the two pictures that show a page before and after."""

_JPEG_QUALITY = 65


def judge_for_any_threshold(view: PageView, config: DatasetConfig) -> PageJudgement:
    """Judge a page so that its score also answers for another threshold than the one at hand.

    A run stops looking as soon as it is certain on which side of its threshold sigma lies; here
    sigma is exact.

    Args:
        view: The page.
        config: The rule and its thresholds.
    """
    if config.filter is not PageFilter.SIGMA:
        return judge_view(view, config)
    *_, last = view.iter_looks()
    return PageJudgement(page_filter.decide_by_sigma(last.sigma, config.min_sigma), last.sigma)


def preview_page(view: PageView, judged: PageJudgement, config: DatasetConfig) -> PagePreview:
    """Show a page in small with its illustrations.

    Args:
        view: The page.
        judged: What is thought of it.
        config: The rule, and how large a region must be.
    """
    findings = judged.findings or find_on(view, config)
    is_auto = config.filter is PageFilter.AUTO
    found = findings.verdict.reason if is_auto else f"sigma {judged.sigma:.1f}"
    shown = _shrink_page(view, THUMBNAIL_PX, findings, found)
    if config.content is Content.REGIONS and not shown.boxes:
        return replace(shown, rejection=reason_without_region(findings.verdict))
    return shown


def show_before(view: PageView) -> PagePreview:
    """Show a page as it was scanned, to be compared with what is made of it.

    Args:
        view: The page.
    """
    return _shrink_page(view, COMPARED_PX)


def shrink_record(record: Record) -> Record:
    """Return a picture of the dataset in small; its figures stay those of the real one.

    Args:
        record: The picture, encoded.
    """
    picture = cv2.imdecode(np.frombuffer(record.jpeg, np.uint8), cv2.IMREAD_COLOR_RGB)
    return replace(record, jpeg=_shrink(np.asarray(picture, np.uint8), COMPARED_PX)[0])


def _shrink_page(
    view: PageView, side_px: int, findings: Findings | None = None, found: str = ""
) -> PagePreview:
    pixels = view.show(REFERENCE_ZOOM)
    jpeg, (width, height) = _shrink(pixels, side_px)
    shares = tuple(_as_shares(findings)) if findings else ()
    return PagePreview(jpeg, width, height, found, shares)


def _as_shares(findings: Findings) -> Iterable[tuple[float, float, float, float]]:
    """Yield the boxes as shares of the page's width and height."""
    width, height = findings.looked_size
    for x0, y0, x1, y1 in findings.boxes:
        yield x0 / width, y0 / height, x1 / width, y1 / height


def _shrink(pixels: Pixels, side_px: int) -> tuple[bytes, tuple[int, int]]:
    height, width = pixels.shape[:2]
    size = fitted_size(width, height, min(side_px, max(width, height)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    if small.ndim == 2:
        small = cv2.cvtColor(small, cv2.COLOR_GRAY2RGB)
    return encode_jpeg(np.asarray(small, np.uint8), _JPEG_QUALITY), size
