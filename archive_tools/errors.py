"""Exceptions of the archive tools.

ArchiveToolsError
├── InvalidOptionError        an option has a value that cannot work
├── SourceError               a source cannot be used at all
│   ├── EncryptedPdfError     it needs a password, or the given one is wrong
│   ├── UnreadablePdfError    it is no PDF, is damaged beyond repair, or has no pages
│   └── LimitExceededError    it is larger than what this run allows
├── SourceUnreachableError    the server of a remote source does not answer; the run stops
├── LabelsError               a label file for `evaluate` cannot be used
├── WorkerStartError          no worker process can be started on this machine
├── PageError                 one page cannot be done; the worker turns it into a record
├── EngineError               the engine that spreads the work is missing, unreachable or lost
│   └── UnfitWorkerError      one machine can do no work at all; another may
├── HubError                  the finished dataset cannot be sent to the Hub
└── DatasetWriteError         the dataset cannot be written (disk full, no permission)

A page that fails ends as a record (`PageOutcome.FAILED`): `PageError` never leaves the worker.
"""

import errno
from typing import Final

WRONG_PASSWORD: Final = "is encrypted and the password given is wrong."
"""What is wrong with a file that another password would open."""

ANOTHER_PASSWORD: Final = (
    " Give the right one and build again. Files with different passwords need a run each."
)
"""What to do about it, where the other files of the run were used."""

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
"""How the system says that a disk, or somebody's share of it, is full."""


class ArchiveToolsError(Exception):
    """Base of everything that the archive tools raise on purpose."""


class InvalidOptionError(ArchiveToolsError, ValueError):
    """An option has a value that cannot work; the message names it and what is allowed."""


class SourceError(ArchiveToolsError):
    """A source cannot be used; the message names the file and what to do."""


class EncryptedPdfError(SourceError):
    """The file needs a password, or the given one is wrong."""


class UnreadablePdfError(SourceError):
    """The file is no PDF, is damaged beyond repair, or has no pages."""


class LimitExceededError(SourceError):
    """The file is larger than what this run allows."""


class SourceUnreachableError(ArchiveToolsError):
    """The server of a remote source does not answer; that is no fault of the file."""


class PageError(ArchiveToolsError):
    """One page cannot be rendered; the message says why in a few words."""


class WorkerStartError(ArchiveToolsError):
    """No worker process can be started; the message says how the last one ended."""


class DatasetWriteError(ArchiveToolsError):
    """The dataset cannot be written; the message says why and what to do."""


class LabelsError(ArchiveToolsError):
    """The label file, one of its rows or one of its images cannot be used."""


class EngineError(ArchiveToolsError):
    """What spreads the work over machines is missing, cannot be reached, or was lost."""


class UnfitWorkerError(EngineError):
    """One machine can do no work at all, which another may; the message names it and says why."""


class HubError(ArchiveToolsError):
    """The finished dataset cannot be sent to the Hub; the message says what is there already."""
