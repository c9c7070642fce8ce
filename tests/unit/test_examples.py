"""The drawn magazine and the photo guide: what is committed is what the code draws."""

import json
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray

from examples.draw_magazine import main as draw_magazine
from examples.magazine_drawing import (
    PageKind,
    draw_labelled_page,
    draw_page,
    page_kind_at,
    write_magazine,
)
from examples.magazine_drawing.pdf import EncodedImage, PdfStream
from examples.photo_guide.draw_guide import FOLDER as GUIDE
from examples.photo_guide.draw_guide import draw_guide

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "magazine.pdf"
SAMPLE_DPI = 130
SMALL = (320, 440)  # 40 dpi
LANGUAGES = ("en", "de", "fr", "ru")


@pytest.fixture(scope="module")
def sample() -> Iterator[pymupdf.Document]:
    with pymupdf.open(SAMPLE) as document:
        yield document


def embedded_image(document: pymupdf.Document, page_index: int) -> NDArray[np.uint8]:
    """Decode the one JPEG of a page to RGB."""
    (image,) = document[page_index].get_images(full=True)
    jpeg = np.frombuffer(document.xref_stream_raw(image[0]), np.uint8)
    return cv2.imdecode(jpeg, cv2.IMREAD_COLOR)[..., ::-1]


def grey_sigma(page: pymupdf.Page) -> float:
    pixmap = page.get_pixmap(dpi=144)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    return float(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).std())


def test_the_sample_is_small_and_says_what_it_is(sample: pymupdf.Document) -> None:
    assert SAMPLE.stat().st_size < 1_500_000
    assert len(sample) == 9
    assert sample.metadata["title"] == "The Linden Mirror, October, 1895"
    assert sample.metadata["author"] == "Linden & Marsh, Printers"
    assert sample.metadata["creationDate"] == "D:18951001000000Z"


def test_every_page_of_the_sample_is_one_scan_of_its_kind(sample: pymupdf.Document) -> None:
    for page_index, page in enumerate(sample):
        (image,) = page.get_images(full=True)
        xref, width, height, _, _, colours, codec = image[0], *image[2:6], image[5], image[8]
        assert (colours, codec) == ("DeviceRGB", "DCTDecode")
        pages_wide = 2 if page_kind_at(page_index) is PageKind.SPREAD else 1
        assert (width, height) == (1040 * pages_wide, 1430)
        assert page.rect.width == pytest.approx(576 * pages_wide)
        assert sample.xref_stream_raw(xref).startswith(b"\xff\xd8")


@pytest.mark.parametrize("page_index", [1, 4, 6])
def test_the_code_draws_the_sample(sample: pymupdf.Document, page_index: int) -> None:
    scanned = embedded_image(sample, page_index)
    height, width = scanned.shape[:2]
    redrawn = draw_page(page_kind_at(page_index), page_index, (width, height))
    # What JPEG quality 50 takes away; another page, even of the same kind, differs by 20 and more.
    assert np.abs(redrawn.astype(int) - scanned).mean() < 6


def test_the_sigma_rule_finds_a_mixture(sample: pymupdf.Document) -> None:
    kept = [page_kind_at(index) for index, page in enumerate(sample) if grey_sigma(page) > 45]
    assert PageKind.FASHION_PLATE in kept
    assert PageKind.BLANK not in kept
    assert 2 <= len(kept) <= 7


@pytest.mark.parametrize("kind", ["colour", "bitonal"])
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    first, second, other = (tmp_path / name for name in ("a.pdf", "b.pdf", "c.pdf"))
    for path, seed in ((first, 7), (second, 7), (other, 8)):
        write_magazine(path, pages=2, dpi=36, kind=kind, seed=seed)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second, other]


