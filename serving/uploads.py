"""What a call may read: files that were uploaded here or sent inside the call, and nothing else.

It stands beside the two packages, which never import each other, so that there is one such check.
"""

import base64
import binascii
import hashlib
import mimetypes
import os
import re
import tempfile
from collections.abc import Sized
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from gradio.context import LocalContext
from gradio.utils import get_upload_folder
from gradio_client.utils import encode_file_path

from serving.free_disk import RESERVED_DISK_BYTES, has_room

MAX_FILES = 1_000
"""Files in one call: as many as Gradio takes in one upload."""

_FILE_ROUTE = "/gradio_api/file="
_SENT_NAME = "sent"
# Longer than any file system allows: what people see of a name shall not fill their screen.
_MAX_NAME = 255
_MARK = {"_type": "gradio.FileData"}
# Arguments are lists of files or of words; whoever nests deeper is after the stack.
_MAX_DEPTH = 20
# Control characters, and the marks that turn the direction of what follows: both make a name look
# like another one wherever it is shown.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class NotUploadedError(ValueError):
    """An argument is no list of uploaded files, or cannot be kept; the message says what to do."""


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

    Returns:
        The files. Those that were sent inside the call lie in Gradio's upload folder as well.

    Raises:
        NotUploadedError: It is no list, too long a one, an entry is no file in Gradio's upload
            folder, or there is no room for one that was sent.
    """
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise NotUploadedError(f"{argument} must be a list of uploaded files. {_how_to(argument)}")
    _check_length(entries, argument)
    return [_take(entry, argument) for entry in entries]


def settle_files(value: object, argument: str, depth: int = 0) -> object:
    """Check every file that an argument names, wherever in it, before Gradio looks at it.

    Gradio itself would fetch an address, and would refuse a path without a word to the caller.

    Args:
        value: The argument as it was sent.
        argument: Its name, for the message.
        depth: How deep the value lies in the argument.

    Returns:
        The same; of each file only its path here and its name are left, which is all that counts.

    Raises:
        NotUploadedError: A file is none that was uploaded here, there is no room for one that was
            sent, or the argument is nested too deep.
    """
    if depth > _MAX_DEPTH:
        raise NotUploadedError(f"{argument} is nested too deep.")
    if isinstance(value, list):
        _check_length(value, argument)
        return [settle_files(entry, argument, depth + 1) for entry in value]
    if not isinstance(value, dict):
        return value
    if "path" in value and "meta" in value:
        upload = _take(value, argument)
        return {"path": str(upload.path), "orig_name": upload.name, "meta": dict(_MARK)}
    return {key: settle_files(entry, argument, depth + 1) for key, entry in value.items()}


def file_address(path: str) -> str:
    """Return where this server gives a file below Gradio's upload folder out, from its root on.

    Args:
        path: The file.
    """
    return f"{_FILE_ROUTE}{encode_file_path(path)}"


def shown_name(name: str) -> str:
    """Return a file name without what makes it look like another one, and not too long.

    Args:
        name: As its owner wrote it.
    """
    return _UNSEEN.sub("", name.encode("utf-8", "replace").decode())[:_MAX_NAME]


def _check_length(entries: Sized, argument: str) -> None:
    if len(entries) > MAX_FILES:
        raise NotUploadedError(
            f"{argument} has {len(entries)} entries. Send at most {MAX_FILES} in one call."
        )


def _take(entry: object, argument: str) -> Upload:
    fields = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict):
        fields = {}
    path, name = fields.get("path"), fields.get("orig_name")
    if isinstance(path, str) and path.startswith("data:"):
        stored = _store(path, argument)
    else:
        stored = _find(path, argument)
    return Upload(stored, shown_name(str(name or stored.name)) or stored.name)


def _find(path: object, argument: str) -> Path:
    """Return the upload that a path, or its address on this server, leads to."""
    if isinstance(path, str) and path.startswith(("http://", "https://")):
        # Nothing is fetched: an upload's own address only tells where it lies here.
        path = unquote(path.partition("?")[0]).partition(_FILE_ROUTE)[2]
    if not isinstance(path, str) or not _is_upload(Path(path)):
        raise NotUploadedError(f"A file in {argument} was not uploaded here. {_how_to(argument)}")
    return Path(path)


def _is_upload(path: Path) -> bool:
    """Whether a path leads, links followed, to a file in Gradio's upload folder."""
    try:
        real = path.resolve(strict=True)
        return real.is_file() and real.is_relative_to(Path(get_upload_folder()).resolve())
    except (OSError, ValueError):
        return False


def _store(address: str, argument: str) -> Path:
    """Write the file inside a `data:` address where Gradio keeps uploads of the same content."""
    head, comma, body = address.partition(",")
    if not comma or not head.endswith(";base64"):
        raise NotUploadedError(f"A data: address in {argument} is not base64. {_how_to(argument)}")
    try:
        content = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NotUploadedError(
            f"A data: address in {argument} is not valid base64 ({error}). Encode the file again."
        ) from error
    suffix = mimetypes.guess_extension(head[len("data:") :].partition(";")[0].strip()) or ""
    name = Path(hashlib.sha256(content).hexdigest(), f"{_SENT_NAME}{suffix}")
    stored = _write_if_room(Path(get_upload_folder()), name, content, argument)
    if (page := LocalContext.blocks.get(None)) is not None:
        page.upload_file_set.add(str(stored))  # Gradio's sweep deletes what stands there
    return stored


def _write_if_room(folder: Path, name: Path, content: bytes, argument: str) -> Path:
    full = NotUploadedError(
        f"The server has no room for a file in {argument}. Try again in an hour or with fewer "
        "files."
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not has_room(folder, len(content), RESERVED_DISK_BYTES):
            raise full
        (folder / name).parent.mkdir(exist_ok=True)
        return _write_once(folder / name, content)
    except OSError as error:
        raise full from error


def _write_once(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all: another call may be reading the same one."""
    descriptor, growing = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return Path(growing).replace(path)
    except OSError:
        Path(growing).unlink()
        raise


def _how_to(argument: str) -> str:
    return (
        f"Send each file to /gradio_api/upload first and give in {argument} "
        '{"path": the answer, "meta": {"_type": "gradio.FileData"}}, or give the file itself as '
        '"data:image/jpeg;base64,...". Other addresses are not fetched.'
    )
