"""A run resumes only with the versions of all packages that decide the bytes of its images."""

import re
from importlib.metadata import version

from archive_tools.writer import tool_versions
from tests.commands import REPOSITORY

# What the page, the vet scanner and photos of phones alone need.
_NOT_FOR_PAGES = {
    "spaces", "gradio", "torch", "transformers", "accelerate", "safetensors", "pi-heif",
}  # fmt: skip


def test_every_package_that_pages_pass_through_is_recorded() -> None:
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = {re.split(r"[=<>]", line)[0] for line in lines if line and not line.startswith("#")}
    expected = {name: version(name) for name in names - _NOT_FOR_PAGES}
    recorded = tool_versions()
    assert recorded.pop("archive_tools")
    assert recorded == expected
