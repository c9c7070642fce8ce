"""Why a scan ran on GPU or CPU, in the language of the report."""

import re

import gradio as gr
import httpx
import pytest
import torch

from serving.gpu_refusals import _SIGNS
from vetscanner import cli, gpu
from vetscanner.device_reasons import DEVICE_TEXTS, tell_device_reason
from vetscanner.errors import InferenceError
from vetscanner.gpu_failures import failure_in_plain_words, model_failure

ENGLISH_LEFT = re.compile(r"\b(the|was|your|this|for|had|left|again|no)\b", re.I)
OTHERS = ["de", "fr", "ru"]


@pytest.fixture
def reasons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every sentence that the modules which choose the device can say."""
    refusals = [
        gr.Error(f"{beginning} (30s requested vs. 3s left). Try again in 1:00:00.", title=title)
        for title, beginning, _ in _SIGNS
    ]
    errors = [
        *refusals,
        httpx.ConnectError("refused"),
        ValueError("nonsense"),
        model_failure(InferenceError("failed")),
        gr.Error("", title="new"),
    ]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    causes = [failure_in_plain_words(error) for error in errors]
    return [
        gpu._GPU_REASON,
        gpu._NO_GPU_REASON,
        cli.choose_device("cpu")[1],
        cli.choose_device("auto")[1],
        *(f"No GPU for this request: {cause}." for cause in causes),
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_every_reason_is_translated(language: str, reasons: list[str]) -> None:
    assert len(reasons) > 15
    for reason in reasons:
        told = tell_device_reason(reason, language)
        assert not ENGLISH_LEFT.search(told), (reason, told)
        assert told.endswith(".")
        assert ("3s left" in reason) <= ("30" in told and "1:00:00" in told), (reason, told)


def test_english_stays_as_it_is(reasons: list[str]) -> None:
    assert [tell_device_reason(reason, "en") for reason in reasons] == reasons


def test_every_text_is_one_that_is_said(reasons: list[str]) -> None:
    said = " ".join(reasons)
    for key, text in DEVICE_TEXTS.texts["en"].items():
        assert all(part in said for part in re.split(r"\{\w+\}", text)), key


@pytest.mark.parametrize("language", OTHERS)
def test_an_unknown_reason_stays_in_english(language: str) -> None:
    assert tell_device_reason("no GPU in a test", language) == "no GPU in a test"
    told = tell_device_reason("No GPU for this request: something new (odd).", language)
    assert told.endswith("something new (odd).")
    assert not told.startswith("No GPU")
