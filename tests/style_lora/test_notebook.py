"""The form of the notebook for free GPU machines; test_commands.py runs its cells."""

import json
from typing import Any

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
