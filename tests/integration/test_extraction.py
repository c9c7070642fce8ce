import io

import numpy as np
import pymupdf
import pytest
from PIL import Image

from archive_tools import page_filter
from archive_tools.config import NO_FINISHING, DatasetConfig, Fit, PageFilter
from archive_tools.errors import EncryptedPdfError, PageError
from archive_tools.extraction import PageExtractor
from archive_tools.reader import open_document
from archive_tools.schema import PageOutcome, PageTask
from tests import pdf_fixtures


@pytest.fixture
def extract(tmp_path):
    """Extract one page of a fixture with the given options, by the sigma rule if none is given."""

    def run(content, page_index=0, **options):
        path = tmp_path / "scan.pdf"
        path.write_bytes(content)
        extractor = PageExtractor(DatasetConfig(**{"filter": PageFilter.SIGMA, **options}))
        try:
            return extractor.extract(PageTask(path, page_index))
        finally:
            extractor.close()

    return run


def test_a_kept_page_becomes_one_square_jpeg(extract):
    result = extract(pdf_fixtures.colour_jpeg())
    assert result.outcome is PageOutcome.KEPT
    assert (result.width, result.height) == (840, 1190)
    (record,) = result.records
    picture = Image.open(io.BytesIO(record.jpeg))
    assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (1024, 1024))
    assert (record.width, record.height) == picture.size
    assert record.bbox == (0, 0, record.page_width, record.page_height)
    assert len(record.phash) == 16


def test_a_blank_page_is_dropped_with_the_reason(extract):
    result = extract(pdf_fixtures.blank())
    assert (result.outcome, result.records) == (PageOutcome.DROPPED, ())
    assert result.sigma == 0
    assert "sigma 0.0 <= 45" in result.reason


def test_without_a_filter_the_blank_page_is_kept(extract):
    assert extract(pdf_fixtures.blank(), filter=PageFilter.NONE).outcome is PageOutcome.KEPT


@pytest.mark.parametrize("fit", [Fit.SQUARE, Fit.CROP, Fit.STRETCH])
def test_each_fit_gives_the_chosen_size(extract, fit):
    (record,) = extract(pdf_fixtures.colour_jpeg(), fit=fit, size_px=512).records
    assert Image.open(io.BytesIO(record.jpeg)).size == (512, 512)


def test_a_small_page_is_rendered_fine_enough_not_to_be_enlarged(extract):
    content = pdf_fixtures.scan_pdf(
        pdf_fixtures.pdf_writer.jpeg_stream(pdf_fixtures.draw_page()), (210.0, 297.5)
    )
    (square,) = extract(content).records
    assert max(square.page_width, square.page_height) >= 1024
    (crop,) = extract(content, fit=Fit.CROP, size_px=768).records
    assert min(crop.page_width, crop.page_height) >= 768


def test_pages_of_several_files_come_out_as_each_alone(tmp_path, extract):
    alone = [extract(pdf_fixtures.colour_jpeg(pages=2), index) for index in (0, 1)]
    first, second = tmp_path / "a.pdf", tmp_path / "b.pdf"
    first.write_bytes(pdf_fixtures.colour_jpeg(pages=2))
    second.write_bytes(pdf_fixtures.grey_jpeg())
    extractor = PageExtractor(DatasetConfig(filter=PageFilter.SIGMA))
    tasks = [PageTask(first, 0), PageTask(second, 0), PageTask(first, 1)]
    results = [extractor.extract(task) for task in tasks]
    extractor.close()
    assert [results[0], results[2]] == alone


def test_a_page_that_does_not_exist_is_a_page_error(extract):
    with pytest.raises(PageError):
        extract(pdf_fixtures.colour_jpeg(), page_index=7)


def test_the_extractor_goes_on_after_a_page_error(tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_fixtures.colour_jpeg())
    extractor = PageExtractor(DatasetConfig(filter=PageFilter.SIGMA))
    with pytest.raises(PageError):
        extractor.extract(PageTask(path, 7))
    assert extractor.extract(PageTask(path, 0)).outcome is PageOutcome.KEPT
    extractor.close()


