"""Runs that share their shards, and one that was stopped while they were put together."""

import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from archive_tools import pipeline
from archive_tools.run_report import Progress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.shard_store import open_store
from tests.engines.conftest import CONFIG

ONE_PROCESS = EngineOptions(EngineKind.PROCESSES, workers=1)


def run(scans: Path, out: Path, resume: bool = False) -> Generator[object, None, None]:
    shards = str(out.with_name("shards"))
    scale = ScaleOptions(ONE_PROCESS, shards, pages_per_shard=1, resume=resume)
    return scale_dataset([str(scans)], out, CONFIG, scale)


def test_two_runs_at_once_share_their_shards(
    two_scans: Path, two_built: bytes, tmp_path: Path
) -> None:
    places = [tmp_path / "first.zip", tmp_path / "second.zip"]
    threads = [threading.Thread(target=lambda out=out: list(run(two_scans, out))) for out in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [out.read_bytes() for out in places] == [two_built] * 2
    kept = sorted(path.name for path in (tmp_path / "shards").iterdir())
    assert kept == list(open_store(tmp_path / "shards").names()), "nothing unfinished is left"
    assert len(kept) == 6


def test_what_was_put_together_is_gone_on_with(
    two_scans: Path, two_built: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PROGRESS_EVERY_S", 0.0)
    out = tmp_path / "dataset.zip"
    with closing(run(two_scans, out)) as steps:
        next(step for step in steps if isinstance(step, Progress) and step.pages.seen == 3)
    assert not out.exists()
    steps = run(two_scans, out, resume=True)
    assert min(step.pages.seen for step in steps if isinstance(step, Progress)) == 3
    assert out.read_bytes() == two_built
