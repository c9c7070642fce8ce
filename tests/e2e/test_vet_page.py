"""The page in four languages; the vet tab's camera, paper, clipboard, keyboard and contrasts."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from serving.page_language import FRAME_TEXTS, GRADIO_TEXTS
from tests.browser_page import LIMIT_MS, assert_fits_the_screen, choose_files, take_screenshot
from tests.sample_files import draw_photo
from tests.served_app import ServedApp
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language, TickedSign
from vetscanner.tab_texts import VET_TEXTS

pytestmark = pytest.mark.e2e

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
ANSWER_LIMIT_MS = 180_000  # the first one imports torch, which a busy machine takes long for
A4_PT = (595, 842)

# Findings in Gradio's own markup that cannot be mended from outside: rule -> where, and why.
GRADIO_FINDINGS = {
    "nested-interactive": ".icon-button",  # its button for more files holds a second button
    "aria-prohibited-attr": ".empty",  # a File without a value names a div that has no role
}

# All rules once in each viewport and theme; what the other theme can change beside it.
AUDITS: list[tuple[dict[str, int], str, list[str]]] = [
    (DESKTOP, "light", []),
    (DESKTOP, "dark", ["color-contrast"]),
    (PHONE, "dark", []),
    (PHONE, "light", ["color-contrast"]),
]

OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, served_app: ServedApp) -> Iterator[OpenPage]:
    """Open the page in a language and a viewport; a script error fails the test."""
    contexts: list[BrowserContext] = []
    script_errors: list[str] = []

    def open_one(locale: str, viewport: dict[str, int] = DESKTOP, path: str = "") -> Page:
        is_phone = viewport is PHONE
        context = browser.new_context(
            viewport=viewport, has_touch=is_phone, is_mobile=is_phone, locale=locale
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: script_errors.append(str(error)))
        page.set_default_timeout(LIMIT_MS)
        page.goto(served_app.url + path)
        expect(page.locator("#triage-button")).to_be_visible(timeout=LIMIT_MS)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert script_errors == []


def expect_language(page: Page, language: Language) -> None:
    """The frame, the tab, the tick boxes and the guide speak this language."""
    button = page.locator("#triage-button")
    expect(button).to_have_text(VET_TEXTS.tell("triage", language), timeout=LIMIT_MS)
    expect(page.locator("h1")).to_have_text(FRAME_TEXTS.tell("title", language))
    fever = load_phrases(language).ticked[TickedSign.FEVER].label
    expect(page.locator("#signs-input").get_by_label(fever, exact=True)).to_be_visible()
    expect(page.locator(f"#photo-guide .photo-guide[lang={language}]")).to_be_visible()
    tab = page.get_by_role("tab", name=FRAME_TEXTS.tell("archive_tab", language), exact=True)
    expect(tab).to_be_visible()
    expect(page).to_have_title(FRAME_TEXTS.tell("title", language))
    assert page.evaluate("document.documentElement.lang") == language


def pick_language(page: Page, name: str) -> None:
    page.locator("#language-input input").click()
    page.get_by_role("option", name=name).click()


def triage_ticked(page: Page, *signs: TickedSign) -> None:
    """Ask without a photo: no model runs, so the answer is quick."""
    for sign in signs:
        page.locator(f"#signs-input input[value={sign}], #signs-input input[name={sign}]").check()
    page.locator("#triage-button").click()
    expect(page.locator(".triage-report")).to_be_visible(timeout=ANSWER_LIMIT_MS)


@pytest.mark.parametrize(
    ("locale", "path", "language"),
    [
        ("ru-RU", "", Language.RU),
        ("it-IT", "", Language.EN),
        ("en-GB", "/?language=ru", Language.RU),
    ],
)
def test_page_opens_in_the_visitors_language(
    open_page: OpenPage, locale: str, path: str, language: Language
) -> None:
    page = open_page(locale, PHONE, path)
    expect_language(page, language)
    upload = page.locator("#photos-input [data-testid=upload-text]")
    expect(upload).to_contain_text(GRADIO_TEXTS.tell("drop_file", language))
    expect(upload).to_contain_text(GRADIO_TEXTS.tell("click_to_upload", language))
    # On a tab that is opened later Gradio writes its own words first.
    page.get_by_role("tab").nth(1).click()
    upload = page.locator("#pdfs-input [data-testid=upload-text]")
    expect(upload).to_contain_text(GRADIO_TEXTS.tell("drop_file", language))
    expect(upload).to_contain_text(GRADIO_TEXTS.tell("click_to_upload", language))
    page.get_by_role("tab").first.click()
    assert_fits_the_screen(page)
    take_screenshot(page, f"vet-start-{language}")


def test_another_language_can_be_picked_without_losing_anything(
    open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page("de-AT", PHONE)
    expect_language(page, Language.DE)
    choose_files(page, "photos-input", draw_photo(tmp_path / "kuh.jpg"))
    page.locator("#signs-input").get_by_label("Fieber", exact=True).check()
    pick_language(page, "Français")
    expect_language(page, Language.FR)
    expect(page.locator("#signs-input").get_by_label("Fièvre", exact=True)).to_be_checked()
    page.locator("#triage-button").click()
    report = page.locator(".triage-report[lang=fr]")
    expect(report).to_contain_text("Qui appeler", timeout=ANSWER_LIMIT_MS)
    expect(report).to_contain_text("kuh.jpg")
    expect(report.locator(".device")).to_be_visible()
    expect(report).to_contain_text(re.compile(r"\d,\d\d\u202fs"))
    expect(report).not_to_contain_text("This machine")
    assert_fits_the_screen(page)
    take_screenshot(page, "vet-report-fr")
    page.reload()
    expect_language(page, Language.FR)


def test_the_phones_camera_comes_first_and_adds_photo_to_photo(
    open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page("en-GB", PHONE)
    camera = page.locator("#camera-button")
    expect(camera).to_be_in_viewport()
    take_screenshot(page, "vet-camera-button", full_page=False)
    for name in ("first.jpg", "second.jpg"):
        with page.expect_file_chooser() as waiting:
            camera.tap()
        chooser = waiting.value
        # These two are what opens the rear camera on a phone.
        assert chooser.element.get_attribute("capture") == "environment"
        assert chooser.element.get_attribute("accept") == "image/*"
        chooser.set_files(str(draw_photo(tmp_path / name)))
        expect(page.locator(f".chosen-photos img[alt='{name}']")).to_be_visible(timeout=LIMIT_MS)
    loaded = page.locator(".chosen-photos img").evaluate_all("all => all.map(i => i.naturalWidth)")
    assert len(loaded) == 2
    assert all(loaded)
    assert_fits_the_screen(page)
    take_screenshot(page, "vet-camera")
    page.locator("#triage-button").click()
    for name in ("first.jpg", "second.jpg"):
        expect(page.locator(".triage-report")).to_contain_text(name, timeout=ANSWER_LIMIT_MS)


def test_report_goes_onto_one_page_of_paper_and_into_the_clipboard(
    open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page("de-DE")
    expect(page.locator("#camera-button")).to_be_hidden()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    choose_files(page, "photos-input", draw_photo(tmp_path / "kuh.jpg"))
    triage_ticked(page, *TickedSign)  # the longest report there is
    report = page.locator(".triage-report")
    expect(report.locator(".triage-level.emergency svg")).to_be_visible()
    phrases = load_phrases(Language.DE)
    page.get_by_role("button", name="Als Text kopieren").click()
    expect(report.get_by_role("status")).to_have_text(VET_TEXTS.tell("copied", "de"))
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(phrases.levels["emergency"])
    assert phrases.ticked[TickedSign.DOWN].step in copied
    page.evaluate("window.print = () => { window.printed = true }")
    page.get_by_role("button", name="Drucken").click()
    assert page.evaluate("window.printed")
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    with pymupdf.open(tmp_path / "report.pdf") as document:
        assert document.page_count == 1
        sheet = document[0]
        assert tuple(sheet.rect.br) == pytest.approx(A4_PT, abs=1)
        text = " ".join(sheet.get_text().split())
    for expected in (
        phrases.levels["emergency"],
        phrases.labels["what_to_do"],
        phrases.ticked[TickedSign.DOWN].step,
        phrases.ticked[TickedSign.MOUTH_SORES].step,
        phrases.call["official"],
        phrases.disclaimer,
    ):
        assert expected in text
    for left_out in (VET_TEXTS.tell("signs", "de"), VET_TEXTS.tell("copy", "de"), "Gradio"):
        assert left_out not in text
    expect(page.locator("#triage-button")).to_be_visible()


def test_keyboard_alone_gets_an_answer_and_its_text_without_a_clipboard(
    open_page: OpenPage,
) -> None:
    page = open_page("en-GB")
    page.locator("#language-input input").focus()
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => { const e = document.activeElement, style = getComputedStyle(e);
            return [e.id, e.name || e.value || "", style.outlineStyle, style.outlineWidth]; }"""
        )
        seen.append(focused)
        if focused[1] == "lame" or focused[0] == "triage-button":
            page.keyboard.press("Space" if focused[0] != "triage-button" else "Enter")
        if focused[0] == "triage-button":
            break
    assert seen[-1][0] == "triage-button", seen
    assert seen[-1][2:] == ["solid", "3px"]
    lead = page.locator(".triage-report [role=alert]")
    expect(lead).to_contain_text(load_phrases(Language.EN).levels["within_days"], timeout=LIMIT_MS)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "document.execCommand = () => false"
    )
    page.get_by_role("button", name="Copy as text").press("Enter")
    text = page.get_by_label(VET_TEXTS.tell("message", "en"))
    expect(text).to_be_visible()
    told = page.locator(".triage-report [role=status]")
    expect(told).to_have_text(VET_TEXTS.tell("refused", "en"))
    marked = page.evaluate("getSelection().toString()")
    assert marked == text.input_value() != ""


def test_axe_finds_nothing_serious_in_either_tab(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("en-GB")
    choose_files(page, "photos-input", draw_photo(tmp_path / "cow.jpg"))
    triage_ticked(page, TickedSign.FEVER)
    page.mouse.move(0, 0)
    found = []
    for tab in ("Vet scanner", "Archive tools"):
        page.get_by_role("tab", name=tab).click()
        for viewport, theme, rules in AUDITS:
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            page.evaluate(f"document.body.classList.toggle('dark', {theme == 'dark':d} === 1)")
            page.wait_for_timeout(300)  # colours fade over
            name = f"{tab.split()[0].lower()}-{theme}"
            found += [f"{name} {viewport['width']}: {line}" for line in audit(page, rules)]
            take_screenshot(page, name)
    assert found == []


def audit(page: Page, rules: list[str]) -> list[str]:
    """The serious and critical findings that are ours; of all rules if none is named."""
    options = {"runOnly": rules} if rules else None
    violations: list[Any] = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
        if not is_gradios(page, violation["id"], node["target"][0])
    ]


def is_gradios(page: Page, rule: str, target: str) -> bool:
    where = GRADIO_FINDINGS.get(rule)
    return where is not None and page.locator(target).evaluate("(e, s) => e.matches(s)", where)
