"""What a page shows: its pictures in the pixels of the page as given, and a few words."""

from dataclasses import dataclass, replace

from archive_tools.illustrations.boxes import PixelBox, area

TWO_PAGES = "two pages"


@dataclass(frozen=True, slots=True)
class Illustration:
    """One picture on a page.

    Attributes:
        box: x0, y0, x1, y1 in pixels of the page as given, half-open.
        score: Its share of the scan, 0 to 1.
    """

    box: PixelBox
    score: float


@dataclass(frozen=True, slots=True)
class HalfVerdict:
    """What one page of a two-page spread shows.

    Attributes:
        side: `left` or `right`.
        box: Where it lies, in pixels of the scan as given.
        illustrations: Its pictures from top to bottom, in pixels of the scan.
        score: The share of this page that they cover, 0 to 1; to four digits.
        reason: The same in words.
    """

    side: str
    box: PixelBox
    illustrations: tuple[Illustration, ...]
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What a page shows.

    Attributes:
        illustrations: Its pictures from top to bottom; they do not overlap.
        score: The share of the page that they cover, 0 to 1; to four digits, as it is recorded.
            Of a two-page spread, that of the page of which more is covered.
        faint: Whether the picture is a faint drawing, found by its strokes.
        gutter_x: Where a two-page spread parts, in pixels of the page as given; None for a single
            page, and where a picture crosses the gutter.
        traits: What was noticed of the scan: negative, sideways, skewed, frame, two pages.
        reason: All this in a few words.
        quarter_turns: By how many quarter turns against the clock the page has been turned from
            upright, 0 to 3; 0 where too little text tells.
        halves: The left and the right page of a two-page spread; empty without a gutter.
        least_area_share: Pictures that cover less of their page were left out; more than was asked
            for on a page of tables or music.
    """

    illustrations: tuple[Illustration, ...]
    score: float
    faint: bool
    gutter_x: int | None
    traits: tuple[str, ...]
    reason: str
    quarter_turns: int = 0
    halves: tuple[HalfVerdict, ...] = ()
    least_area_share: float = 0.0

    def side_of(self, box: PixelBox) -> str:
        """Return on which page of a spread a picture lies; empty where there is one page."""
        middle = (box[0] + box[2]) / 2
        sides = [half.side for half in self.halves if half.box[0] <= middle < half.box[2]]
        return "".join(sides)


def describe_page(
    boxes: list[PixelBox], page_pixels: float, faint: bool, traits: tuple[str, ...]
) -> PageVerdict:
    """Put the verdict of a single page together.

    Args:
        boxes: Its pictures, in pixels of the page as given.
        page_pixels: Pixels of the page as given, the scanner's frame left out.
        faint: Whether the picture is a faint drawing.
        traits: What was noticed of the scan.
    """
    pictures = tuple(Illustration(box, min(1.0, area(box) / page_pixels)) for box in boxes)
    score = _sum_scores(pictures, 1.0)
    reason = "; ".join([_describe(len(pictures), score, faint), *traits])
    return PageVerdict(pictures, score, faint, None, traits, reason)


def part_at(verdict: PageVerdict, gutter_x: int, size: tuple[int, int]) -> PageVerdict:
    """Judge each page of a two-page spread by itself.

    Args:
        verdict: What the spread shows, no picture lying across the gutter.
        gutter_x: Where it parts, in pixels of the scan as given.
        size: Width and height of the scan as given.
    """
    width, height = size
    boxes = ((0, 0, gutter_x, height), (gutter_x, 0, width, height))
    halves = tuple(
        _judge_half(side, box, verdict, width)
        for side, box in zip(("left", "right"), boxes, strict=True)
    )
    score = max(half.score for half in halves)
    told = [f"{half.side} page: {half.reason}" for half in halves]
    traits = (*verdict.traits, TWO_PAGES)
    return replace(
        verdict,
        score=score,
        gutter_x=gutter_x,
        traits=traits,
        reason="; ".join([*told, *traits]),
        halves=halves,
    )


def _judge_half(side: str, box: PixelBox, verdict: PageVerdict, width: int) -> HalfVerdict:
    low, high = box[0], box[2]
    inside = tuple(
        found for found in verdict.illustrations if low <= found.box[0] and found.box[2] <= high
    )
    score = _sum_scores(inside, (box[2] - box[0]) / width)
    return HalfVerdict(side, box, inside, score, _describe(len(inside), score, verdict.faint))


def _sum_scores(pictures: tuple[Illustration, ...], share: float) -> float:
    """How much of a part of the scan its pictures cover; `share` is the part's own share."""
    return round(min(1.0, sum(picture.score for picture in pictures) / share), 4)


def _describe(count: int, score: float, faint: bool) -> str:
    if not count:
        return "no illustration found"
    name = "faint drawing" if faint else "illustration"
    counted = f"{count} {name}s" if count > 1 else f"1 {name}"
    return f"{counted}, {100 * score:.0f} % of the page"
