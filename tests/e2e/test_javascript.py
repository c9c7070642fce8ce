"""The JavaScript of README.md in a real Chromium, on a page of another origin than the server."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.commands import count_pages
from tests.integration.test_readme import DEFAULT_ADDRESS, EXAMPLES
from tests.sample_files import draw_photo
from tests.scan_report import check_report
from tests.served_app import REPOSITORY, ServedApp

pytestmark = pytest.mark.e2e

MAGAZINE = REPOSITORY / "examples/magazine.pdf"
EXAMPLE = EXAMPLES["javascript"][1]
HELPERS = EXAMPLE[: EXAMPLE.index("const [report]")]


class BlankPage(BaseHTTPRequestHandler):
    """Another site: the browser asks ours whether its scripts may call us."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of another site."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), BlankPage)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"http://127.0.0.1:{site.server_port}/")
    yield page
    page.close()
    site.shutdown()


def run(page: Page, served: ServedApp, code: str, *files: Path) -> Any:
    """Run code that knows two files as `photo` and `pdf`, and return what it returns."""
    script = f"""async (addresses) => {{
      const given = addresses.map(async (address) => (await fetch(address)).blob());
      const [photo, pdf] = await Promise.all(given);
      {DEFAULT_ADDRESS.sub(served.url, code)}
    }}"""
    return page.evaluate(script, [as_data(path) for path in files])


def as_data(path: Path) -> str:
    return f"data:;base64,{base64.b64encode(path.read_bytes()).decode()}"


def test_the_example_triages_and_builds(page: Page, served_app: ServedApp, tmp_path: Path) -> None:
    printed: list[str] = []
    page.on("console", lambda message: printed.append(message.text))
    fetched = "await (await fetch(zip.url)).text()"
    code = f"{EXAMPLE}\nreturn {{ report, zip, built, begins: ({fetched}).slice(0, 2) }};"
    answer = run(page, served_app, code, draw_photo(tmp_path / "cow.jpg"), MAGAZINE)
    check_report(answer["report"])
    assert answer["report"]["photos"][0]["name"] == "cow.jpg"
    assert answer["report"]["signs_used"] == ["fever"]
    assert count_pages(answer["built"])[0] == 9
    assert answer["zip"]["url"].startswith(served_app.url)
    assert answer["begins"] == "PK"
    assert len(printed) > 2, "progress was told on the way"


@pytest.mark.parametrize(
    ("endpoint", "arguments", "said"),
    [
        ("triage", {"photos": [], "signs": ["hiccups"]}, "choose from"),
        (
            "triage",
            {"photos": [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]},
            "uploaded",
        ),
        ("triage", {"photoz": []}, "There is no argument photoz"),
        ("tirage", {}, "There is no endpoint /tirage"),
    ],
)
def test_a_refusal_is_an_exception_with_its_words(
    page: Page, served_app: ServedApp, endpoint: str, arguments: dict[str, Any], said: str
) -> None:
    asking = f"await call({json.dumps(endpoint)}, {json.dumps(arguments)})"
    code = f"{HELPERS} try {{ {asking} }} catch (error) {{ return error.message; }}"
    assert said in run(page, served_app, code)
