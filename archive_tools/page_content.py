"""Reads a page's content stream just far enough to see whether it shows one picture and no more.

Everything that is not known to be harmless makes the answer "no": the page is then rendered.
Operators are those of ISO 32000-1, annex A.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

Matrix = tuple[float, float, float, float, float, float]

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

_TOKEN = re.compile(
    rb"""
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?=[\s()<>\[\]/%]|$))
    | (?P<string>\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\) | <[0-9A-Fa-f\s]*>)
    | (?P<name>/[^\s()<>\[\]{}/%]*)
    | (?P<bracket>\[|\]|<<|>>)
    | (?P<operator>[A-Za-z'"*][A-Za-z0-9'"*]*)
    | (?P<blank>\s+|%[^\r\n]*)
    """,
    re.VERBOSE | re.DOTALL,
)

_INVISIBLE = 3  # text rendering mode of the words that OCR programs put under a scan

# State that an opaque picture does not depend on: lines, colours, flatness, text settings.
_HARMLESS = frozenset(
    b"w J j M d i ri g G rg RG k K cs CS sc SC scn SCN BT ET Tf Td TD Tm T* Tc Tw Tz TL Ts n "
    b"BMC EMC MP".split()
)
_SHOWS_TEXT = frozenset((b"Tj", b"TJ", b"'", b'"'))


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """The one picture of a page: its resource name and the matrix from unit square to page."""

    name: str
    matrix: Matrix
    clips: tuple[tuple[float, float, float, float], ...] = ()


class _NotOnlyAPictureError(Exception):
    """The page shows something else, or something that this reader does not know."""


def find_only_picture(content: bytes) -> PlacedPicture | None:
    """Return the picture of a page that shows nothing but one picture.

    Invisible text does not count. Clipping rectangles are returned: the caller must check that
    they cover the page.

    Args:
        content: The page's content stream, all parts joined.
    """
    reader = _ContentReader()
    try:
        for operator, operands in _iter_operations(content):
            reader.take(operator, operands)
    except _NotOnlyAPictureError:
        return None
    return reader.picture


def _iter_operations(content: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield each operator with its operands."""
    operands: list[bytes] = []
    end = 0
    for token in _TOKEN.finditer(content):
        if token.start() != end:
            raise _NotOnlyAPictureError
        end = token.end()
        if token.lastgroup == "operator":
            yield token.group(), operands
            operands = []
        elif token.lastgroup != "blank":
            operands.append(token.group())
    if end != len(content):
        raise _NotOnlyAPictureError


class _ContentReader:
    """Follows the graphics state through the few operators that a scanned page needs."""

    def __init__(self) -> None:
        self.picture: PlacedPicture | None = None
        self._matrix = IDENTITY
        self._text_mode = 0.0
        self._clips: tuple[tuple[float, float, float, float], ...] = ()
        self._rectangle: tuple[float, float, float, float] | None = None
        self._stack: list[tuple[Matrix, float, tuple[tuple[float, float, float, float], ...]]] = []

    def take(self, operator: bytes, operands: list[bytes]) -> None:
        """Follow one operator."""
        if operator in _HARMLESS:
            return
        if operator in _SHOWS_TEXT:
            self._refuse_unless(self._text_mode == _INVISIBLE)
        elif operator in (b"q", b"Q"):
            self._save_or_restore(operator)
        elif operator == b"BDC":
            # Optional content: whether it shows depends on the layers.
            self._refuse_unless(bool(operands) and operands[0] != b"/OC")
        elif operator == b"Do":
            self._draw(operands)
        else:
            self._change_state(operator, operands)

    def _change_state(self, operator: bytes, operands: list[bytes]) -> None:
        numbers = _to_numbers(operands)
        if operator == b"cm" and len(numbers) == 6:
            a, b, c, d, e, f = numbers
            self._matrix = multiply((a, b, c, d, e, f), self._matrix)
        elif operator == b"Tr" and len(numbers) == 1:
            self._text_mode = numbers[0]
        elif operator == b"re" and len(numbers) == 4:
            x, y, width, height = numbers
            self._rectangle = map_rectangle((x, y, x + width, y + height), self._matrix)
        elif operator in (b"W", b"W*") and self._rectangle is not None:
            self._clips = (*self._clips, self._rectangle)
        else:
            raise _NotOnlyAPictureError

    def _save_or_restore(self, operator: bytes) -> None:
        if operator == b"q":
            self._stack.append((self._matrix, self._text_mode, self._clips))
            return
        self._refuse_unless(bool(self._stack))
        self._matrix, self._text_mode, self._clips = self._stack.pop()

    def _draw(self, operands: list[bytes]) -> None:
        self._refuse_unless(self.picture is None and len(operands) == 1)
        name = operands[0][1:].decode("latin-1")
        self.picture = PlacedPicture(name, self._matrix, self._clips)

    @staticmethod
    def _refuse_unless(harmless: bool) -> None:
        if not harmless:
            raise _NotOnlyAPictureError


def _to_numbers(operands: list[bytes]) -> list[float]:
    """Return operands as numbers; none where one of them is no number."""
    try:
        return [float(operand) for operand in operands]
    except ValueError:
        return []


def multiply(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies `first` and then `second`, as PDF's `cm` does."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return (
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    )


def map_rectangle(
    rectangle: tuple[float, float, float, float], matrix: Matrix
) -> tuple[float, float, float, float]:
    """Return the bounding box of a rectangle after a matrix."""
    x0, y0, x1, y1 = rectangle
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (x0, x1) for y in (y0, y1)]
    xs = [a * x + c * y + e for x, y in corners]
    ys = [b * x + d * y + f for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)
