"""One scan from files to the report, with a model that answers as told."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vetscanner.config import MAX_PHOTOS
from vetscanner.errors import InvalidOptionError, InvalidPhotoError
from vetscanner.model_specs import ModelSpec
from vetscanner.phrases import load_phrases
from vetscanner.pipeline import PhotoFile, scan_photos
from vetscanner.report import ScanReport
from vetscanner.report_html import report_html
from vetscanner.report_text import WIDTH, message_text, report_text
from vetscanner.schema import (
    Classification,
    Device,
    Language,
    PhotoQuality,
    Prediction,
    SignClass,
)
from vetscanner.vet_phone import PHONE_VARIABLE, read_vet_phone

SPEC = ModelSpec(
    model_id="told",
    revision="1",
    path=Path(),
    temperature=1.0,
    unclear_below=0.5,
    alarm_thresholds={SignClass.FOOT_AND_MOUTH: 0.1, SignClass.LUMPY_SKIN: 0.1},
    calibrated=True,
    labels={},
)
REPORT_KEYS = {
    *("level", "headline", "findings", "first_steps", "call", "abstained", "signs_used", "photos"),
    *(
        "model",
        "device",
        "device_reason",
        "timings_s",
        "sources",
        "disclaimer",
        "photo_errors",
        "why",
    ),
}


class ToldModel:
    """Gives the probabilities it was told, one set for each photo, and counts its calls."""

    def __init__(self, *answers: dict[str, float]) -> None:
        self.answers = answers
        self.calls = 0

    def __call__(self, photos: Sequence[NDArray[np.uint8]], spec: ModelSpec) -> Classification:
        self.calls += 1
        assert spec is SPEC
        predictions = tuple(
            Prediction({sign: answer.get(sign, 0.0) for sign in SignClass})
            for _, answer in zip(photos, self.answers, strict=True)
        )
        return Classification(
            predictions, "told", "1", True, Device.CPU, "no GPU in a test", 0.5, 0.25, 0.125
        )


@pytest.fixture
def photo_file(tmp_path: Path) -> Callable[..., PhotoFile]:
    """Writes a photo: sharp, unless `brightness` says that it is dark."""

    def write(name: str = "cow.jpg", brightness: int = 255, height: int = 300) -> PhotoFile:
        size = (height, height * 3 // 2, 3)
        pixels = np.random.default_rng(0).integers(0, brightness, size, dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / name)
        return PhotoFile(tmp_path / name, name)

    return write


@pytest.fixture
def bad_file(tmp_path: Path) -> PhotoFile:
    """A text with a photo's name."""
    (tmp_path / "bad.jpg").write_text("not a photo")
    return PhotoFile(tmp_path / "bad.jpg", "bad.jpg")


def scan(
    files: Sequence[PhotoFile], *answers: dict[str, float], signs: str = "", language: str = "en"
) -> ScanReport:
    return scan_photos(files, signs.split(), language, ToldModel(*answers), SPEC)


