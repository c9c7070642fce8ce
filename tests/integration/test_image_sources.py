"""Images as sources: folders, TIFF, CBZ, EPUB, ZIPs of images; read as a person would see them."""

import json
import os
import random
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from archive_tools.captions import find_year
from archive_tools.config import (
    NO_FINISHING,
    Content,
    DatasetConfig,
    PageFilter,
    RunOptions,
    WorkerLimits,
)
from archive_tools.errors import PageError, SourceError
from archive_tools.open_documents import OpenPage, hash_document, open_any_document, probe_document
from archive_tools.pipeline import build_dataset
from archive_tools.run_report import RunReport
from archive_tools.schema import PageOutcome, PageTask, ProbeResult, ProbeTask
from archive_tools.workers import ProcessExecutor, map_pages
from examples.magazine_drawing.pages import PageKind, draw_labelled_page, page_size_px
from tests import image_fixtures, pdf_fixtures
from tests.pdf_fixtures import DPI

ALL_PAGES = DatasetConfig(filter=PageFilter.NONE, finishing=NO_FINISHING, dedupe=False)
SIZE = pdf_fixtures.PAGE_PX


def iter_pages(path: Path, config: DatasetConfig = ALL_PAGES) -> Iterator[OpenPage]:
    with open_any_document(path, config, check_limit_s=5.0) as document:
        for page_index in range(document.page_count):
            with document.open_page(page_index) as page:
                yield page


def read_pages(path: Path) -> list[np.ndarray]:
    return [page.choose_view(2.0).show(2.0) for page in iter_pages(path)]


def measure_sigmas(path: Path) -> list[float]:
    return [list(page.choose_view(2.0).iter_looks())[-1].sigma for page in iter_pages(path)]


def build(*sources: Path, out: Path, config: DatasetConfig = ALL_PAGES) -> RunReport:
    [*_, report] = build_dataset(sources, out, config, RunOptions(workers=0))
    assert isinstance(report, RunReport)
    return report


def list_images(dataset: Path) -> list[tuple[str, int]]:
    """Return the document and page number of each image."""
    with zipfile.ZipFile(dataset) as archive:
        rows = [json.loads(row) for row in archive.read("train/metadata.jsonl").splitlines()]
    return [(row["source_file"], row["page_number"]) for row in rows]


def reasons(report: RunReport) -> dict[int, str]:
    return {failure.page_number: failure.reason for failure in report.page_failures}


def test_a_failure_in_the_folder_one_works_in_keeps_the_dots_of_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.1.png").write_bytes(image_fixtures.page_image("PNG"))
    (tmp_path / "page.2.png").write_bytes(b"nothing")
    monkeypatch.chdir(tmp_path)
    report = build(Path(), out=tmp_path / "dataset.zip")
    assert reasons(report)[2].startswith("page.2.png: ")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "JPEG2000"])
def test_each_kind_shows_the_page(kind: str, tmp_path: Path) -> None:
    options = {"WEBP": {"quality": 90}, "JPEG2000": {"quality_layers": [20]}}.get(kind, {})
    path = tmp_path / "image"
    path.write_bytes(image_fixtures.page_image(kind, **options))
    [pixels] = read_pages(path)
    assert pixels.shape == (SIZE[1], SIZE[0], 3)
    assert np.abs(pixels.astype(int) - pdf_fixtures.draw_page()).mean() < 4


def test_sigma_of_an_image_is_that_of_the_same_image_in_a_pdf(tmp_path: Path) -> None:
    image, pdf = tmp_path / "scan.jpg", tmp_path / "scan.pdf"
    image.write_bytes(image_fixtures.page_image(quality=90))
    pdf.write_bytes(pdf_fixtures.colour_jpeg())
    assert measure_sigmas(image)[0] == pytest.approx(measure_sigmas(pdf)[0], abs=1.0)


