"""Caption of one image: the trigger word, then only what the archive knows of the page.

Every trainer reads the result in its own way (first line, every line, whole file), so a caption is
one line of clean UTF-8 that is never empty and never longer than CLIP's text window.
"""

import math
import re
import string
import unicodedata
from collections.abc import Mapping

from archive_tools.errors import InvalidOptionError
from archive_tools.schema import DocumentDetails

CAPTION_FIELDS = ("trigger", "title", "author", "year", "kind", "page_number", "text")
KIND = "illustration"
MAX_CLIP_TOKENS = 75
# One long title must not push the year out of the caption, nor leave no room for the rest.
_MAX_FIELD_TOKENS = 50
_MAX_TRIGGER_TOKENS = 16
# A title is data from a stranger's file: bound the work before looking at each character.
_MAX_FIELD_CHARACTERS = 2_000

# The pieces that CLIP's tokenizer splits a text into before it applies its byte-pair merges.
_CLIP_PIECE = re.compile(r"[^\W\d_]+|\d|[^\s\w]+|_+")
# Windows-1252 punctuation is what broke trainers that read captions in the platform's encoding.
_PLAIN_PUNCTUATION = str.maketrans({
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"',
    "\u2013": "-", "\u2014": "-", "\u2026": "...",
})  # fmt: skip
_EMPTY_PART = re.compile(r",\s*(?=,|$)")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
# A part of its own: within a phrase, such as "engraving of {year}", the year is wanted.
_YEAR_ALONE = re.compile(r"(?:^|,)\s*\{year\}\s*(?:,|$)")
# PDF exists since 1993: a creation date after that tells when the file was made, not the work.
_FIRST_PDF_YEAR = 1993


def render_caption(template: str, fields: Mapping[str, str]) -> str:
    """Fill a caption template.

    Values are inserted as they are: braces in a title are no placeholders. Parts between commas
    that end up empty are left out, and so is the year where the title states it already. The
    trigger is put first if the template does not do so.

    Args:
        template: Text with placeholders such as `{trigger}, {title}`; `{{` gives a brace.
        fields: Value for each name of `CAPTION_FIELDS`; a missing or empty one leaves a gap.

    Returns:
        One line of clean text, not empty, of at most 75 CLIP tokens by `estimate_clip_tokens`.

    Raises:
        InvalidOptionError: The template has an unknown or malformed placeholder, or the trigger
            is too long.
    """
    values = {name: _shorten(clean_line(fields.get(name, "")), _MAX_FIELD_TOKENS)
              for name in CAPTION_FIELDS}  # fmt: skip
    trigger = clean_trigger(fields.get("trigger", ""))
    values["trigger"] = trigger
    if _YEAR_ALONE.search(template) and _names_year(values["title"], template, values["year"]):
        values["year"] = ""
    text = "".join(
        literal + (values[name] if name else "") for literal, name in _parse_template(template)
    )
    text = _without_empty_parts(clean_line(text))
    if trigger and not re.match(re.escape(trigger) + r"(?!\w)", text):
        text = f"{trigger}, {text}" if text else trigger
    return _shorten(text, MAX_CLIP_TOKENS) or KIND


def _names_year(title: str, template: str, year: str) -> bool:
    """Return whether the caption's title states the year already."""
    return bool(year) and "{title}" in template and year in _YEAR.findall(title)


def check_caption(template: str, trigger: str) -> None:
    """Check the caption options before a run spends hours on pages.

    Args:
        template: The caption template.
        trigger: The trigger word.

    Raises:
        InvalidOptionError: The template or the trigger cannot work.
    """
    render_caption(template, {"trigger": trigger})


def clean_trigger(trigger: str) -> str:
    """Return the trigger as one clean line.

    Args:
        trigger: The trigger word as the user typed it.

    Returns:
        The clean trigger, possibly empty.

    Raises:
        InvalidOptionError: It is too long to leave room for a caption.
    """
    cleaned = clean_line(trigger).strip(" ,")
    if estimate_clip_tokens(cleaned) > _MAX_TRIGGER_TOKENS:
        raise InvalidOptionError(
            f"The trigger has {len(cleaned)} characters. Choose one short word, such as "
            "'engrvstyle'; it is put before every caption."
        )
    return cleaned


