"""Datasets as ZIP files: made by a whole run, and read back."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from archive_tools.config import DatasetConfig, RunOptions
from archive_tools.pipeline import build_dataset


def build(source: Path, out: Path, config: DatasetConfig, workers: int = 0) -> Path:
    """Build a dataset of one source and return `out`."""
    *_, _report = build_dataset([source], out, config, RunOptions(workers=workers))
    return out


def read_pages(dataset: Path) -> list[dict[str, str]]:
    """Return the rows of `manifest/pages.csv`."""
    with zipfile.ZipFile(dataset) as archive:
        text = archive.read("manifest/pages.csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def read_rows(dataset: Path) -> list[dict[str, Any]]:
    """Return the rows of `train/metadata.jsonl`."""
    with zipfile.ZipFile(dataset) as archive:
        lines = archive.read("train/metadata.jsonl").decode().splitlines()
    return [json.loads(line) for line in lines]
