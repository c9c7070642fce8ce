"""What is thought of a page: kept or dropped, and where its illustrations are."""

from dataclasses import dataclass, replace

from archive_tools import page_filter
from archive_tools.config import Content, DatasetConfig, PageFilter, Spreads
from archive_tools.decisions import decide_by_coverage
from archive_tools.finishing import paper_colour
from archive_tools.illustrations import HalfVerdict, PageVerdict, judge_page
from archive_tools.page_views import PageView
from archive_tools.paper_tone import is_aged_paper
from archive_tools.reader import REFERENCE_ZOOM
from archive_tools.schema import Decision

Box = tuple[int, int, int, int]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Findings:
    """The illustrations of a page.

    Attributes:
        verdict: Where they are, and how much of the page they cover.
        looked_size: Width and height of the picture in whose pixels the boxes are.
        is_yellowed: Whether the page lies on aged paper.
    """

    verdict: PageVerdict
    looked_size: Size
    is_yellowed: bool = False

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The illustrations from top to bottom."""
        return tuple(found.box for found in self.verdict.illustrations)

    @property
    def traits(self) -> tuple[str, ...]:
        """What was noticed of the scan."""
        return (*self.verdict.traits, "yellowed") if self.is_yellowed else self.verdict.traits


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """What is thought of a page.

    Attributes:
        decision: Kept or dropped, the score of the rule that decided, and why.
        sigma: Standard deviation of the grey page at 144 dpi, as closely as the rule needs it; with
            `auto` as closely as is cheap.
        findings: Its illustrations, None where they were not looked for.
    """

    decision: Decision
    sigma: float
    findings: Findings | None = None

    @property
    def traits(self) -> tuple[str, ...]:
        """What was noticed of the scan, empty where its illustrations were not looked for."""
        return self.findings.traits if self.findings else ()


def judge_view(view: PageView, config: DatasetConfig) -> PageJudgement:
    """Decide whether a page is kept.

    The illustrations are looked for at 144 dpi or what the view has anyway, so the same page gives
    the same answer in whichever worker it lands.

    Args:
        view: The page.
        config: The rule and its thresholds.
    """
    if config.filter is PageFilter.AUTO:
        findings = find_on(view, config)
        return PageJudgement(_decide(findings.verdict, config), view.guess_sigma(), findings)
    decision = page_filter.decide(view.iter_looks(), config.filter, config.min_sigma)
    return PageJudgement(decision, decision.score)


def judge_regions(judged: PageJudgement, view: PageView, config: DatasetConfig) -> PageJudgement:
    """Find the illustrations of a page that is kept, and drop it where there is none to cut out.

    Args:
        judged: What is thought of it so far.
        view: The page.
        config: Whether pages or regions are wanted, and how large a region must be.
    """
    if config.content is Content.PAGES or not judged.decision.keep:
        return judged
    findings = judged.findings or find_on(view, config)
    if findings.verdict.illustrations:
        return replace(judged, findings=findings)
    reason = reason_without_region(findings.verdict)
    decision = replace(judged.decision, keep=False, reason=reason)
    return replace(judged, decision=decision)


def reason_without_region(verdict: PageVerdict) -> str:
    """Return why a page without any illustration to cut out is dropped.

    Args:
        verdict: What the page shows, and how much of it a picture had to cover.
    """
    return f"no illustration of at least {100 * verdict.least_area_share:g} % of the page"


def decide_by_verdict(verdict: PageVerdict, min_score: float) -> Decision:
    """Keep a page when its illustrations cover enough of it.

    Args:
        verdict: What the page shows.
        min_score: The share of the page that they must cover; reaching it is enough.
    """
    return decide_by_coverage(verdict.score, verdict.reason, min_score)


def pages_of_spread(judged: PageJudgement, config: DatasetConfig) -> tuple[HalfVerdict, ...]:
    """Return the pages of a two-page spread that are kept; none where it stays whole.

    Args:
        judged: What is thought of the spread.
        config: Whether spreads are split, and how much of a page its illustrations must cover.
    """
    if judged.findings is None or not _splits_spreads(config):
        return ()
    halves = judged.findings.verdict.halves
    return tuple(half for half in halves if half.score >= config.min_score)


def _splits_spreads(config: DatasetConfig) -> bool:
    """Whether a page of a spread may be dropped by itself: only `auto` knows what it shows."""
    is_by_page = config.content is Content.PAGES and config.filter is PageFilter.AUTO
    return is_by_page and config.spreads is Spreads.SPLIT


def _decide(verdict: PageVerdict, config: DatasetConfig) -> Decision:
    decision = decide_by_verdict(verdict, config.min_score)
    if not (decision.keep and verdict.halves and _splits_spreads(config)):
        return decision
    told = [_tell_half(half, config.min_score) for half in verdict.halves]
    return replace(decision, reason="; ".join([*told, *verdict.traits]))


def _tell_half(half: HalfVerdict, min_score: float) -> str:
    left_out = "" if half.score >= min_score else " (left out)"
    return f"{half.side} page: {half.reason}{left_out}"


def find_on(view: PageView, config: DatasetConfig) -> Findings:
    """Find the illustrations of a page.

    Args:
        view: The page.
        config: How large a region must be, where regions are wanted.
    """
    pixels = view.show(REFERENCE_ZOOM)
    grey = view.grey.of(pixels)
    by_region = config.content is Content.REGIONS
    verdict = judge_page(grey, config.min_region_area) if by_region else judge_page(grey)
    is_yellowed = pixels.ndim == 3 and is_aged_paper(pixels, paper_colour(pixels))
    return Findings(verdict, (grey.shape[1], grey.shape[0]), is_yellowed)
