"""The page in a real Chromium: both tabs used as a visitor uses them, on a desktop and a phone."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from archive_tools.score_histogram import COVERAGE_SCALE
from tests.browser_page import (
    LIMIT_MS,
    assert_fits_the_screen,
    choose_files,
    save_dataset,
    take_screenshot,
)
from tests.sample_files import LION_PHOTO, draw_photo, write_bad_pdf, write_bad_photo, write_pdf
from tests.served_app import REPOSITORY, ServedApp

pytestmark = pytest.mark.e2e

MAGAZINE = REPOSITORY / "examples/magazine.pdf"
VIEWPORTS = {"desktop": (1280, 900), "phone": (390, 844), "small_phone": (360, 740)}


@pytest.fixture(params=VIEWPORTS)
def page(request: pytest.FixtureRequest, browser: Browser, served_app: ServedApp) -> Iterator[Page]:
    """The opened page in each viewport; an uncaught script error fails the test."""
    width, height = VIEWPORTS[request.param]
    is_phone = request.param != "desktop"
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=is_phone,
        is_mobile=is_phone,
        locale="en-GB",
    )
    page = context.new_page()
    script_errors: list[str] = []
    page.on("pageerror", lambda error: script_errors.append(str(error)))
    page.set_default_timeout(LIMIT_MS)
    page.goto(served_app.url)
    expect(page.get_by_role("tab", name="Vet scanner")).to_be_visible(timeout=LIMIT_MS)
    yield page
    context.close()
    assert script_errors == []


def open_archive_tab(page: Page) -> None:
    page.get_by_role("tab", name="Archive tools").click()
    expect(page.locator("#build-button")).to_be_visible()


def test_photo_gives_a_report(page: Page, tmp_path: Path) -> None:
    assert_fits_the_screen(page)
    take_screenshot(page, "vet-start")
    choose_files(page, "photos-input", draw_photo(tmp_path / "cow.jpg"))
    page.locator("#signs-input").get_by_role("checkbox").first.check()
    page.locator("#triage-button").click()
    report = page.locator("#triage-output")
    expect(report).to_contain_text(re.compile("vet", re.I), timeout=LIMIT_MS)
    expect(report).to_contain_text(re.compile("not a diagnosis"))
    page.get_by_role("button", name=re.compile("JSON")).click()
    expect(page.locator("#triage-json")).to_contain_text("headline")
    assert_fits_the_screen(page)
    take_screenshot(page, "vet-report")


@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_lion_is_asked_to_be_retaken(page: Page) -> None:
    choose_files(page, "photos-input", LION_PHOTO)
    page.locator("#triage-button").click()
    report = page.locator("#triage-output")
    expect(report).to_contain_text(
        re.compile("(no|not).{0,20}(cattle|cow)", re.I), timeout=LIMIT_MS
    )
    expect(report).to_contain_text(re.compile("retake|again|new photo|another photo", re.I))
    take_screenshot(page, "vet-lion")


@pytest.mark.parametrize("page", ["small_phone"], indirect=True)
def test_several_photos_one_of_them_bad(page: Page, tmp_path: Path) -> None:
    good, bad = draw_photo(tmp_path / "cow.jpg"), write_bad_photo(tmp_path, "truncated")
    choose_files(page, "photos-input", good, bad)
    page.locator("#triage-button").click()
    report = page.locator("#triage-output")
    expect(report).to_contain_text("cut_short.jpg", timeout=LIMIT_MS)
    expect(report).to_contain_text(re.compile("not a diagnosis"))
    assert_fits_the_screen(page)
    take_screenshot(page, "vet-bad-photo")


# Four pages may be done between two looks of a test.
NOTE_PROGRESS_JS = """() => {
  const progress = document.querySelector('#build-progress');
  window.progressShown = [];
  new MutationObserver(() => window.progressShown.push(progress.textContent))
    .observe(progress, {childList: true, characterData: true, subtree: true});
}"""


# A word with two boxes goes on in the next line. That of a file's name may.
BROKEN_WORDS_JS = r"""(selector) => [...document.querySelectorAll(selector)].flatMap((cell) => {
  const text = cell.firstChild;
  return [...text.data.matchAll(/\S+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1 && !word[0].includes(".");
  }).map((word) => word[0]);
})"""


def test_pdf_gives_a_zip(page: Page, tmp_path: Path) -> None:
    open_archive_tab(page)
    for nothing_yet in ("#dataset-output", "#min-score-input", "#page-preview"):
        expect(page.locator(nothing_yet)).to_be_hidden()
    assert_fits_the_screen(page)
    take_screenshot(page, "archive-start")
    kinds = ["engraving", "text", "engraving", "blank"]
    choose_files(page, "pdfs-input", write_pdf(tmp_path / "magazine.pdf", kinds))
    page.evaluate(NOTE_PROGRESS_JS)
    page.locator("#build-button").click()
    report = page.locator("#build-report")
    for figure in ("4", "2", "50"):
        expect(report).to_contain_text(figure, timeout=LIMIT_MS)
    expect(report).to_contain_text(re.compile("kept", re.I))
    expect(report).to_contain_text(re.compile("dropped", re.I))
    assert any(re.search(r"\d.*pages/s", text) for text in page.evaluate("progressShown"))
    link = page.locator("#dataset-output a[download], #dataset-output a[href]").first
    expect(link).to_be_visible(timeout=LIMIT_MS)
    assert_fits_the_screen(page)
    assert page.evaluate(BROKEN_WORDS_JS, "#build-report th") == []
    take_screenshot(page, "archive-report")
    with page.expect_download(timeout=LIMIT_MS) as waiting:
        link.click()
    saved = tmp_path / "saved.zip"
    waiting.value.save_as(saved)
    assert waiting.value.suggested_filename.endswith(".zip")
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert sum(name.endswith(".jpg") for name in archive.namelist()) == 2


@pytest.mark.parametrize("page", ["small_phone"], indirect=True)
def test_what_is_missing_is_told_and_stays_told(page: Page, tmp_path: Path) -> None:
    open_archive_tab(page)
    page.locator("#build-button").click()
    error = page.locator("#build-report .user-error")
    expect(error).to_contain_text("No file was given")
    page.wait_for_timeout(1_500)  # what comes after the first answer must not take it away
    expect(error).to_contain_text("No file was given")
    choose_files(page, "pdfs-input", write_pdf(tmp_path / "magazine.pdf", ["engraving"]))
    page.locator("#build-button").click()
    save_dataset(page, tmp_path)
    expect(error).to_have_count(0)


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_locked_pdf_is_explained(page: Page, tmp_path: Path) -> None:
    open_archive_tab(page)
    choose_files(page, "pdfs-input", write_bad_pdf(tmp_path, "encrypted"))
    page.locator("#build-button").click()
    message = page.get_by_text(re.compile(r"locked\.pdf.*password", re.I | re.S))
    expect(message.first).to_be_visible(timeout=LIMIT_MS)
    assert_fits_the_screen(page)
    take_screenshot(page, "archive-locked")


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_run_can_be_cancelled_and_started_again(page: Page, tmp_path: Path) -> None:
    open_archive_tab(page)
    choose_files(page, "pdfs-input", write_pdf(tmp_path / "long.pdf", ["engraving"] * 40))
    page.locator("#build-button").click()
    expect(page.locator("#build-progress")).to_contain_text(re.compile(r"\d"), timeout=LIMIT_MS)
    page.locator("#cancel-button").click()
    progress = page.locator("#build-progress")
    expect(progress).to_contain_text(re.compile("cancelled", re.I), timeout=LIMIT_MS)
    take_screenshot(page, "archive-cancelled")
    # Gradio's own script ignores a click until it has seen the end of the first run.
    page.wait_for_timeout(1_500)
    page.locator("#build-button").click()
    report = page.locator("#build-report")
    expect(report).to_contain_text("The dataset is ready.", timeout=LIMIT_MS)
    expect(report).to_contain_text(re.compile(r"Pages seen\s*40"))


def open_preview(page: Page, *paths: Path) -> None:
    open_archive_tab(page)
    choose_files(page, "pdfs-input", *paths)
    page.locator("#preview-button").click()
    expect(page.locator(".preview-counts")).to_be_visible(timeout=LIMIT_MS)


def move_threshold(page: Page, figure_shown: float, elem_id: str = "min-score-input") -> None:
    figure = page.locator(f"#{elem_id} input[type=number]")
    figure.fill(str(figure_shown))
    figure.press("Tab")


def choose_sigma(page: Page) -> None:
    page.get_by_role("button", name="Options").click()
    page.locator("#filter-input").get_by_label(re.compile("sigma")).check()
    expect(page.locator("#min-sigma-input")).to_be_visible()


def shown_pages(page: Page, side: str) -> list[int]:
    names = page.locator(f"[data-side={side}] .page-card strong").all_inner_texts()
    return [int(name.removeprefix("Page ")) for name in names]


@pytest.mark.parametrize("page", ["desktop", "small_phone"], indirect=True)
def test_preview_follows_the_threshold_without_asking_the_server(page: Page) -> None:
    open_preview(page, MAGAZINE)
    counts = page.locator(".preview-counts")
    expect(counts).to_contain_text("Pages kept: 7 of 9, dropped: 2")
    cards = page.locator(".page-card")
    scores = [float(score) for score in cards.evaluate_all("all => all.map(c => c.dataset.score)")]
    expect(page.locator("[data-side=kept] .box").first).to_be_visible()
    assert page.locator(".page-pairs img").count() == 8
    assert_fits_the_screen(page)
    take_screenshot(page, "archive-preview")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    for percent in (0, 10.5, 36.0, 100, 25):
        move_threshold(page, percent)
        threshold = COVERAGE_SCALE.to_score(percent)
        kept = sum(COVERAGE_SCALE.passes(score, threshold) for score in scores)
        expect(counts).to_contain_text(f"Pages kept: {kept} of 9, dropped: {9 - kept}")
        expect(page.locator("[data-side=kept] .page-card")).to_have_count(kept)
        expect(page.locator("[data-side=dropped] .page-card")).to_have_count(9 - kept)
        line = page.locator(".score-histogram").evaluate(
            "figure => parseFloat(figure.style.getPropertyValue('--threshold'))"
        )
        assert line == pytest.approx(100 * COVERAGE_SCALE.place(percent), abs=0.01)
    # The doubtful pages come first on both sides.
    assert shown_pages(page, "kept") == [7, 1, 8, 4]
    assert shown_pages(page, "dropped")[:3] == [6, 9, 5]
    assert [request for request in asked if request.startswith("POST")] == []
    assert_fits_the_screen(page)
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.body.classList.add('dark')")
    take_screenshot(page, "archive-preview-dark")


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_dataset_holds_the_pages_that_the_preview_keeps(page: Page, tmp_path: Path) -> None:
    open_preview(page, MAGAZINE)
    move_threshold(page, 33.0)
    expect(page.locator(".preview-counts")).to_contain_text("Pages kept: 3 of 9")
    kept = shown_pages(page, "kept")
    page.locator("#build-button").click()
    with zipfile.ZipFile(save_dataset(page, tmp_path)) as archive:
        rows = map(json.loads, archive.read("train/metadata.jsonl").splitlines())
        assert sorted(row["page_number"] for row in rows) == sorted(kept) == [1, 4, 8]
        report = json.loads(archive.read("manifest/report.json"))
    assert report["options"]["min_score"] == 0.33
    # Another filter decides otherwise: what is shown would no longer be true.
    choose_sigma(page)
    expect(page.locator(".page-preview")).to_have_count(0)
    expect(page.locator("#min-sigma-input")).to_be_visible()
    expect(page.locator("#min-score-input")).to_be_hidden()


@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_preview_can_be_cancelled_and_names_what_it_cannot_use(page: Page, tmp_path: Path) -> None:
    open_archive_tab(page)
    long = write_pdf(tmp_path / "long ${1+1} {{1+1}}.pdf", ["engraving", "text"] * 6)
    choose_files(page, "pdfs-input", write_bad_pdf(tmp_path, "encrypted"), long)
    page.locator("#preview-button").click()
    progress = page.locator("#build-progress")
    expect(progress).to_contain_text(re.compile(r"Pages seen: \d+"), timeout=LIMIT_MS)
    page.locator("#cancel-button").click()
    expect(progress).to_contain_text(re.compile("cancelled", re.I), timeout=LIMIT_MS)
    expect(page.locator(".page-preview")).to_have_count(0)
    page.wait_for_timeout(1_500)
    choose_sigma(page)
    page.locator("#preview-button").click()
    preview = page.locator(".page-preview")
    expect(preview).to_contain_text("Pages kept: 6 of 12", timeout=LIMIT_MS)
    expect(preview).to_contain_text(re.compile(r"locked\.pdf.*password", re.I | re.S))
    alternative = preview.locator(".page-card img").first.get_attribute("alt")
    assert alternative
    assert "1+1" in alternative
    expect(page.locator("#min-sigma-input")).to_be_in_viewport()
    move_threshold(page, 128, "min-sigma-input")
    expect(preview).to_contain_text("Pages kept: 0 of 12")
    assert_fits_the_screen(page)
