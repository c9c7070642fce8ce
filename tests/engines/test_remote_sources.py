"""Documents at an address: fetched whole or refused in words, one at a time, never by the page."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import boto3
import pytest

from archive_tools import remote_fetch
from archive_tools.capacity import count_usable_cpus
from archive_tools.cli import main
from archive_tools.config import DatasetConfig, PageFilter, RunOptions
from archive_tools.dataset_copy import copy_dataset
from archive_tools.errors import DatasetWriteError, SourceError, SourceUnreachableError
from archive_tools.pipeline import build_dataset
from archive_tools.remote_address import RemoteAddress
from archive_tools.remote_fetch import fetched
from archive_tools.remote_source import RemoteFile, list_remote
from archive_tools.run_report import RunReport
from archive_tools.schema import NamedFile, SourceFailure
from archive_tools.shard_store import open_store
from archive_tools.source_plan import PlannedFile, plan_sources
from archive_tools.writer import work_folder
from tests.engines.file_server import FileServer, Offer, serve_files
from tests.engines.object_store import free_port, use_objects
from tests.pdf_fixtures import blank, colour_jpeg

CONTENT = os.urandom(3 * 2**20 + 17)
BUCKET = "scans"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setattr(remote_fetch, "_FIRST_PAUSE_S", 0.001)
    with serve_files() as served:
        yield served


def fetch_one(address: str, folder: Path) -> bytes:
    [file] = list_remote(address)
    with fetched(file, folder) as path:
        content = path.read_bytes()
    assert list(folder.iterdir()) == []
    return content


def ranges(server: FileServer) -> list[str]:
    return [asked for _, asked in server.requests]


def test_a_broken_transfer_goes_on_where_it_stopped(server: FileServer, tmp_path: Path) -> None:
    server.offers["a.pdf"] = Offer(CONTENT, breaks=[2**20 + 5, 1000])
    assert fetch_one(f"{server.address}/a.pdf?key=1", tmp_path) == CONTENT
    first, second, third = ranges(server)
    assert first == ""
    # What the client has not handed on when the connection breaks is asked for again.
    assert 0 < int(second[6:-1]) <= 2**20 + 5
    assert int(second[6:-1]) <= int(third[6:-1]) <= 2**20 + 5 + 1000


@pytest.mark.parametrize("etag", ["", 'W/"weak"'])
def test_without_a_version_it_begins_anew(etag: str, server: FileServer, tmp_path: Path) -> None:
    server.offers["a.pdf"] = Offer(CONTENT, etag=etag, breaks=[2**20 + 5])
    assert fetch_one(f"{server.address}/a.pdf", tmp_path) == CONTENT
    assert ranges(server) == ["", ""]


def test_two_versions_are_never_mixed(server: FileServer, tmp_path: Path) -> None:
    changed = Offer(CONTENT[::-1], etag='"v2"')
    server.offers["a.pdf"] = Offer(CONTENT, breaks=[2**21], next_version=changed)
    assert fetch_one(f"{server.address}/a.pdf", tmp_path) == CONTENT[::-1]


def test_busy_and_moved_servers_are_followed(server: FileServer, tmp_path: Path) -> None:
    server.offers["b.pdf"] = Offer(CONTENT, statuses=[503, 429])
    server.offers["a.pdf"] = Offer(moved_to=f"{server.address}/b.pdf")
    assert fetch_one(f"{server.address}/a.pdf", tmp_path) == CONTENT


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        (None, "There is no such file at"),
        (Offer(statuses=[403]), "may not be read"),
        (Offer(statuses=[418]), "was refused"),
        (Offer(statuses=[500] * 9), "its server answers 500, 5 times"),
        (Offer(CONTENT, etag="", claimed_bytes=len(CONTENT) + 9), "cannot be fetched"),
        (Offer(moved_to="/a.pdf"), "leads nowhere"),
        (Offer(moved_to="ftp://127.0.0.1/x"), "leads nowhere"),
    ],
)
def test_what_cannot_be_fetched_is_told_without_secrets(
    offer: Offer | None, words: str, server: FileServer, tmp_path: Path
) -> None:
    if offer:
        server.offers["a.pdf"] = offer
    place = server.address.partition("://")[2]
    with pytest.raises(SourceError, match=words) as refused:
        fetch_one(f"http://me:hidden@{place}/a.pdf?signature=hidden", tmp_path)
    assert f"http://{place}/a.pdf" in str(refused.value)
    assert "hidden" not in str(refused.value)
    assert len(server.requests) <= 21
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_stops_the_run(server: FileServer, tmp_path: Path) -> None:
    server.offers["a.pdf"] = Offer(blank())
    addresses = [f"{server.address}/a.pdf", f"http://me:hidden@127.0.0.1:{free_port()}/b.pdf"]
    out = tmp_path / "set.zip"
    assert main(["build", *addresses, "--out", str(out), "--workers", "0"]) == 2
    assert not out.exists()
    with pytest.raises(SourceUnreachableError, match="cannot be reached") as lost:
        fetch_one(addresses[1], tmp_path / "work")
    assert "--resume" in str(lost.value)
    assert "hidden" not in str(lost.value)


def test_a_full_disk_is_told_before_it_is_full(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.offers["a.pdf"] = Offer(CONTENT)
    monkeypatch.setattr(remote_fetch, "LEAST_FREE_BYTES", 2**60)
    with pytest.raises(DatasetWriteError, match=r"no room to fetch a\.pdf"):
        fetch_one(f"{server.address}/a.pdf", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_remote_files_give_the_bytes_of_local_ones_and_pass_through(
    server: FileServer, tmp_path: Path
) -> None:
    names = [f"{number}.pdf" for number in range(6)]
    local = tmp_path / "local"
    local.mkdir()
    for name in names:
        content = colour_jpeg() + f"\n% {name}\n".encode()
        (local / name).write_bytes(content)
        server.offers[name] = Offer(content, breaks=[5000])
    here, there = tmp_path / "here.zip", tmp_path / "there.zip"
    counts: list[int] = []
    copies = work_folder(there)
    server.on_request = lambda: counts.append(sum(1 for _ in copies.iterdir()))
    addresses = [f"{server.address}/{name}" for name in names]
    common = ["--filter", "none", "--no-dedupe", "--workers", "0", "--out"]
    assert main(["build", *addresses, *common, str(there)]) == 0
    assert main(["build", *(str(local / name) for name in names), *common, str(here)]) == 0
    assert there.read_bytes() == here.read_bytes()
    # Those that are worked on, and the one that is being fetched.
    assert 0 < max(counts) <= max(2, count_usable_cpus()) + 1
    assert not copies.exists()


def run_for(sources: list[Path | NamedFile], out: Path) -> RunReport:
    config = DatasetConfig(filter=PageFilter.NONE)
    with closing(build_dataset(sources, out, config, RunOptions(0))) as steps:
        *_, report = steps
    assert isinstance(report, RunReport)
    return report


def test_only_the_command_line_takes_addresses(server: FileServer, tmp_path: Path) -> None:
    """What the page and the API hand over are paths and uploads, whatever their names are."""
    server.offers["a.pdf"] = Offer(blank())
    address = f"{server.address}/a.pdf"
    upload = tmp_path / "upload"
    upload.write_bytes(blank())
    for source in (Path(address), NamedFile(Path(address), "x.pdf"), NamedFile(upload, address)):
        for planned in plan_sources([source], None):
            assert isinstance(planned, SourceFailure) or planned.remote is None
    report = run_for([Path(address), Path("s3://scans/a.pdf")], tmp_path / "set.zip")
    assert report.source_failure_count == 2
    assert server.requests == []


def test_a_changed_remote_file_is_told_at_resume(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.offers["a.pdf"] = Offer(blank(2))
    out = tmp_path / "set.zip"
    lost = f"http://127.0.0.1:{free_port()}/b.pdf"
    command = ["build", f"{server.address}/a.pdf", lost, "--out", str(out), "--workers", "0"]
    assert main(command) == 2
    assert main([*command, "--resume"]) == 2
    assert "cannot be reached" in capsys.readouterr().err
    server.offers["a.pdf"] = Offer(blank(2) + b"\n", etag='"v2"')
    assert main([*command, "--resume"]) == 2
    assert "'a.pdf' has other content now" in capsys.readouterr().err


def test_a_folder_of_an_object_store_is_as_a_folder(
    object_address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use_objects(monkeypatch, object_address)
    store = boto3.client("s3")
    store.create_bucket(Bucket=BUCKET)
    local = tmp_path / "scans"
    for name in ("b.pdf", "a/z.pdf", "a/b/c.pdf", "a.pdf", ".hidden.pdf", "note.txt"):
        content = colour_jpeg() + f"\n% {name}\n".encode()
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        (local / name).write_bytes(content)
        store.put_object(Bucket=BUCKET, Key=f"1900/{name}", Body=content)
    assert [file.name for file in list_remote(f"s3://{BUCKET}/1900")] == [
        one.name for one in plan_sources([local], None) if isinstance(one, PlannedFile)
    ]
    matched = list_remote(f"s3://{BUCKET}/1900/*.pdf")
    assert [file.name for file in matched] == ["a.pdf", "b.pdf"]
    common = ["--filter", "none", "--no-dedupe", "--workers", "0", "--out"]
    here, there = tmp_path / "here.zip", tmp_path / "there.zip"
    assert main(["build", str(local), *common, str(here)]) == 0
    assert main(["build", f"s3://{BUCKET}/1900", *common, str(there)]) == 0
    assert there.read_bytes() == here.read_bytes()
    capsys.readouterr()
    assert main(["build", f"s3://{BUCKET}/1901/", *common, str(there)]) == 2
    assert f"There is no PDF and no other book at s3://{BUCKET}/1901/" in capsys.readouterr().err
    for name in ("a.png", "b.JPG", "plates/1.jpg", ".thumbs/1.jpg"):
        store.put_object(Bucket=BUCKET, Key=f"1902/{name}", Body=b"x")
    images = plan_sources([RemoteAddress(f"s3://{BUCKET}/1902")], None)
    refused = [(one.name, one.message) for one in images if isinstance(one, SourceFailure)]
    assert [name for name, _ in refused] == ["1902", "plates"]
    assert len(images) == 2
    assert "(2 here). Download the folder" in refused[0][1]


def test_a_dataset_is_copied_to_an_object_store(
    object_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_objects(monkeypatch, object_address)
    boto3.client("s3").create_bucket(Bucket="datasets")
    scan, out = tmp_path / "a.pdf", tmp_path / "set"
    scan.write_bytes(colour_jpeg())
    common = ["--filter", "none", "--workers", "0", "--format", "webdataset", "--out", str(out)]
    assert main(["build", str(scan), *common, "--copy-to", "s3://datasets/plates"]) == 0
    store = open_store("s3://datasets/plates")
    local = {one.relative_to(out).as_posix(): one for one in out.rglob("*") if one.is_file()}
    assert list(store.names()) == sorted(local)
    for name, path in local.items():
        with store.open(name) as copy:
            assert copy.read() == path.read_bytes()
    # What could not be copied has no README.md: that file comes last.
    sent: list[int] = []
    gone = open_store("s3://no-such-bucket/x")
    with pytest.raises(DatasetWriteError):
        copy_dataset(out, gone, sent.append)
    assert sent == []
    written = [*order_of_writing(out, tmp_path / "copy")]
    assert written[-1] == "README.md"
    assert sorted(written) == sorted(local)


def order_of_writing(dataset: Path, copy: Path) -> Iterator[str]:
    seen: set[str] = set()
    names: list[str] = []

    def look(_: int) -> None:
        there = set(open_store(copy).names())
        names.extend(there - seen)
        seen.update(there)

    copy_dataset(dataset, open_store(copy), look)
    yield from names


def test_an_object_that_has_gone_is_a_failure(
    object_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_objects(monkeypatch, object_address)
    with (
        pytest.raises(SourceError, match="There is no such file at s3://gone/a"),
        fetched(RemoteFile("s3://gone/a.pdf", "a.pdf"), tmp_path),
    ):
        pass


def test_addresses_that_nobody_knows_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("ssh://host/a.pdf", "file:///etc/passwd", "zip::https://host/a.zip"):
        assert main(["build", address, "--out", "x.zip"]) == 2
        assert "cannot be opened. Known are" in capsys.readouterr().err
