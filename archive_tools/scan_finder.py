"""Finds the one picture that a scanned page consists of, where that is proven.

A scan that is decoded by itself costs a third of a rendered page and is sharper. But a page may
turn, cut, invert, mask, recolour or cover its picture, so everything that could change how it
looks must be absent or understood; otherwise the answer is None and the page is rendered.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from archive_tools.embedded_picture import Placement, is_plain_profile
from archive_tools.page_content import (
    Matrix,
    PlacedPicture,
    find_only_picture,
    map_rectangle,
    multiply,
)

JPEG = "DCTDecode"
JPEG_2000 = "JPXDecode"

# Keys that are understood here or do not matter to how a page or a picture looks.
_PAGE_KEYS = """
    Type Parent MediaBox CropBox TrimBox BleedBox ArtBox Rotate Resources Contents Thumb
    StructParents LastModified Annots AA Group PieceInfo Metadata Tabs Dur Trans ID PZ B
"""
_PICTURE_KEYS = """
    Type Subtype Name Width Height BitsPerComponent ColorSpace Filter Length Interpolate Intent
    Metadata DecodeParms DL StructParent
"""
_DEFAULT_SPACES = ("DefaultGray", "DefaultRGB", "DefaultCMYK")
# A scan may miss the page's edge by a pixel at 144 dpi: page sizes are rounded to points.
_TOLERANCE_PT = 0.6
_MOST_DISTORTION = 0.01
_MOST_ANCESTORS = 32


@dataclass(frozen=True, slots=True)
class Scan:
    """The only picture of a page, and how the page shows it.

    Attributes:
        xref: The picture's object number.
        codec: Its last filter, such as `DCTDecode`; empty when it is stored plainly.
        width: Stored width in pixels.
        height: Stored height in pixels.
        channels: 1 or 3 where its colour space is grey or RGB; 0 where only MuPDF can tell.
        density: Pixels per point of the page.
        placement: Turn and window.
    """

    xref: int
    codec: str
    width: int
    height: int
    channels: int
    density: float
    placement: Placement


def find_scan(document: Any, page: Any, page_matrix: Matrix) -> Scan | None:
    """Return the picture of a page that shows nothing but one picture over its whole area.

    Args:
        document: The open `pymupdf.Document`.
        page: One of its pages.
        page_matrix: From PDF space to the upright page in points, top-left origin.
    """
    pictures = page.get_images(full=True)
    if len(pictures) != 1 or not _is_plain_page(document, page):
        return None
    xref, _, width, height, _, _, _, name, _, referencer = pictures[0]
    placed = find_only_picture(page.read_contents())
    if placed is None or referencer != 0 or placed.name != name:
        return None
    codec = _codec(document, xref)
    channels = _plain_channels(document, xref, codec)
    shown = _place(placed, page_matrix, page.rect, (width, height))
    if channels is None or shown is None:
        return None
    placement, density = shown
    return Scan(xref, codec, width, height, channels, density, placement)


def shows_device_colours_plainly(document: Any) -> bool:
    """Return whether the document's output intent leaves device grey and RGB as they are.

    Args:
        document: The open `pymupdf.Document`.
    """
    intents = _resolve(document, document.pdf_catalog(), "OutputIntents")
    if intents == "null":
        return True
    profiles = re.findall(r"/DestOutputProfile (\d+) 0 R", intents)
    for reference in re.findall(r"(\d+) 0 R", intents):
        if reference not in profiles:
            stated = document.xref_get_key(int(reference), "DestOutputProfile")[1]
            profiles += re.findall(r"(\d+) 0 R", stated)
    return all(_leaves_colours(document, int(profile)) for profile in profiles)


def _leaves_colours(document: Any, profile_xref: int) -> bool:
    """Return whether an output profile changes neither grey nor RGB pictures."""
    is_for_cmyk = document.xref_get_key(profile_xref, "N")[1] == "4"
    return is_for_cmyk or _profile_channels(document, profile_xref) > 0


def _is_plain_page(document: Any, page: Any) -> bool:
    """Return whether the page's dictionary holds nothing that could change how it looks."""
    keys = set(document.xref_get_keys(page.xref))
    if not keys <= set(_PAGE_KEYS.split()):
        return False
    if document.xref_get_key(page.xref, "Group/CS")[0] != "null":
        return False
    if "Annots" in keys and (page.first_annot is not None or page.first_widget is not None):
        return False
    owner = _resources_owner(document, page.xref)
    return all(
        document.xref_get_key(owner, f"Resources/ColorSpace/{name}")[0] == "null"
        for name in _DEFAULT_SPACES
    )


