"""What the Style part of the page does where its owner has named a LoRA: the real tab and model."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from style_lora.gpu import DEVICE_VARIABLE, LORA_VARIABLE, can_paint
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
    plain, _ = on_paint("a drone over the harbour", 0.0, 7, "en")
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
    assert "Traceback" not in told


def test_without_a_lora_nothing_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LORA_VARIABLE, raising=False)
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    assert not can_paint()
