"""`python -m vetscanner triage` judged from outside."""

from pathlib import Path

import pytest

from tests.commands import run_command
from tests.sample_files import LION_PHOTO, draw_photo, draw_sideways_photo
from tests.scan_report import check_report, is_at_least


def test_lion_is_not_cattle() -> None:
    ended = run_command("vetscanner", "triage", LION_PHOTO, "--json", "--device", "cpu")
    assert ended.status == 0, ended.stderr
    report = ended.read_json()
    check_report(report)
    assert (report["level"], report["abstained"]) == ("retake_photo", "not_cattle")
    assert report["device"] == "cpu"


def test_signs_and_orientation_with_two_photos(tmp_path: Path) -> None:
    photos = [draw_photo(tmp_path / "cow.jpg"), draw_sideways_photo(tmp_path / "side.jpg")]
    signs = ["--sign", "fever", "--sign", "several_animals"]
    ended = run_command("vetscanner", "triage", *photos, *signs, "--json")
    assert ended.status == 0, ended.stderr
    report = ended.read_json()
    check_report(report)
    assert [photo["name"] for photo in report["photos"]] == ["cow.jpg", "side.jpg"]
    assert [(photo["width"], photo["height"]) for photo in report["photos"]] == [
        (800, 600),
        (600, 800),
    ]
    assert sorted(report["signs_used"]) == ["fever", "several_animals"]
    assert is_at_least(report["level"], "emergency")


def test_text_report_in_german(tmp_path: Path) -> None:
    photo = draw_photo(tmp_path / "kuh.jpg")
    ended = run_command("vetscanner", "triage", photo, "--lang", "de", "--sign", "down")
    assert ended.status == 0, ended.stderr
    assert "tierarzt" in ended.stdout.lower() or "tierärzt" in ended.stdout.lower()
    assert not ended.stdout.lstrip().startswith("{")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["triage"],
        ["triage", "missing.jpg"],
        ["triage", "PHOTO", "--sign", "hiccups"],
        ["triage", "PHOTO", "--lang", "tlh"],
        ["triage", "PHOTO", "--device", "abacus"],
        ["triage", "PHOTO", "--model", "no/such/folder"],
    ],
)
def test_wrong_usage_ends_with_two(arguments: list[str], tmp_path: Path) -> None:
    photo = draw_photo(tmp_path / "cow.jpg")
    words = [str(photo) if word == "PHOTO" else word for word in arguments]
    ended = run_command("vetscanner", *words)
    assert ended.status == 2, ended.everything
    assert ended.stderr.strip()
    assert "Traceback" not in ended.stderr
