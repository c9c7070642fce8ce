"""Every engine on a real cluster: the bytes of `build`, whatever happens to the workers.

One file, so that each cluster is started once.
"""

import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path

import dask
import psutil
import pytest

from archive_tools.errors import EngineError
from archive_tools.run_report import RunReport
from archive_tools.scale import dask_engine, ray_engine
from archive_tools.scale.choose_engine import open_engine
from archive_tools.scale.dispatch import Dispatcher, ShardProgress
from archive_tools.scale.documents import DocumentLedger, iter_documents
from archive_tools.scale.engines import EngineKind, EngineOptions, Work
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.scale.tasks import ShardOptions, hash_options
from archive_tools.shard_store import open_store
from tests.commands import REPOSITORY, build_command
from tests.engines.conftest import CONFIG
from tests.engines.lost_workers import lose_one_worker, lose_worker_on_page

# CONFIG in the words of the command line.
WORDS = ("--filter", "none", "--size", "256", "--min-size", "0", "--pages-per-shard", "1")
PROCESSES = EngineOptions(EngineKind.PROCESSES, workers=2)
# Where shards are only looked at again: one process less to start.
ONE_PROCESS = EngineOptions(EngineKind.PROCESSES, workers=1)


@pytest.fixture(params=list(EngineKind))
def engine(request: pytest.FixtureRequest) -> EngineOptions:
    """Each engine with two workers."""
    kind = request.param
    if kind is EngineKind.PROCESSES:
        return PROCESSES
    return EngineOptions(kind, request.getfixturevalue(f"{kind.value}_address"))


def run_scale(
    scans: Path, out: Path, engine: EngineOptions, pages_per_shard: int = 2
) -> tuple[RunReport, ShardProgress]:
    """Carry out a run; returns its report and the last state of its shards."""
    options = ScaleOptions(engine, str(out.with_name("shards")), pages_per_shard)
    steps = list(scale_dataset([str(scans)], out, CONFIG, options))
    report = steps[-1]
    assert isinstance(report, RunReport)
    return report, [step for step in steps if isinstance(step, ShardProgress)][-1]


def make_options(folder: Path, pages_per_shard: int) -> ShardOptions:
    limits = ScaleOptions(PROCESSES, "").limits
    shards = str(folder / "shards")
    return ShardOptions(CONFIG, limits, shards, hash_options(CONFIG), pages_per_shard)


def make_shards(
    scans: Path, options: ShardOptions, engine: EngineOptions, work: Work
) -> ShardProgress:
    """Make the shards of a run with work of our own; returns the last state."""
    with tempfile.TemporaryFile() as file, open_engine(engine, work) as opened:
        documents = iter_documents([str(scans)], Path(options.store))
        store = open_store(options.store)
        *_, last = Dispatcher(opened, documents, options, store, DocumentLedger(file))
    return last


def test_bytes_are_those_of_build(
    engine: EngineOptions, scans: Path, built: bytes, tmp_path: Path
) -> None:
    report, shards = run_scale(scans, tmp_path / "dataset.zip", engine)
    assert (tmp_path / "dataset.zip").read_bytes() == built
    assert (shards.shards_made, shards.shards_found) == (6, 0)
    assert report.pages.seen == shards.pages.seen == 10


def test_killed_worker_changes_nothing(
    engine: EngineOptions, scans: Path, built: bytes, tmp_path: Path
) -> None:
    options = make_options(tmp_path, pages_per_shard=2)
    work = partial(lose_one_worker, options, tmp_path / "mark", os.getpid())
    shards = make_shards(scans, options, engine, work)
    assert (tmp_path / "mark").exists()
    # What a worker had finished just before is asked for again, and found.
    assert shards.shards_made + shards.shards_found == 6
    assert shards.pages.failed == 0
    _, again = run_scale(scans, tmp_path / "dataset.zip", ONE_PROCESS)
    assert (again.shards_made, again.shards_found) == (0, 6), "another engine finds them"
    assert (tmp_path / "dataset.zip").read_bytes() == built


