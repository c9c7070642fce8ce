"""How the page looks: colours that can be read, and what fits a phone."""

from typing import Final

import gradio as gr

# Soft's indigo a step darker: its own is too pale below white letters and as letters on white.
_INDIGO = gr.themes.Color(
    c50="#eef2ff",
    c100="#e0e7ff",
    c200="#c7d2fe",
    c300="#a5b4fc",
    c400="#4f46e5",
    c500="#4338ca",
    c600="#4f46e5",
    c700="#4338ca",
    c800="#3730a3",
    c900="#312e81",
    c950="#2b2c5e",
    name="indigo",
)

THEME: Final = gr.themes.Soft(
    # System fonts: the page needs no other server.
    primary_hue=_INDIGO,
    font=["system-ui", "sans-serif"],
    font_mono=["monospace"],
)

PAGE_CSS: Final = """
.gradio-container { max-width: 1100px !important; margin: auto; }
#page-title { min-width: min(180px, 100%) !important; }
#page-title h1 { margin-bottom: 0; overflow-wrap: anywhere; }
@media (max-width: 500px) {
  #page-title h1 { font-size: 1.25em; }
  button[role=tab] { padding-inline: 8px !important; font-size: 0.95em; }
}
/* WCAG 2.2: text 4.5 to 1 and the edge of a tick box 3 to 1 against what is behind it, and a place
   of 24 px to press. */
:root { --checkbox-border-color: #6b7280; --checkbox-border-width: 1px;
  --block-title-text-color: #3730a3; --block-label-text-color: #3730a3;
  --body-text-color-subdued: #4b5563; }
.dark { --checkbox-border-color: #9ca3af; --block-title-text-color: #fff;
  --block-label-text-color: #fff; --body-text-color-subdued: #9ca3af; }
.dark button[role=tab][aria-selected=true], .dark a.download-link { color: #a5b4fc; }
.icon-button, .upload-container.icon-mode { min-width: 24px; min-height: 24px; }
:focus-visible { outline: 3px solid #b45309 !important; outline-offset: 2px; }
.dark :focus-visible { outline-color: #fbbf24 !important; }
footer { flex-wrap: wrap; }
.build-report { border-collapse: collapse; width: 100%; border: 0 !important; }
.build-report tr { border: 0 !important; }
.build-report th, .build-report td { border: 0 !important; padding: 0.25em 0 !important;
  border-bottom: 1px solid var(--border-color-primary) !important; vertical-align: top; }
.build-report th { text-align: left; font-weight: 400; padding-right: 1em !important;
  width: 40%; hyphens: auto; }
.build-report .job-id { font-family: monospace; font-size: 0.85em; }
button.label-wrap { text-align: left; }
/* Nothing stands where nothing is yet. */
#dataset-output:has(.empty), #newest-pictures:not(:has(img)), #build-report:not(:has(p)),
  #page-preview:not(:has(p)) { display: none !important; }
.user-error { border: 2px solid #b00020; border-radius: 8px; padding: 0.5em 1em;
  overflow-wrap: anywhere; }
.build-progress progress { width: 100%; }
.build-progress p { overflow-wrap: anywhere; }
"""