def test_json_has_the_documented_shape(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan([photo_file()], {"lumpy_skin": 0.8, "skin_crust": 0.2}, signs="fever")
    content: dict[str, Any] = json.loads(json.dumps(report.to_json()))
    assert set(content) == REPORT_KEYS
    assert content["level"] == "emergency"
    assert content["findings"] == [
        {
            "sign": "lumpy_skin",
            "name": "signs like lumpy skin disease",
            "probability": 0.8,
            "notifiable": True,
            "zoonotic": False,
            "differentials": content["findings"][0]["differentials"],
        }
    ]
    assert content["signs_used"] == ["fever"]
    assert content["abstained"] is None
    [photo] = content["photos"]
    assert (photo["name"], photo["width"], photo["height"]) == ("cow.jpg", 450, 300)
    assert (photo["quality"], photo["heatmap"]) == ("good", None)
    assert photo["probabilities"]["skin_crust"] == 0.2
    assert set(photo["probabilities"]) == set(SignClass)
    assert content["model"] == {"id": "told", "revision": "1", "calibrated": True}
    assert (content["device"], content["device_reason"]) == ("cpu", "no GPU in a test")
    assert content["timings_s"] == {"load": 0.5, "infer": 0.25, "unload": 0.125}
    assert content["photo_errors"] == []


def test_the_report_says_why_in_plain_words(photo_file: Callable[..., PhotoFile]) -> None:
    answer = {"lumpy_skin": 0.2, "no_visible_sign": 0.7, "skin_crust": 0.1}
    report = scan([photo_file()], answer, signs="lame fever")
    assert report.why == (
        "You ticked: Fever. This means: a vet should see the animal today.",
        "Signs like lumpy skin disease cannot be ruled out. "
        "This means: a vet should see the animal today.",
        "What is seen or ticked may be a disease that must be reported on mere suspicion.",
        "cow.jpg: 70% no visible sign found; next 20% signs like lumpy skin disease.",
    )


@pytest.mark.parametrize(
    ("answer", "signs", "first"),
    [
        ({"no_visible_sign": 1.0}, "", "No visible sign found. This means: keep watching"),
        (
            {"eye": 1.0},
            "several_animals",
            "Signs of an eye problem like pinkeye. This means: a vet",
        ),
        ({"not_cattle": 1.0}, "", "No cattle recognised in the photo."),
        ({"not_cattle": 1.0}, "down", "You ticked: Cannot rise. This means: emergency"),
    ],
)
def test_why_begins_with_what_set_the_level(
    photo_file: Callable[..., PhotoFile], answer: dict[str, float], signs: str, first: str
) -> None:
    report = scan([photo_file()], answer, signs=signs)
    assert report.why[0].startswith(first)
    raised = "Several animals are ill: that raises the level by one step."
    assert (raised in report.why) is (signs == "several_animals")


@pytest.mark.parametrize(
    ("answer", "signs"),
    [
        pytest.param({"foot_and_mouth": 0.9}, [], id="finding"),
        pytest.param({"no_visible_sign": 0.9}, ["drooling", "down"], id="ticked"),
    ],
)
def test_the_number_is_told_where_the_official_vet_is_called(
    photo_file: Callable[..., PhotoFile], answer: dict[str, float], signs: list[str]
) -> None:
    number = "+44 (0)20 7946-0000"
    french = scan_photos([photo_file()], signs, "fr", ToldModel(answer), SPEC, number)
    assert report_html(french.to_json(), Language.FR).count("<a href") == 1
    report = scan_photos([photo_file()], signs, "en", ToldModel(answer), SPEC, number)
    assert report.call.endswith(f"Phone number of the state veterinary service: {number}")
    html = report_html(report.to_json(), Language.EN)
    assert f'<a href="tel:+442079460000">{number}</a>' in html


def test_no_number_where_nobody_official_is_called(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan_photos([photo_file()], [], "en", ToldModel({"eye": 0.9}), SPEC, "112")
    assert "112" not in report.call


@pytest.mark.parametrize("text", ["112", "+49 30 1234-5678", " (030) 12.34 / 56 ", "0800\u00a0123"])
def test_phone_numbers_are_taken(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(PHONE_VARIABLE, text)
    assert read_vet_phone() == " ".join(text.split())


@pytest.mark.parametrize("text", ["call me", "1", "+", "<b>112</b>", "112;rm", "()()", "1" * 40])
def test_what_is_no_phone_number_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(PHONE_VARIABLE, text)
    with pytest.raises(InvalidOptionError, match=PHONE_VARIABLE):
        read_vet_phone()


def test_no_phone_number_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PHONE_VARIABLE, "  ")
    assert read_vet_phone() is None


def test_heatmaps_come_only_when_asked_for(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan([photo_file("a.jpg"), photo_file("b.jpg")], {"eye": 0.9}, {"not_cattle": 1.0})
    assert report.classification is not None
    evidence = np.zeros((len(SignClass), 7, 7), np.float32)
    evidence[list(SignClass).index(SignClass.EYE), 0, 0] = 2.0
    predictions = tuple(
        Prediction(p.probabilities, evidence) for p in report.classification.predictions
    )
    report = replace(report, classification=replace(report.classification, predictions=predictions))
    assert [photo["heatmap"] for photo in report.to_json()["photos"]] == [None, None]
    first, second = (photo["heatmap"] for photo in report.to_json(heatmaps=True)["photos"])
    assert first["sign"] == "eye"
    assert second is None  # the eye shows on the other photo only
    html = report_html(report.to_json(heatmaps=True), Language.EN)
    assert html.count("<img") == 2, "the photo, and beside it the photo with the map"
    assert first["photo"] != first["image"]
    assert 'alt="a.jpg: the redder a place, the more it speaks for: signs of an eye' in html
    assert "<img" not in report_html(report.to_json(), Language.EN)


def test_bad_photo_costs_only_itself(
    photo_file: Callable[..., PhotoFile], bad_file: PhotoFile
) -> None:
    report = scan([bad_file, photo_file()], {"eye": 0.9})
    assert report.level == "same_day"
    assert [photo.name for photo in report.photos] == ["cow.jpg"]
    [error] = report.to_json()["photo_errors"]
    assert error["name"] == "bad.jpg"
    assert error["message"].startswith("bad.jpg: ")


def test_without_a_readable_photo_no_model_runs(bad_file: PhotoFile) -> None:
    model = ToldModel()
    report = scan_photos([bad_file], ["down"], "en", model, SPEC)
    assert model.calls == 0
    content = report.to_json()
    assert content["level"] == "emergency"
    assert (content["photos"], content["device"], content["model"]["id"]) == ([], None, None)
    assert "ticked signs alone" in content["headline"]
    assert "no visible sign" not in json.dumps(content).lower()


def test_all_bad_photos_are_all_named(bad_file: PhotoFile, tmp_path: Path) -> None:
    missing = PhotoFile(tmp_path / "missing.jpg", "missing.jpg")
    with pytest.raises(InvalidPhotoError, match=r"bad\.jpg: [^\n]+\nmissing\.jpg: "):
        scan([bad_file, missing])


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "not a photo in a known format"),
        ("de", "kein Foto in einem bekannten Format"),
        ("fr", "pas une photo dans un format connu"),
        ("ru", "это не фото в известном формате"),
    ],
)
def test_refusals_are_told_in_the_language_of_the_report(
    bad_file: PhotoFile, language: str, words: str
) -> None:
    report = scan([bad_file], signs="down", language=language).to_json()
    [error] = report["photo_errors"]
    assert error["message"].startswith("bad.jpg")
    assert words in error["message"]
    assert "JPEG" in error["message"]
    assert report["device_reason"] == load_phrases(Language(language)).labels["no_model_ran"]
    with pytest.raises(InvalidPhotoError, match=words):
        scan([bad_file], language=language)


