"""The Style part of the archive tab, on a desktop and a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser_page import LIMIT_MS, assert_fits_the_screen, take_screenshot
from tests.served_app import ServedApp

pytestmark = pytest.mark.e2e


@pytest.fixture(params=[(1280, 900), (360, 740)], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, served_app: ServedApp) -> Iterator[Page]:
    """The archive tab with the Style part opened."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    page.goto(served_app.url)
    page.get_by_role("tab", name="Archive tools").click()
    page.get_by_role("button", name="Style: train a LoRA").click()
    yield page
    context.close()


def test_the_commands_follow_what_is_chosen(page: Page) -> None:
    commands = page.locator("#style-commands .command-line")
    expect(commands).to_contain_text("python -m style_lora train dataset.zip --out lora")
    page.get_by_role("button", name="Options").click()
    page.locator("#trigger-input").locator("input, textarea").fill("oldplate")
    prompt = page.locator("#style-prompt").locator("input, textarea")
    prompt.fill("a drone over the harbour; $HOME")
    page.locator("#style-scale input[type=number]").fill("0.6")
    page.locator("#style-seed input").fill("7")
    page.locator("#style-seed input").press("Tab")
    expect(commands).to_contain_text(
        "python -m style_lora generate --lora lora "
        "'--prompt=oldplate, a drone over the harbour; $HOME' --scale 0.6 --seed 7 --grid"
    )
    # The server of the tests has no LoRA: it says so and offers no button.
    expect(page.locator("#style-not-here")).to_contain_text("This server does not paint")
    expect(page.locator("#style-paint")).to_have_count(0)
    assert_fits_the_screen(page)
    page.locator("#style-part").scroll_into_view_if_needed()
    take_screenshot(page, "archive-style")
