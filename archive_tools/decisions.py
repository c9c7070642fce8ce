"""The rule of the illustration filter, from a score that may have been recorded before; pure."""

from archive_tools.schema import Decision


def decide_by_coverage(score: float, found: str, min_score: float) -> Decision:
    """Keep a page when its illustrations cover enough of it.

    Args:
        score: The share of the page that they cover, 0 to 1.
        found: What was found on the page, in words.
        min_score: The share that they must cover; reaching it is enough.
    """
    keep = score >= min_score
    is_meagre = score > 0 and not keep
    reason = f"{found}; less than {100 * min_score:g} %" if is_meagre else found
    return Decision(keep=keep, score=score, reason=reason)