def caption_fields(
    details: DocumentDetails,
    page_number: int,
    trigger: str = "",
    kind: str = KIND,
    text: str = "",
) -> dict[str, str]:
    """Gather what a caption may say about an image.

    Args:
        details: The document's own metadata.
        page_number: 1-based page number.
        trigger: Trigger word, may be empty.
        kind: What the picture is.
        text: Text of the page near the picture.

    Returns:
        A value for each name of `CAPTION_FIELDS`, empty where nothing is known.
    """
    return {
        "trigger": trigger,
        "title": details.title,
        "author": details.author,
        "year": find_year(details),
        "kind": kind,
        "page_number": str(page_number),
        "text": text,
    }


def find_year(details: DocumentDetails) -> str:
    """Find the year of the work.

    The title is asked first. The creation date counts only before 1993: the metadata of a scan
    states when it was scanned, and a caption must not call an engraving of 1880 a work of 2011.

    Args:
        details: The document's own metadata.

    Returns:
        Four digits, or an empty string where no plausible year is stated.
    """
    in_title = _YEAR.search(details.title[:_MAX_FIELD_CHARACTERS])
    if in_title:
        return in_title.group()
    created = re.match(r"\s*(?:D:)?(\d{4})", details.created)
    if created and 1500 <= int(created.group(1)) < _FIRST_PDF_YEAR:
        return created.group(1)
    return ""


def clean_line(text: str) -> str:
    """Turn any text into one line of plain, composed Unicode that UTF-8 can hold.

    Args:
        text: Anything, such as a title from a damaged PDF.

    Returns:
        The text without control, format, private and surrogate characters, with plain quotes and
        single spaces.
    """
    composed = unicodedata.normalize("NFC", text[:_MAX_FIELD_CHARACTERS])
    plain = composed.translate(_PLAIN_PUNCTUATION)
    return " ".join("".join(map(_clean_character, plain)).split())


def estimate_clip_tokens(text: str) -> int:
    """Estimate from above how many tokens CLIP's tokenizer makes of a text.

    CLIP has byte-level pairs, so a piece never gives more tokens than it has bytes. Words need
    far fewer: random ASCII letters average 0.57 tokens each, English ones 0.25. Counted here are
    two thirds for an ASCII letter, 1.75 for a two-byte letter (Cyrillic, Greek, accents; random
    Cyrillic needs that much) and one for each byte of anything else, rounded up for each word.

    Args:
        text: One line of text.

    Returns:
        The estimate, without the start and end tokens.
    """
    return sum(map(_piece_tokens, _CLIP_PIECE.findall(text.lower())))


def _piece_tokens(piece: str) -> int:
    return math.ceil(sum(map(_character_tokens, piece)))


def _character_tokens(character: str) -> float:
    size_bytes = len(character.encode("utf-8", "replace"))
    if not character.isalpha():
        return size_bytes
    return {1: 2 / 3, 2: 1.75}.get(size_bytes, size_bytes)


def _clean_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":  # joiners and direction marks: invisible, and no word boundary
        return ""
    return " " if category[0] in "CZ" else character


def _parse_template(template: str) -> list[tuple[str, str | None]]:
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise _bad_template(template, str(error)) from error
    for _, name, spec, conversion in parsed:
        if name is not None and (name not in CAPTION_FIELDS or spec or conversion):
            raise _bad_template(template, f"{{{name}}} is not a field")
    return [(literal, name) for literal, name, _, _ in parsed]


def _bad_template(template: str, why: str) -> InvalidOptionError:
    allowed = ", ".join(f"{{{name}}}" for name in CAPTION_FIELDS)
    return InvalidOptionError(
        f"The caption template {template[:80]!r} cannot be used: {why}. Allowed fields are "
        f"{allowed}; write {{{{ for a brace."
    )


def _without_empty_parts(text: str) -> str:
    return _EMPTY_PART.sub("", text).strip(" ,")


def _shorten(text: str, max_tokens: int) -> str:
    """Cut at a word where there is one, else inside the word that is too long by itself."""
    words: list[str] = []
    left = max_tokens
    for word in text.split():
        cost = estimate_clip_tokens(word)
        if cost > left:
            break
        words.append(word)
        left -= cost
    if not words and text:
        return _cut_word(text.split()[0], max_tokens)
    return " ".join(words).rstrip(",;: ") if len(words) < len(text.split()) else text


def _cut_word(word: str, max_tokens: int) -> str:
    # Nothing counts less than two thirds of a token, so no longer start can fit.
    length = min(len(word), max_tokens * 3 // 2)
    while estimate_clip_tokens(word[:length]) > max_tokens:
        length -= 1
    return word[:length]
