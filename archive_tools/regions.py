"""Where the illustrations of a page are cut out of a picture of it; pure."""

import math
from collections.abc import Iterable, Sequence

Box = tuple[int, int, int, int]
Size = tuple[int, int]

# Bare paper left round a picture, as a share of the page's long side: about 2 mm of A4.
MARGIN_SHARE = 0.006
# Printed pictures hold no more than that; a small one is cut small rather than from a huge render.
_FINEST_ZOOM = 400 / 72


def place_cuts(
    boxes: Iterable[Box],
    looked_size: Size,
    picture_size: Size,
    margin_share: float = MARGIN_SHARE,
) -> tuple[Box, ...]:
    """Bring boxes from one picture of a page to another, with a margin.

    Args:
        boxes: x0, y0, x1, y1 in pixels of the picture that was looked at, half-open.
        looked_size: Width and height of that picture.
        picture_size: Width and height of the picture that is cut.
        margin_share: Paper left round each box, as a share of the long side.

    Returns:
        Boxes in pixels of the picture that is cut, rounded outwards, inside it and never empty.
    """
    margin_px = margin_share * max(picture_size)
    return tuple(_place_cut(box, looked_size, picture_size, margin_px) for box in boxes)


def zoom_for_cuts(
    boxes: Sequence[Box], looked_size: Size, page_size_pt: tuple[float, float], side_px: int
) -> float:
    """Return how finely a page must be shown so that its cuts need no enlargement.

    Args:
        boxes: The cuts in pixels of the picture that was looked at; at least one.
        looked_size: Width and height of that picture.
        page_size_pt: Width and height of the page in points.
        side_px: Pixels that the longer side of each cut should have.

    Returns:
        Pixels per point; what 400 dpi shows is fine enough for any.
    """
    across, down = page_size_pt[0] / looked_size[0], page_size_pt[1] / looked_size[1]
    shortest_pt = min(max((x1 - x0) * across, (y1 - y0) * down) for x0, y0, x1, y1 in boxes)
    return min(_FINEST_ZOOM, side_px / shortest_pt)


def turn_box(box: Box, size: Size, quarter_turns: int) -> Box:
    """Return where a box lies once its picture has been turned against the clock.

    Args:
        box: In pixels of the picture, half-open.
        size: Width and height of the picture.
        quarter_turns: How often it is turned by a right angle; negative with the clock.
    """
    (x0, y0, x1, y1), (width, height) = box, size
    for _ in range(quarter_turns % 4):
        x0, y0, x1, y1 = y0, width - x1, y1, width - x0
        width, height = height, width
    return x0, y0, x1, y1


def _place_cut(box: Box, looked_size: Size, picture_size: Size, margin_px: float) -> Box:
    x0, x1 = _place_span(box[0], box[2], picture_size[0] / looked_size[0], margin_px)
    y0, y1 = _place_span(box[1], box[3], picture_size[1] / looked_size[1], margin_px)
    width, height = picture_size
    x0, y0 = min(max(0, x0), width - 1), min(max(0, y0), height - 1)
    return x0, y0, max(x0 + 1, min(width, x1)), max(y0 + 1, min(height, y1))


def _place_span(low: int, high: int, scale: float, margin_px: float) -> tuple[int, int]:
    return math.floor(low * scale - margin_px), math.ceil(high * scale + margin_px)
