"""PDFs of every awkward kind, made in code; each function returns the file's bytes.

Pictures are drawn by `draw_page`: dark text lines and one hatched plate on yellowish paper.
`scan_*` pages hold one full-page picture at `DPI`.
"""

import io

import numpy as np
import numpy.typing as npt
import pymupdf
from PIL import Image, ImageDraw

from tests import pdf_writer
from tests.pdf_writer import PageSpec, Pixels, Stream, write_pdf

DPI = 150
PAGE_PT = (420.0, 595.0)  # A5
PAGE_PX = (round(PAGE_PT[0] / 72 * DPI), round(PAGE_PT[1] / 72 * DPI))
FULL_PAGE = "q {:g} 0 0 {:g} 0 0 cm /Im0 Do Q"


def draw_page(
    width: int = PAGE_PX[0], height: int = PAGE_PX[1], seed: int = 0, contrast: float = 1.0
) -> Pixels:
    """Draw a page: text lines above, a hatched plate below, an asymmetric black corner.

    `contrast` scales how dark the ink is, and so the page's sigma.
    """
    rng = np.random.default_rng(seed)
    paper = np.array((236, 226, 200))
    ink = tuple(int(value) for value in paper * (1 - contrast) + np.array((30, 26, 24)) * contrast)
    image = Image.new("RGB", (width, height), tuple(int(value) for value in paper))
    draw = ImageDraw.Draw(image)
    unit = max(2, height // 150)
    for top in range(unit * 6, height // 2, unit * 3):
        left = unit * 6
        while left < width - unit * 10:
            right = left + int(rng.integers(unit, unit * 5))
            draw.rectangle((left, top, right, top + unit), fill=ink)
            left = right + unit
    draw.rectangle((unit, unit, unit * 4, unit * 3), fill=ink)
    for step in range(height // 2, height - unit * 6, unit):
        draw.line((unit * 8, step, width - unit * 8, step + unit * 2), fill=ink, width=unit // 2)
    noise = rng.normal(0, 3, (height, width, 1))
    return np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)


def draw_ink(
    width: int = PAGE_PX[0], height: int = PAGE_PX[1], seed: int = 0
) -> npt.NDArray[np.bool_]:
    """Return the same page in one bit; True is ink."""
    ink: npt.NDArray[np.bool_] = pdf_writer.to_grey(draw_page(width, height, seed)) < 128
    return ink


def one_picture_page(
    picture: Stream, size_pt: tuple[float, float] = PAGE_PT, entries: str = ""
) -> PageSpec:
    """Return a page that shows one picture over its whole area."""
    return PageSpec(*size_pt, FULL_PAGE.format(*size_pt), {"Im0": picture}, entries)


def scan_pdf(picture: Stream, size_pt: tuple[float, float] = PAGE_PT, entries: str = "") -> bytes:
    """Return a PDF of one page that shows one picture over its whole area."""
    return write_pdf([one_picture_page(picture, size_pt, entries)])


def colour_jpeg(pages: int = 1) -> bytes:
    """Return colour JPEG scans, each page with a text of its own."""
    pictures = [pdf_writer.jpeg_stream(draw_page(seed=seed)) for seed in range(pages)]
    return write_pdf([one_picture_page(picture) for picture in pictures])


def grey_jpeg() -> bytes:
    """Return a grey JPEG scan."""
    return scan_pdf(pdf_writer.jpeg_stream(pdf_writer.to_grey(draw_page())))


def progressive_jpeg() -> bytes:
    """Return a progressive JPEG scan."""
    return scan_pdf(pdf_writer.jpeg_stream(draw_page(), progressive=True))


def cmyk_jpeg() -> bytes:
    """Return a CMYK JPEG scan."""
    return scan_pdf(pdf_writer.cmyk_jpeg_stream(draw_page()))


def inverted_jpeg() -> bytes:
    """Return a JPEG stored as a negative and turned round by /Decode."""
    return scan_pdf(pdf_writer.jpeg_stream(255 - draw_page(), entries="/Decode [1 0 1 0 1 0]"))


def ccitt() -> bytes:
    """Return a bitonal CCITT group 4 scan."""
    return scan_pdf(pdf_writer.ccitt_stream(draw_ink()))


def inverted_ccitt() -> bytes:
    """Return a bitonal scan stored as a negative and turned round by /Decode."""
    return scan_pdf(pdf_writer.ccitt_stream(~draw_ink(), "/ColorSpace /DeviceGray /Decode [1 0]"))


def jbig2() -> bytes:
    """Return a bitonal JBIG2 scan."""
    return scan_pdf(pdf_writer.jbig2_stream(draw_ink()))


def image_mask() -> bytes:
    """Return a bitonal scan used as a stencil, painted in dark red."""
    page = one_picture_page(pdf_writer.ccitt_stream(draw_ink(), "/ImageMask true"))
    content = "0.4 0 0 rg " + page.content
    return write_pdf([PageSpec(page.width_pt, page.height_pt, content, page.pictures)])


def jpeg2000() -> bytes:
    """Return a colour JPEG 2000 scan."""
    return scan_pdf(pdf_writer.jpx_stream(draw_page()))


def indexed() -> bytes:
    """Return a scan with a palette of 16 colours."""
    return scan_pdf(pdf_writer.indexed_stream(draw_page()))


def mrc_page(width: int = PAGE_PX[0], height: int = PAGE_PX[1], seed: int = 0) -> PageSpec:
    """Return a layered scan: a coarse JPEG 2000 background, ink as a JBIG2 stencil above it."""
    background = np.full((height // 3, width // 3, 3), (236, 226, 200), dtype=np.uint8)
    pictures = {
        "Im0": pdf_writer.jpx_stream(background),
        "Im1": pdf_writer.jbig2_stream(draw_ink(width, height, seed), "/ImageMask true"),
    }
    place = "{:g} 0 0 {:g} 0 0 cm".format(*PAGE_PT)
    content = f"q {place} /Im0 Do Q q 0.1 0.1 0.1 rg {place} /Im1 Do Q"
    return PageSpec(*PAGE_PT, content, pictures)


def mrc() -> bytes:
    """Return a layered (MRC) scan."""
    return write_pdf([mrc_page()])


def rotated(degrees: int, crop: bool = True) -> bytes:
    """Return a colour JPEG scan with /Rotate and, if asked, a crop box off the middle."""
    entries = f"/Rotate {degrees}"
    if crop:
        entries += " /CropBox [30 50 400 560]"
    return scan_pdf(pdf_writer.jpeg_stream(draw_page()), entries=entries)


def flipped_jpeg() -> bytes:
    """Return a scan that its content stream turns upside down."""
    page = one_picture_page(pdf_writer.jpeg_stream(draw_page()))
    content = "q {:g} 0 0 -{:g} 0 {:g} cm /Im0 Do Q".format(*PAGE_PT, PAGE_PT[1])
    return write_pdf([PageSpec(*PAGE_PT, content, page.pictures)])


def jpeg_with_hidden_text() -> bytes:
    """Return a colour JPEG scan under the invisible text of an OCR program."""
    page = one_picture_page(pdf_writer.jpeg_stream(draw_page()))
    content = page.content + " BT 3 Tr /F1 12 Tf 50 500 Td (recognised words) Tj ET"
    font = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    return write_pdf([PageSpec(*PAGE_PT, content, page.pictures, resources=font)])


def jpeg_with_visible_text() -> bytes:
    """Return a colour JPEG scan with big black text printed over it."""
    page = one_picture_page(pdf_writer.jpeg_stream(draw_page()))
    content = page.content + " BT 0 Tr /F1 90 Tf 20 300 Td (STAMP) Tj ET"
    font = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >>"
    return write_pdf([PageSpec(*PAGE_PT, content, page.pictures, resources=font)])


def broken_jpeg() -> bytes:
    """Return a scan whose JPEG ends after its first tenth."""
    whole = pdf_writer.jpeg_stream(draw_page())
    cut = whole.stored[: len(whole.stored) // 10]
    return scan_pdf(Stream(whole.entries, cut))


def jpeg_without_end_marker() -> bytes:
    """Return a scan whose JPEG is whole but for its end marker."""
    whole = pdf_writer.jpeg_stream(draw_page())
    return scan_pdf(Stream(whole.entries, whole.stored[:-2]))


def poster() -> bytes:
    """Return an absurd page of 18,000 x 36,000 points around a small picture."""
    return scan_pdf(pdf_writer.jpeg_stream(draw_page()), (18000.0, 36000.0))


def blank(pages: int = 1) -> bytes:
    """Return empty pages."""
    return write_pdf([PageSpec(*PAGE_PT, "") for _ in range(pages)])


def born_digital() -> bytes:
    """Return a page of real text and lines, without any picture."""
    with pymupdf.open() as document:
        page = document.new_page(width=PAGE_PT[0], height=PAGE_PT[1])
        page.insert_textbox((40, 40, 380, 400), "Typeset text, not a scan. " * 60, fontsize=11)
        page.draw_rect((60, 420, 360, 560), fill=(0.2, 0.2, 0.5))
        return bytes(document.tobytes(deflate=True))


def with_annotated_page(kind: str, at: int, pages: int = 3) -> bytes:
    """Typeset pages, one of which shows nothing but a form field or a note ("note")."""
    with pymupdf.open() as document:
        for index in range(pages):
            page = document.new_page(width=420, height=595)
            if index != at:
                page.insert_text((40, 60), "Typeset text, not a scan.")
            elif kind == "note":
                page.add_freetext_annot((40, 40, 380, 555), "A note. " * 60, fontsize=20)
            else:
                field = pymupdf.Widget()
                field.field_name, field.field_type = "x", pymupdf.PDF_WIDGET_TYPE_TEXT
                field.rect, field.text_fontsize = pymupdf.Rect(40, 40, 380, 555), 40
                field.field_value = "FORM FIELD " * 20
                page.add_widget(field)
        return bytes(document.tobytes())


def encrypted(user_password: str = "user", owner_password: str = "owner") -> bytes:
    """Return a scan locked by AES-256; an empty user password opens without asking."""
    with pymupdf.open(stream=colour_jpeg(), filetype="pdf") as document:
        return bytes(
            document.tobytes(
                encryption=pymupdf.PDF_ENCRYPT_AES_256,
                user_pw=user_password,
                owner_pw=owner_password,
            )
        )


def zero_pages() -> bytes:
    """Return a well-formed PDF without any page."""
    return write_pdf([])


def lying_page_count() -> bytes:
    """A file that promises five pages and has one."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 5>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]>>endobj\ntrailer<</Root 1 0 R>>\n"
    )


def truncated(share: float, whole: bytes | None = None) -> bytes:
    """Return the first `share` (0 to 1) of a file of three scans."""
    whole = whole or colour_jpeg(pages=3)
    return whole[: int(len(whole) * share)]


def layered(names: tuple[str, ...] = ("OCR", "Watermark")) -> bytes:
    """Return a scan under optional-content layers, each a black bar with a name of its own."""
    with pymupdf.open(stream=colour_jpeg(), filetype="pdf") as document:
        for place, name in enumerate(names):
            top = 60 + 150 * place
            layer = document.add_ocg(name)
            document[0].draw_rect((30, top, 390, top + 120), fill=(0, 0, 0), oc=layer)
        return bytes(document.tobytes())


def active_content() -> bytes:
    """Return a scan that wants to run JavaScript and to launch a program when opened."""
    script = "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>"
    launch = "/AA << /O << /S /Launch /F (/bin/true) >> >>"
    page = one_picture_page(pdf_writer.jpeg_stream(draw_page()), entries=launch)
    return write_pdf([page], catalogue=script)


def with_details() -> bytes:
    """Return a scan with title, author, date and producer."""
    stated = (
        "/Info << /Title (The Garden) /Author (A. Smith) /CreationDate (D:19010203000000Z) "
        "/Producer (test) >>"
    )
    return write_pdf([one_picture_page(pdf_writer.jpeg_stream(draw_page()))], trailer=stated)


def html_named_pdf() -> bytes:
    """Return a web page, as a failed download leaves it."""
    return b"<!DOCTYPE html><html><body><h1>404 Not Found</h1></body></html>"


def jpeg_named_pdf() -> bytes:
    """Return a picture under the wrong name."""
    buffer = io.BytesIO()
    Image.fromarray(draw_page()).save(buffer, "JPEG")
    return buffer.getvalue()


ALL = (
    "colour_jpeg",
    "grey_jpeg",
    "progressive_jpeg",
    "cmyk_jpeg",
    "inverted_jpeg",
    "ccitt",
    "inverted_ccitt",
    "jbig2",
    "image_mask",
    "jpeg2000",
    "indexed",
    "mrc",
    "flipped_jpeg",
    "jpeg_with_hidden_text",
    "jpeg_with_visible_text",
    "broken_jpeg",
    "jpeg_without_end_marker",
    "poster",
    "blank",
    "born_digital",
    "encrypted",
    "zero_pages",
    "layered",
    "active_content",
    "with_details",
    "html_named_pdf",
    "jpeg_named_pdf",
)
"""Names of the functions that can be called without arguments."""
