"""Exceptions of the style LoRA.

StyleLoraError
├── SettingsError          an option has a value that cannot work, or --resume does not fit
├── DatasetError           the ZIP cannot be trained on: no captions, a broken image, nothing in it
├── BaseModelError         the base model is missing, incomplete or no SDXL, or packages are missing
├── HubError               the hub cannot be reached, or does not give what is asked for
├── DiskSpaceError         there is not, or no longer, room for what must be written
├── TrainingStoppedError   the loss is no number any more, or memory does not suffice
├── LoraFileError          a LoRA file cannot be read, or is none for SDXL
└── GenerationError        a picture cannot be painted or saved
"""


class StyleLoraError(Exception):
    """Base of everything that the style LoRA raises on purpose."""


class SettingsError(StyleLoraError, ValueError):
    """An option has a value that cannot work; the message names it and what is allowed."""


class DatasetError(StyleLoraError):
    """The ZIP cannot be trained on; the message names it, the file in it and what to do."""


class BaseModelError(StyleLoraError):
    """The base model cannot be used; the message says what is missing and where."""


class HubError(StyleLoraError):
    """The hub cannot be reached or refuses; the message says what to do without it."""


class DiskSpaceError(StyleLoraError):
    """There is too little room on the disk; the message says how much is needed."""


class TrainingStoppedError(StyleLoraError):
    """The training cannot go on; the message says at which step and what to change."""


class LoraFileError(StyleLoraError):
    """A LoRA file cannot be used; the message names it and says why."""


class GenerationError(StyleLoraError):
    """A picture cannot be painted or saved; the message says why and what to change."""


def first_line(error: BaseException) -> str:
    """Return what a library says went wrong, in one line.

    Args:
        error: One without words is named by its kind.
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
