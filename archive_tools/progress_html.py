"""Where a run stands, as HTML for the tab. File names are data: escaped."""

import io
import time
from base64 import b64encode
from collections import deque
from html import escape

from archive_tools.run_report import KeptPicture, Progress
from archive_tools.tab_texts import TAB_TEXTS, tell_duration
from serving.localised_numbers import write_number
from serving.page_texts import DEFAULT_LANGUAGE

_MOST_SHOWN = 6
_SIDE_PX = 96
_JPEG_QUALITY = 60
# Each change of the strip is some twenty kilobytes to the visitor.
_CHANGE_EVERY_S = 2.0


def progress_html(progress: Progress, language: str = DEFAULT_LANGUAGE) -> str:
    """Return a bar, the file and the page, the counts, the speed and the time left.

    Args:
        progress: Where the run stands.
        language: Language of the page.
    """
    pages = progress.pages
    where = TAB_TEXTS.tell(
        "where",
        language,
        file_number=write_number(progress.file_number, language),
        file_count=write_number(progress.file_count, language),
        name=escape(progress.file_name),
        page_number=write_number(progress.page_number, language),
        page_count=write_number(progress.page_count, language),
    )
    numbers = {
        name: write_number(getattr(pages, name), language)
        for name in ("seen", "kept", "dropped", "failed")
    }
    speed = write_number(progress.pages_per_s, language, 1)
    lines = [where, TAB_TEXTS.tell("counts", language, speed=speed, **numbers)]
    if progress.seconds_left is not None:
        left = tell_duration(progress.seconds_left, language)
        lines.append(TAB_TEXTS.tell("time_left", language, time=left))
    told = "".join(f"<p>{line}</p>" for line in lines)
    return (
        '<div class="build-progress" role="status">'
        f'<progress max="{max(progress.page_count, 1)}" value="{progress.page_number}" '
        f'aria-label="{escape(TAB_TEXTS.tell("bar", language))}"></progress>{told}</div>'
    )


def status_html(text: str) -> str:
    """Return one line that is told as it appears."""
    return f'<p role="status">{escape(text)}</p>'


class NewestPictures:
    """The last few pictures of a run in small, changed every few seconds at most."""

    def __init__(self, language: str) -> None:
        """Begin with none.

        Args:
            language: Language of the page.
        """
        self._language = language
        self._shown: deque[tuple[KeptPicture, str]] = deque(maxlen=_MOST_SHOWN)
        self._change_due_s = 0.0

    def html_if_changed(self, progress: Progress) -> str | None:
        """Return the strip, None where it would be the same or has just changed.

        Args:
            progress: Where the run stands.
        """
        shown = [picture for picture, _ in self._shown]
        new = [
            picture
            for picture in progress.newest_kept
            if not any(picture is earlier for earlier in shown)
        ]
        if not new or time.monotonic() < self._change_due_s:
            return None
        self._change_due_s = time.monotonic() + _CHANGE_EVERY_S
        self._shown.extend((picture, _figure(picture, self._language)) for picture in new)
        heading = escape(TAB_TEXTS.tell("newest", self._language))
        figures = "".join(figure for _, figure in self._shown)
        return f'<div class="newest-pictures"><p>{heading}</p><div>{figures}</div></div>'


def _figure(picture: KeptPicture, language: str) -> str:
    name = TAB_TEXTS.tell(
        "newest_one", language, name=picture.file_name, page_number=picture.page_number
    )
    encoded = b64encode(_shrink(picture.encoded)).decode()
    label = escape(name)
    return f'<img alt="{label}" title="{label}" src="data:image/jpeg;base64,{encoded}">'


def _shrink(encoded: bytes) -> bytes:
    """Return a picture of ours in small; of a JPEG only an eighth of the detail is decoded."""
    from PIL import Image

    with Image.open(io.BytesIO(encoded), formats=("JPEG", "PNG")) as picture:
        picture.draft("RGB", (_SIDE_PX, _SIDE_PX))
        small = picture.convert("RGB")
    small.thumbnail((_SIDE_PX, _SIDE_PX))
    written = io.BytesIO()
    small.save(written, "JPEG", quality=_JPEG_QUALITY)
    return written.getvalue()
