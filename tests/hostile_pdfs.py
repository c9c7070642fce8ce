"""PDFs that attack whoever renders them."""

from tests.pdf_fixtures import PAGE_PT
from tests.pdf_writer import PageSpec, PdfWriter, Stream, write_pdf

LEVELS = 9
ENDLESS_MEMORY_MB = 2_000


def endless_page(pages_before: int = 0, pages_after: int = 0) -> bytes:
    """Return blank pages around one that draws a form that draws ten forms, nine levels deep.

    The file has some kilobytes; the page would take hours, and in PDFium all the memory that it is
    allowed: `ENDLESS_MEMORY_MB` is ample for MuPDF, where the time limit is to end it.
    """
    writer = PdfWriter()
    below = writer.add(_form("0 0 m 400 500 l S"))
    for _ in range(LEVELS):
        below = writer.add(
            _form("/Fm Do " * 10, f"/Resources << /XObject << /Fm {below} 0 R >> >>")
        )
    blank = PageSpec(*PAGE_PT, "")
    top = Stream(
        f"/Type /XObject /Subtype /Form /BBox [0 0 420 595] "
        f"/Resources << /XObject << /Fm {below} 0 R >> >>",
        b"/Fm Do " * 10,
    )
    endless = PageSpec(*PAGE_PT, "/Im0 Do", {"Im0": top})
    return write_pdf([blank] * pages_before + [endless] + [blank] * pages_after, writer=writer)


def _form(content: str, resources: str = "") -> Stream:
    """Return a form XObject."""
    entries = f"/Type /XObject /Subtype /Form /BBox [0 0 420 595] {resources}"
    return Stream(entries, content.encode("ascii"))
