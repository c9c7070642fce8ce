"""The drawn guide to photographing a cow, as HTML for the tab."""

import base64
import json
from html import escape
from pathlib import Path

from vetscanner.schema import Language

GUIDE_FOLDER = Path(__file__).resolve().parents[1] / "examples" / "photo_guide"

GUIDE_CSS = """
.photo-guide { display: grid; grid-template-columns: repeat(auto-fill, minmax(105px, 1fr));
  gap: 0.8em; }
.photo-guide figure { margin: 0; }
.photo-guide img { width: 100%; height: auto; border-radius: 6px; }
.photo-guide figcaption { font-size: 0.85em; line-height: 1.35; }
"""


def guide_html(language: Language) -> str:
    """Return the six pictures with their captions.

    Args:
        language: Language of the captions.
    """
    captions = json.loads((GUIDE_FOLDER / "captions.json").read_text(encoding="utf-8"))
    figures = "".join(_figure(entry["file"], entry[language]) for entry in captions)
    return f'<div class="photo-guide" lang="{language}">{figures}</div>'


def _figure(file_name: str, caption: str) -> str:
    # As an image of its own, so that ids and styles of one drawing never meet another's.
    drawing = base64.b64encode((GUIDE_FOLDER / file_name).read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="" src="data:image/svg+xml;base64,{drawing}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
