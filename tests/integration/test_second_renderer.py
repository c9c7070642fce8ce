from contextlib import closing

import cv2
import numpy as np
import pytest

from archive_tools.errors import PageError
from archive_tools.reader import open_document
from archive_tools.second_renderer import MOST_BYTES, SecondRenderer
from tests import pdf_fixtures


@pytest.fixture
def saved(tmp_path):
    """Save a fixture's bytes and return the path."""

    def save(content):
        path = tmp_path / "pages.pdf"
        path.write_bytes(content)
        return path

    return save


@pytest.mark.parametrize(
    "make",
    [pdf_fixtures.born_digital, pdf_fixtures.mrc, lambda: pdf_fixtures.rotated(90)],
    ids=["typeset", "layered scan", "turned and cropped"],
)
def test_it_shows_what_mupdf_shows(saved, make):
    path = saved(make())
    with closing(SecondRenderer(path, None)) as renderer:
        ours = renderer.render(0, 1.0)
    with open_document(path) as document, document.open_page(0) as page:
        expected = page.render(1.0)
    assert ours.shape == expected.shape
    assert ours.dtype == np.uint8
    # Their filters differ, what they show must not.
    small, wanted = (
        cv2.resize(each, (32, 32), interpolation=cv2.INTER_AREA) for each in (ours, expected)
    )
    assert np.abs(small.astype(int) - wanted).mean() < 6


def test_pages_stay_the_same_however_often_the_file_is_reopened(saved):
    with closing(SecondRenderer(saved(pdf_fixtures.colour_jpeg(pages=3)), None)) as renderer:
        first = [renderer.render(index, 0.2).copy() for index in range(3)]
        for _ in range(40):
            for index in range(3):
                np.testing.assert_array_equal(renderer.render(index, 0.2), first[index])
    assert not np.array_equal(first[0], first[1])


def test_colours_are_red_green_blue(saved):
    content = pdf_fixtures.write_pdf([pdf_fixtures.PageSpec(100, 100, "1 0 0 rg 0 0 100 100 re f")])
    with closing(SecondRenderer(saved(content), None)) as renderer:
        assert renderer.render(0, 1.0)[50, 50].tolist() == [255, 0, 0]


@pytest.mark.parametrize(
    "content",
    [b"", b"%PDF-1.7", pdf_fixtures.encrypted(), pdf_fixtures.zero_pages()],
    ids=["empty", "header only", "locked", "no pages"],
)
def test_what_it_cannot_open_is_a_page_error(saved, content):
    renderer = SecondRenderer(saved(content), None)
    with pytest.raises(PageError, match="PDFium"):
        renderer.render(0, 1.0)
    renderer.close()


def test_the_password_is_used(saved):
    path = saved(pdf_fixtures.encrypted())
    with closing(SecondRenderer(path, "user")) as renderer:
        assert renderer.render(0, 0.5).std() > 10


def test_files_beyond_four_gigabytes_are_left_to_mupdf(saved):
    path = saved(pdf_fixtures.blank())
    assert SecondRenderer(path, None).can_open
    with path.open("r+b") as file:
        file.truncate(MOST_BYTES + 1)  # sparse: takes no room on the disk
    assert not SecondRenderer(path, None).can_open
