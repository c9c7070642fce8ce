"""Weights that transformers loads from a local folder, complete or not at all."""

from pathlib import Path
from typing import Any


def load_whole(model_class: Any, path: Path) -> Any:
    """Load a model in float32 and miss no weight.

    Args:
        model_class: One of transformers' Auto classes.
        path: Folder with config and safetensors weights.

    Returns:
        The model, on the CPU.

    Raises:
        OSError: A file is missing.
        ValueError: Weights are missing.
    """
    import torch
    from transformers.utils import logging

    # A bar for each request would fill the log.
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model, report = model_class.from_pretrained(
        path,
        local_files_only=True,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
    )
    if report["missing_keys"]:
        # transformers would fill the gap with random numbers and answer all the same.
        message = f"weights are missing, such as {sorted(report['missing_keys'])[0]}"
        raise ValueError(message)
    return model
