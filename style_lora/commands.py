"""The commands that the page shows; pure."""

import shlex
from typing import Final

DATASET_NAME: Final = "dataset.zip"
LORA_FOLDER: Final = "lora"


def list_commands(prompt: str, scale: float, seed: int, trigger: str) -> list[str]:
    """Return what to type into a POSIX shell: install, train, paint.

    Args:
        prompt: What to paint.
        scale: Strength of the style.
        seed: Of the picture.
        trigger: Trigger word of the dataset, empty where it has none.
    """
    painting = ["generate", "--lora", LORA_FOLDER]
    # In one word, lest a prompt that begins with a dash be taken for an option.
    painting += [f"--prompt={add_trigger(prompt, trigger)}", "--scale", f"{scale:g}"]
    painting += ["--seed", str(seed), "--grid"]
    training = ["train", DATASET_NAME, "--out", LORA_FOLDER]
    install = "pip install --constraint constraints.txt -r requirements-lora.txt"
    return [install, _command(training), _command(painting)]


def add_trigger(prompt: str, trigger: str) -> str:
    """Return a prompt that begins with the trigger word, unless it has it already.

    Args:
        prompt: What to paint.
        trigger: The word, or nothing.
    """
    words = " ".join(prompt.split())
    first = " ".join(trigger.split())
    if not first or first.lower() in words.lower():
        return words
    return f"{first}, {words}" if words else first


def _command(words: list[str]) -> str:
    return shlex.join(["python", "-m", "style_lora", *words])
