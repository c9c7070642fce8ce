"""The command `scale`: its own options, and a run that shows where it stands."""

import argparse
from contextlib import closing
from typing import TextIO

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.progress_line import ProgressLine
from archive_tools.run_report import RunReport
from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.repair import Notice
from archive_tools.scale.run import DEFAULT_PAGES_PER_SHARD, ScaleOptions, scale_dataset


def add_scale_options(parser: argparse.ArgumentParser) -> None:
    """Describe what only `scale` has.

    Args:
        parser: The command's.
    """
    parser.add_argument(
        "--shards",
        required=True,
        metavar="DIR",
        help="folder or s3:// address for finished work, seen by all machines; what is there is "
        "not made again",
    )
    parser.add_argument(
        "--engine",
        choices=[kind.value for kind in EngineKind],
        default=EngineKind.PROCESSES.value,
        help="what spreads the work (default: %(default)s)",
    )
    parser.add_argument(
        "--address",
        help="of a running cluster: tcp://host:8786 for dask, ray://host:10001 for ray (default: "
        "one is started on this machine)",
    )
    parser.add_argument(
        "--pages-per-shard",
        type=int,
        default=DEFAULT_PAGES_PER_SHARD,
        metavar="N",
        help="pages that are given to a worker at once (default: %(default)s)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue a dataset that was being put together"
    )


def scale_with_progress(
    options: argparse.Namespace, config: DatasetConfig, limits: WorkerLimits, terminal: TextIO
) -> RunReport:
    """Carry out a run of the command line.

    Args:
        options: With those of `add_scale_options`, `sources`, `out` and `workers`.
        config: What the dataset holds.
        limits: What one page may cost.
        terminal: Where progress is shown.

    Returns:
        How the run went.

    Raises:
        ArchiveToolsError: It cannot be carried out.
    """
    engine = EngineOptions(EngineKind(options.engine), options.address, options.workers)
    scale = ScaleOptions(engine, options.shards, options.pages_per_shard, options.resume, limits)
    steps = scale_dataset(options.sources, options.out, config, scale)
    report: RunReport | None = None
    notices: list[str] = []
    with closing(steps), ProgressLine(terminal) as line:
        for step in steps:
            if isinstance(step, RunReport):
                report = step
            elif isinstance(step, ShardProgress):
                line.show_text(step.describe())
            elif isinstance(step, Notice):
                notices.append(step.text)
            else:
                line.show(step)
    assert report is not None
    terminal.writelines(f"{notice}\n" for notice in notices)
    return report
