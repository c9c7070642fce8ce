"""What a call may read: uploads and what is sent inside it, under names that deceive nobody."""

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving.uploads import MAX_FILES, NotUploadedError, settle_files, shown_name, take_uploads

MARK = {"_type": "gradio.FileData"}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def upload_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's upload folder."""
    folder = tmp_path / "gradio"
    folder.mkdir()
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(folder))
    return folder


@pytest.fixture
def uploaded(upload_folder: Path) -> Path:
    """An upload."""
    path = upload_folder / "0123" / "cow.jpg"
    path.parent.mkdir()
    path.write_bytes(b"photo")
    return path


def as_data(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def test_an_upload_is_taken_by_path_by_address_and_as_gradio_marks_it(uploaded: Path) -> None:
    address = f"https://a.hf.space/gradio_api/file={uploaded}"
    entries = [
        str(uploaded),
        {"path": str(uploaded), "orig_name": "Cow 7.jpg", "meta": MARK},
        address,
    ]
    taken = take_uploads(entries, "photos")
    assert [upload.path for upload in taken] == [uploaded] * 3
    assert [upload.name for upload in taken] == ["cow.jpg", "Cow 7.jpg", "cow.jpg"]


def test_a_file_inside_the_call_is_stored_once_for_its_content(upload_folder: Path) -> None:
    first, again, other = take_uploads(
        [as_data(PNG), as_data(PNG), {"path": as_data(b"%PDF-", "application/pdf"), "meta": MARK}],
        "files",
    )
    assert first.path == again.path != other.path
    assert (first.path.read_bytes(), first.path.suffix) == (PNG, ".png")
    assert (other.path.read_bytes(), other.path.suffix) == (b"%PDF-", ".pdf")
    stored = [path for path in upload_folder.rglob("*") if path.is_file()]
    assert sorted(stored) == sorted([first.path, other.path]), "nothing half written is left"


def test_a_file_for_which_there_is_no_room_is_told(
    upload_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serving.uploads.RESERVED_DISK_BYTES", 2**60)
    with pytest.raises(NotUploadedError, match="no room for a file in photos"):
        take_uploads([as_data(PNG)], "photos")
    assert list(upload_folder.iterdir()) == []


@pytest.mark.usefixtures("upload_folder")
def test_a_file_that_cannot_be_written_is_told() -> None:
    (upload,) = take_uploads([as_data(PNG)], "photos")
    upload.path.unlink()
    (upload.path / "in the way").mkdir(parents=True)
    with pytest.raises(NotUploadedError, match="no room for a file in photos"):
        take_uploads([as_data(PNG)], "photos")
    assert [path.name for path in upload.path.parent.iterdir()] == [upload.path.name]


@pytest.mark.parametrize(
    "address",
    [
        "data:image/png;base64,%%%",
        "data:image/png;base64,aGk",
        "data:,hello",
        "data:",
        "data:;base64",
    ],
)
def test_a_damaged_data_address_is_refused(upload_folder: Path, address: str) -> None:
    with pytest.raises(NotUploadedError, match=r"data: address in photos is not"):
        take_uploads([address], "photos")
    assert list(upload_folder.iterdir()) == []


def test_the_kind_in_a_data_address_names_no_folder(upload_folder: Path) -> None:
    (upload,) = take_uploads([as_data(PNG, "../../../etc/x")], "photos")
    assert upload.path.parent.parent == upload_folder


@pytest.mark.parametrize(
    "place",
    [
        "/etc/passwd",
        "",
        ".",
        "\0",
        "x" * 100_000,
        "http://127.0.0.1/x",
        "https://[",
        "file:///etc/passwd",
    ],
)
@pytest.mark.usefixtures("uploaded")
def test_nothing_else_is_a_file(place: str) -> None:
    for entry in (place, {"path": place}, {"path": place, "meta": MARK}):
        with pytest.raises(NotUploadedError, match="was not uploaded here"):
            take_uploads([entry], "photos")


def test_folders_and_links_out_of_the_folder_are_no_uploads(uploaded: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.write_text("secret")
    link = uploaded.with_name("link")
    link.symlink_to(outside)
    ways = [link, uploaded.parent, uploaded.parent / ".." / ".." / "secret", tmp_path / "gradio-2"]
    for path in ways:
        with pytest.raises(NotUploadedError):
            take_uploads([str(path)], "photos")


def test_there_is_a_limit_to_the_files_of_one_call(uploaded: Path) -> None:
    assert len(take_uploads([str(uploaded)] * MAX_FILES, "files")) == MAX_FILES
    for check in (take_uploads, settle_files):
        with pytest.raises(NotUploadedError, match=f"at most {MAX_FILES}"):
            check([str(uploaded)] * (MAX_FILES + 1), "files")


def test_of_a_marked_file_only_path_and_name_reach_gradio(uploaded: Path) -> None:
    sent = {
        "path": f"http://x/gradio_api/file={uploaded}",
        "url": "http://169.254.169.254/",
        "is_stream": True,
        "size": "many",
        "orig_name": "a\u202eb.jpg",
        "meta": MARK,
    }
    settled = settle_files({"deep": [sent]}, "photos")
    assert settled == {"deep": [{"path": str(uploaded), "orig_name": "ab.jpg", "meta": MARK}]}


@pytest.mark.parametrize("meta", [MARK, 5, None, [], {"_type": 1}])
@pytest.mark.usefixtures("uploaded")
def test_a_mark_is_checked_whatever_it_holds(meta: Any) -> None:
    with pytest.raises(NotUploadedError, match="trigger"):
        settle_files({"path": "/etc/passwd", "meta": meta}, "trigger")


def test_an_argument_nested_without_end_is_refused() -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    with pytest.raises(NotUploadedError, match="nested"):
        settle_files(nested, "photos")


plain = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_what_names_no_file_passes_unchanged(value: Any) -> None:
    assert repr(settle_files(value, "signs")) == repr(value)


@given(st.text(max_size=400))
def test_a_shown_name_can_be_written_and_deceives_nobody(name: str) -> None:
    shown = shown_name(name)
    shown.encode()  # a lone surrogate could not be
    assert len(shown) <= 255
    assert not any(unicode_mark in shown for unicode_mark in "\n\r\0\u202a\u202e\u2066\u200f")
    assert shown_name(shown) == shown


def test_letters_of_every_script_stay_in_a_name() -> None:
    for name in ("Größe № 7.pdf", "корова.jpg", "بقرة.jpg", "牛 🐄.png", "क्षेत्र.pdf"):
        assert shown_name(name) == name
