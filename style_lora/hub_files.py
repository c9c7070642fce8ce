"""Files of the Hugging Face Hub: looked for in its cache first, asked for once."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from style_lora.atomic_files import is_about_room
from style_lora.errors import DiskSpaceError, HubError, first_line

# Before it answers; a hub that is slower than this does not work for gigabytes either.
_LIMIT_S: Final = 20.0


def hub_cache() -> Path:
    """Return the folder in which files of the hub are kept."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def find_cached(repository: str, name: str, revision: str | None = None) -> Path | None:
    """Return a file of the hub that is in its cache already, without asking the hub.

    Args:
        repository: OWNER/NAME.
        name: Of the file in it.
        revision: Branch, tag or commit; None takes the main branch.
    """
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repository, name, revision=revision)
    return Path(found) if isinstance(found, str) else None


def advise_fetching(repository: str, *patterns: str) -> str:
    """Return what to do where the hub cannot be asked, in a sentence with the command to copy.

    Args:
        repository: OWNER/NAME.
        patterns: Of the files that are needed.
    """
    wanted = " ".join(f"--include '{one}'" for one in patterns)
    return (
        "Check the network; or fetch it where there is one with "
        f"`hf download {repository} {wanted} --local-dir FOLDER`, and give that folder instead."
    )


def list_hub_files(repository: str, advice: str, revision: str | None = None) -> dict[str, int]:
    """Ask the hub, once, for the files of a repository and their sizes in bytes.

    Args:
        repository: OWNER/NAME.
        advice: What to do without the hub, a whole sentence.
        revision: Branch, tag or commit; None takes the main branch.

    Raises:
        HubError: It cannot be reached, or has no such repository for us.
    """
    from huggingface_hub import HfApi

    with _asking(repository, advice):
        told = HfApi().model_info(
            repository, revision=revision, files_metadata=True, timeout=_LIMIT_S
        )
    return {one.rfilename: one.size or 0 for one in told.siblings or ()}


def fetch_hub_files(
    repository: str, names: Sequence[str], advice: str, revision: str | None = None
) -> Path:
    """Bring files of a repository into the cache, those that are there already left out.

    Args:
        repository: OWNER/NAME.
        names: Of the files.
        advice: What to do without the hub, a whole sentence.
        revision: Branch, tag or commit; None takes the main branch.

    Returns:
        The folder that holds them under their names.

    Raises:
        HubError: The hub cannot be reached, or the download broke off; what has come stays.
        DiskSpaceError: The disk is full.
    """
    from huggingface_hub import snapshot_download

    with _asking(repository, advice):
        folder = snapshot_download(repository, revision=revision, allow_patterns=list(names))
    return Path(folder)


@contextmanager
def _asking(repository: str, advice: str) -> Iterator[None]:
    """Turn what the hub or the way to it refuses into one sentence and one of advice."""
    from huggingface_hub import errors

    refusals = (
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.GatedRepoError,
        errors.HFValidationError,
    )
    # Of the HTTP client, which changes its name from one version to the next.
    no_answer: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    log = logging.getLogger("huggingface_hub")
    level = log.level
    # Its lines about each retry would bury the one sentence that counts.
    log.setLevel(logging.ERROR)
    try:
        yield
    except refusals as error:
        raise HubError(
            f"The hub does not give {repository}: there is no such model, or it takes a log-in "
            f"(hf auth login). Check its name. {advice}"
        ) from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        raise HubError(f"The hub answers {status} when asked for {repository}. {advice}") from error
    except (no_answer, OSError) as error:
        if is_about_room(error):
            raise DiskSpaceError(
                f"The disk is full: {repository} does not fit into {hub_cache()}."
            ) from error
        raise HubError(
            f"{repository} is not on this machine, and the hub cannot be reached to fetch it "
            f"({first_line(error)}). {advice}"
        ) from error
    finally:
        log.setLevel(level)
