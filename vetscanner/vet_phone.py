"""The owner's setting for the phone number of the state veterinary service."""

import os
import re

from vetscanner.errors import InvalidOptionError

PHONE_VARIABLE = "VETSCANNER_VET_PHONE"
_NUMBER = re.compile(r"\+?[0-9(][0-9 ()./-]{1,24}")
_LEAST_DIGITS = 3


def read_vet_phone() -> str | None:
    """Return the phone number that the owner set, None where none is set.

    Raises:
        InvalidOptionError: It is no phone number: better told to the owner at the start than to a
            farmer who dials it.
    """
    number = " ".join(os.environ.get(PHONE_VARIABLE, "").split())
    if not number:
        return None
    if not _NUMBER.fullmatch(number) or sum(map(str.isdigit, number)) < _LEAST_DIGITS:
        message = (
            f"{PHONE_VARIABLE}={number!r} is no phone number: give digits, with +, spaces, "
            "hyphens and brackets where needed, such as +44 20 7946 0000."
        )
        raise InvalidOptionError(message)
    return number
