"""The catalogue: complete in every language, sourced, and without dose, drug or diagnosis."""
# ruff: noqa: RUF001 - some of the patterns are Russian

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vetscanner.conditions import (
    CONDITIONS,
    OFFICIAL_VET_STEPS,
    SOURCES,
    STEP_SOURCES,
    TICKED,
)
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language, PhotoQuality, SignClass, TickedSign, Urgency

DOSE = re.compile(
    r"%|\b(mg|ml|мг|мл)\b|antibioti|антибио|penicill|пеницилл|tetracycl|тетрацикл|sulf[ao]"
    r"|ivermect|ивермект|injekt|inject|meloxicam|cortison",
    re.IGNORECASE,
)
COUNTRY = re.compile(
    r"\b(DEFRA|APHA|USDA|Rosselchosnadsor|Россельхознадзор|Großbritannien|UK|USA|Germany|Deutschland"
    r"|France|Россия|России)\b",
)
DIAGNOSIS = re.compile(
    r"\b(your (cow|animal) has|Ihr Tier hat|votre vache a|у вашей коровы)\b", re.I
)


def iter_texts(entry: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Walk a language file: dotted key and text of every string."""
    if isinstance(entry, dict):
        for name, value in entry.items():
            yield from iter_texts(value, f"{key}.{name}" if key else name)
    elif isinstance(entry, list):
        for number, value in enumerate(entry):
            yield from iter_texts(value, f"{key}.{number}")
    else:
        yield key, entry


@pytest.fixture(scope="module")
def files(repository: Path) -> dict[str, dict[str, str]]:
    """Language -> dotted key -> text."""
    return {
        language: dict(
            iter_texts(
                tomllib.loads(
                    (repository / f"vetscanner/languages/{language}.toml").read_text("utf-8")
                )
            )
        )
        for language in Language
    }


@pytest.mark.parametrize("language", Language)
def test_every_language_has_the_same_keys_with_words(
    language: Language, files: dict[str, dict[str, str]]
) -> None:
    assert set(files[language]) == set(files["en"])
    assert all(text.strip() == text != "" for text in files[language].values())


@pytest.mark.parametrize("language", [Language.DE, Language.FR, Language.RU])
def test_nothing_was_left_in_english(language: Language, files: dict[str, dict[str, str]]) -> None:
    same_word_in_both = {"labels.photos", "labels.sources"}
    left = {key for key, text in files[language].items() if text == files["en"][key]}
    assert left <= same_word_in_both


def test_russian_is_written_in_cyrillic(files: dict[str, dict[str, str]]) -> None:
    for key, text in files["ru"].items():
        letters = re.sub(r"\{\w+\}|\W|\d", "", text)
        assert len(re.findall(r"[а-яё]", letters, re.I)) == len(letters), (key, text)


@pytest.mark.parametrize("language", Language)
def test_no_dose_no_drug_no_country_no_diagnosis(
    language: Language, files: dict[str, dict[str, str]]
) -> None:
    for key, text in files[language].items():
        assert not re.search(r"\d", text), (key, text)
        for rule in (DOSE, COUNTRY, DIAGNOSIS):
            assert not rule.search(text), (key, text)


HEALTHY = {
    "en": r"\bhealthy\b",
    "de": r"\bgesund(e[smrn]?)?\b",
    "fr": r"\bsaine?s?\b",
    "ru": "здоров(а|ое|ый)?\\b",
}


@pytest.mark.parametrize("language", Language)
def test_no_text_calls_an_animal_healthy(
    language: Language, files: dict[str, dict[str, str]]
) -> None:
    for key, text in files[language].items():
        assert not re.search(HEALTHY[language], text, re.I), (key, text)


SIGNS = {"en": "signs?", "de": "anzeichen", "fr": "signes?", "ru": "признак"}


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(
    "sign", [sign for sign in SignClass if sign not in ("no_visible_sign", "not_cattle")]
)
def test_findings_are_named_as_signs(language: Language, sign: SignClass) -> None:
    phrases = load_phrases(language)
    assert re.match(SIGNS[language], phrases.signs[sign].name, re.I)
    assert len(phrases.signs[sign].differentials) >= 3


@pytest.mark.parametrize("language", Language)
def test_every_key_that_the_report_needs_has_words(language: Language) -> None:
    phrases = load_phrases(language)
    levels = {urgency.name.lower() for urgency in Urgency} | {"retake_photo"}
    assert set(phrases.levels) == levels
    assert set(phrases.call) == levels | {"official"}
    assert set(phrases.steps) == set(STEP_SOURCES)
    reasons = {"unclear", "not_cattle"} | set(PhotoQuality) - {PhotoQuality.GOOD}
    assert set(phrases.abstentions) == reasons
    assert all(entry.advice for entry in phrases.abstentions.values())
    assert set(PhotoQuality) <= set(phrases.labels)
    assert phrases.labels["not_excluded"].count("{name}") == 1


@pytest.mark.parametrize("language", Language)
def test_refusals_leave_the_same_open_in_every_language(language: Language) -> None:
    texts, english = load_phrases(language).refusals, load_phrases(Language.EN).refusals
    for reason, text in texts.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", english[reason]))


def test_facts_point_to_steps_and_sources_that_exist() -> None:
    steps = {step for condition in CONDITIONS.values() for step in condition.steps}
    assert steps | set(OFFICIAL_VET_STEPS) == set(STEP_SOURCES)
    used = {
        source
        for sources in [
            *STEP_SOURCES.values(),
            *(condition.sources for condition in CONDITIONS.values()),
            *(fact.sources for fact in TICKED.values()),
        ]
        for source in sources
    }
    assert used == set(SOURCES)


def test_catalogue_covers_every_class_and_sign() -> None:
    assert set(CONDITIONS) == set(SignClass)
    assert set(TICKED) == set(TickedSign)
    notifiable = {sign for sign, condition in CONDITIONS.items() if condition.notifiable}
    assert notifiable == {SignClass.FOOT_AND_MOUTH, SignClass.LUMPY_SKIN}
    assert CONDITIONS[SignClass.SKIN_CRUST].zoonotic
    for sign in notifiable:
        assert CONDITIONS[sign].urgency is Urgency.EMERGENCY
        assert CONDITIONS[sign].steps[: len(OFFICIAL_VET_STEPS)] == OFFICIAL_VET_STEPS
