"""When the work in an EPUB file was published, as its package says; MuPDF tells no date of it."""

import html
import re
import zipfile
from pathlib import Path

from archive_tools.capped_zip import BAD_MEMBER_ERRORS, open_zip
from archive_tools.errors import SourceError

_CONTAINER = "META-INF/container.xml"
# An honest package lists its pages in some hundred kilobytes.
_MOST_BYTES = 4 * 2**20
_SHORTEST_DATE, _LONGEST_DATE = 4, 40
# Searched, not parsed: entities of a stranger's XML are never followed. Every part has an end, so
# that a file made for it cannot keep the search busy for hours.
_PACKAGE_PLACE = re.compile(
    r"<(?:\w{1,40}:)?rootfile\b[^>]{0,1000}?\bfull-path\s{0,9}=\s{0,9}[\"']([^\"']{1,1000})[\"']"
)
_DATE = re.compile(r"<(?:\w{1,40}:)?date\b([^>]{0,1000})>([^<]{1,400})<")
# Dates of the file and not of the work, as EPUB 2 marks them.
_OF_THE_FILE = re.compile(r"event\s*=\s*[\"'](?:modification|creation|conversion)", re.I)


def read_epub_date(path: Path) -> str:
    """Return the date of publication as it is stated, such as `1895-10-01`.

    Args:
        path: An EPUB file.

    Returns:
        The date; an empty string where there is none, or the file is damaged.
    """
    try:
        with open_zip(path) as archive:
            found = _PACKAGE_PLACE.search(_read_text(archive, _CONTAINER))
            package = _read_text(archive, html.unescape(found[1])) if found else ""
    except (*BAD_MEMBER_ERRORS, SourceError, OSError, KeyError, RuntimeError, ValueError):
        return ""  # what is wrong with it, MuPDF says
    metadata = package.partition("</metadata>")[0]
    dates = (
        date[2].strip() for date in _DATE.finditer(metadata) if not _OF_THE_FILE.search(date[1])
    )
    return next((date for date in dates if _SHORTEST_DATE <= len(date) <= _LONGEST_DATE), "")


def _read_text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return member.read(_MOST_BYTES).decode("utf-8", "replace")
