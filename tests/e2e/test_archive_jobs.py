"""Jobs on the page in a real Chromium: watched, cancelled, left and fetched again, in words."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser_page import (
    LIMIT_MS,
    assert_fits_the_screen,
    choose_files,
    save_dataset,
    take_screenshot,
)
from tests.e2e.test_browser import MAGAZINE, choose_sigma, move_threshold, open_archive_tab
from tests.sample_files import write_pdf
from tests.served_app import ServedApp

pytestmark = pytest.mark.e2e

LONG = 48
"""Pages of the book."""


@pytest.fixture
def page(browser: Browser, served_app: ServedApp) -> Iterator[Page]:
    """The archive tab on a phone."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, locale="en-GB"
    )
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    page.goto(served_app.url)
    open_archive_tab(page)
    yield page
    context.close()


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF that takes a while."""
    return write_pdf(
        tmp_path_factory.mktemp("book") / "book.pdf", ["engraving", "text"] * (LONG // 2)
    )


def start_and_wait_for_a_picture(page: Page, book: Path) -> str:
    """Begin a run, wait for its first picture, and return the job's id."""
    choose_files(page, "pdfs-input", book)
    page.locator("#build-button").click()
    expect(page.locator("#newest-pictures img").first).to_be_visible(timeout=LIMIT_MS)
    return page.evaluate("localStorage.getItem('archive-job')")


def read_dataset(page: Page, folder: Path) -> dict[str, object]:
    """Download the ZIP and return its report."""
    with zipfile.ZipFile(save_dataset(page, folder)) as archive:
        assert archive.testzip() is None
        report = json.loads(archive.read("manifest/report.json"))
    assert isinstance(report, dict)
    return report


def test_a_visitor_who_was_away_fetches_the_result(page: Page, book: Path, tmp_path: Path) -> None:
    job_id = start_and_wait_for_a_picture(page, book)
    assert re.fullmatch(r"[0-9a-f]{32}", job_id)
    expect(page.locator("#build-progress")).to_contain_text("pages/s")
    page.reload()
    open_archive_tab(page)
    # The page offers what it remembers.
    expect(page.locator("#job-id-input input, #job-id-input textarea")).to_have_value(job_id)
    page.locator("#fetch-button").click()
    report = page.locator("#build-report")
    expect(report).to_contain_text("The dataset is ready.", timeout=LIMIT_MS)
    for part in ("Pages seen", str(LONG), job_id, "book.pdf", "1024 x 1024", "SDXL bucket"):
        expect(report).to_contain_text(part)
    expect(report.locator(".score-histogram [role=img]")).to_have_attribute(
        "aria-label", re.compile(f"Histogram of {LONG} pages")
    )
    assert_fits_the_screen(page)
    take_screenshot(page, "archive-fetched")
    # Cancel that comes too late takes nothing away.
    page.locator("#cancel-button").click()
    expect(page.locator("#cancel-button")).to_be_enabled()
    page.wait_for_timeout(500)
    expect(report).to_contain_text("The dataset is ready.")
    assert read_dataset(page, tmp_path)["counts"]["pages"] == LONG  # type: ignore[index]


def test_cancelling_keeps_what_is_done(page: Page, book: Path, tmp_path: Path) -> None:
    start_and_wait_for_a_picture(page, book)
    page.locator("#cancel-button").click()
    report = page.locator("#build-report")
    expect(report).to_contain_text("Cancelled. The dataset holds the pages", timeout=LIMIT_MS)
    dataset = read_dataset(page, tmp_path)
    assert dataset["stopped_early"] is True
    assert 1 <= dataset["counts"]["kept"] < LONG  # type: ignore[index]
    take_screenshot(page, "archive-cancelled-with-pages")


def test_the_command_follows_the_options(page: Page) -> None:
    page.get_by_role("button", name="Large archives").click()
    command = page.locator("#command-line .command-line")
    expect(command).to_have_text("python -m archive_tools build FOLDER/* --out dataset.zip")
    # Whoever chooses a filter gets its slider, also without a preview.
    choose_sigma(page)
    page.locator("#filter-input").get_by_label(re.compile("Auto")).check()
    expect(page.locator("#min-sigma-input")).to_be_hidden()
    expect(command).to_have_text("python -m archive_tools build FOLDER/* --out dataset.zip")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    for shown, option in ((36, " --min-score 0.36"), (1.5, ""), (0, " --min-score 0")):
        move_threshold(page, shown)
        expect(command).to_have_text(
            f"python -m archive_tools build FOLDER/* --out dataset.zip{option}"
        )
    assert "POST" not in asked
    page.locator("#spreads-input").get_by_label(re.compile("Keep")).check()
    page.locator("#trigger-input").locator("input, textarea").fill("old plate")
    page.locator("#trigger-input").locator("input, textarea").press("Tab")
    expect(command).to_have_text(
        "python -m archive_tools build FOLDER/* --out dataset.zip --spreads keep "
        "'--trigger=old plate' --min-score 0"
    )
    assert_fits_the_screen(page)
    take_screenshot(page, "archive-command")


def test_a_wrong_id_is_explained(page: Page) -> None:
    page.get_by_role("button", name="Fetch my result").first.click()
    box = page.locator("#job-id-input input, #job-id-input textarea")
    for job_id, words in (("../../etc", "32 characters"), ("0" * 32, "has expired")):
        box.fill(job_id)
        page.locator("#fetch-button").click()
        expect(page.locator("#build-report")).to_contain_text(words, timeout=LIMIT_MS)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", ("Vorschau", "Seiten behalten: 7 von 9, weggelassen: 2", "der Seite")),
        ("fr", ("Aperçu", "Pages gardées\u00a0: 7 sur 9, écartées\u00a0: 2", "de la page")),
        ("ru", ("Просмотр", "Оставлено страниц: 7 из 9, пропущено: 2", "страницы")),
    ],
)
def test_the_tab_speaks_the_language_of_the_page(
    page: Page, served_app: ServedApp, language: str, words: tuple[str, str, str]
) -> None:
    page.goto(f"{served_app.url}?language={language}")
    page.get_by_role("tab").nth(1).click()
    button, counts, reason = words
    expect(page.locator("#preview-button")).to_have_text(button)
    choose_files(page, "pdfs-input", MAGAZINE)
    page.locator("#preview-button").click()
    expect(page.locator(".preview-counts")).to_contain_text(counts, timeout=LIMIT_MS)
    expect(page.locator(".page-card .page-reason").first).to_contain_text(reason)
    shown = page.locator("#component-0, .gradio-container").first.inner_text()
    left = re.findall(r"\b(?:pages?|illustrations? found|Kept|Dropped|Options|dataset)\b", shown)
    assert language == "fr" or left == [], left
    assert_fits_the_screen(page)
    take_screenshot(page, f"archive-preview-{language}")
