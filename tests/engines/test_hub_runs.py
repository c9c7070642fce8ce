"""Scans and shards in a dataset repository on the Hub, against a stand-in on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from tests.engines.conftest import CONFIG
from tests.engines.hub_standin import REPOSITORY, TOKEN, Hub, serve_hub
from tests.pdf_fixtures import colour_jpeg


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


def test_scans_and_shards_on_the_hub(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "scans" / "b").mkdir(parents=True)
    for name in ("a.pdf", "b/c.pdf"):
        content = colour_jpeg(pages=3) + name.encode()
        (tmp_path / "scans" / name).write_bytes(content)
        hub.files[f"1900/{name}"] = content
    hub.files["README.md"] = b"scans"
    here, there, again = (tmp_path / f"{name}.zip" for name in ("here", "there", "again"))
    run(str(tmp_path / "scans"), str(tmp_path / "shards"), here)
    place = f"hf://datasets/{REPOSITORY}"
    made = run(f"{place}/1900", f"{place}/shards", there)
    assert there.read_bytes() == here.read_bytes()
    assert (made.shards_made, made.shards_found) == (4, 0)
    hub.reads.clear()
    found = run(f"{place}/1900", f"{place}/shards", again)
    assert again.read_bytes() == here.read_bytes()
    assert (found.shards_made, found.shards_found) == (0, 4)
    assert not [path for path in hub.reads if path.startswith("1900/")]
    # A folder of shards or of scans is long: it is listed once a run, never for one of its files.
    assert hub.listed == ["", "1900"] * 2
