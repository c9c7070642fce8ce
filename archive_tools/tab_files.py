"""The files of a request, from the page or from a call to the API, under names to be shown."""

from collections.abc import Sequence
from pathlib import Path

from archive_tools.errors import SourceError
from archive_tools.schema import NamedFile
from serving.uploads import shown_name, take_uploads


def page_files(paths: list[str] | None) -> list[NamedFile]:
    """Return the uploads that the page hands over.

    Args:
        paths: Where they lie.
    """
    return [NamedFile(Path(path), shown_name(Path(path).name)) for path in paths or []]


def call_files(entries: object) -> list[NamedFile]:
    """Return the argument `files` of a call.

    Args:
        entries: What the caller sent.

    Raises:
        NotUploadedError: An entry is no file that was uploaded here or sent inside the call.
    """
    return [NamedFile(file.path, file.name) for file in take_uploads(entries, "files")]


def check_any(files: Sequence[NamedFile]) -> None:
    """Refuse a request without files.

    Args:
        files: Those of the request.

    Raises:
        SourceError: There is none.
    """
    if not files:
        raise SourceError("No file was given. Add at least one PDF or image, then try again.")