def test_nothing_at_all_is_explained() -> None:
    with pytest.raises(InvalidPhotoError, match="add a photo"):
        scan([])


@pytest.mark.parametrize(
    ("signs", "language", "named"),
    [
        (["hiccups"], "en", r"sign 'hiccups'.*down, hard_breathing.*mouth_sores"),
        ([], "tlh", r"language 'tlh'.*en, de, fr, ru"),
    ],
)
def test_unknown_options_say_what_is_allowed(signs: list[str], language: str, named: str) -> None:
    with pytest.raises(InvalidOptionError, match=named):
        scan_photos([], signs, language, ToldModel(), SPEC)


def test_photos_beyond_the_limit_are_named_and_not_read(
    photo_file: Callable[..., PhotoFile], tmp_path: Path
) -> None:
    good = photo_file("good.jpg")
    files = [good] * MAX_PHOTOS + [PhotoFile(tmp_path / "never_read.jpg", "extra.jpg")]
    report = scan(files, *[{"no_visible_sign": 1.0}] * MAX_PHOTOS, signs="down")
    assert report.level == "emergency"
    assert [error.name for error in report.photo_errors] == ["extra.jpg"]
    assert f"first {MAX_PHOTOS}" in report.photo_errors[0].message


@pytest.mark.parametrize("language", list(Language))
def test_a_photo_that_could_not_be_judged_is_not_passed_over(
    photo_file: Callable[..., PhotoFile], language: Language
) -> None:
    both = [photo_file("cow.jpg"), photo_file("close.jpg")]
    answers = {"no_visible_sign": 1.0}, {"eye": 0.45, "udder_teat": 0.4}
    report = scan(both, *answers, language=language.value)
    phrases = load_phrases(language)
    assert report.level == "monitor"
    assert phrases.labels["not_all_judged"] in report.headline
    assert report.first_steps[0] == phrases.abstentions["unclear"].advice[0]


