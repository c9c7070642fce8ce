"""A preview decides as the run does, at every threshold, and holds no more than it shows."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from archive_tools.config import Content, DatasetConfig, Fit, PageFilter, RunOptions
from archive_tools.errors import InvalidOptionError
from archive_tools.pipeline import build_dataset
from archive_tools.preview import (
    MOST_DROPPED_SHOWN,
    MOST_KEPT_SHOWN,
    SCORES_NAME,
    TABLE_NAME,
    PreviewReport,
    preview_dataset,
)
from archive_tools.run_report import Progress, RunReport
from archive_tools.schema import NamedFile, PageCounts
from archive_tools.score_histogram import COVERAGE_SCALE
from tests import pdf_fixtures
from tests.commands import run_command
from tests.pdf_fixtures import draw_page, one_picture_page
from tests.pdf_writer import jpeg_stream
from tests.pdf_writer import write_pdf as write_pages
from tests.sample_files import write_bad_pdf, write_pdf
from tests.worker_processes import list_workers

MAGAZINE = Path(__file__).parents[2] / "examples/magazine.pdf"
IN_PROCESS = RunOptions(workers=0)
AUTO = DatasetConfig(filter=PageFilter.AUTO, size_px=256, dedupe=False)
SIGMA = replace(AUTO, filter=PageFilter.SIGMA)


def preview(
    sources: Sequence[Path],
    folder: Path,
    config: DatasetConfig = AUTO,
    run: RunOptions = IN_PROCESS,
) -> PreviewReport:
    folder.mkdir(exist_ok=True)
    named = [NamedFile(source, source.name) for source in sources]
    *progress, report = preview_dataset(named, folder, config, run)
    assert all(isinstance(step, Progress) for step in progress)
    assert isinstance(report, PreviewReport)
    return report


def build(
    source: Path, out: Path, config: DatasetConfig, run: RunOptions = IN_PROCESS
) -> list[dict[str, str]]:
    """Build a dataset and return the rows of its pages."""
    *_, report = build_dataset([source], out, config, run)
    assert isinstance(report, RunReport)
    with zipfile.ZipFile(out) as archive:
        return list(csv.DictReader(io.StringIO(archive.read("manifest/pages.csv").decode())))


def kept_pages(rows: list[dict[str, str]]) -> list[int]:
    return [int(row["page_number"]) for row in rows if row["decision"] == "kept"]


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[PreviewReport, Path]:
    """The sample magazine in a preview by `auto`, and its folder."""
    folder = tmp_path_factory.mktemp("preview")
    return preview([MAGAZINE], folder), folder


# A threshold that a page just reaches, and none at all.
@pytest.mark.parametrize("min_score", [0.3002, 0.0])
def test_auto_decides_in_the_run_as_in_the_preview(
    previewed: tuple[PreviewReport, Path], tmp_path: Path, min_score: float
) -> None:
    report, folder = previewed
    scores = [page.result.score or 0.0 for page in report.shown]
    threshold = min(scores, key=lambda score: abs(score - min_score))
    expected = sorted(
        page.result.page_number
        for page, score in zip(report.shown, scores, strict=True)
        if COVERAGE_SCALE.passes(score, threshold)
    )
    assert len(expected) == (9 if min_score == 0 else 4)
    config = replace(AUTO, min_score=threshold)
    rows = build(MAGAZINE, tmp_path / "plain.zip", config)
    assert kept_pages(rows) == expected
    # With the recorded scores the same bytes come out.
    recorded = RunOptions(workers=0, scores=folder / SCORES_NAME)
    build(MAGAZINE, tmp_path / "recorded.zip", config, recorded)
    assert (tmp_path / "recorded.zip").read_bytes() == (tmp_path / "plain.zip").read_bytes()


def test_sigma_decides_in_the_run_as_in_the_preview(tmp_path: Path) -> None:
    kinds = ["engraving", "text", "faint", "firm", "blank"]
    source = write_pdf(tmp_path / "grey.pdf", kinds)
    report = preview([source], tmp_path / "job", SIGMA)
    scores = {page.result.page_number: page.result.score or 0.0 for page in report.listed}
    rejected = [page.result.page_number for page in report.shown if page.preview.rejection]
    assert rejected == [5], "nearly blank, whatever its sigma"
    for min_sigma in (0.0, 43.5, 45.0, 47.0):
        config = replace(SIGMA, min_sigma=min_sigma)
        rows = build(source, tmp_path / f"{min_sigma}.zip", config)
        expected = [n for n, score in scores.items() if score > min_sigma and n not in rejected]
        assert kept_pages(rows) == expected
        assert report.histogram.kept_at[int(min_sigma)] >= len(expected)
    assert (report.histogram.kept_at[45], report.histogram.kept_at[0]) == (2, 4)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A PDF of three pages, and the scores that a preview recorded of them."""
    folder = tmp_path_factory.mktemp("recorded")
    source = write_pdf(folder / "three.pdf", ["engraving", "text", "engraving"])
    preview([source], folder / "job")
    return source, folder / "job" / SCORES_NAME


