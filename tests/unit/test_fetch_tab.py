"""Which requests of the archive tab wait for which."""

from pathlib import Path

import gradio as gr
import pytest

from archive_tools.tab import build_archive_tab


def test_cancel_waits_for_nothing_but_other_cancels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks() as page:
        build_archive_tab(page, gr.Dropdown())
    queues = {function.name: function.concurrency_id for function in page.fns.values()}
    assert {"on_cancel", "on_fetch", "fetch_result", "on_build"} <= queues.keys()
    assert queues["on_fetch"] == queues["fetch_result"]
    assert list(queues.values()).count(queues["on_cancel"]) == 1
    # Gradio works on 40 requests of all kinds at once.
    limits = {function.concurrency_id: function.concurrency_limit for function in page.fns.values()}
    assert 8 < limits["fetch"] < 24
