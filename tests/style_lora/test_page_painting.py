"""What the Style part of the page does where its owner has named a LoRA: the real tab and model."""

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
import torch

from serving.gpu_refusals import _SIGNS
from serving.page_texts import LANGUAGE_NAMES
from style_lora.errors import BaseModelError, GenerationError
from style_lora.gpu import DEVICE_VARIABLE, LORA_VARIABLE, _translate, can_paint
from style_lora.message_words import MESSAGES, tell_reason
from style_lora.painter import _move, _tell_failure, _to_image
from style_lora.tab import on_paint
from tests.style_lora.conftest import Trained


@pytest.fixture
def painting(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose owner paints on the CPU."""
    monkeypatch.setenv(LORA_VARIABLE, str(trained.folder))
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")


@pytest.mark.usefixtures("painting")
def test_a_visitor_gets_a_picture_in_the_style() -> None:
    assert can_paint()
    styled, told = on_paint("a drone over the harbour", 1.0, 7, "de")
    assert "weggelassen" not in told
    plain, cut = on_paint("ship" + " of" * 74 + " the sea <b>", 0.0, 7, "en")
    assert "was left out: the sea &lt; b &gt;" in cut
    assert styled is not None
    assert plain is not None
    assert styled.size == (64, 64)
    assert not np.array_equal(np.asarray(styled), np.asarray(plain))
    assert "7" in told
    assert "1,0" in told


@pytest.mark.usefixtures("painting")
def test_an_empty_prompt_is_asked_for() -> None:
    picture, told = on_paint("  ", 1.0, 0, "en")
    assert picture is None
    assert 'role="alert"' in told


@pytest.mark.usefixtures("painting")
def test_a_lora_that_is_gone_is_told_and_paints_nothing(
    tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = shutil.copytree(trained.folder, tmp_path / "moved")
    for weights in moved.rglob("*.safetensors"):
        weights.unlink()
    monkeypatch.setenv(LORA_VARIABLE, str(moved))
    picture, told = on_paint("a drone", 1.0, 0, "fr")
    assert picture is None
    assert 'role="alert"' in told
    assert "mal réglé" in told
    # Where the files of a server lie is nothing for its visitors.
    assert str(tmp_path) not in told
    assert moved.name not in told


def test_without_a_lora_nothing_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LORA_VARIABLE, raising=False)
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    assert not can_paint()


@pytest.mark.usefixtures("painting")
@pytest.mark.parametrize("language", sorted(LANGUAGE_NAMES))
def test_a_refusal_of_the_gpu_service_is_told_in_the_language_of_the_page(
    monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    def refuse(*_: object) -> None:
        raise gr.Error("You have exceeded your <a>quota</a>", title="ZeroGPU quota exceeded")

    monkeypatch.setattr("style_lora.gpu.paint_on_gpu", refuse)
    picture, told = on_paint("a drone", 1.0, 7, language)
    assert picture is None
    assert escape(MESSAGES.tell("quota", language)) in told
    assert "<a>" not in told


class FullGpu:
    """A pipeline for which the GPU has no room."""

    def to(self, _device: torch.device) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")


def list_reasons() -> Iterator[str]:
    """Every reason that a visitor may be told, from the functions that find it."""
    for title, beginning, _ in _SIGNS:
        yield str(_translate(gr.Error(f"{beginning} and more", title=title)))
    yield str(_translate(gr.Error("nobody knows", title="another")))
    yield _tell_failure(RuntimeError("mat1 and mat2: shapes cannot be multiplied\nmore"), "cuda")
    yield _tell_failure(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), "cuda")
    with pytest.raises(GenerationError) as raised:
        _move(FullGpu(), torch.device("cuda"))
    yield str(raised.value)
    with pytest.raises(GenerationError) as raised:
        _to_image(np.full((8, 8, 3), np.nan))
    yield str(raised.value)


def test_every_reason_is_told_in_every_language() -> None:
    reasons = set(list_reasons())
    assert len(reasons) == len(MESSAGES.texts["en"])
    for language in sorted(set(LANGUAGE_NAMES) - {"en"}):
        assert {reason for reason in reasons if tell_reason(reason, language) == reason} == set()
        assert MESSAGES.texts[language].keys() == MESSAGES.texts["en"].keys()
    assert tell_reason("something new", "de") == "something new"


def test_whose_fault_it_was_comes_out_of_the_worker() -> None:
    for title, kind in (("Painting", GenerationError), ("Setting up", BaseModelError)):
        assert type(_translate(gr.Error("why", title=title))) is kind