def test_the_table_is_that_of_the_score_command(
    recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    source, out = recorded[0], tmp_path / "pages.csv"
    # The preview of the fixture decodes for small images; the command for those of 1024 pixels.
    report = preview([source], tmp_path / "job", DatasetConfig(filter=PageFilter.AUTO))
    ended = run_command("archive_tools", "score", source, "--out", out, "--filter", "auto")
    assert ended.status == 0, ended.stderr
    table = (tmp_path / "job" / TABLE_NAME).read_bytes()
    assert table == out.read_bytes()
    assert len(list(csv.DictReader(io.StringIO(table.decode())))) == report.run.pages.seen == 3


def test_recorded_scores_spare_the_run_a_second_look(
    recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    source, scores = recorded
    # Nobody can tell from the outside that a page was not looked at, unless the record is wrong.
    lines = scores.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[2])
    first["page"]["score"] = 0.0042
    lines[2] = json.dumps(first)
    wrong = tmp_path / SCORES_NAME
    wrong.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = RunOptions(workers=2, scores=wrong)
    rows = build(source, tmp_path / "recorded.zip", AUTO, run)
    assert (rows[0]["decision"], rows[0]["score"]) == ("dropped", "0.0042")
    assert rows[0]["reason"].endswith("less than 1.5 %")
    assert kept_pages(rows) == [3]
    # Where other scores would follow from the options, the record counts for nothing.
    for number, config in enumerate([replace(AUTO, fit=Fit.CROP), SIGMA]):
        rows = build(source, tmp_path / f"{number}.zip", config, run)
        assert rows[0]["score"] != "0.0042"


def test_a_record_that_is_gone_or_cut_off_costs_only_time(
    recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    source, scores = recorded
    plain = build(source, tmp_path / "plain.zip", AUTO)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(scores.read_bytes().splitlines(keepends=True)[:3]))
    for number, record in enumerate((tmp_path / "missing", cut)):
        run = RunOptions(workers=0, scores=record)
        assert build(source, tmp_path / f"{number}.zip", AUTO, run) == plain


def test_regions_are_dropped_in_the_preview_where_there_is_nothing_to_cut(tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "grey.pdf", ["firm", "engraving"])
    config = replace(SIGMA, content=Content.REGIONS, min_size_px=16)
    report = preview([source], tmp_path / "job", config)
    assert [page.result.outcome.value for page in report.listed] == ["dropped", "kept"]
    assert report.histogram.kept_at[45] == 1
    assert kept_pages(build(source, tmp_path / "d.zip", config)) == [2]


def test_pages_are_shown_with_their_boxes_and_before_and_after(
    previewed: tuple[PreviewReport, Path],
) -> None:
    report, _ = previewed
    assert report.run.pages == PageCounts(kept=7, dropped=2)
    assert [page.result.page_number for page in report.shown] == [1, 4, 5, 6, 7, 8, 9, 2, 3]
    for page in report.shown:
        assert page.preview.jpeg.startswith(b"\xff\xd8")
        assert max(page.preview.width, page.preview.height) == 280
        assert bool(page.preview.boxes) == (page.result.outcome.value == "kept")
        assert all(0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1 for x0, y0, x1, y1 in page.preview.boxes)
    assert "deskewed" in " ".join(page.after.finishing or "" for page in report.finished)
    assert all(page.before.jpeg != page.after.jpeg for page in report.finished)


def test_what_is_held_does_not_grow_with_the_pages(tmp_path: Path) -> None:
    source = tmp_path / "many.pdf"
    pages = [draw_page(300, 420, seed, contrast=1.0 if seed % 3 else 0.2) for seed in range(57)]
    source.write_bytes(
        write_pages([one_picture_page(jpeg_stream(page), (72, 101)) for page in pages])
    )
    config = replace(SIGMA, min_size_px=0)
    report = preview([source], tmp_path / "job", config)
    assert report.run.pages == PageCounts(kept=38, dropped=19)
    kept = [page for page in report.shown if page.result.outcome.value == "kept"]
    assert (len(kept), len(report.shown) - len(kept)) == (MOST_KEPT_SHOWN, MOST_DROPPED_SHOWN)
    assert len(report.finished) == 8
    again = preview([source], tmp_path / "job", config, RunOptions(workers=2))
    assert again.shown == report.shown
    assert again.finished == report.finished


def test_bad_files_are_named_and_cost_only_themselves(
    recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    torn = tmp_path / "torn page.pdf"
    torn.write_bytes(pdf_fixtures.broken_jpeg())
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive:
        archive.writestr("inside.pdf", pdf_fixtures.grey_jpeg())
    sources = [write_bad_pdf(tmp_path, "encrypted"), torn, recorded[0], tmp_path / "pack.zip"]
    report = preview(sources, tmp_path / "job", run=RunOptions(workers=2))
    assert [failure.name for failure in report.run.source_failures] == ["locked.pdf"]
    assert [failure.file_name for failure in report.run.page_failures] == ["torn page.pdf"]
    assert report.run.pages.seen == 5
    assert {page.file_name for page in report.shown} == {"three.pdf", "pack.zip/inside.pdf"}


def test_closing_a_preview_ends_its_workers_and_unpacked_files(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    source = NamedFile(write_pdf(tmp_path / "long.pdf", ["engraving"] * 8), "long.pdf")
    steps = preview_dataset([source], folder, AUTO, RunOptions(workers=2))
    with closing(steps):
        next(steps)
        assert list_workers()
    assert list_workers() == []
    # The table appears only when it is complete.
    assert [path.name for path in folder.iterdir()] == [SCORES_NAME]


def test_no_source_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptionError, match="PDF"):
        preview([], tmp_path)
