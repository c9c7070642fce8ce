"""A run whose scans and shards both lie in an object store, from workers in other processes."""

import re
import shutil
from collections import Counter
from pathlib import Path

import boto3
import pytest

from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.shard_store import open_store
from tests.engines.conftest import CONFIG, build_plainly
from tests.engines.object_store import use_objects
from tests.pdf_fixtures import colour_jpeg

BUCKET = "library"


def run(sources: str, shards: str, out: Path) -> ShardProgress:
    options = ScaleOptions(EngineOptions(EngineKind.PROCESSES, workers=2), shards, 2)
    steps = list(scale_dataset([sources], out, CONFIG, options))
    return [step for step in steps if isinstance(step, ShardProgress)][-1]


def test_scans_and_shards_in_an_object_store(
    object_address: str,
    object_log: Path,
    two_scans: Path,
    two_built: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_objects(monkeypatch, object_address)
    store = boto3.client("s3")
    store.create_bucket(Bucket=BUCKET)
    for name in ("a.pdf", "b/c.pdf"):
        content = (two_scans / name).read_bytes()
        store.put_object(Bucket=BUCKET, Key=f"in/{name}", Body=content)
    made = run(f"s3://{BUCKET}/in", f"s3://{BUCKET}/shards", tmp_path / "there.zip")
    assert (tmp_path / "there.zip").read_bytes() == two_built
    assert (made.shards_made, made.shards_found) == (4, 0)
    kept = [name.rpartition(".")[2] for name in open_store(f"s3://{BUCKET}/shards").names()]
    assert sorted(kept) == ["json"] * 2 + ["tar"] * 4
    # What is known of c.pdf is enough; a.pdf is another one now.
    changed = colour_jpeg(pages=3) + b"changed"
    scans = shutil.copytree(two_scans, tmp_path / "scans")
    (scans / "a.pdf").write_bytes(changed)
    store.put_object(Bucket=BUCKET, Key="in/a.pdf", Body=changed)
    before = count_reads(object_log)
    run(f"s3://{BUCKET}/in", f"s3://{BUCKET}/shards", tmp_path / "again.zip")
    there = (tmp_path / "again.zip").read_bytes()
    assert there == build_plainly(scans, tmp_path / "plain.zip") != two_built
    reads = count_reads(object_log) - before
    assert (reads["a.pdf"], reads["b/c.pdf"]) == (1, 0)


def count_reads(log: Path) -> Counter[str]:
    """Count how often content of each scan was asked for."""
    return Counter(re.findall(r"GET /library/in/(\S+\.pdf)", log.read_text()))
