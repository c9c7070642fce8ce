"""A preview as plain JSON values, for programs; pure."""

from dataclasses import asdict
from typing import Any

from archive_tools.config import PageFilter
from archive_tools.manifest import printable
from archive_tools.preview import ListedPage, PreviewReport


def preview_json(report: PreviewReport) -> dict[str, Any]:
    """Return a preview without its pictures.

    Args:
        report: What the preview found.

    Returns:
        Counts, what failed, the pages (at most a thousand; the table has all), the histogram, and
        how many pages each threshold would keep.
    """
    config, run, histogram = report.config, report.run, report.histogram
    is_auto = config.filter is PageFilter.AUTO
    return {
        "status": run.status.value,
        "filter": config.filter.value,
        "threshold": config.min_score if is_auto else config.min_sigma,
        "pages_seen": run.pages.seen,
        "pages_kept": run.pages.kept,
        "pages_dropped": run.pages.dropped,
        "pages_failed": run.pages.failed,
        "files_used": run.file_count,
        "files_failed": run.source_failure_count,
        "source_failures": [asdict(failure) for failure in run.source_failures],
        "page_failures": [asdict(failure) for failure in run.page_failures],
        "elapsed_s": round(run.elapsed_s, 3),
        "pages": [_page_json(page) for page in report.listed],
        "pages_not_listed": run.pages.seen - len(report.listed),
        "histogram": {
            "edges": [edge / histogram.scale.shown_per_score for edge in histogram.scale.edges],
            "pages": histogram.bars,
        },
        "thresholds": {"values": histogram.scale.thresholds, "pages_kept": histogram.kept_at},
    }


def _page_json(page: ListedPage) -> dict[str, Any]:
    result = page.result
    return {
        "file": printable(page.file_name),
        "page_number": result.page_number,
        "width": result.width,
        "height": result.height,
        "score": result.score,
        "sigma": result.sigma,
        "decision": result.outcome.value,
        "reason": printable(result.reason),
        "illustrations": [[round(share, 4) for share in box] for box in page.boxes],
    }
