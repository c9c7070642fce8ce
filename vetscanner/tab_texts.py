"""The texts of the tab, in the page's languages."""

from pathlib import Path
from typing import Final

from serving.page_texts import PageTexts, load_page_texts
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language

VET_TEXTS: Final = load_page_texts(Path(__file__).parent / "languages" / "page", "vet")
"""What the tab says beside the report."""

SIGN_TEXTS: Final = PageTexts(
    "sign",
    {
        language: {sign: phrases.label for sign, phrases in load_phrases(language).ticked.items()}
        for language in Language
    },
)
"""The labels of the tick boxes, from the words of the report."""
