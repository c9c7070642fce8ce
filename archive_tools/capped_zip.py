"""Opens ZIP files whose table of contents has a sane size."""

import zipfile
import zlib
from io import BufferedReader, FileIO
from lzma import LZMAError
from pathlib import Path

from archive_tools.errors import LimitExceededError, SourceError

# A ZIP's table of contents is read in one piece: 16 MB hold about 200,000 names.
MAX_CONTENTS_BYTES = 16 * 2**20
BAD_MEMBER_ERRORS = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError)
"""What a damaged ZIP, or a damaged member of one, raises."""


class _CappedFile(BufferedReader):
    """A file that refuses to be read in one piece larger than `MAX_CONTENTS_BYTES`."""

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes.

        Raises:
            LimitExceededError: More are asked for than an honest table of contents has.
        """
        if size is not None and size > MAX_CONTENTS_BYTES:
            raise LimitExceededError("Its table of contents is too large. Split the ZIP file.")
        return super().read(size)


def open_zip(path: Path) -> zipfile.ZipFile:
    """Open a ZIP file.

    Args:
        path: The file.

    Raises:
        LimitExceededError: Its table of contents is too large.
        OSError: It cannot be read.
        zipfile.BadZipFile: It is damaged or no ZIP file.
    """
    file = _CappedFile(FileIO(path))
    try:
        archive = zipfile.ZipFile(file)
    except BaseException:
        file.close()
        raise
    return archive


def is_shadow(name: str) -> bool:
    """Return whether a ZIP's entry is hidden, or one of those that macOS adds to each file.

    Args:
        name: The entry's name.
    """
    parts = name.replace("\\", "/").split("/")
    return any(part.startswith((".", "__MACOSX")) for part in parts if part not in (".", ".."))


def explain_zip_error(error: Exception) -> str:
    """Say what is wrong with a ZIP file or a member of it.

    Args:
        error: One of `BAD_MEMBER_ERRORS`, of the disk, or of our own.
    """
    if isinstance(error, SourceError):
        return str(error)
    if isinstance(error, OSError):
        return f"It cannot be read or unpacked: {error.strerror or error}."
    if isinstance(error, NotImplementedError):
        return "It is packed in a way that is not supported. Unpack the ZIP file yourself."
    return "It is damaged or not a ZIP file. Copy or upload it again."
