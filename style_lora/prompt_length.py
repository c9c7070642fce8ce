"""How much of a text SDXL's text encoders see: 77 tokens, the two marks around them included."""

from typing import Any


def find_cut(tokenizer: Any, text: str) -> str:
    """Return the end of a text that is cut off, as the tokenizer writes it; empty where none is.

    Args:
        tokenizer: `CLIPTokenizer` of the base.
        text: Prompt or caption.
    """
    tokens = tokenizer(text, truncation=False, verbose=False).input_ids
    # The mark at the end takes the last place.
    cut: str = tokenizer.decode(tokens[tokenizer.model_max_length - 1 : -1])
    return cut.strip()
