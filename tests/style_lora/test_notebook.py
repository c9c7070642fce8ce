"""The notebook for free GPU machines: its form, and its cells run in order with the tiny SDXL."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from tests.sample_files import write_pdf
from tests.served_app import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "style_lora_free_gpu.ipynb"


def read_notebook() -> dict[str, Any]:
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def test_it_has_the_form_of_a_notebook_and_no_outputs() -> None:
    notebook = read_notebook()
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        assert isinstance(cell["source"], list)
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            compile("".join(cell["source"]), cell["id"], "exec")
        else:
            assert cell.keys() == {"cell_type", "id", "metadata", "source"}


def test_its_cells_go_from_pdfs_to_pictures(tiny_base: Path, tmp_path: Path) -> None:
    """The install cell is skipped: the packages are those of the tests."""
    pdfs, kept = tmp_path / "pdfs", tmp_path / "kept"
    pdfs.mkdir()
    write_pdf(pdfs / "magazine.pdf", ["engraving"] * 3)
    settings = {
        "KEPT": kept, "PDFS": pdfs, "BASE": tiny_base, "RESOLUTION": 64, "STEPS": 2,
        "PICTURE_STEPS": 1, "CHECKOUT": REPOSITORY, "INSTALLED": 1,
    }  # fmt: skip
    environment = {f"STYLE_{name}": str(value) for name, value in settings.items()}
    cells = [cell for cell in read_notebook()["cells"] if cell["cell_type"] == "code"]
    ended = subprocess.run(
        [sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in cells)],
        cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    with zipfile.ZipFile(kept / "style_lora.zip") as archive:
        names = archive.namelist()
    assert "pytorch_lora_weights.safetensors" in names
    assert "lora_kohya.safetensors" in names
    assert "README.md" in names
    assert sum(name.endswith("_grid.png") for name in names) == 1
