"""The worker processes of the test at hand."""

import psutil


def list_workers() -> list[psutil.Process]:
    """Return our direct children that are workers; a page that is served is none."""
    return [child for child in psutil.Process().children() if _is_worker(child)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "archive_tools.worker" in process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
