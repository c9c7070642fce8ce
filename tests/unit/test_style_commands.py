"""The commands that the Style part shows, read as a shell reads them."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from style_lora.commands import add_trigger, list_commands


@given(st.text(max_size=60), st.text(max_size=20))
def test_a_shell_gets_the_prompt_as_one_word(prompt: str, trigger: str) -> None:
    _, _, painting = list_commands(prompt, 0.8, 3, trigger)
    words = shlex.split(painting)
    assert words[6] == f"--prompt={add_trigger(prompt, trigger)}"
    assert words[7:] == ["--scale", "0.8", "--seed", "3", "--grid"]
    assert "\n" not in painting


def test_the_trigger_word_comes_first_and_once() -> None:
    assert add_trigger("a cat", "oldplate") == "oldplate, a cat"
    assert add_trigger("an Oldplate of a cat", "oldplate") == "an Oldplate of a cat"
    assert add_trigger("", "oldplate") == "oldplate"
    assert add_trigger(" a  cat ", "") == "a cat"
