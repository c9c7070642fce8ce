import numpy as np
import pytest

from archive_tools import reader
from archive_tools.errors import EncryptedPdfError, PageError, UnreadablePdfError
from tests import pdf_fixtures


@pytest.fixture
def saved(tmp_path):
    """Save a fixture's bytes and return the path."""

    def save(content, name="scan.pdf"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return save


def render(path, zoom=1.0, **options):
    with reader.open_document(path, **options) as document, document.open_page(0) as page:
        return page.render(zoom)


def test_probe_counts_pages_and_reads_the_documents_own_details(saved):
    assert reader.probe(saved(pdf_fixtures.colour_jpeg(pages=3)))[0] == 3
    _, details = reader.probe(saved(pdf_fixtures.with_details()))
    assert (details.title, details.author, details.producer) == ("The Garden", "A. Smith", "test")
    assert details.created.startswith("D:1901")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"%PDF-1.7 and nothing else", "not a PDF"),
        (pdf_fixtures.html_named_pdf(), "not a PDF"),
        (pdf_fixtures.jpeg_named_pdf(), "not a PDF"),
        (pdf_fixtures.zero_pages(), "no pages"),
        (pdf_fixtures.lying_page_count(), "list of pages is broken"),
    ],
    ids=["empty", "header only", "web page", "JPEG", "no pages", "lying count"],
)
def test_unreadable_files_are_named_with_what_to_do(saved, content, words):
    with pytest.raises(UnreadablePdfError, match=words) as caught:
        reader.probe(saved(content, "garden.pdf"))
    assert "garden.pdf" in str(caught.value)


def test_a_missing_file_is_unreadable(tmp_path):
    with pytest.raises(UnreadablePdfError, match=r"gone\.pdf"):
        reader.probe(tmp_path / "gone.pdf")


def test_an_encrypted_file_asks_for_its_password(saved):
    path = saved(pdf_fixtures.encrypted())
    with pytest.raises(EncryptedPdfError, match="--password"):
        reader.probe(path)
    with pytest.raises(EncryptedPdfError, match="wrong"):
        reader.probe(path, "guess")


@pytest.mark.parametrize("password", ["user", "owner"])
def test_either_password_opens_an_encrypted_file(saved, password):
    picture = render(saved(pdf_fixtures.encrypted()), password=password)
    np.testing.assert_array_equal(picture, render(saved(pdf_fixtures.colour_jpeg(), "plain.pdf")))


def test_a_file_with_only_an_owner_password_opens_without_asking(saved):
    assert reader.probe(saved(pdf_fixtures.encrypted(user_password="")))[0] == 1


def test_hidden_layers_are_not_rendered_and_unknown_names_do_not_matter(saved):
    path = saved(pdf_fixtures.layered(("OCR", "Watermark")))
    assert reader.probe(path)[1].layers == ("OCR", "Watermark")
    all_layers = render(path)
    without_one = render(path, hide_layers=("OCR",))
    without_any = render(path, hide_layers=("OCR", "Watermark", "Notes"))
    plain = render(saved(pdf_fixtures.colour_jpeg(), "plain.pdf"))
    assert all_layers.mean() < without_one.mean() < without_any.mean()
    np.testing.assert_array_equal(without_any, plain)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_rotation_and_crop_box_are_applied(saved, degrees):
    upright = render(saved(pdf_fixtures.rotated(0), "upright.pdf"))
    turned = render(saved(pdf_fixtures.rotated(degrees)))
    assert upright.shape[:2] == (510, 370)
    back = np.rot90(turned, degrees // 90)
    assert np.abs(back.astype(int) - upright).mean() < 3


def test_an_absurd_page_stays_within_the_pixel_budget(saved):
    path = saved(pdf_fixtures.poster())
    with reader.open_document(path) as document, document.open_page(0) as page:
        assert page.reference_size == (36000, 72000)
        height, width = page.render(reader.REFERENCE_ZOOM).shape[:2]
    assert width * height <= reader.PIXEL_BUDGET * 1.001
    assert height == pytest.approx(2 * width, rel=0.01)


def test_a_picture_that_is_cut_off_fails_instead_of_passing_as_grey(saved):
    with pytest.raises(PageError, match="damaged"):
        render(saved(pdf_fixtures.broken_jpeg()))


def test_a_jpeg_that_only_lacks_its_end_marker_is_rendered(saved):
    picture = render(saved(pdf_fixtures.jpeg_without_end_marker()))
    np.testing.assert_array_equal(picture, render(saved(pdf_fixtures.colour_jpeg(), "whole.pdf")))


def test_active_content_is_neither_run_nor_in_the_way(saved):
    picture = render(saved(pdf_fixtures.active_content()))
    np.testing.assert_array_equal(picture, render(saved(pdf_fixtures.colour_jpeg(), "plain.pdf")))


@pytest.mark.parametrize("share", [tenth / 10 for tenth in range(1, 10)])
def test_a_truncated_file_ends_in_a_clear_error_or_a_whole_page(saved, share):
    whole = render(saved(pdf_fixtures.colour_jpeg(pages=3), "whole.pdf"))
    try:
        picture = render(saved(pdf_fixtures.truncated(share)))
    except (UnreadablePdfError, PageError):
        return
    np.testing.assert_array_equal(picture, whole)