def test_healthy_looking_says_no_visible_sign(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan([photo_file()], {"no_visible_sign": 1.0})
    assert (report.level, report.findings) == ("monitor", ())
    assert "No visible sign found" in report.headline
    assert not re.search(r"\bhealthy\b", json.dumps(report.to_json()), re.I)


def test_faint_alarm_is_told_as_not_excluded(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan([photo_file()], {"no_visible_sign": 0.8, "foot_and_mouth": 0.2})
    assert report.level == "same_day"
    assert "Signs like foot-and-mouth disease cannot be ruled out." in report.headline
    assert "official vet" in report.call
    assert report.first_steps[0].startswith("Phone your state veterinary service")


def test_retake_comes_first_only_where_nothing_else_is_known(
    photo_file: Callable[..., PhotoFile],
) -> None:
    dark = photo_file("dark.jpg", brightness=30)
    alone = scan([dark], {"no_visible_sign": 1.0})
    assert (alone.level, alone.abstained) == ("retake_photo", "dark")
    assert "daylight" in alone.first_steps[0]
    bleeding = scan([dark], {"no_visible_sign": 1.0}, signs="heavy_bleeding drooling")
    assert (bleeding.level, bleeding.abstained) == ("emergency", "dark")
    assert bleeding.call.startswith("Your vet's emergency number")
    assert "official vet" in bleeding.call
    assert bleeding.first_steps[0].startswith("Press a clean cloth")
    assert bleeding.first_steps[1].startswith("Phone your state veterinary service")
    assert "daylight" in bleeding.first_steps[-1]


def test_poor_photo_beside_a_good_one_gets_its_advice(
    photo_file: Callable[..., PhotoFile],
) -> None:
    dark, good = photo_file("dark.jpg", brightness=30), photo_file()
    report = scan([dark, good], {"no_visible_sign": 1.0}, {"eye": 0.9})
    assert (report.level, report.abstained) == ("same_day", None)
    assert "daylight" in report.first_steps[-1]


@pytest.mark.parametrize("language", Language)
def test_a_small_photo_is_judged_and_a_larger_one_advised(
    photo_file: Callable[..., PhotoFile], language: Language
) -> None:
    report = scan([photo_file(height=256)], {"udder_teat": 0.9}, language=language)
    assert (report.abstained, len(report.findings)) == (None, 1)
    assert report.photos[0].quality is PhotoQuality.SMALL
    (advice,) = load_phrases(language).abstentions["small"].advice
    assert report.first_steps[-1] == advice
    assert report.level == scan([photo_file()], {"udder_teat": 0.9}).level


def test_statements_without_a_source_are_marked(photo_file: Callable[..., PhotoFile]) -> None:
    report = scan([photo_file()], {"foot_and_mouth": 0.9})
    marked = [step for step in report.first_steps if step.endswith("\u00a0*")]
    assert [step.split()[0] for step in marked] == ["Keep", "Disinfect"]
    assert any("gov.uk" in source for source in report.sources)
    assert report.sources[-1].startswith("* ")
    assert len(set(report.sources)) == len(report.sources)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("top", SignClass)
def test_text_report_leads_with_the_level_in_every_language(
    photo_file: Callable[..., PhotoFile], bad_file: PhotoFile, language: Language, top: SignClass
) -> None:
    answer = {str(top): 0.91, "lumpy_skin": 0.09} if top != "lumpy_skin" else {"lumpy_skin": 1.0}
    report = scan([photo_file(), bad_file], answer, signs="lame", language=language)
    lines = report_text(report).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert "\n".join(lines).startswith(report.headline[:40])
    text = re.sub(" +", " ", " ".join(lines))
    for expected in (*report.first_steps, report.call, "cow.jpg", "450 x 300", "bad.jpg"):
        assert expected in text
    if report.findings:
        assert re.search(r"(91|100)\s?%", text)
    assert "{" not in text


@pytest.mark.parametrize("language", Language)
def test_a_message_to_the_vet_tells_level_findings_and_steps(
    photo_file: Callable[..., PhotoFile], language: Language
) -> None:
    report = scan([photo_file()], {"eye": 0.9}, signs="fever", language=language)
    text = message_text(report)
    assert text.startswith(report.headline)
    assert "90%" in text.replace("\u202f", "")
    for line in (*report.why, *report.first_steps):
        assert f"\n- {line}\n" in text
    assert text.endswith(report.to_json()["disclaimer"])


def test_a_message_has_no_heading_without_lines(photo_file: Callable[..., PhotoFile]) -> None:
    text = message_text(scan([photo_file()], {"no_visible_sign": 1.0}))
    assert "Seen on the photos" not in text
