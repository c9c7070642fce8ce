"""The report of a run as plain text, for a terminal."""

from typing import Any, TextIO

from archive_tools.report_figures import count_images, list_traits
from archive_tools.run_report import RunReport
from archive_tools.schema import SourceFailure

_NOTHING_KEPT = (
    "No page was kept, so it holds no image. Lower --min-score or --min-size, or keep every page "
    "with --filter none; manifest/pages.csv says why each page was left out."
)

_NO_VALIDATION = (
    "There is no validation/: so few pictures, or documents, were left that all are in train/."
)


def summarise(report: RunReport) -> str:
    """Return the report for people: where the dataset is, the counts and the time."""
    pages = report.pages
    place = f"Dataset: {report.out}" if report.out else "Nothing usable: no dataset was written."
    if report.out and not pages.kept:
        place += f"\n{_NOTHING_KEPT}"
    elif _lacks_validation(report.dataset):
        place += f"\n{_NO_VALIDATION}"
    return (
        f"{place}\n"
        f"Files: {report.file_count} used, {report.source_failure_count} failed\n"
        f"Pages: {pages.seen} seen, {pages.kept} kept, {pages.dropped} dropped, "
        f"{pages.failed} failed ({pages.reduction_percent} % fewer)\n"
        f"Images: {count_images(report)}\n"
        f"{_tell_traits(report)}"
        f"Time: {report.elapsed_s:.1f} s, {report.pages_per_s} pages/s"
    )


def _tell_traits(report: RunReport) -> str:
    told = ", ".join(f"{trait}: {count}" for trait, count in list_traits(report).items())
    return f"Noticed: {told}\n" if told else ""


def print_failures(report: RunReport, stream: TextIO) -> None:
    """Say what could not be used, one line each.

    Args:
        report: The report of a run.
        stream: Standard error, usually.
    """
    for failure in report.source_failures:
        print(_failure_line(failure), file=stream)
    for page in report.page_failures:
        print(f"{page.file_name}, page {page.page_number}: {page.reason}", file=stream)
    more_files = report.source_failure_count - len(report.source_failures)
    more_pages = report.pages.failed - len(report.page_failures)
    if more_files or more_pages:
        print(f"and more: files {more_files}, pages {more_pages}", file=stream)


def flatten(figures: Any, prefix: str = "") -> list[str]:
    """Return one line for each figure of a nested report, named by its place.

    Args:
        figures: A dict of dicts, or a figure.
        prefix: The place so far.
    """
    if not isinstance(figures, dict):
        shown = f"{figures:.4g}" if isinstance(figures, float) else str(figures)
        return [f"{prefix}: {shown}"]
    return [
        line
        for name, part in figures.items()
        for line in flatten(part, f"{prefix}.{name}" if prefix else str(name))
    ]


def _lacks_validation(dataset: dict[str, Any]) -> bool:
    """Whether a validation split was asked for and has no picture."""
    is_wanted = dataset.get("options", {}).get("validation_share", 0) > 0
    return is_wanted and not dataset.get("counts", {}).get("splits", {}).get("validation")


def _failure_line(failure: SourceFailure) -> str:
    """Name the file once, although most messages name it as well."""
    named = failure.message.startswith(failure.name)
    return failure.message if named else f"{failure.name}: {failure.message}"
