"""A shard of which one bit is turned over: told, or of no consequence."""

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.scale.checked_json import decode_checked, encode_checked
from archive_tools.scale.shard import DamagedShardError, iter_shard, read_end, write_shard
from archive_tools.scale.tasks import ShardKey
from archive_tools.schema import PageOutcome, PageResult, Record

KEY = ShardKey(64 * "a", 0, 2, 64 * "b")
PICTURE = bytes(range(256)) * 3
RECORD = Record(
    PICTURE, 64, 64, (0, 0, 600, 800), 600, 800, "0123456789abcdef", (bytes(range(128)),), 41.5
)
PAGES = [
    PageResult(0, PageOutcome.KEPT, 600, 800, 61.25, 61.25, "sigma 61", (RECORD,)),
    PageResult(1, PageOutcome.DROPPED, 600, 800, 3.0, 3.0, "sigma 3"),
]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("shard") / KEY.name
    write_shard(path, KEY, PAGES)
    assert list(iter_shard(io.BytesIO(path.read_bytes()), KEY)) == PAGES
    return path.read_bytes()


@given(st.data())
def test_no_turned_bit_changes_a_page(shard: bytes, data: st.DataObject) -> None:
    used = len(shard.rstrip(b"\0"))
    place, bit = data.draw(st.integers(0, used - 1)), data.draw(st.integers(0, 7))
    damaged = bytearray(shard)
    damaged[place] ^= 1 << bit
    read = []
    try:
        read.extend(iter_shard(io.BytesIO(damaged), KEY))
    except DamagedShardError:
        assert read == PAGES[: len(read)]
    else:
        assert read == PAGES


def test_json_that_stays_valid_is_told(shard: bytes) -> None:
    for number in (b"61.25", b"41.5", b"600", b"0123456789abcdef"):
        other = number[:-1] + bytes([number[-1] ^ 1])
        with pytest.raises(DamagedShardError):
            list(iter_shard(io.BytesIO(shard.replace(number, other, 1)), KEY))
    counts = b'"pages":{"kept":1,"dropped":1'
    assert counts in shard
    swapped = shard.replace(counts, b'"pages":{"kept":2,"dropped":0')
    assert read_end(io.BytesIO(shard), KEY) is not None
    assert read_end(io.BytesIO(swapped), KEY) is None


def test_a_shard_of_before_there_were_checks_is_made_again(shard: bytes) -> None:
    """Its JSON ends without a check."""
    old = re.sub(rb',"check":(\d+)}', lambda found: b"}" + b" " * (len(found[0]) - 1), shard)
    assert read_end(io.BytesIO(old), KEY) is None
    with pytest.raises(DamagedShardError):
        list(iter_shard(io.BytesIO(old), KEY))


def test_a_shard_of_others_is_not_ours(shard: bytes) -> None:
    assert read_end(io.BytesIO(shard), replace(KEY, options_hash=64 * "c")) is None


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.floats(), st.text()), min_size=1))
def test_what_is_checked_comes_back(value: dict[str, object]) -> None:
    value.pop("check", None)
    content = encode_checked({**value, "last": '",check":7}'})
    assert repr(decode_checked(content + b"  \n")) == repr({**value, "last": '",check":7}'})
    for cut in (content[:-1], content[1:], b"", b"{}", b"null"):
        with pytest.raises(ValueError, match="other bytes"):
            decode_checked(cut)
