"""Tells damaged pages from blank ones: MuPDF renders what it can and only warns."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from archive_tools.errors import PageError

Pixels = npt.NDArray[np.uint8]

# Half a picture must not get into a dataset as if it were whole.
_SIGNS_OF_DAMAGE = {
    "padding truncated image": "its picture is cut off",
    "content stream is not a stream": "its content is missing",
    "no xobject subtype specified": "its picture is missing",
    "cannot find object": "a part of it is missing",
}

# MuPDF says this also of a JPEG that only lacks its end marker and is whole otherwise.
_JPEG_CUT_OFF = "premature end of file in jpeg"
_EDGE_SHARE = 0.02


def raise_for_missing_parts(document: Any, page: Any) -> None:
    """Refuse a page of a repaired file that refers to objects which are gone.

    MuPDF renders such a page white, as if it were blank.

    Args:
        document: The open `pymupdf.Document`.
        page: One of its pages.

    Raises:
        PageError: A part is gone. What MuPDF raises at broken objects passes through.
    """
    damage = "the file is damaged (truncated?): "
    if not 0 < page.xref < document.xref_length():
        raise PageError(damage + "the page is missing")
    parts = ("Contents", "Resources/XObject", "Resources/Font")
    for part in parts:
        text = document.xref_get_key(page.xref, part)[1]
        if any(_is_missing(document, int(xref)) for xref in re.findall(r"(\d+) 0 R", text)):
            raise PageError(damage + "a part of the page is missing")


def _is_missing(document: Any, xref: int) -> bool:
    """Whether an object that something refers to is gone."""
    if not 0 < xref < document.xref_length():
        return True
    return bool(document.xref_object(xref) == "null")


def raise_for_damage(warnings: str, pixels: Pixels) -> None:
    """Refuse a render of which MuPDF says that something is missing.

    Args:
        warnings: What MuPDF said while it rendered.
        pixels: The render, uint8 RGB (H, W, 3).

    Raises:
        PageError: Something is missing.
    """
    warnings = warnings.lower()
    for sign, meaning in _SIGNS_OF_DAMAGE.items():
        if sign in warnings:
            raise PageError(f"the file is damaged (truncated?): {meaning}")
    if _JPEG_CUT_OFF in warnings and has_flat_edge(pixels):
        raise PageError("the file is damaged (truncated?): its picture is cut off")


def has_flat_edge(pixels: Pixels) -> bool:
    """Return whether a strip along one edge is of one colour, as where a JPEG was cut off.

    A scanned edge is never flat: the scanner's noise is in it.
    """
    rows = max(1, round(pixels.shape[0] * _EDGE_SHARE))
    columns = max(1, round(pixels.shape[1] * _EDGE_SHARE))
    strips = (pixels[:rows], pixels[-rows:], pixels[:, :columns], pixels[:, -columns:])
    return any(bool((strip == strip[0, 0]).all()) for strip in strips)
