"""The command line in its own process, on a tiny real model made on the spot."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.commands import run_on_full_disk
from vetscanner.cli import main
from vetscanner.schema import SignClass

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A residual network of a few kilobytes with random weights and our labels."""
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    labels = {index: str(sign) for index, sign in enumerate(SignClass)}
    config = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8],
        depths=[1],
        id2label=labels,
        label2id={label: index for index, label in labels.items()},
    )
    ResNetForImageClassification(config).save_pretrained(folder)
    preprocessor = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": 32, "width": 32},
        "do_resize": True,
        "do_normalize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return folder


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A sharp photo in a folder of its own."""
    pixels = np.random.default_rng(0).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "cow.jpg")
    return tmp_path / "cow.jpg"


@pytest.fixture
def run(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `triage ...` with the tiny model in this process: status, output, error output."""

    def command(*words: str | Path) -> tuple[int, str, str]:
        status = main(["triage", *map(str, words), "--model", str(tiny_model)])
        return status, *capsys.readouterr()

    return command


def test_json_report_of_a_process(repository: Path, tiny_model: Path, photo: Path) -> None:
    words = [photo, "--sign", "lame", "--device", "cpu", "--json", "--model", tiny_model]
    ended = subprocess.run(
        [sys.executable, "-m", "vetscanner", "triage", *map(str, words)],
        cwd=repository,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    probabilities = report["photos"][0]["probabilities"]
    assert set(probabilities) == set(SignClass)
    assert sum(probabilities.values()) == pytest.approx(1, abs=0.001)
    assert report["signs_used"] == ["lame"]
    assert (report["device"], report["device_reason"]) == ("cpu", "The CPU was asked for.")
    assert report["model"]["calibrated"] is False
    assert all(seconds > 0 for seconds in report["timings_s"].values())
    assert "1 photo" in ended.stderr


def test_text_report_in_russian_with_one_bad_photo(run: Run, photo: Path) -> None:
    bad = photo.with_name("bad.jpg")
    bad.write_text("not a photo")
    status, output, errors = run(photo, bad, "--sign", "down", "--lang", "ru")
    assert status == 1
    assert output.startswith("Неотложно")
    assert "bad.jpg: " in errors


def test_bad_photos_alone_end_with_two_and_name_each(run: Run, photo: Path) -> None:
    photo.write_bytes(b"")
    status, output, errors = run(photo, photo.with_name("missing.jpg"))
    assert (status, output) == (2, "")
    assert "cow.jpg: the file is empty" in errors
    assert "missing.jpg: there is no such file" in errors


def test_signs_alone_give_a_level(run: Run) -> None:
    status, output, _ = run("--sign", "left_flank_swollen", "--json")
    assert status == 0
    report = json.loads(output)
    assert (report["level"], report["photos"], report["device"]) == ("emergency", [], None)


def test_nothing_at_all_is_wrong_usage(run: Run) -> None:
    status, _, errors = run()
    assert status == 2
    assert "add a photo" in errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "COMMAND"),
        (["triage", "--sign", "hiccups"], "left_flank_swollen"),
        (["triage", "--lang", "tlh"], "ru"),
        (["triage", "--device", "abacus"], "cuda"),
        (["train", "photos"], "--out"),
    ],
)
def test_wrong_usage_says_what_is_allowed(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_cuda_is_used_or_refused(run: Run, photo: Path) -> None:
    import torch

    status, output, errors = run(photo, "--device", "cuda", "--json")
    if torch.cuda.is_available():
        assert json.loads(output)["device"] == "gpu"
    else:
        assert (status, output) == (2, "")
        assert "no CUDA GPU" in errors


@pytest.mark.parametrize("model", ["no/such/folder", "owner/name@main"])
def test_unusable_model_is_explained(
    model: str, photo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", str(photo), "--model", model]) == 2
    error = capsys.readouterr().err
    assert "error: " in error
    assert model.split("@")[0] in error


def test_signs_alone_do_not_wait_for_torch(repository: Path, tiny_model: Path) -> None:
    script = (
        "import sys\nfrom vetscanner.cli import main\n"
        f"main(['triage', '--sign', 'down', '--model', {str(tiny_model)!r}])\n"
        "sys.exit('torch' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, stdout=subprocess.DEVNULL, check=False
    )
    assert ended.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_full_disk_behind_the_output_is_one_line(tiny_model: Path, photo: Path) -> None:
    ended = run_on_full_disk("vetscanner", "triage", photo, "--model", tiny_model)
    assert ended.status == 2, ended.stderr
    *_, last = ended.stderr.splitlines()
    assert last == "error: No space left on device; the output may be incomplete."
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
