"""The scripts of examples/ that use the API, as a person runs them."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.sample_files import LION_PHOTO
from tests.served_app import ServedApp, find_free_port

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIMIT_S = 240.0


def run_script(
    name: str, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of examples/ and return how it ended."""
    runner = "sh" if name.endswith(".sh") else sys.executable
    return subprocess.run(
        [runner, EXAMPLES / name, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("script", ["triage_photo.py", "build_dataset.py"])
def test_a_server_that_is_not_there(script: str, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{find_free_port()}"
    out = ["--out", tmp_path / "d.zip"] if script == "build_dataset.py" else []
    ended = run_script(script, EXAMPLES / "magazine.pdf", "--url", url, *out)
    assert ended.returncode == 2
    assert f"No server answers at {url}" in ended.stderr
    assert "python app.py" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())


def test_curl_without_a_server() -> None:
    url = f"http://127.0.0.1:{find_free_port()}"
    ended = run_script("triage_with_curl.sh", LION_PHOTO, URL=url)
    assert ended.returncode == 2
    assert f"Is the server running at {url}?" in ended.stderr


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("triage_photo.py", []),
        ("build_dataset.py", ["--out", "d.zip"]),
        ("triage_with_curl.sh", []),
    ],
)
def test_a_file_that_is_not_there(script: str, options: list[str]) -> None:
    ended = run_script(script, "nowhere.bin", *options)
    assert ended.returncode == 2
    assert "nowhere.bin" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_address_that_is_none() -> None:
    ended = run_script("triage_photo.py", LION_PHOTO, "--url", "localhost")
    assert ended.returncode == 2
    assert "http://" in ended.stderr


@pytest.mark.e2e
def test_triage_in_words_and_as_json(served_app: ServedApp) -> None:
    options = ("--sign", "down", "--url", served_app.url)
    words = run_script("triage_photo.py", LION_PHOTO, *options)
    assert words.returncode == 0, words.stderr
    assert words.stdout.startswith("EMERGENCY: ")
    whole = run_script("triage_photo.py", LION_PHOTO, *options, "--json", "--language", "ru")
    report = json.loads(whole.stdout)
    assert report["level"] == "emergency"
    assert report["signs_used"] == ["down"]
    assert report["headline"] not in words.stdout


@pytest.mark.e2e
def test_triage_with_curl(served_app: ServedApp, tmp_path: Path) -> None:
    photo = tmp_path / "two words, and a comma.jpg"
    photo.write_bytes(LION_PHOTO.read_bytes())
    ended = run_script(
        "triage_with_curl.sh", photo, LION_PHOTO, URL=served_app.url, SIGNS='"fever"'
    )
    assert ended.returncode == 0, ended.stderr
    (report,) = json.loads(ended.stdout)
    assert report["signs_used"] == ["fever"]
    assert len(report["photos"]) == 2


@pytest.mark.e2e
@pytest.mark.parametrize("script", ["triage_photo.py", "triage_with_curl.sh"])
def test_a_refused_request_says_why(served_app: ServedApp, script: str) -> None:
    if script.endswith(".sh"):
        ended = run_script(script, LION_PHOTO, URL=served_app.url, SIGNS='"nonsense"')
    else:
        ended = run_script(script, LION_PHOTO, "--sign", "nonsense", "--url", served_app.url)
    assert ended.returncode == 2
    assert "nonsense" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.e2e
def test_build_a_dataset(served_app: ServedApp, tmp_path: Path) -> None:
    out = tmp_path / "dataset.zip"
    broken = tmp_path / "broken.pdf"
    broken.write_text("not a PDF")
    pdfs = (EXAMPLES / "magazine.pdf", broken)
    ended = run_script(
        "build_dataset.py", *pdfs, "--out", out, "--url", served_app.url, "--trigger", "lindn"
    )
    assert ended.returncode == 1, ended.stderr
    report = json.loads(ended.stdout)
    assert report["pages_seen"] == 9
    assert report["files_failed"] == 1
    assert "magazine.pdf: page" in ended.stderr
    with zipfile.ZipFile(out) as dataset:
        images = [name for name in dataset.namelist() if name.endswith(".jpg")]
        captions = [name for name in dataset.namelist() if name.startswith("train/0")]
        first = dataset.read(captions[1]).decode()
    assert len(images) == report["pages_kept"] >= 2
    assert first.startswith("lindn")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.pdf", "dataset.zip"]


@pytest.mark.e2e
def test_nothing_usable_leaves_no_file(served_app: ServedApp, tmp_path: Path) -> None:
    broken, folder = tmp_path / "broken.pdf", tmp_path / "out"
    broken.write_text("not a PDF")
    folder.mkdir()
    ended = run_script(
        "build_dataset.py", broken, "--out", folder / "d.zip", "--url", served_app.url
    )
    assert ended.returncode == 2
    assert "broken.pdf" in ended.stderr
    assert not list(folder.iterdir())
