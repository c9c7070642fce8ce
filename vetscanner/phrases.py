"""Wording of the catalogue in one language, read from `languages/<language>.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from vetscanner.schema import Language, SignClass, TickedSign

_SPELLED_ALIKE = {
    "formats": "JPEG, HEIC, PNG, WebP, TIFF, AVIF",
    "heic": "HEIC",
    "jpeg": "JPEG",
    "iphone": "iPhone",
}
"""Names that are the same in every language."""


@dataclass(frozen=True, slots=True)
class SignPhrases:
    """How a sign class is told: "signs like ...", and what else may look like it."""

    name: str
    differentials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TickedPhrases:
    """A ticked sign: its label beside the tick box and its first step."""

    label: str
    step: str


@dataclass(frozen=True, slots=True)
class AbstentionPhrases:
    """Why the photos cannot be judged, and what to do about it."""

    text: str
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    """All the words of one language.

    Attributes:
        language: The language.
        disclaimer: What the report is not.
        levels: Level of the report (`emergency` ... `retake_photo`) -> how urgent, in words.
        call: Level, or `official` -> whom to call.
        labels: Headings and short texts of the report.
        signs: Wording of each sign class.
        ticked: Wording of each ticked sign.
        steps: First step (key of `conditions.STEP_SOURCES`) -> its text.
        abstentions: Reason of an abstention -> its text and advice.
        refusals: Reason why a photo cannot be used -> its text, to be filled by `tell_refusal`.
    """

    language: Language
    disclaimer: str
    levels: dict[str, str]
    call: dict[str, str]
    labels: dict[str, str]
    signs: dict[SignClass, SignPhrases]
    ticked: dict[TickedSign, TickedPhrases]
    steps: dict[str, str]
    abstentions: dict[str, AbstentionPhrases]
    refusals: dict[str, str]

    def tell_refusal(self, reason: str, details: Mapping[str, object]) -> str:
        """Say why a photo cannot be used, and what to do.

        Args:
            reason: Key of `refusals`.
            details: What its text leaves open, such as `name`.
        """
        return self.refusals[reason].format(**_SPELLED_ALIKE, **details)


@cache
def load_phrases(language: Language) -> Phrases:
    """Read the words of one language; the few kilobytes stay in memory.

    Args:
        language: One of the languages of the report.

    Returns:
        Its phrases, complete: a sign or step without words is a `KeyError` here, not later.
    """
    path = files("vetscanner") / "languages" / f"{language}.toml"
    words: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Phrases(
        language=language,
        disclaimer=words["disclaimer"],
        levels=words["levels"],
        call=words["call"],
        labels=words["labels"],
        signs={sign: _sign_phrases(words["signs"][sign]) for sign in SignClass},
        ticked={sign: TickedPhrases(**words["ticked"][sign]) for sign in TickedSign},
        steps=words["steps"],
        abstentions={
            reason: AbstentionPhrases(entry["text"], tuple(entry["advice"]))
            for reason, entry in words["abstentions"].items()
        },
        refusals=words["refusals"],
    )


def _sign_phrases(entry: dict[str, Any]) -> SignPhrases:
    return SignPhrases(entry["name"], tuple(entry["differentials"]))
