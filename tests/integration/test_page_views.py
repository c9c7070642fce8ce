"""Each page gets the cheapest view that shows what MuPDF shows, and no cheaper one."""

import io
from contextlib import closing, contextmanager

import cv2
import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageCms

from archive_tools.config import (
    NO_FINISHING,
    DatasetConfig,
    Fit,
    ImageFormat,
    PageFilter,
)
from archive_tools.extraction import PageExtractor
from archive_tools.page_views import PdfiumView, RenderedView, ScanView
from archive_tools.reader import open_document
from archive_tools.schema import PageOutcome, PageTask
from archive_tools.second_renderer import SecondRenderer
from archive_tools.view_chooser import ViewChooser
from tests import pdf_fixtures, pdf_writer
from tests.pdf_writer import PageSpec, PdfWriter, Stream

BY_SIGMA = DatasetConfig(filter=PageFilter.SIGMA)
SMALL_PT = (298.0, 420.0)  # A6
SMALL_300_DPI = (1242, 1750)


@pytest.fixture
def chosen(tmp_path):
    """Return the kind of view that the first page of a fixture gets."""

    def choose(content):
        path = tmp_path / "scan.pdf"
        path.write_bytes(content)
        with open_views(path) as chooser, chooser.document.open_page(0) as page:
            return type(chooser.choose(page, 1024 / page.height_pt))

    return choose


@contextmanager
def open_views(path, other_path=None):
    """Open a document, and for PDFium possibly another one."""
    with (
        open_document(path) as document,
        closing(SecondRenderer(other_path or path, None)) as renderer,
    ):
        yield ViewChooser(
            document, renderer, 45.0, lambda: open_views(path, other_path), check_limit_s=30
        )


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (pdf_fixtures.colour_jpeg, ScanView),
        (pdf_fixtures.grey_jpeg, ScanView),
        (pdf_fixtures.progressive_jpeg, ScanView),
        (pdf_fixtures.jpeg_with_hidden_text, ScanView),
        (pdf_fixtures.ccitt, ScanView),
        (pdf_fixtures.jbig2, ScanView),
        (pdf_fixtures.indexed, ScanView),
        (pdf_fixtures.jpeg2000, ScanView),
        (lambda: pdf_fixtures.rotated(90), ScanView),
        (lambda: pdf_fixtures.encrypted(user_password=""), ScanView),
        (pdf_fixtures.active_content, ScanView),
        (pdf_fixtures.mrc, PdfiumView),
        (pdf_fixtures.born_digital, PdfiumView),
        (pdf_fixtures.blank, PdfiumView),
        (pdf_fixtures.cmyk_jpeg, RenderedView),
        (pdf_fixtures.inverted_jpeg, RenderedView),
        (pdf_fixtures.inverted_ccitt, RenderedView),
        (pdf_fixtures.image_mask, RenderedView),
        (pdf_fixtures.flipped_jpeg, RenderedView),
        (pdf_fixtures.jpeg_with_visible_text, RenderedView),
        (pdf_fixtures.layered, RenderedView),
        (pdf_fixtures.poster, RenderedView),
    ],
)
def test_each_kind_of_page_gets_its_view(chosen, make, view):
    assert chosen(make()) is view


def jpeg_page(entries="", page_entries="", content=None, size_pt=pdf_fixtures.PAGE_PT, **changes):
    picture = pdf_writer.jpeg_stream(pdf_fixtures.draw_page(), entries=entries)
    if changes:
        stored = picture.entries
        for old, new in changes.values():
            stored = stored.replace(old, new)
        picture = Stream(stored, picture.stored)
    content = content or pdf_fixtures.FULL_PAGE.format(*size_pt)
    return pdf_writer.write_pdf(
        [PageSpec(*size_pt, content, {"Im0": picture}, entries=page_entries)]
    )


