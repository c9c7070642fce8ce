"""Exceptions of the vet scanner.

VetScannerError
├── InvalidPhotoError    a photo cannot be used
├── InvalidOptionError   an option has a value that cannot work
├── ModelLoadError       the model cannot be loaded
├── InferenceError       the model failed while it looked at a photo
└── VisitorLeftError     nobody waits for the answer any more

Abstaining is an outcome (`schema.Abstention`), never an exception.
"""

from collections.abc import Mapping


class VetScannerError(Exception):
    """Base of everything that the vet scanner raises on purpose."""


class InvalidPhotoError(VetScannerError):
    """A photo cannot be used; the message names the file and what to do.

    Attributes:
        reason: Why, as a key of `Phrases.refusals`: the report tells it in its own language.
        details: What the text of that reason leaves open.
    """

    def __init__(self, message: str, reason: str, details: Mapping[str, object]) -> None:
        """Keep the reason beside its text; see the class."""
        super().__init__(message)
        self.reason, self.details = reason, details


class InvalidOptionError(VetScannerError, ValueError):
    """An option has a value that cannot work; the message names it and what is allowed."""


class ModelLoadError(VetScannerError):
    """The model cannot be loaded; the message says from where and what to check."""


class InferenceError(VetScannerError):
    """The model failed while it looked at a photo."""


class VisitorLeftError(VetScannerError):
    """The visitor left while the request waited for a GPU; nothing more is to be done."""
