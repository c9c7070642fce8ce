"""A remote document that earlier runs have seen is not fetched again, unless it has changed."""

import hashlib
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from archive_tools.remote_source import RemoteFile
from archive_tools.remote_version import ask_version
from archive_tools.run_report import RunReport
from archive_tools.scale.dispatch import ShardProgress
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.known_documents import KnownDocuments
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.scale.tasks import DocumentFound
from archive_tools.shard_store import open_store
from tests.engines.conftest import CONFIG
from tests.engines.file_server import FileServer, Offer, serve_files
from tests.pdf_fixtures import colour_jpeg

OLD, NEW = "Mon, 02 Nov 2020 10:00:00 GMT", "Tue, 03 Nov 2020 10:00:00 GMT"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serve_files() as served:
        yield served


class Archive:
    """Runs over the same shards, into one dataset after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def run(self, *sources: str) -> tuple[bytes, ShardProgress]:
        self.count += 1
        out = self.folder / f"{self.count}.zip"
        engine = EngineOptions(EngineKind.PROCESSES, workers=1)
        options = ScaleOptions(engine, str(self.folder / "shards"), pages_per_shard=2)
        steps = list(scale_dataset(sources, out, CONFIG, options))
        assert isinstance(steps[-1], RunReport)
        return out.read_bytes(), [one for one in steps if isinstance(one, ShardProgress)][-1]


def test_only_what_has_changed_is_fetched_again(server: FileServer, tmp_path: Path) -> None:
    content = colour_jpeg(pages=3)
    server.offers |= {
        "named.pdf": Offer(content),
        "dated.pdf": Offer(content + b"\n% b", etag="", modified=OLD),
        "unknown.pdf": Offer(content + b"\n% c", etag='W/"1"'),
    }
    secret = f"{server.address}/named.pdf?key=very-secret"
    sources = [secret, f"{server.address}/dated.pdf", f"{server.address}/unknown.pdf"]
    archive = Archive(tmp_path)

    def run() -> tuple[bytes, ShardProgress, list[str]]:
        server.requests.clear()
        dataset, shards = archive.run(*sources)
        return dataset, shards, [path for path, _ in server.requests]

    first, made, fetched = run()
    assert fetched == ["named.pdf", "dated.pdf", "unknown.pdf"]
    assert (made.shards_made, made.shards_found) == (6, 0)
    kept = [path for path in (tmp_path / "shards").rglob("*") if path.is_file()]
    assert len([path for path in kept if path.suffix == ".json"]) == 2
    assert not any(b"secret" in path.read_bytes() or "secret" in path.name for path in kept)

    server.offers["named.pdf"] = Offer(content + b"\n% changed", etag='"v2"')
    second, made, fetched = run()
    assert fetched == ["named.pdf", "unknown.pdf"]
    assert (made.shards_made, made.shards_found) == (2, 4)
    assert made.pages.seen == 9
    assert second != first

    # Half a shard that was cut in two, with the other half missing, is not taken for all of it.
    server.offers["dated.pdf"] = Offer(content + b"\n% d", etag="", modified=NEW)
    sha256 = hashlib.sha256(server.offers["named.pdf"].content).hexdigest()
    [cut] = (tmp_path / "shards").glob(f"{sha256}-*0-*2-*.tar")
    cut.rename(cut.with_suffix(".split"))
    third, made, fetched = run()
    assert fetched == ["named.pdf", "dated.pdf", "unknown.pdf"]
    assert (made.shards_made, made.shards_found) == (4, 3)
    assert third != second


def test_a_damaged_note_is_none(tmp_path: Path) -> None:
    known = KnownDocuments(open_store(tmp_path), "options")
    file, found = RemoteFile("s3://a/b.pdf", "b.pdf"), DocumentFound(64 * "a", 3)
    assert known.recall(file, "v1") is None
    known.remember(file, "v1", found)
    assert known.recall(file, "v1") == found
    assert known.recall(RemoteFile("s3://me:secret@a/b.pdf", "b.pdf"), "v1") == found
    assert known.recall(file, "v2") is None
    assert KnownDocuments(open_store(tmp_path), "others").recall(file, "v1") is None
    [note] = (tmp_path / "documents").iterdir()
    note.write_bytes(note.read_bytes().replace(b'"page_count":3', b'"page_count":1'))
    assert known.recall(file, "v1") is None


def test_what_is_no_safe_version(server: FileServer) -> None:
    file = RemoteFile(f"{server.address}/a.pdf", "a.pdf")
    assert ask_version(file) == ""
    assert ask_version(RemoteFile("http://127.0.0.1:9/a.pdf", "a.pdf")) == ""
    assert ask_version(RemoteFile("http://[", "a.pdf")) == ""
    for etag, modified in (("", ""), ('W/"1"', ""), ("", "soon"), ("", formatdate(usegmt=True))):
        server.offers["a.pdf"] = Offer(b"x", etag=etag, modified=modified)
        assert ask_version(file) == ""
