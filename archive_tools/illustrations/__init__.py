"""Illustrations on page scans: where they are, and whether a page has any.

Training-free and CPU only: ink is separated from paper, marks that are letters in lines are set
aside, and what remains solid, large or dense without line gaps is a picture. No module here
knows PDFs or files.
"""

from archive_tools.illustrations.finder import (
    Illustration,
    PageVerdict,
    find_illustrations,
    judge_page,
)

__all__ = ["Illustration", "PageVerdict", "find_illustrations", "judge_page"]
