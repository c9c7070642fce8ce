"""README.md of a dataset: the card that Hugging Face shows and that `load_dataset` obeys.

The card lists the data files. Without that, `datasets` takes the commonest extension for the kind
of data, and where images and captions tie it takes the captions.
"""

from typing import Any

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_LARGEST_SIZE = "100K<n<1M"

_CARD = """\
---
pretty_name: Illustrations from scanned documents
license: other
license_name: see-the-scanned-works
task_categories:
- text-to-image
size_categories:
- {size}
tags:
- scanned-documents
- illustration
- lora
- stable-diffusion-xl
{configs}---

# Illustrations from scanned documents

{images} images from {kept} of {pages} pages of {files} documents, made for training a LoRA of SDXL.
{outcome}

- `train/`: the images, one caption file for each, and `metadata.jsonl` with where each came from.
- `manifest/pages.csv`: every page of every document, with what was decided and why. `regions` names
  the images of a page with the part of it that they show (x0 y0 x1 y1 of width height, in pixels).
  An apostrophe at the start of a cell keeps a spreadsheet from running the text as a formula.
- `manifest/report.json`: options, versions of the tools, counts and failures.
- `configs/`: ready settings for kohya sd-scripts, SimpleTuner, OneTrainer, ai-toolkit and
  diffusers. Run the trainer from the folder that this file lies in; the paths are relative to it.

```python
from datasets import load_dataset

dataset = load_dataset("path/to/this/folder", split="train")
```

## Rights

Nothing here says that the scanned works are free to use. Find out for each document (`source_file`
in `metadata.jsonl`), and put the licence into this card before you publish the dataset.
"""

_CONFIGS = """\
configs:
- config_name: default
  data_files:
  - split: train
    path:
    - "{folder}*.jpg"
    - "{folder}metadata.jsonl"
"""

_SPLIT_CARD = """\
---
{configs}---

The images of the split, a caption file for each, and `metadata.jsonl`. See the README above.
"""


def render_dataset_card(report: dict[str, Any]) -> str:
    """Write the card of the whole dataset.

    Args:
        report: Content of `manifest/report.json`.

    Returns:
        Markdown with a YAML header.
    """
    counts = report["counts"]
    images = counts["images"]
    size = next((name for limit, name in _SIZES if images < limit), _LARGEST_SIZE)
    # A pattern without a match is an error in `load_dataset`.
    configs = _CONFIGS.format(folder="train/") if images else ""
    return _CARD.format(size=size, configs=configs, outcome=_describe_outcome(counts), **counts)


def render_split_card(image_count: int) -> str:
    """Write the README inside `train/`, for those who load that folder alone.

    Args:
        image_count: Images in that folder.

    Returns:
        Markdown with a YAML header.
    """
    return _SPLIT_CARD.format(configs=_CONFIGS.format(folder="") if image_count else "")


def _describe_outcome(counts: dict[str, int]) -> str:
    if not counts["failed"] and not counts["files_failed"]:
        return f"{counts['dropped']} pages were left out by the filter; none failed."
    return (
        f"{counts['dropped']} pages were left out by the filter. {counts['failed']} pages and "
        f"{counts['files_failed']} whole documents failed: see `manifest/report.json`."
    )
