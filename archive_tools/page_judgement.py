"""What is thought of a page: kept or dropped, and where its illustrations are."""

import math
from dataclasses import dataclass, replace

from archive_tools import page_filter
from archive_tools.config import Content, DatasetConfig, PageFilter
from archive_tools.decisions import decide_by_coverage
from archive_tools.illustrations import PageVerdict, judge_page
from archive_tools.page_views import PageView
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
    """

    verdict: PageVerdict
    looked_size: Size

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The illustrations from top to bottom."""
        return tuple(found.box for found in self.verdict.illustrations)


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """What is thought of a page.

    Attributes:
        decision: Kept or dropped, the score of the rule that decided, and why.
        sigma: Standard deviation of the grey page at 144 dpi, as closely as the rule needs it.
        findings: Its illustrations, None where they were not looked for.
    """

    decision: Decision
    sigma: float
    findings: Findings | None = None


def judge_view(view: PageView, config: DatasetConfig) -> PageJudgement:
    """Decide whether a page is kept.

    The illustrations are looked for at 144 dpi or what the view has anyway, so the same page gives
    the same answer in whichever worker it lands.

    Args:
        view: The page.
        config: The rule and its thresholds.
    """
    if config.filter is PageFilter.AUTO:
        sigma = page_filter.look_long_enough(view.iter_looks(), -math.inf).sigma
        findings = find_on(view, config)
        return PageJudgement(decide_by_verdict(findings.verdict, config.min_score), sigma, findings)
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
    decision = replace(judged.decision, keep=False, reason=reason_without_region(config))
    return replace(judged, decision=decision)


def reason_without_region(config: DatasetConfig) -> str:
    """Return why a page without any illustration to cut out is dropped."""
    return f"no illustration of at least {100 * config.min_region_area:g} % of the page"


def decide_by_verdict(verdict: PageVerdict, min_score: float) -> Decision:
    """Keep a page when its illustrations cover enough of it.

    Args:
        verdict: What the page shows.
        min_score: The share of the page that they must cover; reaching it is enough.
    """
    return decide_by_coverage(verdict.score, verdict.reason, min_score)


def find_on(view: PageView, config: DatasetConfig) -> Findings:
    """Find the illustrations of a page.

    Args:
        view: The page.
        config: How large a region must be, where regions are wanted.
    """
    grey = page_filter.to_grey(view.show(REFERENCE_ZOOM))
    looked_size = (grey.shape[1], grey.shape[0])
    if config.content is Content.REGIONS:
        return Findings(judge_page(grey, config.min_region_area), looked_size)
    return Findings(judge_page(grey), looked_size)