def convert(mode: str) -> Image.Image:
    return Image.fromarray(pdf_fixtures.draw_page()).convert(mode)


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "I;16"])
def test_other_colour_modes_become_grey_or_rgb(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "scan.tif"
    if mode == "I;16":
        grey = np.asarray(convert("L")).astype(np.uint16) * 257
        Image.fromarray(grey).save(path)
    else:
        convert(mode).save(path)
    [pixels] = read_pages(path)
    expected = pdf_fixtures.draw_page().mean()
    assert pixels.dtype == np.uint8
    assert pixels.mean() == pytest.approx(expected, abs=12)


@pytest.mark.parametrize("bits", [8, 10, 12, 14, 16])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_grey_of_a_scanner_that_fills_the_lowest_bits_is_not_black(
    bits: int, kind: str, tmp_path: Path
) -> None:
    grey = np.asarray(convert("L"))
    Image.fromarray(grey.astype(np.uint16) << (bits - 8)).save(tmp_path / "scan", kind)
    [pixels] = read_pages(tmp_path / "scan")
    np.testing.assert_array_equal(pixels, grey)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_colours_that_would_come_out_black_are_refused_in_words(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"scan{suffix}"
    for bits, is_read in ((12, False), (16, True)):
        cv2.imwrite(str(path), pdf_fixtures.draw_page().astype(np.uint16) << (bits - 8))
        if is_read:
            assert read_pages(path)[0].max() > 200
        else:
            with pytest.raises(PageError, match="lowest 12 of 16 bits"):
                read_pages(path)


def test_ycbcr_is_read_with_compression_and_refused_in_words_without(tmp_path: Path) -> None:
    for compression in ("jpeg", "tiff_lzw"):
        convert("YCbCr").save(tmp_path / "scan.tif", compression=compression)
        [pixels] = read_pages(tmp_path / "scan.tif")
        assert np.abs(pixels.astype(int) - pdf_fixtures.draw_page()).mean() < 5
    convert("YCbCr").save(tmp_path / "scan.tif")
    with pytest.raises(PageError, match="YCbCr without compression"):
        read_pages(tmp_path / "scan.tif")


def test_transparent_parts_are_paper(tmp_path: Path) -> None:
    drawing = convert("RGBA")
    drawing.putalpha(Image.new("L", drawing.size, 0))
    drawing.save(tmp_path / "scan.png")
    [pixels] = read_pages(tmp_path / "scan.png")
    assert pixels.min() == 255


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_are_upright(orientation: int, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "photo"
    path.write_bytes(image_fixtures.turned_photo(orientation, kind))
    [pixels] = read_pages(path)
    assert pixels.shape == (SIZE[1], SIZE[0], 3)
    assert np.abs(pixels.astype(int) - pdf_fixtures.draw_page()).mean() < 4


def test_oblong_pixels_of_a_fax_become_square(tmp_path: Path) -> None:
    fax = convert("1").resize((1728, 1100))
    fax.save(tmp_path / "fax.tif", compression="group4", dpi=(204, 98))
    [page] = iter_pages(tmp_path / "fax.tif")
    assert page.height_pt / page.width_pt == pytest.approx(1100 / 98 / (1728 / 204), rel=0.01)
    height, width = read_pages(tmp_path / "fax.tif")[0].shape
    assert height / width == pytest.approx(page.height_pt / page.width_pt, rel=0.01)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_colour_profile_is_applied_and_a_damaged_one_ignored(kind: str, tmp_path: Path) -> None:
    red = np.full((64, 64, 3), (200, 60, 40), np.uint8)
    profile = image_fixtures.swapping_profile()
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    whole.write_bytes(image_fixtures.encode(red, kind, icc_profile=profile))
    damaged.write_bytes(image_fixtures.encode(red, kind, icc_profile=profile[:150]))
    shown, plain = (read_pages(path)[0][32, 32].astype(int) for path in (whole, damaged))
    assert np.abs(shown - (40, 60, 200)).max() < 12
    assert np.abs(plain - (200, 60, 40)).max() < 4


def test_a_large_scan_is_decoded_no_finer_than_needed(tmp_path: Path) -> None:
    large = Image.new("L", (4960, 7016), 200)
    large.save(tmp_path / "a4.png", dpi=(600, 600))
    [page] = iter_pages(tmp_path / "a4.png")
    assert page.reference_size == (1190, 1684)
    [pixels] = read_pages(tmp_path / "a4.png")
    assert pixels.shape == (1754, 1240)


def test_folder_is_one_document_in_natural_order(tmp_path: Path) -> None:
    folder = tmp_path / "plates"
    (folder / "more").mkdir(parents=True)
    for number in (10, 9, 1):
        (folder / f"p{number}.jpg").write_bytes(image_fixtures.page_image(seed=number))
    (folder / "more" / "x.png").write_bytes(image_fixtures.page_image("PNG", seed=4))
    (folder / "book.pdf").write_bytes(pdf_fixtures.colour_jpeg())
    (folder / "notes.txt").write_text("no page")
    report = build(folder, out=tmp_path / "dataset.zip")
    assert (report.status.value, report.file_count, report.pages.kept) == ("success", 3, 5)
    assert list_images(tmp_path / "dataset.zip") == [
        ("book.pdf", 1), ("plates", 1), ("plates", 2), ("plates", 3), ("more", 1),
    ]  # fmt: skip
    first = read_pages(folder)[0].astype(int)
    assert np.abs(first - pdf_fixtures.draw_page(seed=1)).mean() < 4


def test_pages_of_tiff_files_count_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    (folder / "1.tif").write_bytes(image_fixtures.tiff(3))
    (folder / "2.jpg").write_bytes(image_fixtures.page_image())
    (folder / "3.jpg").write_bytes(image_fixtures.tiff(2))  # whatever its name
    assert probe_document(folder, ALL_PAGES)[0] == 6
    shapes = [pixels.shape[:2] for pixels in read_pages(folder)]
    assert shapes == [(340, 240)] * 3 + [SIZE[::-1]] + [(340, 240)] * 2


def test_pictures_that_are_not_read_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    for name in ("a.heic", "b.bmp", "c.bmp", "notes.txt", ".d.gif"):
        (folder / name).write_bytes(b"?")
    (folder / "1.jpg").write_bytes(image_fixtures.page_image())
    report = build(folder, out=tmp_path / "dataset.zip")
    assert report.pages.kept == 1
    [failure] = report.source_failures
    assert failure.name == "scans"
    assert failure.message.startswith("3 files were left out (.bmp, .heic")


def test_a_bomb_among_the_images_of_a_zip_costs_only_itself(tmp_path: Path) -> None:
    scans = tmp_path / "scans.zip"
    with zipfile.ZipFile(scans, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("i/1.jpg", bytes(80 * 2**20))
        archive.writestr("i/2.jpg", image_fixtures.page_image())
    report = build(scans, out=tmp_path / "dataset.zip")
    assert (report.pages.kept, report.pages.failed) == (1, 1)
    assert list_images(tmp_path / "dataset.zip") == [("scans.zip/i", 2)]


def test_zip_of_images_and_books_is_read_without_leaving_anything(tmp_path: Path) -> None:
    page = image_fixtures.page_image
    scans = tmp_path / "scans.zip"
    scans.write_bytes(image_fixtures.comic_book({
        "b/10.jpg": page(seed=1), "b/9.jpg": page(seed=2), "a.pdf": pdf_fixtures.colour_jpeg(),
        "cover.png": page("PNG", seed=3), "comic.cbz": image_fixtures.comic_book(
            {"2.jpg": page(seed=4), "1.jpg": page(seed=5), "__MACOSX/._1.jpg": b""}),
        "b/.hidden.jpg": b"", "readme.txt": b"",
    }))  # fmt: skip
    report = build(scans, out=tmp_path / "dataset.zip")
    assert report.status.value == "success"
    assert list_images(tmp_path / "dataset.zip") == [
        ("scans.zip/a.pdf", 1), ("scans.zip/comic.cbz", 1), ("scans.zip/comic.cbz", 2),
        ("scans.zip", 1), ("scans.zip/b", 1), ("scans.zip/b", 2),
    ]  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset.zip", "scans.zip"]


def test_bad_images_cost_only_themselves_and_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "page"  # a name that is a word of every reason
    folder.mkdir()
    whole = image_fixtures.page_image()
    (folder / "1.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "2.jpg").write_bytes(whole)
    (folder / "3.png").write_bytes(image_fixtures.lying_png(100_000, 100_000))
    (folder / "4.png").write_bytes(image_fixtures.lying_png(12_500, 12_500))
    (folder / "5.png").write_bytes(image_fixtures.lying_png(4_000, 4_000))
    (folder / "6.tif").write_bytes(image_fixtures.chained_tiff(100_000))
    (folder / "7.jpg").write_bytes(pdf_fixtures.html_named_pdf())
    (folder / "8.jpg").symlink_to(folder / "nowhere")
    (folder / "9.jpg").write_bytes(image_fixtures.page_image("PNG"))  # another kind than its name
    report = build(folder, out=tmp_path / "dataset.zip")
    assert (report.pages.kept, report.pages.failed) == (2, 7)
    found = reasons(report)
    words = {
        1: "1.jpg: it is damaged or cut off", 3: "far too many pixels", 4: "12,500 x 12,500",
        5: "5.png: it is damaged", 6: "more than 10,000 pages", 7: "7.jpg: it is no JPEG",
        8: "8.jpg: it cannot be read",
    }  # fmt: skip
    assert {number: word for number, word in words.items() if word not in found[number]} == {}
    assert len(found) == 7


def test_a_jpeg_without_its_end_is_whole(tmp_path: Path) -> None:
    whole = image_fixtures.page_image()
    (tmp_path / "scan.jpg").write_bytes(whole[:-2])
    [pixels] = read_pages(tmp_path / "scan.jpg")
    assert np.abs(pixels.astype(int) - pdf_fixtures.draw_page()).mean() < 4


def test_content_counts_and_not_the_name(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(image_fixtures.page_image())
    (tmp_path / "scan.jpg").write_bytes(pdf_fixtures.colour_jpeg())
    for name in ("scan.pdf", "scan.jpg"):
        assert probe_document(tmp_path / name, ALL_PAGES)[0] == 1
        assert measure_sigmas(tmp_path / name)[0] == pytest.approx(83.8, abs=1)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.jpg", b"", "empty"),
        ("words.tif", b"hello", "not a PDF, an image"),
        ("comic.cbz", image_fixtures.comic_book({"notes.txt": b""}), "no image"),
        ("comic.cbz", b"PK\3\4 and nothing else", "damaged"),
        ("book.epub", b"PK\3\4 and nothing else", "damaged"),
        ("book.pdf", image_fixtures.comic_book({"a.jpg": b""}), "is a ZIP file"),
    ],
)
def test_unusable_files_say_why(name: str, content: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=word) as caught:
        probe_document(tmp_path / name, ALL_PAGES)
    assert name in str(caught.value)


def test_damaged_and_encrypted_members_of_a_comic_fail_alone(tmp_path: Path) -> None:
    content = bytearray(image_fixtures.comic_book({
        "1.jpg": image_fixtures.page_image(), "2.jpg": image_fixtures.page_image(seed=1),
    }))  # fmt: skip
    content[1000] ^= 0xFF
    second = content.rfind(b"PK\1\2")
    content[second + 8] |= 1
    (tmp_path / "comic.cbz").write_bytes(content)
    with open_any_document(tmp_path / "comic.cbz", ALL_PAGES, 5.0) as document:
        for page_index, word in enumerate(("damaged inside", "encrypted")):
            with pytest.raises(PageError, match=word), document.open_page(page_index):
                pass


def test_epub_is_laid_out_with_its_picture_and_title(tmp_path: Path) -> None:
    (tmp_path / "book.epub").write_bytes(image_fixtures.epub())
    page_count, details = probe_document(tmp_path / "book.epub", ALL_PAGES)
    assert (page_count, details.title) == (1, "The Garden")
    assert measure_sigmas(tmp_path / "book.epub")[0] > 45


@pytest.mark.parametrize(
    ("dates", "date", "year"),
    [
        ("<dc:date>1895-10-01</dc:date>", "1895-10-01", "1895"),
        ("<dc:date>2011</dc:date>", "2011", ""),
        (
            '<dc:date opf:event="modification">1990-01-01</dc:date>'
            '<dc:date opf:event="publication">1895</dc:date>',
            "1895",
            "1895",
        ),
        ("<dc:date/>", "", ""),
        ("<dc:date>      </dc:date>", "", ""),
        ("", "", ""),
        pytest.param(
            f"<dc:date>{' ' * 200_000}{'x' * 50}</dc:date><dc:date>\n1895 </dc:date>",
            "1895",
            "1895",
            id="one that would be searched for hours",
        ),
    ],
)
def test_an_epub_tells_when_its_work_was_published(
    dates: str, date: str, year: str, tmp_path: Path
) -> None:
    (tmp_path / "book.epub").write_bytes(image_fixtures.epub(dates))
    _, details = probe_document(tmp_path / "book.epub", ALL_PAGES)
    assert (details.created, find_year(details)) == (date, year)


def test_xps_is_rendered(tmp_path: Path) -> None:
    (tmp_path / "book.xps").write_bytes(image_fixtures.xps())
    [pixels] = read_pages(tmp_path / "book.xps")
    assert pixels.shape == (900, 600, 3)  # 96 units to the inch
    assert (pixels[:, :290].max(), pixels[:, 310:].min()) == (0, 255)


def test_a_changed_folder_is_another_document(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").write_bytes(image_fixtures.page_image())
    before = hash_document(tmp_path)
    (tmp_path / "1.jpg").rename(tmp_path / "2.jpg")
    renamed = hash_document(tmp_path)
    (tmp_path / "2.jpg").write_bytes(image_fixtures.page_image(seed=1))
    assert len({before, renamed, hash_document(tmp_path)}) == 3


def test_an_image_that_goes_during_the_run_is_a_page_that_fails(tmp_path: Path) -> None:
    for name in ("1.jpg", "2.jpg"):
        (tmp_path / name).write_bytes(image_fixtures.page_image())
    with open_any_document(tmp_path, ALL_PAGES, 5.0) as document:
        (tmp_path / "2.jpg").unlink()
        with pytest.raises(PageError, match=r"2\.jpg: it cannot be read"), document.open_page(1):
            pass
        with pytest.raises(PageError, match="has gone"), document.open_page(2):
            pass


def test_regions_are_cut_from_images(tmp_path: Path) -> None:
    drawn = draw_labelled_page(PageKind.HALFTONE, 3, page_size_px(PageKind.HALFTONE, DPI))
    (tmp_path / "scan.png").write_bytes(image_fixtures.encode(drawn.pixels, "PNG"))
    config = DatasetConfig(filter=PageFilter.AUTO, content=Content.REGIONS, min_size_px=100)
    report = build(tmp_path / "scan.png", out=tmp_path / "dataset.zip", config=config)
    assert report.dataset["counts"]["images"] == len(drawn.pictures) > 0


def test_name_that_is_no_text_is_no_hindrance(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"M\xe4rz")
    folder.mkdir()
    (folder / os.fsdecode(b"p\xe4ge.jpg")).write_bytes(b"no image")
    (folder / "q.jpg").write_bytes(image_fixtures.page_image())
    report = build(folder, out=tmp_path / "dataset.zip")
    assert (report.pages.kept, report.pages.failed) == (1, 1)
    assert reasons(report)[1].startswith("p?ge.jpg: it is no JPEG")


KINDS = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "TIFF": ".tif", "JPEG2000": ".jp2"}


def write_fuzzed(folder: Path) -> int:
    """Write each kind of image truncated at every tenth and with bytes flipped; returns a count."""
    small = pdf_fixtures.draw_page(120, 170)
    for kind, suffix in KINDS.items():
        whole = image_fixtures.encode(small, kind)
        variants = [whole[: len(whole) * tenth // 10] for tenth in range(10)]
        for seed in range(6):
            flipped = bytearray(whole)
            chance = random.Random(f"{kind} {seed}")
            for _ in range(max(1, len(whole) // 1000)):
                flipped[chance.randrange(len(whole))] = chance.randrange(256)
            variants.append(bytes(flipped))
        for number, variant in enumerate(variants):
            (folder / f"{kind} {number}{suffix}").write_bytes(variant)
    return 16 * len(KINDS)


def test_every_fuzzed_image_ends_in_a_clear_record(tmp_path: Path) -> None:
    count = write_fuzzed(tmp_path)
    config = replace(ALL_PAGES, min_size_px=0, upscale=True, size_px=64)
    with ProcessExecutor(config, WorkerLimits(page_time_s=60), 1) as executor:
        probed = executor.submit(ProbeTask(tmp_path, 0))
        assert executor.wait_for(probed, 60)
        assert isinstance(probed.reply, ProbeResult)
        assert probed.reply.page_count == count
        tasks = [PageTask(tmp_path, page_index) for page_index in range(count)]
        results = list(map_pages(executor, tasks))
    outcomes = Counter(result.outcome for result in results)
    assert outcomes[PageOutcome.FAILED] >= 9 * len(KINDS)
    assert outcomes[PageOutcome.KEPT] >= 1
    reasons_given = " ".join(result.reason for result in results)
    assert not re.search("unexpected|died|longer", reasons_given), reasons_given
