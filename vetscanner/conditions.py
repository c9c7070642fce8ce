"""Catalogue of signs: how urgent, notifiable or zoonotic each is, its first steps and sources.

Facts stand here, once; their wording in each language stands in `languages/` (see `phrases.py`).
A statement without a source is general veterinary knowledge that no vet has checked yet: the
report marks it. Nothing here names a dose, a drug or a diagnosis.
"""

from dataclasses import dataclass

from vetscanner.schema import SignClass, TickedSign, Urgency

SOURCES: dict[str, str] = {
    "fmd": "gov.uk: Foot and mouth disease: how to spot and report it",
    "movements": "swindon.gov.uk: Foot and mouth disease (cease movements)",
    "lsd": "APHA, gov.uk: Lumpy skin disease: how to spot and report it",
    "mastitis": "Merck Veterinary Manual: Mastitis in Cattle",
    "milking": "KVK Kodagu: mastitis (milk healthy cows first)",
    "toxic_mastitis": "NZ Farm Life: Toxic mastitis: saving cows takes time",
    "teat_end": "Porter et al., Journal of Dairy Science: teat-end scoring",
    "pinkeye": "Merck Veterinary Manual: infectious keratoconjunctivitis (as quoted in print)",
    "pinkeye_care": "K-State Beef Tips: pinkeye",
    "ringworm": "Merck Veterinary Manual: Dermatophytosis in Cattle",
    "mange": "Merck Veterinary Manual: Mange in Cattle",
    "rain_scald": "CDC, Emerging Infectious Diseases 28(8):1663: dermatophilosis",
    "lice": "University of Missouri, Circular 231: lice",
    "bloat": "Merck Veterinary Manual: Bloat in Ruminants",
    "anthrax": "gloucestershire.gov.uk: anthrax",
}
"""Key of a source -> publisher and title, the same in every language."""

STEP_SOURCES: dict[str, tuple[str, ...]] = {
    "report_now": ("fmd", "lsd"),
    "stop_movements": ("fmd", "movements", "lsd"),
    "isolate": (),
    "disinfect": (),
    "control_flies": ("lsd",),
    "ask_vaccination": ("lsd",),
    "strip_milk": ("mastitis",),
    "milk_last": ("milking",),
    "discard_milk": (),
    "udder_emergency": ("toxic_mastitis",),
    "teat_blisters": ("fmd",),
    "eye_shade": ("pinkeye_care",),
    "eye_vet": ("pinkeye_care",),
    "eye_emergency": ("pinkeye",),
    "gloves": ("ringworm", "rain_scald"),
    "keep_dry": (),
    "skin_sample": ("mange",),
    "look_in_hair": ("lice",),
    "keep_watching": ("lsd",),
    "when_to_call": (),
}
"""First step -> the sources that say so; none means unverified by a vet."""

OFFICIAL_VET_STEPS = ("report_now", "stop_movements", "isolate", "disinfect")
"""What the official-vet path tells before anything else."""


ALARM_URGENCY = Urgency.SAME_DAY
"""Level of a notifiable sign that reaches its alarm threshold without being the top class."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What is known of one sign class, in no language.

    Attributes:
        urgency: Level when the class is the top one of a photo; None for what is no condition.
        notifiable: Whether signs like these must be reported (in most countries).
        zoonotic: Whether a usual cause can infect people.
        steps: First steps, keys of `STEP_SOURCES`.
        sources: Keys of `SOURCES` for the facts above.
    """

    urgency: Urgency | None
    notifiable: bool
    zoonotic: bool
    steps: tuple[str, ...]
    sources: tuple[str, ...]


