"""Rules of the repository itself: sizes, data that must stay out, pins that agree."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.served_app import REPOSITORY

SIZE_LIMIT = 10_000_000
# Folders of a developer's machine; spelled in parts, so that this file passes its own test.
MACHINE_PATHS = [("/", "work", "/"), ("/", "root", "/"), ("/", "home", "/"), ("/", "Users", "/")]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,]+\])?==(\S+)", re.M)


def list_tracked() -> list[Path]:
    """Return the tracked files that exist."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True
    )
    paths = [REPOSITORY / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def read_tracked_text() -> dict[Path, str]:
    """Return the tracked files that are text."""
    texts = {}
    for path in list_tracked():
        content = path.read_bytes()
        if b"\0" not in content:
            texts[path] = content.decode("utf-8")
    return texts


def read_names(name: str) -> set[str]:
    """Return the package names of a requirements file, normalised."""
    names = set()
    for line in (REPOSITORY / name).read_text(encoding="utf-8").splitlines():
        found = re.match(r"[A-Za-z0-9._-]+", line) if not line.startswith(("#", "-")) else None
        if found:
            names.add(re.sub(r"[-_.]+", "-", found[0]).lower())
    return names


def test_no_tracked_file_is_too_large_for_a_space() -> None:
    too_large = [path.name for path in list_tracked() if path.stat().st_size > SIZE_LIMIT]
    assert too_large == []


def test_no_path_of_a_machine_is_tracked() -> None:
    folders = "|".join(re.escape("".join(parts)) for parts in MACHINE_PATHS)
    machine_path = re.compile(rf"(?<![\w.~:])(?:{folders})\w")
    found = [path.name for path, text in read_tracked_text().items() if machine_path.search(text)]
    assert found == []


def test_no_package_index_is_named() -> None:
    index = re.compile(r"--(?:extra-)?index-url\s*=?\s*(?:https?|file):|--find-links")
    named = [path.name for path, text in read_tracked_text().items() if index.search(text)]
    assert set(named) <= {"README.md", "test_repository.py"}


@pytest.mark.shared_data
def test_no_shared_photo_or_scan_is_tracked(shared_data: Path) -> None:
    pictures = {".jpg", ".jpeg", ".png", ".webp", ".pdf", ".tif", ".tiff", ".gif"}
    sizes: dict[int, list[Path]] = {}
    for path in list_tracked():
        if path.suffix.lower() in pictures:
            sizes.setdefault(path.stat().st_size, []).append(path)
    shared = [path for path in shared_data.rglob("*") if path.suffix.lower() in pictures]
    assert len(shared) > 1000
    # Only files of equal size can be equal: the others need not be read.
    suspects = [path for path in shared if path.stat().st_size in sizes]
    ours = {digest(path) for paths in sizes.values() for path in paths}
    assert [path.name for path in suspects if digest(path) in ours] == []


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_constraints_cover_the_requirements() -> None:
    constrained = read_names("constraints.txt")
    assert read_names("requirements.txt") <= constrained
    assert read_names("tests/requirements.txt") <= constrained


def test_constraints_are_exact() -> None:
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    loose = [line for line in lines if line and not line.startswith("#") and not PINNED.match(line)]
    assert loose == []


def test_constraints_agree_with_exact_requirements() -> None:
    constrained = dict(PINNED.findall((REPOSITORY / "constraints.txt").read_text("utf-8")))
    required = dict(PINNED.findall((REPOSITORY / "requirements.txt").read_text("utf-8")))
    assert required["gradio"] == constrained["gradio"]
    assert {name: constrained[name] for name in required} == required


def test_space_packages_carry_no_version() -> None:
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert "spaces" in lines, "ZeroGPU brings its own"
    assert "torch" in lines, "ZeroGPU brings its own"
    assert not any(line.startswith("torchvision") for line in lines)


def test_changelog_has_an_unreleased_section() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(r"^## Unreleased.*?$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert section
    assert re.search(r"^- ", section[1], re.M)


def test_licence_is_agpl() -> None:
    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert "GNU AFFERO GENERAL PUBLIC LICENSE" in text


def test_page_imports_spaces_before_anything_heavy() -> None:
    text = (REPOSITORY / "app.py").read_text(encoding="utf-8")
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.M)
    heavy = {"torch", "gradio", "transformers", "vetscanner", "archive_tools"}
    assert imported.index("spaces") < min(
        place for place, name in enumerate(imported) if name in heavy
    )
