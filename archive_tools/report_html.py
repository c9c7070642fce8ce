"""Progress and report as HTML for the tab; pure. File names and reasons are data: escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from archive_tools.report_figures import count_images, tell_traits
from archive_tools.schema import Progress, RunReport, RunStatus, SourceFailure

_SHOWN_FAILURES = 20
_NOTHING_KEPT = (
    "No page was kept: the dataset holds no image. Press Preview to see why, lower the threshold, "
    "or choose under Options to keep every page; manifest/pages.csv in the ZIP has the reasons."
)


def progress_html(progress: Progress) -> str:
    """Return where the run stands: a bar, the file, the page, the counts and the speed."""
    pages = progress.pages
    speed = pages.seen / progress.elapsed_s if progress.elapsed_s > 0 else 0.0
    where = (
        f"File {progress.file_number} of {progress.file_count}: {escape(progress.file_name)}, "
        f"page {progress.page_number} of {progress.page_count}"
    )
    counts = (
        f"{pages.seen} pages seen, {pages.kept} kept, {pages.dropped} dropped, "
        f"{pages.failed} failed ({speed:.1f} pages/s)"
    )
    return (
        '<div class="build-progress" role="status">'
        f'<progress max="{max(progress.page_count, 1)}" value="{progress.page_number}" '
        f'aria-label="Pages of this file"></progress><p>{where}</p><p>{counts}</p></div>'
    )


def report_html(report: RunReport) -> str:
    """Return the report of a finished run: headline, counts, and what failed and why."""
    pages = report.pages
    rows = [
        ("Pages seen", str(pages.seen)),
        ("Kept", str(pages.kept)),
        ("Dropped", str(pages.dropped)),
        ("Failed", str(pages.failed)),
        ("Reduction", f"{pages.reduction_percent} %"),
        ("Images in the dataset", str(count_images(report))),
        *_trait_rows(report),
        ("Files used", str(report.file_count)),
        ("Files failed", str(report.source_failure_count)),
        ("Time", f"{report.elapsed_s:.1f} s ({report.pages_per_s} pages/s)"),
    ]
    return f"<p><strong>{_headline(report)}</strong></p>{_table(rows)}{failures_html(report)}"


def _trait_rows(report: RunReport) -> list[tuple[str, str]]:
    """Return what was noticed of the scans, where it was looked for."""
    told = tell_traits(report)
    return [("Noticed in the scans", escape(told))] if told else []


def _headline(report: RunReport) -> str:
    if not report.pages.kept:
        return _NOTHING_KEPT
    if report.status is RunStatus.SUCCESS:
        return "The dataset is ready."
    return "The dataset is ready, but some pages or files failed; they are listed below."


def error_html(message: str) -> str:
    """Return why a run came to nothing and what to do, one paragraph a line."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in message.splitlines())
    return f'<div class="user-error" role="alert">{lines}</div>'


def nothing_usable(report: RunReport) -> str:
    """Return why a run came to nothing, as plain text."""
    return " ".join(["None of the files could be used.", *failure_lines(report)])


def failure_lines(report: RunReport) -> list[str]:
    """Return one plain line for each file or page that failed, at most twenty of each."""
    files = [_file_line(failure) for failure in report.source_failures]
    pages = [
        f"{failure.file_name}, page {failure.page_number}: {failure.reason}"
        for failure in report.page_failures
    ]
    return [*_shortened(files, "files"), *_shortened(pages, "pages")]


def _file_line(failure: SourceFailure) -> str:
    is_named = failure.name in failure.message
    return failure.message if is_named else f"{failure.name}: {failure.message}"


def _shortened(lines: Sequence[str], noun: str) -> list[str]:
    more = len(lines) - _SHOWN_FAILURES
    tail = [f"... and {more} more {noun}; manifest/pages.csv has all pages."] if more > 0 else []
    return [*lines[:_SHOWN_FAILURES], *tail]


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f'<tr><th scope="row">{name}</th><td>{text}</td></tr>' for name, text in rows)
    return f'<table class="build-report">{cells}</table>'


def failures_html(report: RunReport) -> str:
    """Return what failed and why, nothing where nothing did."""
    lines = failure_lines(report)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<p><strong>What failed, and why</strong></p><ul>{items}</ul>"
