"""The Space: one page with the vet scanner and the archive tools, and their API.

`python app.py` serves it. `demo` is built at import, which is where ZeroGPU looks for it.
"""

import spaces  # noqa: F401 - before anything that may import torch: on ZeroGPU it patches it

# isort: split
import gradio as gr

from archive_tools.job_folder import remove_old_jobs
from archive_tools.preview_html import PREVIEW_CSS
from archive_tools.tab import build_archive_tab
from archive_tools.tab_texts import TAB_TEXTS
from serving import limits
from serving.application import app_settings, use_own_upload_folder
from serving.mcp_tools import serve_tools
from serving.page_language import FRAME_TEXTS, GRADIO_TEXTS, build_language_input, connect_language
from serving.page_style import PAGE_CSS, THEME
from serving.page_texts import DEFAULT_LANGUAGE, join_translations
from serving.request_guard import GuardedBlocks, guard_settings
from serving.status_line import SERVER_TEXTS, STATUS_CSS, build_foot
from style_lora.tab import STYLE_TEXTS, build_style_part
from vetscanner.guide_html import GUIDE_CSS
from vetscanner.heap import bound_heap
from vetscanner.report_html import REPORT_CSS, REPORT_JS
from vetscanner.tab import build_vet_tab
from vetscanner.tab_texts import SIGN_TEXTS, VET_TEXTS

PAGE_TEXTS = (FRAME_TEXTS, VET_TEXTS, SIGN_TEXTS, TAB_TEXTS, STYLE_TEXTS, SERVER_TEXTS)
"""All texts that stand as markers on the page; the browser puts those of its language there."""


def build_demo() -> gr.Blocks:
    """Build the page and the API endpoints of both tools."""
    demo: gr.Blocks
    title = FRAME_TEXTS.tell("title", DEFAULT_LANGUAGE)
    delete_cache = (limits.SWEEP_EVERY_S, limits.KEPT_S)
    with GuardedBlocks(title=title, delete_cache=delete_cache, analytics_enabled=False) as demo:
        with gr.Row():
            gr.Markdown(f"# {FRAME_TEXTS.marker('title')}", elem_id="page-title")
            language_input = build_language_input()
        with gr.Tab(FRAME_TEXTS.marker("vet_tab"), id="vet") as vet_tab:
            build_vet_tab(language_input)
        with gr.Tab(FRAME_TEXTS.marker("archive_tab"), id="archive") as archive_tab:
            trigger = build_archive_tab(demo, language_input)
            build_style_part(language_input, trigger)
        build_foot(demo, language_input)
        connect_language(demo, language_input, [vet_tab, archive_tab])
    # Closed: a request that skips the queue would skip its limits as well.
    demo.queue(max_size=limits.MAX_QUEUE, default_concurrency_limit=4, api_open=False)
    return demo


use_own_upload_folder()
demo = build_demo()

if __name__ == "__main__":
    bound_heap()
    demo.launch(
        theme=THEME,
        js=f"() => {{ {REPORT_JS} }}",
        css=PAGE_CSS + REPORT_CSS + GUIDE_CSS + PREVIEW_CSS + STATUS_CSS,
        i18n=gr.I18n(**join_translations(*PAGE_TEXTS, GRADIO_TEXTS)),
        # Rendered on the server the page would load other scripts, and choose a language there.
        ssr_mode=False,
        max_file_size=limits.MAX_UPLOAD_BYTES,
        state_session_capacity=limits.MAX_SESSIONS,
        # Unexpected exceptions keep their text to the log; what a visitor may see is a gr.Error.
        show_error=False,
        mcp_server=serve_tools(),
        footer_links=["api", "gradio", "settings"],
        app_kwargs=app_settings(demo, guard_settings(demo), remove_old_jobs),
        # Gradio's own lines advise to open the page to the world.
        quiet=True,
        prevent_thread_lock=True,
    )
    print(f"The page is served at {demo.local_url} (Ctrl-C ends it).", flush=True)
    demo.block_thread()
