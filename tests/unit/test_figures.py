"""The figures of a dataset: counted from its manifest, shown in each language, names as text."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from archive_tools import dataset_figures
from archive_tools.config import DatasetConfig, PageFilter
from archive_tools.dataset_figures import read_figures
from archive_tools.figures_html import figures_html
from archive_tools.schema import PageOutcome
from archive_tools.tab_texts import tell_duration, tell_pages

HOSTILE = '<img src=x onerror="alert(1)">.pdf'
COLUMNS = ("file", "decision", "score", "sigma")
ROWS = [
    (HOSTILE, "kept", "0.5", "60"),
    (HOSTILE, "dropped", "0.0", "20"),
    ("b.pdf", "kept", "0.03", "50"),
    ("c.pdf", "failed", "", ""),
]


def write_dataset(path: Path, config: DatasetConfig) -> Path:
    """Write what the figures are read from."""
    table = io.StringIO()
    csv.writer(table).writerows([COLUMNS, *ROWS])
    images = [((1024, 1024), (0, 0, 600, 900)), ((512, 512), (10, 10, 910, 910))]
    rows = [json.dumps({"width": size[0], "height": size[1], "bbox": box}) for size, box in images]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("train/metadata.jsonl", "\n".join(rows))
        archive.writestr("manifest/pages.csv", table.getvalue())
        archive.writestr("manifest/report.json", json.dumps({"options": config.to_json()}))
    return path


def test_pages_and_images_are_counted(tmp_path: Path) -> None:
    figures = read_figures(write_dataset(tmp_path / "d.zip", DatasetConfig()))
    assert (figures.histogram.total, figures.threshold) == (3, 1.5)
    assert dict(figures.files[HOSTILE]) == {PageOutcome.KEPT: 1, PageOutcome.DROPPED: 1}
    assert figures.sizes == {(1024, 1024): 1, (512, 512): 1}
    assert figures.shapes == {(832, 1216): 1, (1024, 1024): 1}


@pytest.mark.parametrize(
    ("page_filter", "threshold"), [(PageFilter.SIGMA, 45.0), (PageFilter.NONE, None)]
)
def test_other_filters_are_counted_by_sigma(
    tmp_path: Path, page_filter: PageFilter, threshold: float | None
) -> None:
    config = DatasetConfig(filter=page_filter)
    figures = read_figures(write_dataset(tmp_path / "d.zip", config))
    assert figures.threshold == threshold
    assert figures.histogram.bars[figures.histogram.scale.bar_of(60)] == 1


def test_many_files_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_figures, "MOST_FILES", 1)
    figures = read_figures(write_dataset(tmp_path / "d.zip", DatasetConfig()))
    assert list(figures.files) == [HOSTILE, dataset_figures.OTHER_FILES]
    assert figures.files[dataset_figures.OTHER_FILES].total() == 2
    assert "All other files" in figures_html(figures)


def test_names_are_text_and_bars_have_numbers(tmp_path: Path) -> None:
    figures = read_figures(write_dataset(tmp_path / "d.zip", DatasetConfig()))
    html = figures_html(figures, "de")
    assert "<img" not in html
    assert "&lt;img" in html
    assert "<caption>Größen der Bilder (Pixel)</caption>" in html
    assert '<th scope="row">512 x 512</th>' in html
    assert "Histogram" not in html


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ["0 pages", "1 page", "2 pages", "1,021 pages"]),
        ("fr", ["0 page", "1 page", "2 pages", "1\u202f021 pages"]),
        ("ru", ["0 страниц", "1 страница", "2 страницы", "1\u202f021 страница"]),
    ],
)
def test_pages_are_counted_in_words(language: str, shown: list[str]) -> None:
    assert [tell_pages(count, language) for count in (0, 1, 2, 1021)] == shown


def test_russian_counts_the_teens_apart() -> None:
    told = [tell_pages(count, "ru").split()[1] for count in (5, 11, 12, 21, 22, 25, 111, 114)]
    many, one, few = "страниц", "страница", "страницы"
    assert told == [many, many, many, one, few, many, many, many]


def test_durations_are_told_in_the_unit_that_fits() -> None:
    told = [tell_duration(seconds, "en") for seconds in (0.4, 59.4, 89, 3570, 11_100)]
    assert told == ["0 s", "59 s", "1 min", "1 h 0 min", "3 h 5 min"]