@pytest.mark.parametrize(
    "content",
    [
        jpeg_page(entries="/SMaskInData 1"),
        jpeg_page(entries="/Mask [250 255 250 255 250 255]"),
        jpeg_page(entries="/OC << /Type /OCG /Name (x) >>"),
        jpeg_page(entries="/DecodeParms << /ColorTransform 0 >>"),
        jpeg_page(colour=("/DeviceRGB", "/DeviceGray")),
        jpeg_page(colour=("/DeviceRGB", "[/Lab << /WhitePoint [0.96 1 0.82] >>]")),
        jpeg_page(
            colour=("/DeviceRGB", "[/CalRGB << /WhitePoint [0.95 1 1.09] /Gamma [3 3 3] >>]")
        ),
        jpeg_page(width=(f"/Width {pdf_fixtures.PAGE_PX[0]}", "/Width 500")),
        jpeg_page(page_entries="/UserUnit 2"),
        jpeg_page(page_entries="/Group << /S /Transparency /CS /DeviceCMYK >>"),
        jpeg_page(size_pt=(420.0, 400.0)),
        jpeg_page(content="q 400 0 0 570 10 10 cm /Im0 Do Q"),
        jpeg_page(content="q 420 0 30 595 0 0 cm /Im0 Do Q"),
        jpeg_page(content="0 0 200 200 re W n q 420 0 0 595 0 0 cm /Im0 Do Q"),
        jpeg_page(content="q 420 0 0 595 0 0 cm /Im0 Do Q 20 20 100 100 re f"),
    ],
    ids=[
        "soft mask in the data",
        "colour key",
        "optional content",
        "colour transform",
        "grey that is RGB",
        "Lab",
        "calibrated RGB",
        "wrong width",
        "user unit",
        "group in CMYK",
        "distorted",
        "margins",
        "skewed",
        "clipped",
        "covered",
    ],
)
def test_a_page_that_changes_its_picture_is_rendered(chosen, content):
    assert chosen(content) is RenderedView


def with_profile(profile, as_intent=False):
    """Return a scan whose colours go through a profile: its own, or the file's output intent."""
    writer = PdfWriter()
    number = writer.add(Stream("/N 3", profile))
    picture = pdf_writer.jpeg_stream(pdf_fixtures.draw_page())
    catalogue = ""
    if as_intent:
        catalogue = (
            "/OutputIntents [<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (x) "
            f"/DestOutputProfile {number} 0 R >>]"
        )
    else:
        entries = picture.entries.replace("/DeviceRGB", f"[/ICCBased {number} 0 R]")
        picture = Stream(entries, picture.stored)
    page = pdf_fixtures.one_picture_page(picture)
    return pdf_writer.write_pdf([page], catalogue=catalogue, writer=writer)


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
SWAPPED = SRGB.replace(b"rXYZ", b"????").replace(b"bXYZ", b"rXYZ").replace(b"????", b"bXYZ")


@pytest.mark.parametrize("as_intent", [False, True], ids=["picture", "output intent"])
@pytest.mark.parametrize(("profile", "view"), [(SRGB, ScanView), (SWAPPED, RenderedView)])
def test_only_a_profile_that_changes_nothing_is_passed_over(chosen, profile, view, as_intent):
    assert chosen(with_profile(profile, as_intent)) is view


def test_annotations_are_rendered(chosen):
    with pymupdf.open(stream=pdf_fixtures.colour_jpeg(), filetype="pdf") as document:
        document[0].add_highlight_annot(pymupdf.Rect(50, 50, 300, 200))
        assert chosen(document.tobytes()) is RenderedView


def test_a_view_that_shows_something_else_is_not_trusted(tmp_path):
    typeset, blank = tmp_path / "typeset.pdf", tmp_path / "other.pdf"
    typeset.write_bytes(pdf_fixtures.born_digital())
    blank.write_bytes(pdf_fixtures.scan_pdf(pdf_writer.jpeg_stream(255 - pdf_fixtures.draw_page())))
    with open_views(typeset) as chooser:
        assert chooser.trusts_pdfium()
    with open_views(typeset, blank) as chooser:
        assert not chooser.trusts_pdfium()
        with chooser.document.open_page(0) as page:
            assert isinstance(chooser.choose(page, 1.0), RenderedView)


