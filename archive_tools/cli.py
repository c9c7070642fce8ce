"""Command line: build a dataset, score pages, evaluate the filters, clean up after killed runs.

Progress goes to standard error, results to standard output. Exit status: 0 done, 1 done with
recorded failures, 2 nothing usable or wrong usage, 130 stopped by Ctrl-C.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from archive_tools.config import (
    DEFAULT_MIN_SCORE,
    DatasetConfig,
    PageFilter,
    RunOptions,
    WorkerLimits,
)
from archive_tools.dataset_copy import copy_dataset
from archive_tools.errors import ArchiveToolsError
from archive_tools.file_kinds import clean_name
from archive_tools.hub import check_hub, push_dataset
from archive_tools.leftovers import KEPT_DAYS, remove_leftovers
from archive_tools.picture_options import add_picture_options, read_picture_options
from archive_tools.pipeline import Tally, build_dataset, iter_scores
from archive_tools.progress_line import ProgressLine
from archive_tools.remote_address import as_source
from archive_tools.report_text import flatten, print_failures, summarise
from archive_tools.run_report import RunReport
from archive_tools.schedule import PageDone
from archive_tools.schema import RunStatus
from archive_tools.score_table import open_score_table
from archive_tools.shard_store import ShardStore, open_store
from archive_tools.source_plan import plan_sources
from archive_tools.terminal import drop_output, end_in_order_on_signals, fill_closed_streams
from archive_tools.writer import journal_path

DONE, PARTIAL, NOTHING_USABLE, STOPPED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: Words after the program's name; None takes those of this process.

    Returns:
        The exit status.
    """
    fill_closed_streams()
    words = sys.argv[1:] if arguments is None else arguments
    options = make_parser(describes_scale="scale" in words).parse_args(words)
    end_in_order_on_signals()
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except ArchiveToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOTHING_USABLE
    except KeyboardInterrupt:
        print(options.when_stopped, file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone.
        drop_output()
        return PARTIAL
    except OSError as error:
        # A path that the system refuses (too long a name, say): its words tell which and why.
        # A full disk behind the output has no path.
        place = f": {error.filename}" if error.filename else "; the output may be incomplete."
        print(f"error: {error.strerror or error}{place}", file=sys.stderr)
        if not error.filename:
            drop_output()
        return NOTHING_USABLE
    return status


def make_parser(describes_scale: bool = True) -> argparse.ArgumentParser:
    """Return the parser of all commands.

    Args:
        describes_scale: False leaves out the options of `scale`: what they come from takes time
            to load.
    """
    parser = argparse.ArgumentParser(
        prog="python -m archive_tools",
        description="Turn scanned pages into an image dataset for LoRA training.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_build(commands.add_parser("build", help="build a dataset from PDFs, images and books"))
    scale = commands.add_parser("scale", help="build a dataset on many processes or machines")
    if describes_scale:
        _add_scale(scale)
    _add_score(commands.add_parser("score", help="say of every page what the filter thinks of it"))
    _add_evaluate(commands.add_parser("evaluate", help="measure the filters on labelled pages"))
    _add_clean(commands.add_parser("clean", help="remove what killed runs have left in a folder"))
    return parser


def run_build(options: argparse.Namespace) -> int:
    """Build a dataset and print the report.

    Returns:
        The exit status.
    """
    run = RunOptions(options.workers, options.resume, _limits(options), keep_partial=True)
    if options.push_to_hub:
        check_hub(options.push_to_hub)
    store = open_store(options.copy_to) if options.copy_to else None
    _remove_expired(options.out)
    sources = [as_source(one) for one in options.sources]
    if options.resume and not journal_path(options.out).exists():
        print("Nothing to resume for this --out: starting anew.", file=sys.stderr)
    steps = build_dataset(sources, options.out, _config(options), run)
    report: RunReport | None = None
    with closing(steps), ProgressLine(sys.stderr) as line:
        for step in steps:
            if isinstance(step, RunReport):
                report = step
            else:
                line.show(step)
    assert report is not None
    print_failures(report, sys.stderr)
    if options.push_to_hub and report.out is not None:
        _push(report.out, options.push_to_hub)
    _copy(report, store)
    _print_json(report.to_json()) if options.json else print(summarise(report))
    return _status(report)


def run_scale(options: argparse.Namespace) -> int:
    """Build a dataset on many machines and print the report.

    Returns:
        The exit status.
    """
    from archive_tools.scale.command import scale_with_progress

    store = open_store(options.copy_to) if options.copy_to else None
    report = scale_with_progress(options, _config(options), _limits(options), sys.stderr)
    print_failures(report, sys.stderr)
    _copy(report, store)
    _print_json(report.to_json()) if options.json else print(summarise(report))
    return _status(report)


def run_score(options: argparse.Namespace) -> int:
    """Print or write the table of all pages.

    Returns:
        The exit status.
    """
    run = RunOptions(options.workers, limits=_limits(options))
    planned = plan_sources([as_source(one) for one in options.sources], leave_out=options.out)
    tally = Tally(len(planned), planned[0].name)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_score_table(options.out, sys.stdout) as table,
        closing(iter_scores(planned, _config(options), run, Path(folder, "sources"))) as steps,
        ProgressLine(sys.stderr) as line,
    ):
        for step in steps:
            if step is not None:
                tally.add(step)
            if isinstance(step, PageDone):
                table.add(step.source, step.result)
            if tally.is_progress_due():
                line.show(tally.progress())
        line.show(tally.progress())
    report = tally.report(options.out, {})
    print_failures(report, sys.stderr)
    return _status(report)


def run_evaluate(options: argparse.Namespace) -> int:
    """Print how well the filters agree with labels.

    Returns:
        The exit status.
    """
    # Here and not above: no other command needs OpenCV in this process.
    from archive_tools.evaluation import evaluate_labels

    figures = evaluate_labels(options.labels)
    _print_json(figures) if options.json else print("\n".join(flatten(figures)))
    return DONE


def run_clean(options: argparse.Namespace) -> int:
    """Remove what killed runs have left, and name it.

    Returns:
        The exit status.
    """
    count = 0
    for leftover in remove_leftovers(options.folder, options.older_than):
        count += 1
        print(f"{clean_name(leftover.out.name)}: {leftover.size_bytes / 1e6:.1f} MB removed")
    print(f"{count} unfinished datasets removed." if count else "There was nothing to remove.")
    return DONE


def _remove_expired(out: Path) -> None:
    """Remove what has waited too long to be resumed beside a dataset, and say so."""
    with suppress(OSError):  # a folder that cannot be listed is the run's own business
        for leftover in remove_leftovers(out.parent, keep=out):
            name, days = clean_name(leftover.out.name), f"{KEPT_DAYS} days"
            print(f"Removed what a killed run left of {name} over {days} ago.", file=sys.stderr)


def _add_clean(parser: argparse.ArgumentParser) -> None:
    """Describe `clean`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where datasets are made")
    parser.add_argument(
        "--older-than",
        type=_days,
        default=KEPT_DAYS,
        metavar="DAYS",
        help="leave what has changed since (default: %(default)s; 0 removes all but what a run is "
        "at work on)",
    )
    parser.set_defaults(command=run_clean, when_stopped="Stopped.")


def _days(text: str) -> float:
    """Return a number of days, which is not negative."""
    days = float(text)
    if not 0 <= days < math.inf:
        raise argparse.ArgumentTypeError("give a number of days, 0 or more")
    return days


def _add_build(parser: argparse.ArgumentParser) -> None:
    """Describe `build`."""
    parser.add_argument("--out", type=Path, required=True, help="ZIP file or folder to write")
    _add_sources(parser)
    add_picture_options(parser)
    parser.add_argument(
        "--push-to-hub",
        metavar="USER/NAME",
        help="then send the dataset to this Hugging Face repository (token from HF_TOKEN)",
    )
    _add_copy_to(parser)
    parser.add_argument(
        "--resume", action="store_true", help="continue the stopped or killed run of this --out"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(
        command=run_build,
        when_stopped="Stopped. Finished pages are kept beside --out: give the same command with "
        "--resume to go on.",
    )


def _add_scale(parser: argparse.ArgumentParser) -> None:
    """Describe `scale`."""
    from archive_tools.scale.command import add_scale_options

    parser.add_argument("--out", type=Path, required=True, help="ZIP file or folder to write")
    _add_sources(parser)
    add_picture_options(parser)
    add_scale_options(parser)
    _add_copy_to(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(
        command=run_scale,
        when_stopped="Stopped. Finished shards are kept, and so are pages put together: give the "
        "same command with --resume to go on.",
    )


def _add_copy_to(parser: argparse.ArgumentParser) -> None:
    """Describe where a finished dataset goes then."""
    parser.add_argument(
        "--copy-to",
        metavar="ADDRESS",
        help="then copy the dataset to s3://BUCKET/FOLDER or another folder, README.md last",
    )


def _copy(report: RunReport, store: ShardStore | None) -> None:
    """Copy a dataset, where that was asked for, and say where it is."""
    if store is not None and report.out is not None:
        copy_dataset(report.out, store, _tell_sent)
        print(f"\nCopied to {store.place}", file=sys.stderr)


def _tell_sent(count: int) -> None:
    """Say how many files of a dataset have been sent."""
    print(f"\r{count} files sent", end="", file=sys.stderr, flush=True)


def _push(dataset: Path, repository: str) -> None:
    """Send a dataset to the Hub and say where it is."""
    address = push_dataset(dataset, repository, _tell_sent)
    print(f"\nSent to {address}", file=sys.stderr)


def _add_score(parser: argparse.ArgumentParser) -> None:
    """Describe `score`."""
    _add_sources(parser)
    parser.add_argument("--out", type=Path, help="CSV file (default: standard output)")
    parser.set_defaults(command=run_score, when_stopped="Stopped.")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Describe `evaluate`."""
    parser.add_argument(
        "labels",
        type=Path,
        metavar="LABELS.csv",
        help="columns path, label, kind, source, regions; paths are relative to this file",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(command=run_evaluate, when_stopped="Stopped.")


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Describe what `build` and `score` share: sources, filter and limits."""
    limits = WorkerLimits()
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="PDF, image, TIFF, CBZ, EPUB or XPS file; a folder, glob or ZIP file of these. The "
        "images of one folder are the pages of one document. Or an address: of a file (https://), "
        "or of a file, a folder or a pattern (s3://, hf://datasets/USER/NAME).",
    )
    parser.add_argument(
        "--filter",
        choices=[rule.value for rule in PageFilter],
        default=DatasetConfig().filter.value,
        help="auto: keep pages with illustrations; sigma: keep pages of strong contrast; none: "
        "keep all (default: %(default)s)",
    )
    parser.add_argument(
        "--min-sigma",
        type=float,
        default=45.0,
        metavar="S",
        help="for --filter sigma (default: %(default)s)",
    )
    parser.add_argument(
        "--min-score",
        type=float,
        default=DEFAULT_MIN_SCORE,
        metavar="SHARE",
        help="auto keeps pages whose pictures cover this share (default: %(default)s)",
    )
    parser.add_argument(
        "--hide-layer",
        action="append",
        default=[],
        metavar="NAME",
        help="layer of PDFs to switch off, may be repeated",
    )
    parser.add_argument("--password", help="for encrypted files")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: as many as CPUs; 0: none)"
    )
    parser.add_argument(
        "--page-time-limit",
        type=float,
        default=limits.page_time_s,
        metavar="S",
        help="seconds after which a page is given up (default: %(default)s)",
    )
    parser.add_argument(
        "--page-memory-limit",
        type=int,
        default=limits.page_memory_mb,
        metavar="MB",
        help="memory that a page may take (default: %(default)s)",
    )


def _config(options: argparse.Namespace) -> DatasetConfig:
    """Return what decides the dataset; `score` has no options for pictures."""
    pictures = read_picture_options(options) if "fit" in options else {}
    return DatasetConfig(
        filter=PageFilter(options.filter),
        min_sigma=options.min_sigma,
        min_score=options.min_score,
        password=options.password,
        hide_layers=tuple(options.hide_layer),
        **pictures,
    )


def _limits(options: argparse.Namespace) -> WorkerLimits:
    """Return what a page may cost."""
    return WorkerLimits(options.page_time_limit, options.page_memory_limit)


def _status(report: RunReport) -> int:
    """Return the exit status of a run."""
    if report.pages.seen == report.pages.failed:
        return NOTHING_USABLE
    return DONE if report.status is RunStatus.SUCCESS else PARTIAL


def _print_json(value: dict[str, Any]) -> None:
    """Print one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
