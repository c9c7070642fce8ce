"""Every engine on a real cluster: the bytes of `build`, whatever happens to the workers."""

from pathlib import Path

import pytest

from archive_tools.run_report import RunReport
from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from tests.engines.conftest import CONFIG


@pytest.fixture(params=list(EngineKind))
def engine(request: pytest.FixtureRequest) -> EngineOptions:
    """Each engine with two workers."""
    kind = request.param
    if kind is EngineKind.PROCESSES:
        return EngineOptions(kind, workers=2)
    return EngineOptions(kind, request.getfixturevalue(f"{kind.value}_address"))


def run_scale(scans: Path, out: Path, engine: EngineOptions) -> tuple[RunReport, ShardProgress]:
    """Carry out a run; returns its report and the last state of its shards."""
    options = ScaleOptions(engine, str(out.with_name("shards")), pages_per_shard=2)
    steps = list(scale_dataset([str(scans)], out, CONFIG, options))
    report = steps[-1]
    assert isinstance(report, RunReport)
    return report, [step for step in steps if isinstance(step, ShardProgress)][-1]


def test_bytes_are_those_of_build(
    engine: EngineOptions, scans: Path, built: bytes, tmp_path: Path
) -> None:
    report, shards = run_scale(scans, tmp_path / "dataset.zip", engine)
    assert (tmp_path / "dataset.zip").read_bytes() == built
    assert (shards.shards_made, shards.shards_found) == (3, 0)
    assert report.pages.seen == shards.pages.seen == 10
    # In another order of workers, and from the shards alone: the same once more.
    _, again = run_scale(scans, tmp_path / "again.zip", engine)
    assert (tmp_path / "again.zip").read_bytes() == built
    assert (again.shards_made, again.shards_found) == (0, 3)
