"""Bad files on both command lines: named, explained, and never at the cost of the good ones."""

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.commands import CommandResult, count_pages, run_command
from tests.sample_files import (
    BAD_PDFS,
    BAD_PHOTOS,
    draw_photo,
    write_bad_pdf,
    write_bad_photo,
    write_pdf,
)

SIGMA = ["--filter", "sigma", "--json"]
# A word of the advice that each kind of bad file asks for.
PDF_ADVICE = {
    "not_a_pdf": r"(?i)\bpdf\b",
    "encrypted": r"(?i)password",
    "truncated": r"(?i)damaged|broken|truncated|incomplete|cut|missing",
    "no_pages": r"(?i)no pages?|0 pages|without pages?",
    "absurd_mediabox": r"(?i)large|big|size|pixels|limit",
    "empty": r"(?i)empty|no bytes|0 bytes",
}


def find_sentences(text: str, name: str) -> str:
    """Return the lines of `text` that name the file, or an empty string."""
    return "\n".join(line for line in text.splitlines() if name in line)


@pytest.mark.parametrize("kind", BAD_PDFS)
def test_bad_pdf_is_named_and_the_good_one_is_built(kind: str, tmp_path: Path) -> None:
    good = write_pdf(tmp_path / "good.pdf", ["engraving", "blank"], seed=77)
    bad, out = write_bad_pdf(tmp_path, kind), tmp_path / "out" / "d.zip"
    out.parent.mkdir()

    ended = run_command("archive_tools", "build", bad, good, "--out", out, *SIGMA)

    assert ended.status == 1, ended.everything
    assert "Traceback" not in ended.everything
    report = ended.read_json()
    assert report["status"] == "partial"
    seen, kept, dropped, failed = count_pages(report)
    assert kept >= 1
    assert seen == kept + dropped + failed
    failures = json.dumps(report["source_failures"] + report["page_failures"])
    assert bad.name in failures
    assert str(tmp_path) not in failures
    with zipfile.ZipFile(out) as archive:
        pages = list(csv.DictReader(io.StringIO(archive.read("manifest/pages.csv").decode())))
    assert [page["decision"] for page in pages if page["file"] == "good.pdf"] == ["kept", "dropped"]
    assert len(pages) == seen


def test_halved_pdf_gives_what_is_whole_and_says_so(tmp_path: Path) -> None:
    halved, out = write_bad_pdf(tmp_path, "halved"), tmp_path / "d.zip"
    ended = run_command("archive_tools", "build", halved, "--out", out, *SIGMA)
    assert ended.status == 1, ended.everything
    report = ended.read_json()
    assert report["status"] == "partial"
    assert halved.name in json.dumps(report["source_failures"] + report["page_failures"])
    assert report["pages_kept"] < 3


@pytest.mark.parametrize("kind", sorted(set(BAD_PDFS) - {"halved"}))
def test_bad_pdf_alone_leaves_no_zip(kind: str, tmp_path: Path) -> None:
    bad, out = write_bad_pdf(tmp_path, kind), tmp_path / "out" / "d.zip"
    out.parent.mkdir()

    ended = run_command("archive_tools", "build", bad, "--out", out)

    assert ended.status == 2, ended.everything
    assert "Traceback" not in ended.everything
    message = find_sentences(ended.stderr, bad.name)
    assert re.search(PDF_ADVICE[kind], message), ended.stderr
    assert list(out.parent.iterdir()) == []


def test_right_password_opens_the_locked_file(tmp_path: Path) -> None:
    locked, out = write_bad_pdf(tmp_path, "encrypted"), tmp_path / "d.zip"
    ended = run_command(
        "archive_tools", "build", locked, "--out", out, "--password", "sesame", "--json"
    )
    assert ended.status == 0, ended.stderr
    assert count_pages(ended.read_json()) == (1, 1, 0, 0)
    assert b"sesame" not in out.read_bytes()
    assert "sesame" not in ended.everything


def test_score_goes_on_after_a_bad_pdf(tmp_path: Path) -> None:
    good, bad = (
        write_pdf(tmp_path / "good.pdf", ["engraving"]),
        write_bad_pdf(tmp_path, "encrypted"),
    )
    ended = run_command("archive_tools", "score", bad, good)
    assert ended.status == 1
    assert [row["file"] for row in csv.DictReader(io.StringIO(ended.stdout))] == ["good.pdf"]
    assert bad.name in ended.stderr


@pytest.fixture(scope="module")
def mixed_scan(tmp_path_factory: pytest.TempPathFactory) -> CommandResult:
    """One triage of a good photo among every kind of bad one."""
    folder = tmp_path_factory.mktemp("photos")
    bad = [write_bad_photo(folder, kind) for kind in BAD_PHOTOS]
    good = draw_photo(folder / "cow.jpg")
    return run_command("vetscanner", "triage", bad[0], good, *bad[1:], "--json")


def test_good_photo_among_bad_ones_is_still_looked_at(mixed_scan: CommandResult) -> None:
    assert mixed_scan.status == 1, mixed_scan.everything
    report = mixed_scan.read_json()
    cow = next(photo for photo in report["photos"] if photo["name"] == "cow.jpg")
    assert sum(cow["probabilities"].values()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("kind", BAD_PHOTOS)
def test_every_bad_photo_is_named(kind: str, mixed_scan: CommandResult) -> None:
    assert BAD_PHOTOS[kind] in mixed_scan.everything
    assert "Traceback" not in mixed_scan.everything


@pytest.mark.parametrize("kind", sorted(set(BAD_PHOTOS) - {"one_pixel"}))
def test_unreadable_photo_alone_ends_with_two(kind: str, tmp_path: Path) -> None:
    bad = write_bad_photo(tmp_path, kind)
    ended = run_command("vetscanner", "triage", bad)
    assert ended.status == 2, ended.everything
    message = find_sentences(ended.stderr, bad.name)
    assert len(message) > len(bad.name) + 30, message
    assert "Traceback" not in ended.everything
