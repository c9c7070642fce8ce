"""What the vet tab's button answers."""

from pathlib import Path

import pytest

from vetscanner.tab import MODEL_VARIABLE, on_triage
from vetscanner.tab_texts import VET_TEXTS


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_a_model_that_cannot_be_used_is_told_in_the_pages_language(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path))
    html, report = on_triage([], ["fever"], language)
    assert report is None
    assert html.index("<p>" + VET_TEXTS.tell("failed", language)) < html.rindex("<p>")
    assert 'role="alert"' in html


def test_a_report_brings_its_text_and_no_pictures_for_programs() -> None:
    html, report = on_triage([], ["fever"], "fr")
    assert report is not None
    assert "data-report-action" in html
    assert f"<span>{report['headline'].split('.')[0]}" in html.replace("&#x27;", "'")
