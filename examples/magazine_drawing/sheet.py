"""A clean sheet in the press: type and blocks are put on it by position in points."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from examples.magazine_drawing import text
from examples.magazine_drawing.engraving import Plate
from examples.magazine_drawing.text import Column
from examples.magazine_drawing.wording import HEADINGS, iter_paragraphs

Box = tuple[int, int, int, int]
BODY_PT = 8.4
# Distance between an engraver's lines: about 0.6 mm.
LINE_PT = 1.75


class Sheet:
    """Ink on one page, and where its pictures are.

    Attributes:
        ink: Type and line blocks, mode L, 255 = printed.
        dots: Halftone dots, which are as fine as the scanner's pixels and lie apart for that.
        dpi: Pixels per inch; positions given to the methods are points (72 an inch).
        pictures: Boxes in pixels of the blocks placed so far.
    """

    def __init__(self, size: tuple[int, int], dpi: float, rng: np.random.Generator) -> None:
        """Start with nothing printed on a sheet of `size` (width, height) pixels."""
        self.ink = Image.new("L", size)
        self.dots = Image.new("L", size)
        self.dpi = dpi
        self.rng = rng
        self.pictures: list[Box] = []
        self.paragraphs = iter_paragraphs(rng)

    def px(self, points: float) -> float:
        """Points to pixels."""
        return points * self.dpi / 72

    def column(self, x0: float, y0: float, x1: float, y1: float) -> Column:
        """A box in points as a column in pixels."""
        return Column(self.px(x0), self.px(y0), self.px(x1), self.px(y1))

    def headings(self) -> Iterator[str]:
        """The magazine's headings in a drawn order."""
        return (HEADINGS[int(number)] for number in self.rng.permutation(len(HEADINGS)))

    def engrave(
        self,
        box_pt: tuple[float, float, float, float],
        draw: Callable[[Plate], object],
        headroom: float = 0.0,
    ) -> None:
        """Draw a block with `draw` and print it at a box in points."""
        x0, y0, x1, y1 = (round(self.px(edge)) for edge in box_pt)
        plate = Plate((x1 - x0, y1 - y0), self.px(LINE_PT), self.rng, headroom)
        draw(plate)
        self.place(plate.ink, (x0, y0))

    def place(self, ink: NDArray[np.uint8], corner: tuple[int, int]) -> None:
        """Print a picture (uint8 ink) with its top-left corner at a pixel, and note its box."""
        self._put(self.ink, ink, corner)

    def place_dots(self, dots: NDArray[np.uint8], corner: tuple[int, int]) -> None:
        """Print a halftone (uint8 ink) with its top-left corner at a pixel, and note its box."""
        self._put(self.dots, dots, corner)

    def _put(self, layer: Image.Image, ink: NDArray[np.uint8], corner: tuple[int, int]) -> None:
        layer.paste(text.INK, corner, Image.fromarray(ink))
        height, width = ink.shape
        self.pictures.append((*corner, corner[0] + width, corner[1] + height))

    def centred(self, words: str, x: float, baseline: float, size: float, name: str) -> None:
        """Set one centred line; position and size in points."""
        font = text.open_font(name, self.px(size))
        text.set_centred(self.ink, words, (self.px(x), self.px(baseline)), font)

    def display(
        self, words: str, box_pt: tuple[float, float, float, float], name: str = text.BOLD
    ) -> None:
        """Set one line of display type that fills a box in points."""
        text.set_display(self.ink, words, self.column(*box_pt), name)

    def rule(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.5) -> None:
        """Draw a rule; positions and width in points."""
        start, end = (self.px(x0), self.px(y0)), (self.px(x1), self.px(y1))
        text.draw_rule(self.ink, start, end, self.px(width))

    def frame(
        self, box_pt: tuple[float, float, float, float], widths_pt: tuple[float, ...], gap: float
    ) -> None:
        """Draw nested frames; all measures in points."""
        widths = tuple(self.px(width) for width in widths_pt)
        text.draw_frame(self.ink, self.column(*box_pt), widths, self.px(gap))

    def body(self, box_pt: tuple[float, float, float, float], with_headings: bool = False) -> None:
        """Fill a column in points with running text."""
        headings = self.headings() if with_headings else iter(())
        size = self.px(BODY_PT)
        text.set_column(self.ink, self.paragraphs, self.column(*box_pt), size, headings)
