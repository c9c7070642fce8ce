"""Draws scans of a magazine that never was: text, engravings, halftones, paper, scanner."""

from examples.magazine_drawing.pages import (
    PAGE_SIZE_IN,
    DrawnPage,
    PageKind,
    draw_labelled_page,
    draw_page,
)
from examples.magazine_drawing.pdf import ScanKind, page_kind_at, write_magazine

__all__ = [
    "PAGE_SIZE_IN",
    "DrawnPage",
    "PageKind",
    "ScanKind",
    "draw_labelled_page",
    "draw_page",
    "page_kind_at",
    "write_magazine",
]
