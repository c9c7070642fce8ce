"""What `python -m archive_tools` promises beyond the acceptance tests: streams, status, signals."""

import csv
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_tools.cli import make_parser
from archive_tools.progress_line import CLEAR_LINE, ProgressLine
from archive_tools.run_report import Progress
from archive_tools.schema import PageCounts
from tests import pdf_fixtures
from tests.commands import REPOSITORY, build_command, run_command, run_on_full_disk
from tests.hostile_pdfs import ENDLESS_MEMORY_MB, endless_page

SIGMA = ("--filter", "sigma")


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """Two scanned pages."""
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_fixtures.colour_jpeg(pages=2))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the dataset goes, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "dataset.zip"


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        build_command("archive_tools", *arguments),
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(autouse=True)
def _default_signals() -> Iterator[None]:
    """Under nohup the tests ignore SIGHUP, and what they start would inherit that."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # Python's own Ctrl-C stays: a program that is started has the default in its place.
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def endless_build(tmp_path: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A build whose first page is done and whose second will never be."""
    endless = tmp_path / "endless.pdf"
    endless.write_bytes(endless_page(pages_before=1, pages_after=2))
    limits = ["--page-memory-limit", str(ENDLESS_MEMORY_MB), "--page-time-limit", "600"]
    process = start("build", endless, "--out", out, "--workers", "1", *limits)
    journal = out.with_name("dataset.zip.journal")
    give_up_s = time.monotonic() + 60
    try:
        while not journal.exists() or b"PageDone" not in journal.read_bytes():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up_s
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_run_that_keeps_nothing_says_so_and_what_to_do(tmp_path: Path, out: Path) -> None:
    (tmp_path / "blank.pdf").write_bytes(pdf_fixtures.blank())
    ended = run_command("archive_tools", "build", tmp_path / "blank.pdf", "--out", out)
    assert ended.status == 0, ended.everything
    assert re.search(r"No page was kept.*--filter none", ended.stdout)
    with zipfile.ZipFile(out) as archive:
        card = archive.read("README.md").decode()
    assert "No page was kept" in card
    assert "load_dataset" not in card


def test_score_writes_names_that_no_spreadsheet_runs(tmp_path: Path) -> None:
    formula = tmp_path / "=cmd|' 'A0.pdf"
    formula.write_bytes(pdf_fixtures.blank())
    ended = run_command("archive_tools", "score", formula)
    assert ended.status == 0, ended.stderr
    [row] = csv.DictReader(io.StringIO(ended.stdout))
    assert row["file"] == "'=cmd|' 'A0.pdf"
    assert (row["decision"], row["page_number"]) == ("dropped", "1")


