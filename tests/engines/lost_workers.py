"""Work that takes its own worker with it, for real: SIGKILL."""

import os
import signal
from pathlib import Path

from archive_tools.scale.shard_worker import run_task
from archive_tools.scale.tasks import Result, ShardOptions, ShardTask, Task
from tests.worker_processes import list_workers


def lose_one_worker(options: ShardOptions, mark: Path, driver: int, task: Task) -> Result:
    """Work on a task; the first shard of all kills its worker, or that of this process's pages."""
    if isinstance(task, ShardTask) and _is_first(mark):
        if os.getpid() != driver:
            os.kill(os.getpid(), signal.SIGKILL)
        for worker in list_workers():
            worker.kill()
    return run_task(options, task)


def lose_worker_on_page(options: ShardOptions, sha256: str, page: int, task: Task) -> Result:
    """Work on a task; one page kills its worker each time."""
    if isinstance(task, ShardTask):
        key = task.key
        if key.sha256 == sha256 and key.first_page <= page < key.end_page:
            os.kill(os.getpid(), signal.SIGKILL)
    return run_task(options, task)


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