@pytest.mark.parametrize("kind", [EngineKind.DASK, EngineKind.RAY])
def test_page_that_kills_every_worker_is_recorded_as_failed(
    kind: EngineKind, scans: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # A Dask cluster of our own, since another's may try a task several times by itself.
    address = request.getfixturevalue("ray_address") if kind is EngineKind.RAY else None
    options = make_options(tmp_path, pages_per_shard=2)
    sha256 = hashlib.sha256((scans / "a.pdf").read_bytes()).hexdigest()
    work = partial(lose_worker_on_page, options, sha256, 3)
    shards = make_shards(scans / "a.pdf", options, EngineOptions(kind, address, 2), work)
    assert (shards.pages.seen, shards.pages.failed) == (5, 1)
    # The page costs a handful of tries, and each may take a neighbour waiting on its worker along.
    assert shards.losses <= 14
    report, again = run_scale(scans / "a.pdf", tmp_path / "dataset.zip", ONE_PROCESS)
    assert again.shards_made == 0, "what is known of the page stays known"
    assert report.pages.failed == 1
    with zipfile.ZipFile(tmp_path / "dataset.zip") as dataset:
        table = dataset.read("manifest/pages.csv").decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    failed = [(row["page_number"], row["reason"]) for row in rows if row["decision"] == "failed"]
    assert failed == [("4", "its worker process died each time")]


def start_scale(scans: Path, out: Path, *engine: str) -> psutil.Popen:
    """Start the command with a shard for each page."""
    shards = out.with_name("shards")
    words = (scans, "--out", out, "--shards", shards, *WORDS, *engine)
    return psutil.Popen(
        build_command("archive_tools", "scale", *map(str, words)),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_shard(out: Path, process: psutil.Popen) -> None:
    give_up_s = time.monotonic() + 90
    while not list(out.with_name("shards").glob("*.tar")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up_s
        time.sleep(0.002)


def end(processes: Sequence[psutil.Popen]) -> None:
    for process in processes:
        process.kill()
        process.communicate()


def test_run_goes_on_after_its_driver_was_killed(
    scans: Path, built: bytes, tmp_path: Path, ray_address: str
) -> None:
    out = tmp_path / "dataset.zip"
    driver = start_scale(scans, out, "--engine", "ray", "--address", ray_address)
    wait_for_shard(out, driver)
    driver.kill()
    driver.communicate()
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]
    _, shards = run_scale(scans, out, EngineOptions(EngineKind.RAY, ray_address), 1)
    assert shards.shards_found >= 1
    assert out.read_bytes() == built


def test_run_goes_on_after_the_scheduler_was_killed(
    scans: Path, built: bytes, tmp_path: Path, dask_address: str
) -> None:
    out, place = tmp_path / "dataset.zip", str(tmp_path / "scheduler.json")
    common = ("--scheduler-file", place, "--no-dashboard")
    scheduler = psutil.Popen(
        build_command("distributed.cli.dask_scheduler", "--port", "0", *common),
        cwd=REPOSITORY, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    worker = psutil.Popen(
        build_command("distributed.cli.dask_worker", "--no-nanny", "--nthreads", "2", *common),
        cwd=REPOSITORY, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        give_up_s = time.monotonic() + 60
        while not Path(place).exists():
            assert time.monotonic() < give_up_s
            time.sleep(0.05)
        address = json.loads(Path(place).read_text())["address"]
        driver = start_scale(scans, out, "--engine", "dask", "--address", address)
        wait_for_shard(out, driver)
        scheduler.kill()
        _, errors = driver.communicate(timeout=60)
    finally:
        end((scheduler, worker))
    assert driver.returncode == 2, errors
    assert "scheduler has gone" in errors
    assert not out.exists()
    _, shards = run_scale(scans, out, EngineOptions(EngineKind.DASK, dask_address), 1)
    assert shards.shards_found >= 1
    assert out.read_bytes() == built


def test_interrupt_ends_in_order(scans: Path, built: bytes, tmp_path: Path) -> None:
    out = tmp_path / "dataset.zip"
    driver = start_scale(scans, out, "--workers", "2")
    wait_for_shard(out, driver)
    workers = driver.children()
    # As a terminal does: to everything that was started from it.
    os.killpg(driver.pid, signal.SIGINT)
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "Finished shards are kept" in errors
    assert "Traceback" not in errors
    assert not any(worker.is_running() for worker in workers)
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]
    assert all(path.suffix == ".tar" for path in (tmp_path / "shards").iterdir())
    _, shards = run_scale(scans, out, ONE_PROCESS, 1)
    assert shards.shards_found >= 1
    assert out.read_bytes() == built


def test_signals_stay_ours() -> None:
    """Dask's workers would end at Ctrl-C with a traceback each, and Ray at SIGTERM with a page."""
    with dask_engine._without_interrupts():
        # What is done again before each worker is started.
        resource_tracker.ensure_running()
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    ours = signal.getsignal(signal.SIGTERM)
    with ray_engine._own_signals():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) is ours


def test_address_that_does_not_answer_is_explained(tmp_path: Path) -> None:
    engine = EngineOptions(EngineKind.DASK, "tcp://127.0.0.1:9")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(EngineError, match=r"answers at tcp://127\.0\.0\.1:9"),
    ):
        run_scale(tmp_path, tmp_path / "dataset.zip", engine)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_missing_package_is_named(
    kind: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EngineError, match=rf"pip install -r requirements-{kind}\.txt"):
        run_scale(tmp_path, tmp_path / "dataset.zip", EngineOptions(EngineKind(kind)))
    assert (REPOSITORY / f"requirements-{kind}.txt").is_file()
