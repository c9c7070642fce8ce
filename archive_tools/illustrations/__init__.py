"""Illustrations on page scans: where they are, and whether a page has any.

Training-free and CPU only: ink is separated from paper, marks that are letters in lines are set
aside, and what remains solid, large or dense without line gaps is a picture. No module here
knows PDFs or files.
"""

from archive_tools.illustrations.finder import find_illustrations, judge_page
from archive_tools.illustrations.verdict import HalfVerdict, Illustration, PageVerdict

__all__ = ["HalfVerdict", "Illustration", "PageVerdict", "find_illustrations", "judge_page"]
