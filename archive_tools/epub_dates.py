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
# Searched, not parsed: entities of a stranger's XML are never followed.
_PACKAGE_PLACE = re.compile(r"<(?:\w+:)?rootfile\b[^>]*?\bfull-path\s*=\s*[\"']([^\"']+)[\"']")
_DATE = re.compile(r"<(?:\w+:)?date\b([^>]*)>\s*([^<]{4,40}?)\s*<")
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
    dates = (date[2] for date in _DATE.finditer(metadata) if not _OF_THE_FILE.search(date[1]))
    return next(dates, "")


def _read_text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return member.read(_MOST_BYTES).decode("utf-8", "replace")
