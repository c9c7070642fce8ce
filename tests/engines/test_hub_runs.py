"""Scans and shards in a dataset repository on the Hub, against a stand-in on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from tests.engines.conftest import CONFIG
from tests.engines.hub_standin import REPOSITORY, TOKEN, Hub, serve_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serve_hub() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.address)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield served


def run(sources: str, shards: str, out: Path) -> ShardProgress:
    engine = EngineOptions(EngineKind.PROCESSES, workers=2)
    steps = list(scale_dataset([sources], out, CONFIG, ScaleOptions(engine, shards, 2)))
    return [step for step in steps if isinstance(step, ShardProgress)][-1]


def test_scans_and_shards_on_the_hub(
    hub: Hub, two_scans: Path, two_built: bytes, tmp_path: Path
) -> None:
    for name in ("a.pdf", "b/c.pdf"):
        hub.files[f"1900/{name}"] = (two_scans / name).read_bytes()
    hub.files["README.md"] = b"scans"
    there, again = tmp_path / "there.zip", tmp_path / "again.zip"
    place = f"hf://datasets/{REPOSITORY}"
    made = run(f"{place}/1900", f"{place}/shards", there)
    assert there.read_bytes() == two_built
    assert (made.shards_made, made.shards_found) == (4, 0)
    hub.reads.clear()
    found = run(f"{place}/1900", f"{place}/shards", again)
    assert again.read_bytes() == two_built
    assert (found.shards_made, found.shards_found) == (0, 4)
    assert not [path for path in hub.reads if path.startswith("1900/")]
    # A folder of shards or of scans is long: it is listed once a run, never for one of its files.
    assert hub.listed == ["", "1900"] * 2
