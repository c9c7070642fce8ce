"""What a call to the API may read: files that were uploaded here, and nothing else.

It stands beside the two packages, which never import each other, so that there is one such check.
"""

from dataclasses import dataclass
from pathlib import Path

from gradio.utils import get_upload_folder


class NotUploadedError(ValueError):
    """An argument is no list of uploaded files; the message says what to send instead."""


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file and the name that its owner knows it by."""

    path: Path
    name: str


def take_uploads(entries: object, argument: str) -> list[Upload]:
    """Take the files of a call to the API.

    Gradio hands over what the caller sent; it checks the path only where the caller marked the
    entry as a file, so every path is checked here.

    Args:
        entries: What the caller sent; null counts as an empty list.
        argument: Name of the argument, for the message.

    Raises:
        NotUploadedError: It is no list, or an entry is no file in Gradio's upload folder.
    """
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise NotUploadedError(f"{argument} must be a list of uploaded files.")
    return [_take(entry, argument) for entry in entries]


def _take(entry: object, argument: str) -> Upload:
    fields = entry if isinstance(entry, dict) else {}
    path = fields.get("path")
    if not isinstance(path, str) or not _is_upload(Path(path)):
        raise NotUploadedError(
            f"A file in {argument} was not uploaded here. Send it to /gradio_api/upload first and "
            'give {"path": the answer, "meta": {"_type": "gradio.FileData"}}.'
        )
    return Upload(Path(path), str(fields.get("orig_name") or Path(path).name))


def _is_upload(path: Path) -> bool:
    """Whether a path leads, links followed, to a file in Gradio's upload folder."""
    try:
        real = path.resolve(strict=True)
    except (OSError, ValueError):
        return False
    return real.is_file() and real.is_relative_to(Path(get_upload_folder()).resolve())
