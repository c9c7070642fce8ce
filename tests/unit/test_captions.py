"""Captions stay one clean, bounded line, whatever a stranger's PDF states."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_tools.captions import (
    CAPTION_FIELDS,
    MAX_CLIP_TOKENS,
    caption_fields,
    check_caption,
    clean_line,
    estimate_clip_tokens,
    find_year,
    render_caption,
)
from archive_tools.config import DatasetConfig
from archive_tools.errors import InvalidOptionError
from archive_tools.schema import DocumentDetails

DEFAULT = DatasetConfig().caption
# Surrogates are wanted: a PDF string may decode to them, and UTF-8 cannot hold them.
ANY_TEXT = st.text(st.characters(), max_size=600)


def render(template: str = DEFAULT, **values: str) -> str:
    return render_caption(template, {"kind": "illustration", **values})


def test_default_template_says_what_is_known() -> None:
    details = DocumentDetails(title="Popular Science Monthly, May 1923", created="D:20110203")
    fields = caption_fields(details, page_number=7, trigger="engrv")
    assert render_caption(DEFAULT, fields) == (
        "engrv, illustration, Popular Science Monthly, May 1923"
    )


def test_missing_fields_leave_no_gap() -> None:
    assert render() == "illustration"
    assert render(trigger="engrv") == "engrv, illustration"
    assert render(year="1880") == "illustration, 1880"


@pytest.mark.parametrize(
    ("template", "title", "caption"),
    [
        (DEFAULT, "The Mirror, October, 1895", "illustration, The Mirror, October, 1895"),
        (DEFAULT, "The Mirror", "illustration, The Mirror, 1895"),
        (DEFAULT, "Lot 18951", "illustration, Lot 18951, 1895"),
        ("{year}, {title}", "The Mirror 1895", "The Mirror 1895"),
        ("{kind}, {year}", "The Mirror 1895", "illustration, 1895"),
        ("{title}, {kind} of {year}", "The Mirror 1895", "The Mirror 1895, illustration of 1895"),
        (DEFAULT, "word " * 100 + "1895", f"illustration, {'word ' * 15}word, 1895"),
    ],
)
def test_a_year_in_the_title_is_not_repeated(template: str, title: str, caption: str) -> None:
    assert render(template, title=title, year="1895") == caption


def test_trigger_comes_first_whatever_the_template() -> None:
    assert render("{kind} by {author}", trigger="engrv", author="Doré") == (
        "engrv, illustration by Doré"
    )
    assert render("{kind}", trigger="illus") == "illus, illustration"
    assert render("{trigger}", trigger="engrv") == "engrv"


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Наука и жизнь", "Наука и жизнь"),
        ("The “Strange” Case\nof Dr. Jekyll", 'The "Strange" Case of Dr. Jekyll'),
        ("{year} {unknown} {0} }{", "{year} {unknown} {0} }{"),
        ("20,000 Leagues, illustrated", "20,000 Leagues, illustrated"),
        ("x\x00y\u2028z\ufeff", "x y z"),
        ("bad \udc92 byte", "bad byte"),
        ("Cafe\u0301", "Café"),
        ("日本 😀", "日本 😀"),
    ],
)
def test_odd_titles(title: str, kept: str) -> None:
    assert render("{title}", title=title) == kept


def test_long_title_leaves_room_for_the_year() -> None:
    caption = render(title="word " * 100, year="1880", trigger="engrv")
    assert caption.startswith("engrv, illustration, word word")
    assert caption.endswith("word, 1880")


def test_long_word_is_cut() -> None:
    caption = render(title="ы" * 500, year="1880")
    assert re.fullmatch("illustration, ы{20,40}, 1880", caption)


@pytest.mark.parametrize(
    "template", ["{nope}", "{0}", "{}", "{title", "title}", "{title!r}", "{title:>9}", "{title.x}"]
)
def test_bad_template_names_the_allowed_fields(template: str) -> None:
    with pytest.raises(InvalidOptionError) as caught:
        check_caption(template, "engrv")
    assert all(f"{{{name}}}" in str(caught.value) for name in CAPTION_FIELDS)


def test_endless_trigger_is_refused() -> None:
    with pytest.raises(InvalidOptionError, match="trigger has 500 characters"):
        check_caption(DEFAULT, "x" * 500)


@settings(max_examples=1_000, deadline=None)
@given(title=ANY_TEXT, author=ANY_TEXT, trigger=st.sampled_from(["", "engrv", "a b", "старое"]))
def test_captions_are_one_bounded_line(title: str, author: str, trigger: str) -> None:
    template = "{kind}, {title} ({author})"
    caption = render(template, title=title, author=author, trigger=trigger)
    assert caption
    assert caption.splitlines() == [caption]
    assert caption.strip() == caption
    assert caption.encode("utf-8")
    assert caption.startswith(trigger)
    assert estimate_clip_tokens(caption) <= MAX_CLIP_TOKENS


@given(ANY_TEXT)
def test_cleaning_is_stable(text: str) -> None:
    assert clean_line(clean_line(text)) == clean_line(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_estimate_never_exceeds_the_bytes_by_more_than_rounding(text: str) -> None:
    lowered = text.lower()
    assert estimate_clip_tokens(text) <= len(lowered.encode())


@pytest.mark.parametrize(
    ("text", "measured_tokens"),
    # Measured with CLIP's own vocabulary (bpe_simple_vocab_16e6).
    [
        ("illustration, The Popular Science Monthly, 1923", 11),
        ("Ежемесячный журнал для самообразования, СПб 1893", 52),
        ("Zeitschrift für Instrumentenkunde Donaudampfschifffahrtsgesellschaft", 22),
        ("щъыьэюя объявление съезд", 33),
        ("日本の本", 5),
        ("a_b __ c...!!??", 8),
    ],
)
def test_estimate_is_conservative(text: str, measured_tokens: int) -> None:
    assert measured_tokens <= estimate_clip_tokens(text) <= 3 * measured_tokens


@pytest.mark.parametrize(
    ("title", "created", "year"),
    [
        ("Harper's Weekly 1863", "D:20090101", "1863"),
        ("Harper's Weekly", "D:20090101", ""),
        ("Harper's Weekly", "D:18630101", "1863"),
        ("Harper's Weekly", "1923-05-01", "1923"),
        ("Camera 1234 and 19231", "", ""),
        ("2001: A Space Odyssey", "", "2001"),
        ("", "nonsense", ""),
    ],
)
def test_year(title: str, created: str, year: str) -> None:
    assert find_year(DocumentDetails(title=title, created=created)) == year
