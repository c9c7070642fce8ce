"""The report of a run as HTML for the tab; pure. File names and reasons are data: escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from archive_tools.message_words import tell_message
from archive_tools.report_figures import count_images, list_traits
from archive_tools.run_report import RunReport
from archive_tools.schema import RunStatus, SourceFailure
from archive_tools.tab_texts import TAB_TEXTS
from serving.localised_numbers import write_number, write_percent
from serving.page_texts import DEFAULT_LANGUAGE

_SHOWN_FAILURES = 20


def report_html(report: RunReport, language: str = DEFAULT_LANGUAGE, job_id: str = "") -> str:
    """Return the report of a finished run: headline, counts, and what failed and why.

    Args:
        report: How the run went.
        language: Language of the page.
        job_id: Told as well, where there is one.
    """
    pages = report.pages
    counts = {
        "row_seen": pages.seen,
        "row_kept": pages.kept,
        "row_dropped": pages.dropped,
        "row_failed": pages.failed,
        "row_images": count_images(report),
        "row_files": report.file_count,
        "row_files_failed": report.source_failure_count,
    }
    rows = {key: write_number(count, language) for key, count in counts.items()}
    rows["row_reduction"] = write_percent(pages.reduction_percent / 100, language, 1)
    rows["row_traits"] = escape(_tell_traits(report, language))
    rows["row_time"] = _tell_time(report, language)
    rows["row_job"] = f'<span class="job-id">{escape(job_id)}</span>' if job_id else ""
    told = [(TAB_TEXTS.tell(key, language), text) for key, text in rows.items() if text]
    headline = escape(TAB_TEXTS.tell(_headline(report), language))
    return f"<p><strong>{headline}</strong></p>{_table(told)}{failures_html(report, language)}"


def nothing_usable(report: RunReport, language: str = DEFAULT_LANGUAGE) -> str:
    """Return why a run came to nothing, as plain text.

    Args:
        report: How the run went.
        language: Language of the page.
    """
    return " ".join([TAB_TEXTS.tell("nothing_usable", language), *failure_lines(report, language)])


def failure_lines(report: RunReport, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return one plain line for each file or page that failed, at most twenty of each.

    Args:
        report: How the run went.
        language: Language of the page.
    """
    files = [_file_line(failure, language) for failure in report.source_failures]
    pages = [
        TAB_TEXTS.tell(
            "failed_page",
            language,
            name=failure.file_name,
            page_number=failure.page_number,
            reason=tell_message(failure.reason, language),
        )
        for failure in report.page_failures
    ]
    return [*_shortened(files, language), *_shortened(pages, language)]


def failures_html(report: RunReport, language: str = DEFAULT_LANGUAGE) -> str:
    """Return what failed and why, nothing where nothing did.

    Args:
        report: How the run went.
        language: Language of the page.
    """
    lines = failure_lines(report, language)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    heading = escape(TAB_TEXTS.tell("failures", language))
    return f"<p><strong>{heading}</strong></p><ul>{items}</ul>"


def _headline(report: RunReport) -> str:
    if not report.pages.kept:
        return "nothing_kept"
    if report.dataset.get("stopped_early"):
        return "ready_early"
    return "ready" if report.status is RunStatus.SUCCESS else "ready_partial"


def _tell_traits(report: RunReport, language: str) -> str:
    """Return what was noticed of the scans, empty where nothing was looked for."""
    return ", ".join(
        f"{tell_message(trait, language)}: {write_number(count, language)}"
        for trait, count in list_traits(report).items()
    )


def _tell_time(report: RunReport, language: str) -> str:
    """Return how long a run took; empty where nothing was worked on."""
    if not report.elapsed_s:
        return ""
    seconds = write_number(report.elapsed_s, language, 1)
    speed = write_number(report.pages_per_s, language, 2)
    return TAB_TEXTS.tell("time_of_run", language, seconds=seconds, speed=speed)


def _file_line(failure: SourceFailure, language: str) -> str:
    message = tell_message(failure.message, language)
    if failure.name in failure.message:
        return message
    return TAB_TEXTS.tell("failed_file", language, name=failure.name, reason=message)


def _shortened(lines: Sequence[str], language: str) -> list[str]:
    more = len(lines) - _SHOWN_FAILURES
    tail = [TAB_TEXTS.tell("more_failed", language, count=more)] if more > 0 else []
    return [*lines[:_SHOWN_FAILURES], *tail]


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{text}</td></tr>' for name, text in rows
    )
    return f'<table class="build-report">{cells}</table>'