def test_busy_pages_of_a_long_document_get_no_glance(tmp_path):
    plain = pdf_writer.jpeg_stream(np.full((875, 621, 3), (233, 221, 193), np.uint8))
    checks = np.random.default_rng(1).integers(0, 2, (110, 78), np.uint8) * 255
    tiles = np.kron(checks, np.ones((8, 8), np.uint8))[:875, :621]
    busy = pdf_writer.jpeg_stream(np.stack([tiles] * 3, axis=-1))
    stored = [len(picture.stored) / (621 * 875) for picture in (plain, busy)]
    path = tmp_path / "scans.pdf"
    pages = [
        pdf_fixtures.one_picture_page(busy if index % 4 == 0 else plain, SMALL_PT)
        for index in range(60)
    ]
    path.write_bytes(pdf_writer.write_pdf(pages))
    with open_views(path) as chooser:
        assert stored[0] < chooser.find_most_bytes_for_glance() < stored[1]


def test_a_damaged_scan_is_rendered_or_refused_but_not_invented(tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_fixtures.jpeg_without_end_marker())
    with closing(PageExtractor(BY_SIGMA)) as extractor:
        result = extractor.extract(PageTask(path, 0))
    assert result.outcome is PageOutcome.KEPT


CODINGS = {
    "JPEG": pdf_writer.jpeg_stream,
    "grey JPEG": lambda rgb: pdf_writer.jpeg_stream(pdf_writer.to_grey(rgb)),
    "JPEG 2000": pdf_writer.jpx_stream,
    "CCITT": lambda rgb: pdf_writer.ccitt_stream(pdf_writer.to_grey(rgb) < 128),
    "JBIG2": lambda rgb: pdf_writer.jbig2_stream(pdf_writer.to_grey(rgb) < 128),
    "palette": pdf_writer.indexed_stream,
}


def many_contrasts(coding, dpi):
    """Return pages whose sigma lies around the threshold, some of them very near."""
    size = (round(SMALL_PT[0] / 72 * dpi), round(SMALL_PT[1] / 72 * dpi))
    pages = []
    for step, contrast in enumerate(np.linspace(0.42, 0.62, 5)):
        rgb = pdf_fixtures.draw_page(*size, seed=step, contrast=contrast)
        pages.append(pdf_fixtures.one_picture_page(CODINGS[coding](rgb), SMALL_PT))
    return pdf_writer.write_pdf(pages)


def article_sigmas(path):
    with pymupdf.open(path) as document:
        for page in document:
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(2, 2))
            shape = (pixmap.height, pixmap.width, 3)
            rgb = np.frombuffer(pixmap.samples, np.uint8).reshape(shape)
            yield float(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).std())


@pytest.mark.parametrize(
    ("coding", "dpi"),
    [
        ("JPEG", 100),
        ("JPEG", 150),
        ("JPEG", 270),
        ("JPEG", 300),
        ("grey JPEG", 300),
        ("JPEG 2000", 150),
        ("JPEG 2000", 270),
        ("palette", 100),
        ("palette", 300),
    ],
)
def test_decisions_are_those_of_the_articles_full_render(tmp_path, coding, dpi):
    path = tmp_path / "scans.pdf"
    path.write_bytes(many_contrasts(coding, dpi))
    expected = list(article_sigmas(path))
    assert min(expected) < 45 < max(expected)
    with closing(PageExtractor(BY_SIGMA)) as extractor:
        results = [extractor.extract(PageTask(path, index)) for index in range(len(expected))]
    for result, sigma in zip(results, expected, strict=True):
        assert (result.outcome is PageOutcome.KEPT) == (sigma > 45)
        assert result.sigma == pytest.approx(sigma, abs=8 if coding == "JPEG 2000" else 2)


