"""Sends a finished dataset to a dataset repository on the Hugging Face Hub.

The Hub shows and streams files, not a ZIP of them, so the members of a ZIP are sent as files of
their own, a few at a time: no second copy is made on the disk.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from archive_tools.errors import HubError, InvalidOptionError

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd

# Each lot is one commit; that many SDXL pictures are some 30 MB in memory.
_FILES_PER_COMMIT = 200
_TOKEN_NAMES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


def check_hub(repository: str) -> None:
    """Check before a run spends hours on pages that the dataset could be sent.

    Args:
        repository: `USER/NAME`.

    Raises:
        InvalidOptionError: The name is none, or there is no token in the environment.
    """
    owner, slash, name = repository.partition("/")
    if not (owner and slash and name) or "/" in name:
        raise InvalidOptionError(
            f"{repository!r} is no repository. Write it as USER/NAME, such as anna/old-plates."
        )
    _read_token()


def push_dataset(dataset: Path, repository: str, on_progress: Callable[[int], None]) -> str:
    """Send a dataset; files that the repository has already are replaced.

    Args:
        dataset: The ZIP or the folder.
        repository: `USER/NAME`; made, as a private one, where it does not exist.
        on_progress: Called with the number of files that are there so far.

    Returns:
        The address of the repository.

    Raises:
        HubError: The Hub refused, or could not be reached.
        InvalidOptionError: There is no token in the environment.
    """
    # Here and not above: it takes half a second, and most runs send nothing.
    from huggingface_hub import HfApi

    # Under this name it is the error of whichever HTTP client this version is built on.
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=_read_token())
    sent = 0
    try:
        address = api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
        files = _iter_files(dataset)
        while lot := list(islice(files, _FILES_PER_COMMIT)):
            api.create_commit(
                repository,
                lot,
                repo_type="dataset",
                commit_message=f"Add files {sent + 1} to {sent + len(lot)}",
            )
            sent += len(lot)
            on_progress(sent)
    except (HTTPError, OSError) as error:
        raise HubError(
            f"{sent} files were sent to {repository}, then the Hub refused or could not be "
            f"reached: {_first_line(error)} The dataset itself is complete: {dataset.name}."
        ) from error
    return str(address)


def _iter_files(dataset: Path) -> Iterator["CommitOperationAdd"]:
    from huggingface_hub import CommitOperationAdd

    if dataset.is_dir():
        for path in sorted(path for path in dataset.rglob("*") if path.is_file()):
            yield CommitOperationAdd(path.relative_to(dataset).as_posix(), path)
        return
    with zipfile.ZipFile(dataset) as archive:
        for member in archive.infolist():
            yield CommitOperationAdd(member.filename, archive.read(member))


def _read_token() -> str:
    """Return the token; the one that `hf auth login` has stored is not looked for."""
    for name in _TOKEN_NAMES:
        if os.environ.get(name):
            return os.environ[name]
    raise InvalidOptionError(
        "Sending to the Hub needs a token with write access in the environment variable HF_TOKEN. "
        "Make one in your Hugging Face settings under Access Tokens."
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    line = text.splitlines()[0]
    return line if line.endswith(".") else f"{line}."