@pytest.mark.parametrize(
    ("kind", "colours", "bits", "codec"),
    [("grey", "DeviceGray", 8, "DCTDecode"), ("bitonal", "DeviceGray", 1, "CCITTFaxDecode")],
)
def test_other_settings_of_the_scanner(
    tmp_path: Path, kind: str, colours: str, bits: int, codec: str
) -> None:
    path = tmp_path / "scan.pdf"
    write_magazine(path, pages=3, dpi=75, kind=kind)
    with pymupdf.open(path) as document:
        assert not document.is_repaired
        (image,) = document[2].get_images(full=True)
        assert (image[5], image[4], image[8]) == (colours, bits, codec)
        pixmap = document[2].get_pixmap(dpi=75, colorspace=pymupdf.csGRAY)
    pixels = np.frombuffer(pixmap.samples, np.uint8)
    # Dark type on light paper, not the other way round.
    assert np.median(pixels) > 150
    assert np.percentile(pixels, 2) < 90


def test_a_long_issue_needs_no_more_memory(tmp_path: Path) -> None:
    scan = EncodedImage(8, 8, "/ColorSpace /DeviceGray /BitsPerComponent 8", bytes(1_000_000))
    path = tmp_path / "long.pdf"
    tracemalloc.start()
    with path.open("wb") as stream, PdfStream(stream) as pdf:
        for _ in range(60):
            pdf.add_page(scan, dpi=150)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 60_000_000
    assert peak < 8_000_000


@pytest.mark.parametrize("kind", list(PageKind))
def test_boxes_of_pictures_lie_on_the_page_and_hold_the_ink(kind: PageKind) -> None:
    drawn = draw_labelled_page(kind, seed=3, size=(SMALL[0] * (1 + (kind == "spread")), SMALL[1]))
    assert bool(drawn.pictures) == kind.is_illustrated
    height, width = drawn.pixels.shape[:2]
    for x0, y0, x1, y1 in drawn.pictures:
        assert 0 <= x0 < x1 <= width
        assert 0 <= y0 < y1 <= height
        paper = np.median(drawn.pixels[..., 1])
        inked = drawn.pixels[y0:y1, x0:x1, 1] < 0.75 * paper
        assert inked.mean() > 0.08


@pytest.mark.parametrize(("pages", "dpi"), [(0, 150), (1, 10), (1, 5000)])
def test_absurd_wishes_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pages: int, dpi: int
) -> None:
    out = tmp_path / "magazine.pdf"
    assert draw_magazine(["--out", str(out), "--pages", str(pages), "--dpi", str(dpi)]) == 2
    assert "at least 1 page and 36 to 600 dpi" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw_magazine(["--out", str(tmp_path / "no" / "m.pdf"), "--pages", "1"]) == 2
    assert str(tmp_path / "no") in capsys.readouterr().err


def test_the_guide_is_what_its_code_draws() -> None:
    drawings = draw_guide()
    assert {path.name for path in GUIDE.glob("*.svg")} == drawings.keys()
    for name, svg in drawings.items():
        assert (GUIDE / name).read_text(encoding="utf-8") == svg


def test_pictures_of_the_guide_stand_alone_and_together() -> None:
    seen: set[str] = set()
    for name, svg in draw_guide().items():
        root = ElementTree.fromstring(svg)
        assert root.get("viewBox") == "0 0 320 200"
        assert len(svg.encode()) < 20_000
        assert not re.search(r"<image|href|<script|@import", svg)
        ids = re.findall(r'id="([^"]+)"', svg)
        assert len(ids) == len(set(ids)), name
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(ids), name
        assert not seen & set(ids), name
        seen |= set(ids)


def test_every_picture_has_a_short_caption_in_every_language() -> None:
    captions = json.loads((GUIDE / "captions.json").read_text(encoding="utf-8"))
    assert {entry["file"] for entry in captions} == draw_guide().keys()
    for entry in captions:
        for language in LANGUAGES:
            assert 20 < len(entry[language]) < 95
            assert "\n" not in entry[language]
        assert len({entry[language] for language in LANGUAGES}) == len(LANGUAGES)
        assert re.search("[\u0430-\u044f]", entry["ru"])  # Cyrillic
