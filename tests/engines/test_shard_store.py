"""Where shards are kept: whole files or none, in a folder and in an object store."""

import os
import pickle
import sys
from pathlib import Path

import boto3
import pytest

from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.shard_store import ShardStore, open_store
from tests.engines.object_store import use_objects

BUCKET = "shards"


@pytest.fixture(params=["folder", "s3"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ShardStore:
    if request.param == "folder":
        return open_store(tmp_path / "made" / "later")
    use_objects(monkeypatch, request.getfixturevalue("object_address"))
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    return open_store(f"s3://{BUCKET}/{tmp_path.name}/run")


def write(store: ShardStore, name: str, content: bytes, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(content)
    store.write_atomic(name, local)
    assert local.read_bytes() == content


def read(store: ShardStore, name: str) -> bytes:
    with store.open(name) as file:
        return file.read()


def test_a_store_gives_back_what_was_written(store: ShardStore, tmp_path: Path) -> None:
    assert list(store.names()) == []
    assert not store.exists("b.tar")
    with pytest.raises(FileNotFoundError):
        store.open("b.tar")
    content = os.urandom(6 * 2**20)
    write(store, "b.tar", content, tmp_path)
    write(store, "a/10.tar", b"ten", tmp_path)
    write(store, "a/9.tar", b"nine", tmp_path)
    assert list(store.names()) == ["a/10.tar", "a/9.tar", "b.tar"]
    assert store.exists("a/9.tar")
    assert not store.exists("a")
    assert read(store, "b.tar") == content
    write(store, "b.tar", b"new", tmp_path)
    assert read(store, "b.tar") == b"new"


def test_a_store_goes_to_other_processes(store: ShardStore, tmp_path: Path) -> None:
    write(store, "one", b"1", tmp_path)
    there: ShardStore = pickle.loads(pickle.dumps(store))
    assert read(there, "one") == b"1"


def test_what_was_not_finished_is_not_there(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    # What a killed worker leaves.
    (tmp_path / ".part-x1").write_bytes(b"half")
    assert list(store.names()) == []
    with pytest.raises(DatasetWriteError, match=r"one\.tar cannot be written in"):
        store.write_atomic("one.tar", tmp_path / "missing")
    assert not store.exists("one.tar")
    assert [path.name for path in tmp_path.iterdir()] == [".part-x1"]


def test_a_store_that_refuses_says_so_without_secrets(
    object_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_objects(monkeypatch, object_address)
    local = tmp_path / "local"
    local.write_bytes(b"x")
    store = open_store("s3://no-such-bucket/run")
    with pytest.raises(DatasetWriteError, match="a cannot be written in s3://no-such-bucket"):
        store.write_atomic("a", local)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:hidden@127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(DatasetWriteError) as refused:
        open_store("s3://elsewhere/run").write_atomic("a", local)
    assert "hidden" not in str(refused.value)


def test_places_that_cannot_be_written_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOptionError, match=r"written to https://example\.org/x\. Give a fol"):
        open_store("https://me:secret@example.org/x?sig=secret")
    for unknown in ("simplecache::s3://b/x", "file:///etc", "ssh://host/x"):
        with pytest.raises(InvalidOptionError, match="cannot be opened"):
            open_store(unknown)
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(InvalidOptionError, match="gs:// needs the package gcsfs"):
        open_store("gs://bucket/x")
