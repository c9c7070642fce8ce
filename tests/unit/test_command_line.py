"""The command that the page shows does what its options say."""

import shlex
from html import unescape
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from archive_tools.cli import _config, make_parser
from archive_tools.command_line import build_arguments, join_command
from archive_tools.command_tab import command_html
from archive_tools.config import Content, DatasetConfig, Fit, PageFilter, Spreads
from archive_tools.schema import NamedFile
from archive_tools.score_histogram import COVERAGE_SCALE, SIGMA_SCALE
from archive_tools.source_plan import plan_sources
from archive_tools.tab_options import page_config

PAGE_OPTIONS = st.tuples(
    st.sampled_from(list(PageFilter)),
    st.sampled_from(list(Content)),
    st.sampled_from(list(Fit)),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.sampled_from([None, "", "PASSWORD"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(list(Spreads)),
    st.sampled_from([step * COVERAGE_SCALE.step for step in range(201)]),
    st.sampled_from([step * SIGMA_SCALE.step for step in range(129)]),
)


def make_page_config(options: tuple[object, ...]) -> DatasetConfig:
    return page_config(*options)  # type: ignore[arg-type]


def parse(command: str) -> DatasetConfig:
    """Read a command as the command line itself does."""
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "archive_tools"]
    options = make_parser().parse_args(words[3:])
    assert options.sources == ["FOLDER/*"]
    return _config(options)


def without_other_threshold(config: DatasetConfig) -> dict[str, object]:
    """Return the options; of the thresholds only that of the filter decides anything."""
    fields = config.to_json() | {"password": config.password}
    deciding = {PageFilter.AUTO: "min_score", PageFilter.SIGMA: "min_sigma"}.get(config.filter)
    for name in {"min_score", "min_sigma"} - {deciding}:
        del fields[name]
    return fields


@given(PAGE_OPTIONS)
@example(("auto", "pages", "square", "--fit=crop -x", None, True, True, "split", 1.5, 45))
@example(("sigma", "regions", "bucket", 'it\'s "$HOME"\n', "PASSWORD", False, False, "keep", 0, 0))
def test_the_command_gives_the_options_of_the_page(options: tuple[object, ...]) -> None:
    config = make_page_config(options)
    command = join_command(build_arguments(config))
    assert without_other_threshold(parse(command)) == without_other_threshold(config)


def test_defaults_need_no_option() -> None:
    command = join_command(build_arguments(DatasetConfig()))
    assert command == "python -m archive_tools build FOLDER/* --out dataset.zip"


def test_each_file_is_a_document_of_its_own_as_on_the_page(tmp_path: Path) -> None:
    files = [tmp_path / "1.png", tmp_path / "2.png"]
    for file in files:
        Image.new("L", (20, 30)).save(file)
    words = shlex.split(join_command(build_arguments(DatasetConfig())))
    shown = Path(make_parser().parse_args(words[3:]).sources[0].replace("FOLDER", str(tmp_path)))
    on_page = [NamedFile(file, file.name) for file in files]
    assert len(plan_sources([shown], None)) == len(plan_sources(on_page, None)) == 2
    assert len(plan_sources([tmp_path], None)) == 1


def test_a_password_is_never_repeated() -> None:
    command = join_command(build_arguments(DatasetConfig(password="open sesame")))
    assert command.endswith("--password PASSWORD")


@pytest.mark.parametrize("page_filter", list(PageFilter))
def test_the_page_shows_the_whole_command_as_text(page_filter: PageFilter) -> None:
    config = DatasetConfig(filter=page_filter, min_score=0.07, min_sigma=50, trigger="<b>&")
    html = command_html(config)
    assert "<b>" not in html
    text = unescape(html.partition(">")[2].replace('<span class="threshold">', ""))
    assert text.removesuffix("</span></pre>") == join_command(build_arguments(config))
    assert ("data-facts" in html) == (page_filter is not PageFilter.NONE)
