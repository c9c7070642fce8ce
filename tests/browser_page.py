"""What the browser tests do with an opened page."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.served_app import REPOSITORY

SCREENSHOTS = REPOSITORY / "build" / "screenshots"
LIMIT_MS = 60_000


def take_screenshot(page: Page, name: str, *, full_page: bool = True) -> None:
    """Save the page as build/screenshots/NAME-WIDTH.png.

    Chromium forgets that it plays a phone while it takes a whole page.
    """
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    assert page.viewport_size
    path = SCREENSHOTS / f"{name}-{page.viewport_size['width']}.png"
    page.screenshot(path=path, full_page=full_page)


def assert_fits_the_screen(page: Page) -> None:
    """Nothing makes the page wider than the screen."""
    widths = page.evaluate(
        "[document.documentElement.scrollWidth, window.innerWidth, screen.width]"
    )
    assert widths[0] <= widths[1] + 1, widths
    assert page.viewport_size
    assert widths[1] <= page.viewport_size["width"] + 1, widths


def save_dataset(page: Page, folder: Path) -> Path:
    """Wait for the dataset, download it and return where it lies."""
    link = page.locator("#dataset-output a[download], #dataset-output a[href]").first
    expect(link).to_be_visible(timeout=LIMIT_MS)
    with page.expect_download(timeout=LIMIT_MS) as waiting:
        link.click()
    waiting.value.save_as(folder / "saved.zip")
    return folder / "saved.zip"


def choose_files(page: Page, elem_id: str, *paths: Path) -> None:
    """Upload files through the component's own file input and wait until they are listed."""
    page.locator(f"#{elem_id} input[type=file]").set_input_files([str(path) for path in paths])
    for path in paths:
        shown = page.locator(f"#{elem_id}").get_by_text(re.compile(re.escape(path.stem)))
        expect(shown.first).to_be_visible(timeout=LIMIT_MS)
