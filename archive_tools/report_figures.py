"""Figures of a report that the terminal and the page both tell; pure."""

from archive_tools.run_report import RunReport


def count_images(report: RunReport) -> int:
    """Return how many images the dataset holds.

    Args:
        report: The report of a run.
    """
    count: int = report.dataset.get("counts", {}).get("images", 0)
    return count


def list_traits(report: RunReport) -> dict[str, int]:
    """Return on how many pages what was noticed; empty where nothing was looked for.

    Args:
        report: The report of a run.
    """
    traits: dict[str, int] = report.dataset.get("traits", {})
    return traits
