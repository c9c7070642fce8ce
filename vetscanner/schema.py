"""What flows through one scan: upload -> Photo -> Prediction -> Triage | Abstention -> ScanReport.

Arrays are uint8 RGB (H, W, 3); sizes are (width, height).
"""

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray


class SignClass(StrEnum):
    """What the model tells apart. "Unclear" is an abstention, not a class."""

    LUMPY_SKIN = "lumpy_skin"
    FOOT_AND_MOUTH = "foot_and_mouth"
    UDDER_TEAT = "udder_teat"
    EYE = "eye"
    SKIN_CRUST = "skin_crust"
    NO_VISIBLE_SIGN = "no_visible_sign"
    NOT_CATTLE = "not_cattle"


class TickedSign(StrEnum):
    """What the farmer sees beside the photo and ticks."""

    DOWN = "down"
    HARD_BREATHING = "hard_breathing"
    LEFT_FLANK_SWOLLEN = "left_flank_swollen"
    HEAVY_BLEEDING = "heavy_bleeding"
    SUDDEN_DEATH = "sudden_death"
    SEVERAL_ANIMALS = "several_animals"
    NOT_EATING = "not_eating"
    FEVER = "fever"
    DROOLING = "drooling"
    LAME = "lame"
    ABORTION = "abortion"
    MOUTH_SORES = "mouth_sores"


SignWord = Literal[
    "down", "hard_breathing", "left_flank_swollen", "heavy_bleeding", "sudden_death",
    "several_animals", "not_eating", "fever", "drooling", "lame", "abortion", "mouth_sores",
]  # fmt: skip
"""Values of `TickedSign`, as the API lists them."""


class Urgency(IntEnum):
    """How urgent it is, ordered: a larger number is more urgent."""

    MONITOR = 1
    WITHIN_DAYS = 2
    SAME_DAY = 3
    EMERGENCY = 4


class Language(StrEnum):
    """Languages of the report."""

    EN = "en"
    DE = "de"
    FR = "fr"
    RU = "ru"


LanguageCode = Literal["en", "de", "fr", "ru"]
"""Values of `Language`, as the API lists them."""


class Device(StrEnum):
    """Where the model ran."""

    GPU = "gpu"
    CPU = "cpu"


class PhotoQuality(StrEnum):
    """Whether the photo itself is good enough to be looked at."""

    GOOD = "good"
    SMALL = "small"
    BLURRED = "blurred"
    DARK = "dark"
    TINY = "tiny"

    @property
    def can_be_judged(self) -> bool:
        """Whether the model's answer counts; of a small photo a larger one would only show more."""
        return self in (PhotoQuality.GOOD, PhotoQuality.SMALL)


@dataclass(frozen=True, slots=True)
class Photo:
    """A safe, upright picture without metadata.

    Attributes:
        name: File name for people.
        pixels: uint8 RGB (H, W, 3), upright, at most `config.MAX_WORKING_SIDE_PX` on its long side.
        width: Width of the upright original in pixels.
        height: Height of the upright original in pixels.
        quality: Result of the quality check.
    """

    name: str
    pixels: NDArray[np.uint8]
    width: int
    height: int
    quality: PhotoQuality


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model says of one photo.

    Attributes:
        probabilities: Calibrated, over the sign classes; they sum to 1.
        evidence: How much each place of the photo speaks for each class, more than for the mean of
            the classes: (signs, rows, columns), the whole photo squashed to that grid. None for a
            model that gives no such map.
    """

    probabilities: dict[SignClass, float]
    evidence: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)

    @property
    def top(self) -> SignClass:
        """The most probable class."""
        return max(self.probabilities, key=lambda sign: self.probabilities[sign])


@dataclass(frozen=True, slots=True)
class Classification:
    """What one run of the model gave, as plain data that may cross a process boundary.

    Attributes:
        predictions: One for each photo, in order.
        model_id: Name of the model.
        revision: Revision of the model.
        calibrated: Whether a temperature from held-out data was applied.
        device: Where it ran.
        device_reason: Why there, in plain words.
        load_s: Seconds spent to load the model.
        infer_s: Seconds spent on all the photos.
        unload_s: Seconds spent to unload the model.
    """

    predictions: tuple[Prediction, ...]
    model_id: str
    revision: str
    calibrated: bool
    device: Device
    device_reason: str
    load_s: float
    infer_s: float
    unload_s: float


@dataclass(frozen=True, slots=True)
class Finding:
    """A sign class seen on the photos with enough probability to be told.

    Attributes:
        sign: The sign class, never `no_visible_sign` or `not_cattle`.
        probability: Its highest calibrated probability on any photo.
        is_faint: An alarm only: on no photo is it the top class.
    """

    sign: SignClass
    probability: float
    is_faint: bool = False


@dataclass(frozen=True, slots=True)
class Triage:
    """The policy's answer when it has one.

    Attributes:
        urgency: How urgent it is.
        findings: What is told of the photos.
        official_vet: Whether the official-vet path is shown.
        signs_used: The ticked signs.
        unjudged: Why other photos of the animal could not be judged, each reason once.
    """

    urgency: Urgency
    findings: tuple[Finding, ...]
    official_vet: bool
    signs_used: tuple[TickedSign, ...]
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Abstention:
    """The policy's answer when the photos cannot be judged.

    Attributes:
        reason: Why, as a key of the catalogue (`unclear`, `not_cattle`, `blurred`, `dark`, `tiny`).
        urgency: The least level that the ticked signs set; None when none sets one.
        official_vet: Whether the official-vet path is shown all the same.
        findings: What is still told (an alarm at low probability).
        signs_used: The ticked signs.
    """

    reason: str
    urgency: Urgency | None
    official_vet: bool
    findings: tuple[Finding, ...] = ()
    signs_used: tuple[TickedSign, ...] = field(default=())
