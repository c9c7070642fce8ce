"""README.md of a dataset: the card that Hugging Face shows and that `load_dataset` obeys.

The card lists the data files. Without that, `datasets` takes the commonest extension for the kind
of data, and where images and captions tie it takes the captions.
"""

from collections.abc import Iterable
from typing import Any

from archive_tools.config import DatasetFormat, ImageFormat

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

{image_count} from {kept} of {page_count} of {file_count}, made for training a LoRA of SDXL.
{outcome}

{listed_files}- `manifest/pages.csv`: every page of every document, with what was decided and why.
  `regions` names the images of a page with the part of it that they show (x0 y0 x1 y1 of width
  height, in pixels). An apostrophe at the start of a cell keeps a spreadsheet from running the
  text as a formula.
- `manifest/report.json`: options, versions of the tools, counts and failures.
{settings}
{usage}
## Rights

Nothing here says that the scanned works are free to use. Find out for each document (`source_file`
in `metadata.jsonl`), and put the licence into this card before you publish the dataset.
"""

_USAGE = """\
```python
from datasets import load_dataset

dataset = load_dataset("path/to/this/folder", split="train")
```
"""
_NOTHING_TO_USE = """\
**No page was kept, so there is no image to load or to train with.** `manifest/pages.csv` says why
each page was left out. Build it again with a lower `--min-score`, or with `--filter none`.
"""

_CONFIGS = """\
configs:
- config_name: default
  data_files:
{splits}"""

_SPLIT_CONFIG = """\
  - split: {split}
    path:
    - "{folder}*.{extension}"
    - "{folder}metadata.jsonl"
"""

_PATTERN_CONFIG = """\
  - split: {split}
    path: "{pattern}"
"""

_SETTINGS = """\
- `configs/`: ready settings for kohya sd-scripts, SimpleTuner, OneTrainer, ai-toolkit and
  diffusers. Run the trainer from the folder that this file lies in; the paths are relative to it.
"""

_IN_FOLDERS = """\
- {folders}: the images, one caption file for each, and `metadata.jsonl` with where each came from.
"""
_IN_SHARDS = """\
- {shards}: the images, each with its caption (`txt`) and where it came from (`json`).
"""
_IN_TABLES = """\
- {tables}: the images, with their captions and where each came from.
"""

_SPLIT_CARD = """\
---
{configs}---

The images of the split, a caption file for each, and `metadata.jsonl`. See the README above.
"""


def render_dataset_card(
    report: dict[str, Any],
    image_format: ImageFormat = ImageFormat.JPEG,
    dataset_format: DatasetFormat = DatasetFormat.ZIP,
) -> str:
    """Write the card of the whole dataset.

    Args:
        report: Content of `manifest/report.json`.
        image_format: What the images are.
        dataset_format: What the dataset is on disk.

    Returns:
        Markdown with a YAML header.
    """
    counts = report["counts"]
    images, splits = counts["images"], counts["splits"]
    size = next((name for limit, name in _SIZES if images < limit), _LARGEST_SIZE)
    # A pattern without a match is an error in `load_dataset`.
    configs = "".join(
        _data_files(split, dataset_format, image_format) for split, n in splits.items() if n
    )
    is_in_folders = dataset_format in (DatasetFormat.ZIP, DatasetFormat.FOLDER)
    return _CARD.format(
        size=size,
        configs=_CONFIGS.format(splits=configs) if configs else "",
        outcome=_describe_outcome(counts),
        listed_files=_describe_files(splits, dataset_format),
        settings=_SETTINGS if is_in_folders else "",
        usage=_USAGE if images else _NOTHING_TO_USE,
        image_count=_count(images, "image"),
        page_count=_count(counts["pages"], "page"),
        file_count=_count(counts["files"], "document"),
        kept=counts["kept"],
    )


def _data_files(split: str, dataset_format: DatasetFormat, image_format: ImageFormat) -> str:
    match dataset_format:
        case DatasetFormat.WEBDATASET:
            return _PATTERN_CONFIG.format(split=split, pattern=f"{split}-*.tar")
        case DatasetFormat.PARQUET:
            return _PATTERN_CONFIG.format(split=split, pattern=f"data/{split}-*.parquet")
        case _:
            return _split_config(split, f"{split}/", image_format)


def _describe_files(splits: Iterable[str], dataset_format: DatasetFormat) -> str:
    match dataset_format:
        case DatasetFormat.WEBDATASET:
            shards = " and ".join(f"`{split}-*.tar`" for split in splits)
            return _IN_SHARDS.format(shards=shards)
        case DatasetFormat.PARQUET:
            tables = " and ".join(f"`data/{split}-*.parquet`" for split in splits)
            return _IN_TABLES.format(tables=tables)
        case _:
            folders = " and ".join(f"`{split}/`" for split in splits)
            return _IN_FOLDERS.format(folders=folders)


def render_split_card(split: str, image_count: int, image_format: ImageFormat) -> str:
    """Write the README inside a split, for those who load that folder alone.

    Args:
        split: `train` or `validation`.
        image_count: Images in that folder.
        image_format: What the images are.

    Returns:
        Markdown with a YAML header.
    """
    configs = _CONFIGS.format(splits=_split_config(split, "", image_format))
    return _SPLIT_CARD.format(configs=configs if image_count else "")


def _split_config(split: str, folder: str, image_format: ImageFormat) -> str:
    return _SPLIT_CONFIG.format(split=split, folder=folder, extension=image_format.value)


def _describe_outcome(counts: dict[str, int]) -> str:
    if not counts["failed"] and not counts["files_failed"]:
        return f"{_describe_dropped(counts)}; none failed."
    return (
        f"{_describe_dropped(counts)}. {_count(counts['failed'], 'page')} and "
        f"{_count(counts['files_failed'], 'whole document')} failed: see `manifest/report.json`."
    )


def _describe_dropped(counts: dict[str, int]) -> str:
    were = "was" if counts["dropped"] == 1 else "were"
    return (
        f"{_count(counts['dropped'], 'page')} {were} left out, {counts['near_duplicates']} of "
        "them as near-duplicates"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
