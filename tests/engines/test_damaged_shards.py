"""A shard that is damaged in the store: made again, and said so in one line."""

from pathlib import Path

import pytest

from archive_tools.cli import main
from tests.pdf_fixtures import colour_jpeg


def test_a_file_is_no_place_for_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shards").write_bytes(b"mine")
    words = ["scale", "a.pdf", "--out", str(tmp_path / "set.zip"), "--shards"]
    assert main([*words, str(tmp_path / "shards")]) == 2
    assert "--shards is a file: shards. Name a folder." in capsys.readouterr().err
    assert (tmp_path / "shards").read_bytes() == b"mine"


def test_damaged_shards_are_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pdf").write_bytes(colour_jpeg(pages=4))
    shards = tmp_path / "shards"

    def run(out: str) -> tuple[bytes, str]:
        words = [
            "scale", str(tmp_path / "a.pdf"), "--out", str(tmp_path / out), "--shards", str(shards),
            "--workers", "1", "--pages-per-shard", "2", "--filter", "none", "--size", "64",
            "--min-size", "0", "--copy-to", str(tmp_path / "copies"),
        ]  # fmt: skip
        assert main(words) == 0
        made = (tmp_path / out).read_bytes()
        assert (tmp_path / "copies" / out).read_bytes() == made
        return made, capsys.readouterr().err

    whole, words = run("first.zip")
    assert "damaged" not in words
    kept = {path: path.read_bytes() for path in sorted(shards.iterdir())}
    first, second = kept
    # In the second page of one a picture has other bytes; the other is cut short.
    place = kept[first].rindex(b"\xff\xd9") - 1
    first.write_bytes(kept[first][:place] + b"\0\1" + kept[first][place + 2 :])
    second.write_bytes(kept[second][:-5000])
    again, words = run("again.zip")
    assert again == whole
    assert words.count("The shard with pages 1 to 2 of a.pdf was damaged and was made again.") == 1
    assert {path: path.read_bytes() for path in sorted(shards.iterdir())} == kept