def _resources_owner(document: Any, page_xref: int) -> int:
    """Return the object that holds the page's resources: itself or an ancestor."""
    xref = page_xref
    for _ in range(_MOST_ANCESTORS):
        parent = document.xref_get_key(xref, "Parent")
        if document.xref_get_key(xref, "Resources")[0] != "null" or parent[0] != "xref":
            break
        xref = int(parent[1].split()[0])
    return xref


def _resolve(document: Any, xref: int, key: str) -> str:
    """Return a dictionary entry in PDF syntax, following one reference."""
    kind, text = document.xref_get_key(xref, key)
    if kind == "xref":
        return str(document.xref_object(int(text.split()[0]), compressed=True))
    return str(text)


def _codec(document: Any, xref: int) -> str:
    """Return the name of a picture's only filter; "several" where it has more than one."""
    names = re.findall(r"/(\w+)", _resolve(document, xref, "Filter"))
    return "several" if len(names) > 1 else "".join(names)


def _plain_channels(document: Any, xref: int, codec: str) -> int | None:
    """Return the picture's channels, 0 where MuPDF must convert it, None where it is not plain."""
    if not set(document.xref_get_keys(xref)) <= set(_PICTURE_KEYS.split()):
        return None
    if codec == JPEG and document.xref_get_key(xref, "DecodeParms")[0] != "null":
        return None
    space = _resolve(document, xref, "ColorSpace")
    if space in ("/DeviceGray", "/DeviceRGB"):
        return 1 if space == "/DeviceGray" else 3
    profile = re.match(r"\[\s*/ICCBased (\d+) 0 R", space)
    channels = _profile_channels(document, int(profile[1])) if profile else 0
    if codec == JPEG_2000 and channels == 0 and space != "null":
        # Its own colour space is overruled by one that only MuPDF can convert.
        return None
    return channels


def _profile_channels(document: Any, profile_xref: int) -> int:
    """Return the channels of an ICC colour space that changes nothing, else 0."""
    kind, text = document.xref_get_key(profile_xref, "N")
    channels = int(text) if kind == "int" else 0
    if channels not in (1, 3):
        return 0
    profile = document.xref_stream(profile_xref)
    return channels if profile and is_plain_profile(profile, channels) else 0


def _place(
    placed: PlacedPicture, page_matrix: Matrix, page_rect: Any, size: tuple[int, int]
) -> tuple[Placement, float] | None:
    """Return how the page shows the picture, and its pixels per point."""
    matrix = multiply(placed.matrix, page_matrix)
    rotation = _rotation(matrix)
    area = map_rectangle((0, 0, 1, 1), matrix)
    width, height = area[2] - area[0], area[3] - area[1]
    clips = [map_rectangle(clip, page_matrix) for clip in placed.clips]
    if rotation is None or not all(_covers(each, page_rect) for each in (area, *clips)):
        return None
    across, down = size if rotation in (0, 180) else size[::-1]
    density, density_down = across / width, down / height
    if abs(density / density_down - 1) > _MOST_DISTORTION:
        return None
    window = (
        max(0.0, -area[0] / width),
        max(0.0, -area[1] / height),
        min(1.0, (page_rect.width - area[0]) / width),
        min(1.0, (page_rect.height - area[1]) / height),
    )
    return Placement(rotation, window), min(density, density_down)


def _rotation(matrix: Matrix) -> int | None:
    """Return the clockwise turn that a matrix gives a picture; None where it skews or mirrors.

    In the picture's own space y points up, on the page it points down.
    """
    a, b, c, d, _, _ = matrix
    largest = max(abs(a), abs(b), abs(c), abs(d))
    signs = [0 if abs(v) < 1e-4 * largest else math.copysign(1, v) for v in (a, b, c, d)]
    turns = {0: [1, 0, 0, -1], 90: [0, 1, 1, 0], 180: [-1, 0, 0, 1], 270: [0, -1, -1, 0]}
    return next((turn for turn, wanted in turns.items() if signs == wanted), None)


def _covers(area: tuple[float, float, float, float], page_rect: Any) -> bool:
    """Return whether an area of the page reaches all its edges."""
    return (
        area[0] <= _TOLERANCE_PT
        and area[1] <= _TOLERANCE_PT
        and area[2] >= page_rect.width - _TOLERANCE_PT
        and area[3] >= page_rect.height - _TOLERANCE_PT
    )