def test_the_password_is_used_and_its_absence_is_an_error(extract):
    content = pdf_fixtures.encrypted()
    assert extract(content, password="user").outcome is PageOutcome.KEPT
    with pytest.raises(EncryptedPdfError):
        extract(content)


@pytest.mark.parametrize(
    "make",
    [
        pdf_fixtures.colour_jpeg,
        pdf_fixtures.grey_jpeg,
        pdf_fixtures.inverted_jpeg,
        pdf_fixtures.flipped_jpeg,
        pdf_fixtures.jpeg_with_visible_text,
        pdf_fixtures.jpeg_with_hidden_text,
        pdf_fixtures.inverted_ccitt,
        pdf_fixtures.jpeg2000,
        pdf_fixtures.mrc,
        pdf_fixtures.cmyk_jpeg,
        pdf_fixtures.indexed,
        pdf_fixtures.image_mask,
        pdf_fixtures.jbig2,
        lambda: pdf_fixtures.rotated(90),
    ],
)
def test_picture_and_sigma_are_those_of_the_page_as_mupdf_shows_it(extract, make):
    content = make()
    result = extract(content, fit=Fit.STRETCH, filter=PageFilter.NONE, finishing=NO_FINISHING)
    shown = _article_picture(content)
    assert result.sigma == pytest.approx(_article_sigma(content), abs=2.5)
    picture = Image.open(io.BytesIO(result.records[0].jpeg))
    # At a sixteenth of the size: ours may be sharper than 144 dpi, but must show the same.
    assert np.abs(_thumbnail(picture) - _thumbnail(shown)).mean() < 4


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("kind", ["field", "note"])
def test_form_fields_and_notes_are_shown_wherever_the_page_stands(extract, kind, at):
    content = pdf_fixtures.with_annotated_page(kind, at)
    result = extract(content, at, fit=Fit.STRETCH, filter=PageFilter.NONE, finishing=NO_FINISHING)
    picture = Image.open(io.BytesIO(result.records[0].jpeg))
    shown = _render_at_144_dpi(content, at)
    assert shown.std() > 10
    assert result.sigma == pytest.approx(page_filter.to_grey(shown).std(), abs=2.5)
    expected = Image.fromarray(shown).resize((1024, 1024), Image.Resampling.LANCZOS)
    assert np.abs(_thumbnail(picture) - _thumbnail(expected)).mean() < 4


def _render_at_144_dpi(content, page_index=0):
    with pymupdf.open(stream=content, filetype="pdf") as document:
        pixmap = document[page_index].get_pixmap(matrix=pymupdf.Matrix(2, 2))
        samples = np.frombuffer(pixmap.samples, dtype=np.uint8)
        return samples.reshape(pixmap.height, pixmap.width, 3).copy()


def _article_sigma(content):
    return page_filter.to_grey(_render_at_144_dpi(content)).std()


def _article_picture(content):
    picture = Image.fromarray(_render_at_144_dpi(content))
    return picture.resize((1024, 1024), Image.Resampling.LANCZOS)


def _thumbnail(picture):
    return np.asarray(picture.resize((64, 64), Image.Resampling.BOX)).astype(int)


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_text_of_the_page_is_read_only_when_a_caption_wants_it(extract, angle):
    with pymupdf.open(stream=pdf_fixtures.born_digital(), filetype="pdf") as document:
        document[0].set_rotation(angle)
        content = document.tobytes()
    (without,) = extract(content, filter=PageFilter.NONE).records
    (record,) = extract(content, filter=PageFilter.NONE, caption="{trigger}, {text}").records
    assert without.text == ""
    assert record.text.startswith("Typeset text, not a scan.")
    assert len(record.text) <= 1000


def test_the_text_is_that_near_the_picture(tmp_path):
    path = tmp_path / "typeset.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 60), "far above")
        page.insert_text((40, 400), "beside")
        document.save(path)
    with open_document(path) as opened, opened.open_page(0) as page:
        assert page.read_text((0, 0.6, 1, 0.7)).split() == ["beside"]
        assert page.read_text((0, 0, 1, 1)).split() == ["far", "above", "beside"]
