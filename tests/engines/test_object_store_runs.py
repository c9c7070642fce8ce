"""A run whose scans and shards both lie in an object store, from workers in other processes."""

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
    with serve_objects() as address:
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
        assert made.shards_made + made.shards_found in (0, 4)
        kept = list(open_store(f"s3://{BUCKET}/shards").names())
        assert kept == list(open_store(tmp_path / "shards").names())
        assert len(kept) == 4