def test_score_of_a_failed_page_has_empty_figures(tmp_path: Path, scan: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(pdf_fixtures.broken_jpeg())
    table = tmp_path / "pages.csv"
    ended = run_command("archive_tools", "score", broken, scan, "--out", table, *SIGMA)
    assert (ended.status, ended.stdout) == (1, "")
    first, *others = csv.DictReader(io.StringIO(table.read_text(encoding="utf-8")))
    assert (first["decision"], first["sigma"], first["score"]) == ("failed", "", "")
    assert first["reason"]
    assert [row["decision"] for row in others] == ["kept", "kept"]
    assert list_names(tmp_path) == ["broken.pdf", "pages.csv", "scan.pdf"]


def test_score_of_nothing_usable_ends_with_two(tmp_path: Path) -> None:
    ended = run_command("archive_tools", "score", tmp_path / "missing.pdf")
    assert ended.status == 2
    assert "missing.pdf" in ended.stderr


def test_score_into_a_missing_folder_is_explained(tmp_path: Path, scan: Path) -> None:
    ended = run_command("archive_tools", "score", scan, "--out", tmp_path / "no" / "pages.csv")
    assert ended.status == 2
    assert "cannot be written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_reader_that_leaves_early_is_no_error(scan: Path) -> None:
    command = [*build_command("archive_tools", "score", *[scan] * 3), "--workers", "1"]
    process = subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", ["score", "build"])
def test_full_disk_behind_the_output_is_one_line(command: str, scan: Path, out: Path) -> None:
    wanted = [scan] if command == "score" else [scan, "--out", out]
    ended = run_on_full_disk("archive_tools", command, *wanted)
    assert ended.status == 2, ended.stderr
    *_, last = ended.stderr.splitlines()
    assert last == "error: No space left on device; the output may be incomplete."
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_obstacle(closed: str, scan: Path, out: Path) -> None:
    command = shlex.join(build_command("archive_tools", "build", scan, "--out", out))
    ended = subprocess.run(
        ["sh", "-c", f"{command} {closed}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
    assert list_names(out.parent) == [out.name]


def test_dataset_may_have_any_name(scan: Path, out: Path) -> None:
    ended = run_command("archive_tools", "build", scan, "--out", out.with_name("data"), "--json")
    assert ended.status == 0, ended.stderr
    assert zipfile.is_zipfile(out.with_name("data"))


def test_time_limit_is_an_option(tmp_path: Path, out: Path) -> None:
    endless = tmp_path / "endless.pdf"
    endless.write_bytes(endless_page(pages_after=1))
    limits = ["--page-memory-limit", str(ENDLESS_MEMORY_MB), "--page-time-limit", "3"]
    arguments = [*limits, "--filter", "none", "--json"]
    ended = run_command("archive_tools", "build", endless, "--out", out, *arguments)
    assert ended.status == 1, ended.stderr
    [failure] = ended.read_json()["page_failures"]
    assert (failure["page_number"], failure["reason"]) == (1, "took longer than 3 s")


def test_layer_is_hidden(tmp_path: Path) -> None:
    layered = tmp_path / "layered.pdf"
    layered.write_bytes(pdf_fixtures.layered())
    sigmas = []
    for options in ([], ["--hide-layer", "OCR", "--hide-layer", "Watermark"]):
        ended = run_command("archive_tools", "score", layered, *options)
        [row] = csv.DictReader(io.StringIO(ended.stdout))
        sigmas.append(float(row["sigma"]))
    plain = tmp_path / "plain.pdf"
    plain.write_bytes(pdf_fixtures.colour_jpeg())
    [row] = csv.DictReader(io.StringIO(run_command("archive_tools", "score", plain).stdout))
    assert sigmas[1] == pytest.approx(float(row["sigma"]), abs=0.5)
    assert abs(sigmas[0] - sigmas[1]) > 1


def test_ctrl_c_keeps_the_partial_and_says_how_to_go_on(
    endless_build: subprocess.Popen[str], out: Path
) -> None:
    endless_build.send_signal(signal.SIGINT)
    stdout, stderr = endless_build.communicate(timeout=60)
    assert endless_build.returncode == 130
    assert stdout == ""
    assert "--resume" in stderr
    assert "Traceback" not in stderr
    assert list_names(out.parent) == ["dataset.zip.journal", "dataset.zip.partial"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_in_order(
    endless_build: subprocess.Popen[str], out: Path, number: signal.Signals
) -> None:
    endless_build.send_signal(number)
    _, stderr = endless_build.communicate(timeout=60)
    assert endless_build.returncode == 128 + number
    assert "Traceback" not in stderr
    assert list_names(out.parent) == ["dataset.zip.journal", "dataset.zip.partial"]


def test_two_runs_do_not_write_one_dataset(
    endless_build: subprocess.Popen[str], scan: Path, out: Path
) -> None:
    second = run_command("archive_tools", "build", scan, "--out", out)
    assert second.status == 2
    assert "Another run" in second.stderr
    assert endless_build.poll() is None


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_progress_is_one_line_on_a_terminal() -> None:
    leader, follower = os.openpty()
    progress = Progress("a.pdf", 1, 2, 3, 4, PageCounts(kept=2, dropped=1), 1.5)
    with os.fdopen(follower, "w") as terminal, ProgressLine(terminal) as line:
        line.show(progress)
        line.show(progress)
    shown = os.read(leader, 10_000).decode()
    while not shown.endswith(CLEAR_LINE):
        shown += os.read(leader, 10_000).decode()
    os.close(leader)
    assert "\n" not in shown
    assert shown.count(f"{CLEAR_LINE}file 1/2 a.pdf page 3/4") == 2


def test_progress_in_a_log_is_whole_lines() -> None:
    log = io.StringIO()
    with ProgressLine(log) as line:
        for number in range(50):
            line.show(Progress("a.pdf", 1, 1, number, 50, PageCounts(kept=number), 1.0))
    assert log.getvalue().count("\n") == 1
    assert "49 kept" in log.getvalue()


def test_help_can_be_shown() -> None:
    for command in ("build", "score", "evaluate"):
        with pytest.raises(SystemExit) as ended:
            make_parser().parse_args([command, "--help"])
        assert ended.value.code == 0
