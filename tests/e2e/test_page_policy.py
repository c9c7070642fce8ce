"""The page under its own content security policy, in a real Chromium."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.served_app import ServedApp

pytestmark = pytest.mark.e2e

# On a busy machine the page may need a minute to appear.
LIMIT_MS = 120_000


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of a German visitor; whatever the policy forbids fails the test."""
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    refused: list[str] = []
    page.on(
        "console",
        lambda message: (
            refused.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield page
    context.close()
    assert refused == []


def test_page_works_and_tells_its_state_in_the_visitors_language(
    page: Page, served_app: ServedApp
) -> None:
    page.goto(served_app.url)
    expect(page.locator("#status-line")).to_contain_text(
        re.compile(
            r"Version 0\.\d+\.\d+ · Modell \S+ · antwortet auf der CPU · wartende Anfragen: 0"
        ),
        timeout=LIMIT_MS,
    )
    page.get_by_role("button", name="Grenzen").click()
    expect(page.get_by_text(re.compile("2 GB je Datei"))).to_be_visible(timeout=LIMIT_MS)
    # A sign alone gives an answer without the model.
    page.locator("#signs-input").get_by_role("checkbox").first.check()
    page.locator("#triage-button").click()
    expect(page.locator("#triage-output")).to_contain_text("Diagnose", timeout=LIMIT_MS)


@pytest.mark.parametrize(
    ("site", "is_let"), [("https://huggingface.co", True), ("https://other.example", False)]
)
def test_only_the_spaces_own_site_may_frame_the_page(
    browser: Browser, served_app: ServedApp, site: str, is_let: bool
) -> None:
    health = httpx.get(served_app.url + "/healthz")
    space = "https://owner-cows.hf.space/healthz"
    frame = f'<iframe src="{space}"></iframe>'
    with browser.new_context() as context:
        page = context.new_page()
        page.route(f"{site}/", lambda route: route.fulfill(body=frame, content_type="text/html"))
        # The real answer, at the address that it has on a Space.
        page.route(
            space, lambda route: route.fulfill(body=health.text, headers=dict(health.headers))
        )
        page.goto(f"{site}/")
        _, framed = page.frames
        assert (framed.url == space) == is_let
