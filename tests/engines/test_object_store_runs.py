"""A run whose scans and shards both lie in an object store, from workers in other processes."""

import re
from collections import Counter
from pathlib import Path

import boto3
import pytest

from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.shard_store import open_store
from tests.engines.conftest import CONFIG
from tests.engines.object_store import serve_objects, use_objects
from tests.pdf_fixtures import colour_jpeg

BUCKET = "library"


def test_scans_and_shards_in_an_object_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scans").mkdir()
    log = tmp_path / "requests"
    with serve_objects(log) as address:
        use_objects(monkeypatch, address)
        store = boto3.client("s3")
        store.create_bucket(Bucket=BUCKET)
        for name in ("a.pdf", "b.pdf"):
            content = colour_jpeg(pages=3) + name.encode()
            (tmp_path / "scans" / name).write_bytes(content)
            store.put_object(Bucket=BUCKET, Key=f"in/{name}", Body=content)
        engine = EngineOptions(EngineKind.PROCESSES, workers=2)

        def run(sources: str, shards: str, out: Path) -> ShardProgress:
            options = ScaleOptions(engine, shards, pages_per_shard=2)
            steps = list(scale_dataset([sources], out, CONFIG, options))
            return [step for step in steps if isinstance(step, ShardProgress)][-1]

        here, there = tmp_path / "here.zip", tmp_path / "there.zip"
        run(str(tmp_path / "scans"), str(tmp_path / "shards"), here)
        made = run(f"s3://{BUCKET}/in", f"s3://{BUCKET}/shards", there)
        assert there.read_bytes() == here.read_bytes()
        assert (made.shards_made, made.shards_found) == (4, 0)
        shards = open_store(f"s3://{BUCKET}/shards").names()
        kept = [name for name in shards if name.endswith(".tar")]
        assert kept == list(open_store(tmp_path / "shards").names())
        assert len(kept) == 4
        # What is known of b.pdf is enough; a.pdf is another one now.
        changed = colour_jpeg(pages=3) + b"changed"
        (tmp_path / "scans" / "a.pdf").write_bytes(changed)
        store.put_object(Bucket=BUCKET, Key="in/a.pdf", Body=changed)
        before = count_reads(log)
        run(f"s3://{BUCKET}/in", f"s3://{BUCKET}/shards", tmp_path / "there2.zip")
        run(str(tmp_path / "scans"), str(tmp_path / "shards"), tmp_path / "here2.zip")
        assert (tmp_path / "there2.zip").read_bytes() == (tmp_path / "here2.zip").read_bytes()
        reads = count_reads(log) - before
        assert (reads["a.pdf"], reads["b.pdf"]) == (1, 0)


def count_reads(log: Path) -> Counter[str]:
    """Count how often content of each scan was asked for."""
    return Counter(re.findall(r"GET /library/in/([ab]\.pdf)", log.read_text()))