CONDITIONS: dict[SignClass, Condition] = {
    SignClass.LUMPY_SKIN: Condition(
        Urgency.EMERGENCY,
        notifiable=True,
        zoonotic=False,
        steps=(*OFFICIAL_VET_STEPS, "control_flies", "ask_vaccination"),
        sources=("lsd",),
    ),
    SignClass.FOOT_AND_MOUTH: Condition(
        Urgency.EMERGENCY,
        notifiable=True,
        zoonotic=False,
        steps=OFFICIAL_VET_STEPS,
        sources=("fmd",),
    ),
    # A photo cannot tell a rough teat end (days) from mastitis (today): the milk can.
    SignClass.UDDER_TEAT: Condition(
        Urgency.SAME_DAY,
        notifiable=False,
        zoonotic=False,
        steps=("strip_milk", "milk_last", "discard_milk", "udder_emergency", "teat_blisters"),
        sources=("mastitis", "teat_end"),
    ),
    SignClass.EYE: Condition(
        Urgency.SAME_DAY,
        notifiable=False,
        zoonotic=False,
        steps=("eye_vet", "eye_shade", "isolate", "eye_emergency"),
        sources=("pinkeye", "pinkeye_care"),
    ),
    SignClass.SKIN_CRUST: Condition(
        Urgency.WITHIN_DAYS,
        notifiable=False,  # mange is, in some countries: its first step says so
        zoonotic=True,
        steps=("gloves", "isolate", "keep_dry", "skin_sample", "look_in_hair"),
        sources=("ringworm", "rain_scald", "mange", "lice"),
    ),
    SignClass.NO_VISIBLE_SIGN: Condition(
        Urgency.MONITOR,
        notifiable=False,
        zoonotic=False,
        steps=("keep_watching", "when_to_call"),
        sources=("lsd",),
    ),
    SignClass.NOT_CATTLE: Condition(
        None, notifiable=False, zoonotic=False, steps=("when_to_call",), sources=()
    ),
}


@dataclass(frozen=True, slots=True)
class TickedFact:
    """What a ticked sign means, whatever the photo shows.

    Attributes:
        urgency: The least level it sets; None when it only raises the others' level.
        official_vet: Whether it alone shows the official-vet path.
        sources: Keys of `SOURCES` for its first step; none means unverified by a vet.
    """

    urgency: Urgency | None
    official_vet: bool = False
    sources: tuple[str, ...] = ()


TICKED: dict[TickedSign, TickedFact] = {
    TickedSign.DOWN: TickedFact(Urgency.EMERGENCY),
    TickedSign.HARD_BREATHING: TickedFact(Urgency.EMERGENCY),
    TickedSign.LEFT_FLANK_SWOLLEN: TickedFact(Urgency.EMERGENCY, sources=("bloat",)),
    TickedSign.HEAVY_BLEEDING: TickedFact(Urgency.EMERGENCY),
    TickedSign.SUDDEN_DEATH: TickedFact(Urgency.EMERGENCY, sources=("anthrax",)),
    TickedSign.SEVERAL_ANIMALS: TickedFact(None),
    TickedSign.NOT_EATING: TickedFact(Urgency.SAME_DAY),
    TickedSign.FEVER: TickedFact(Urgency.SAME_DAY),
    TickedSign.DROOLING: TickedFact(Urgency.SAME_DAY, official_vet=True, sources=("fmd",)),
    TickedSign.LAME: TickedFact(Urgency.WITHIN_DAYS),
    TickedSign.ABORTION: TickedFact(Urgency.SAME_DAY),
    TickedSign.MOUTH_SORES: TickedFact(Urgency.SAME_DAY, official_vet=True, sources=("fmd",)),
}


PROMPTS: dict[SignClass, tuple[str, ...]] = {
    SignClass.LUMPY_SKIN: (
        "a photo of a cow with many round lumps all over its skin",
        "a close-up of firm skin nodules on cattle, lumpy skin disease",
    ),
    SignClass.FOOT_AND_MOUTH: (
        "a photo of blisters and sores in the mouth of a cow, foot-and-mouth disease",
        "a close-up of a raw wound on the muzzle, tongue or hoof of cattle",
    ),
    SignClass.UDDER_TEAT: (
        "a photo of a swollen or sore cow udder",
        "a close-up of a damaged cow teat with a rough, cracked or bleeding end",
    ),
    SignClass.EYE: (
        "a close-up of a sick cow eye, cloudy, white or red",
        "a photo of cattle with pinkeye and tears running from the eye",
    ),
    SignClass.SKIN_CRUST: (
        "a photo of a cow with grey crusts and bald patches, ringworm",
        "a close-up of scabby, crusted cattle skin with hair loss",
    ),
    SignClass.NO_VISIBLE_SIGN: (
        "a photo of a normal cow with a smooth coat",
        "a close-up of a normal cow face, udder or hoof",
    ),
    SignClass.NOT_CATTLE: (
        "a photo without any cow",
        "a photo of another animal, a person, a thing, or a page of text",
    ),
}
"""Sentences that models for pictures and text compare a photo with; such models know English."""
