"""What the vet tab's button answers."""

from pathlib import Path

import pytest

from vetscanner.phrases import load_phrases
from vetscanner.schema import Language
from vetscanner.tab import MODEL_VARIABLE, on_triage
from vetscanner.tab_texts import VET_TEXTS


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_a_model_that_cannot_be_used_is_told_in_the_pages_language(
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path))
    html, report = on_triage([], ["fever"], language)
    assert report is None
    assert f"<p>{VET_TEXTS.tell('failed', language)}</p>" in html.replace("&#x27;", "'")
    assert html.count("<p>") == 1, "the cause is the owner's, and English"
    assert str(tmp_path) in caplog.text
    assert 'role="alert"' in html


def test_a_report_brings_its_text_and_no_pictures_for_programs() -> None:
    html, report = on_triage([], ["fever"], "fr")
    assert report is not None
    assert "data-report-action" in html
    assert f"<span>{report['headline'].split('.')[0]}" in html.replace("&#x27;", "'")


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_a_star_behind_a_step_is_explained_in_message_and_print(language: str) -> None:
    html, report = on_triage([], ["down"], language)
    assert report is not None
    assert any(step.endswith("*") for step in report["first_steps"])
    page, told = html.replace("&#x27;", "'"), load_phrases(Language(language)).labels["unverified"]
    message = page[page.index("<textarea") : page.index("</textarea>")]
    assert told in message
    assert f'<p class="small">{told}</p>' in page[: page.index("<details")]


def test_a_french_colon_has_a_no_break_space_before_it() -> None:
    html, report = on_triage([], ["fever"], "fr")
    assert report is not None
    assert "Vous avez coché\u00a0: Fièvre" in report["headline"]
    assert "Pourquoi\u00a0:\n" in html
