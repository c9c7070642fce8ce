"""README.md: its Space header is valid, and every marked example runs as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sample_files import draw_photo
from tests.served_app import REPOSITORY, ServedApp

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"<!--\s*test:\s*(?P<name>[\w-]+)\s*-->\s*\n```(?P<language>bash|python|javascript)\n(?P<code>.*?)\n```",
    re.S,
)
EXAMPLES = {found["name"]: (found["language"], found["code"]) for found in EXAMPLE.finditer(README)}
DEFAULT_ADDRESS = re.compile(r"http://(127\.0\.0\.1|localhost|0\.0\.0\.0):7860")
SPACE_COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
EXAMPLE_LIMIT_S = 300


@pytest.fixture(scope="module")
def header() -> dict[str, Any]:
    """The YAML header that configures the Space."""
    found = re.match(r"---\n(.*?)\n---\n", README, re.S)
    assert found, "README.md starts with the YAML header of the Space"
    parsed = yaml.safe_load(found[1])
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks or would track, in which examples may write."""
    copy = tmp_path_factory.mktemp("readme") / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (REPOSITORY / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, copy / name)
    # The examples name the reader's own photo; none is committed.
    draw_photo(copy / "cow.jpg")
    return copy


def test_header_names_a_gradio_space(header: dict[str, Any]) -> None:
    assert header["sdk"] == "gradio"
    assert header["python_version"] == "3.12"
    assert isinstance(header["python_version"], str)
    assert (REPOSITORY / header["app_file"]).name == "app.py"
    assert (REPOSITORY / header["app_file"]).is_file()
    assert header["license"] == "agpl-3.0"
    assert header["title"]
    assert header["emoji"]


def test_header_pins_the_same_gradio_as_the_requirements(header: dict[str, Any]) -> None:
    requirements = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    pinned = re.search(r"^gradio(?:\[[\w,]+\])?==(\S+)$", requirements, re.M)
    assert pinned
    assert header["sdk_version"] == pinned[1] == "6.31.0"


def test_header_fits_the_hub(header: dict[str, Any]) -> None:
    assert 10 <= len(header["short_description"]) <= 60
    assert header["colorFrom"] in SPACE_COLOURS
    assert header["colorTo"] in SPACE_COLOURS
    assert len(header["tags"]) >= 3


def test_there_are_examples_of_every_door() -> None:
    everything = "\n".join(code for _, code in EXAMPLES.values())
    for part in (
        "vetscanner triage",
        "archive_tools build",
        "archive_tools score",
        "gradio_client",
        "curl",
        "await fetch",
        "/triage",
        "/build_dataset",
        "/preview_dataset",
    ):
        assert part in everything, f"no tested example shows {part}"


def test_example_names_are_unique() -> None:
    names = [found["name"] for found in EXAMPLE.finditer(README)]
    assert len(names) == len(set(names)) == len(re.findall(r"<!--\s*test:", README))


@pytest.mark.e2e
@pytest.mark.parametrize("name", [name for name in EXAMPLES if EXAMPLES[name][0] != "javascript"])
def test_example_runs(name: str, checkout: Path, served_app: ServedApp) -> None:
    language, code = EXAMPLES[name]
    code = DEFAULT_ADDRESS.sub(served_app.url, code)
    command = {
        "bash": ["bash", "-euo", "pipefail", "-c", code],
        "python": [sys.executable, "-c", code],
    }[language]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        command,
        cwd=checkout,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=EXAMPLE_LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, f"{code}\n{ended.stdout}\n{ended.stderr}"
    assert "Traceback" not in ended.stderr
    assert (ended.stdout + ended.stderr).strip(), "an example shows its result"


@pytest.mark.parametrize(
    "subject",
    ["make run", "make test", "hf upload", "PyTorch", "PIP_", "diagnosis", "AGPL"],
)
def test_readme_says(subject: str) -> None:
    assert re.search(subject, README, re.I)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", README):
        assert (REPOSITORY / target).exists(), f"README.md links to {target}"