@pytest.mark.shared_data
def test_decisions_on_real_scans_are_those_of_the_articles_full_render(tmp_path, shared_data):
    from benchmarks.make_inputs import wrap_scans

    path = tmp_path / "scans.pdf"
    path.write_bytes(wrap_scans(shared_data / "scans", 60))
    expected = list(article_sigmas(path))
    with closing(PageExtractor(BY_SIGMA)) as extractor:
        results = [extractor.extract(PageTask(path, index)) for index in range(len(expected))]
    kept = [result.sigma is not None and result.sigma > 45 for result in results]
    assert kept == [sigma > 45 for sigma in expected]


def square(pixels):
    image = Image.fromarray(pixels).convert("RGB")
    return np.asarray(image.resize((512, 512), Image.Resampling.LANCZOS))


@pytest.mark.parametrize("coding", CODINGS)
def test_the_picture_is_at_least_as_faithful_as_the_articles(tmp_path, coding):
    rgb = pdf_fixtures.draw_page(*SMALL_300_DPI, seed=3)
    picture = CODINGS[coding](rgb)
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_fixtures.scan_pdf(picture, SMALL_PT))
    options = DatasetConfig(
        filter=PageFilter.NONE,
        fit=Fit.STRETCH,
        size_px=512,
        image_format=ImageFormat.PNG,
        finishing=NO_FINISHING,
        dedupe=False,
        min_size_px=1,
    )
    with closing(PageExtractor(options)) as extractor:
        (record,) = extractor.extract(PageTask(path, 0)).records
    ours = np.asarray(Image.open(io.BytesIO(record.jpeg)).convert("RGB"))
    with pymupdf.open(path) as document:
        stored = pymupdf.Pixmap(
            pymupdf.csRGB, pymupdf.Pixmap(document, document[0].get_images()[0][0])
        )
        rendered = document[0].get_pixmap(matrix=pymupdf.Matrix(2, 2))
    full, article = (
        square(np.frombuffer(each.samples, np.uint8).reshape(each.height, each.width, 3))
        for each in (stored, rendered)
    )
    assert cv2.PSNR(ours, full) >= cv2.PSNR(article, full)
    assert cv2.PSNR(ours, full) > 30


def coarse_page(text="", pictures=2):
    """Return a PDF whose page shows pictures of 72 dpi one above the other, and perhaps text."""
    drawn = Image.fromarray(pdf_fixtures.draw_page()).resize((400, 600 // pictures))
    stored = io.BytesIO()
    drawn.save(stored, "PNG")
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        for number in range(pictures):
            top = number * 600 // pictures
            area = pymupdf.Rect(0, top, 400, top + 600 // pictures)
            page.insert_image(area, stream=stored.getvalue(), rotate=0 if number else 180)
        page.insert_text((50, 50), text or " ", render_mode=0 if text else 3)
        return document.tobytes()


@pytest.mark.parametrize("pictures", [1, 2])
@pytest.mark.parametrize("text", ["", "print"], ids=["hidden text", "print"])
def test_a_page_of_pictures_alone_is_not_enlarged(tmp_path, text, pictures):
    path = tmp_path / "coarse.pdf"
    path.write_bytes(coarse_page(text, pictures))
    with open_views(path) as chooser, chooser.document.open_page(0) as page:
        height, width = chooser.choose(page, 1024 / 600).show(1024 / 600).shape[:2]
    if text:
        assert width >= 400 * 2
    else:
        assert (width, height) == (400, 600)


def test_the_rule_looks_at_144_dpi_however_coarse_the_picture(tmp_path):
    path = tmp_path / "coarse.pdf"
    path.write_bytes(coarse_page())
    with pymupdf.open(path) as document:
        pixmap = document[0].get_pixmap(matrix=pymupdf.Matrix(2, 2))
        rendered = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    with open_views(path) as chooser, chooser.document.open_page(0) as page:
        view = RenderedView(page)
        assert view.show(1.0).shape == (600, 400, 3)
        (look,) = view.iter_looks()
    assert look.sigma == pytest.approx(cv2.cvtColor(rendered, cv2.COLOR_RGB2GRAY).std(), abs=0.2)
