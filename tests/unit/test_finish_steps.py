"""Finishing: what each step does, and that clean pages come out as they went in."""

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_tools import borders, descreen, deskew, paper_tone, quality, wedges
from archive_tools.config import NO_FINISHING, DatasetConfig, Finishing, PageFilter
from archive_tools.finish_steps import finish, tone_paper
from archive_tools.picture import Rejection, make_record
from archive_tools.schema import Record

Pixels = npt.NDArray[np.uint8]

WHITE, AGED = (250, 250, 249), (228, 208, 168)
# On a clean page no pixel may change by more than this (of 255): that is the promise of the README.
CLEAN_BOUND = 2


def draw_page(paper: tuple[int, int, int] = WHITE, height: int = 1400, width: int = 1000) -> Pixels:
    """Lines of type above, an engraving of concentric rings below; ink is black."""
    rng = np.random.default_rng(4)
    ink = np.zeros((height, width), dtype=np.float32)
    for top in range(120, height // 2, 24):
        left = 100
        while left < width - 160:
            right = left + int(rng.integers(10, 60))
            ink[top : top + 11, left:right] = 0.9
            left = right + 9
    for radius in range(20, 240, 9):
        cv2.circle(ink, (width // 2, height * 3 // 4), radius, 0.8, 3)
    ink = cv2.GaussianBlur(ink, (0, 0), 0.7)[:, :, None]
    page = np.array(paper, dtype=np.float32) * (1 - ink) + 20 * ink
    return np.clip(page + rng.normal(0, 1.5, (height, width, 1)), 0, 255).astype(np.uint8)


def luma(pixels: Pixels) -> npt.NDArray[np.int16]:
    return cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.int16)


def apply_all(pixels: Pixels, finishing: Finishing) -> tuple[Pixels, str | None]:
    finished = finish(pixels, finishing)
    return tone_paper(finished.pixels, finished, finishing)


def test_a_clean_page_hardly_changes() -> None:
    page = draw_page()
    picture, steps = apply_all(page, Finishing())
    assert steps == ""
    assert np.abs(picture.astype(int) - page).max() <= CLEAN_BOUND


def test_switched_off_nothing_is_looked_at() -> None:
    page = draw_page(AGED)
    finished = finish(page, NO_FINISHING)
    picture, steps = tone_paper(finished.pixels, finished, NO_FINISHING)
    assert picture is page
    assert steps is None


class TestBorders:
    @settings(max_examples=20, deadline=None)
    @given(sides=st.tuples(*[st.integers(0, 90)] * 4), dark=st.integers(0, 60))
    def test_dark_borders_are_found_to_a_few_pixels(
        self, sides: tuple[int, int, int, int], dark: int
    ) -> None:
        left, top, right, bottom = (0 if side < 6 else side for side in sides)
        page = cv2.copyMakeBorder(
            draw_page(), top, bottom, left, right, cv2.BORDER_CONSTANT, value=(dark, dark, dark)
        )
        x0, y0, x1, y1 = borders.find_page_box(page)
        height, width = page.shape[:2]
        for found, true in ((x0, left), (y0, top), (width - x1, right), (height - y1, bottom)):
            # Nothing dark is left, and at most 1 % of the page goes with it.
            assert true <= found + 2 if true else found == 0
            assert found <= true + 0.01 * max(height, width)

    def test_a_dark_picture_up_to_the_edge_is_no_border(self) -> None:
        page = draw_page()
        page[:600] = np.random.default_rng(1).integers(0, 90, (600, 1000, 3))
        assert borders.find_page_box(page) == (0, 0, 1000, 1400)

    def test_a_gutter_shadow_is_cut_off(self) -> None:
        page = draw_page().astype(np.float32)
        page[:, :40] *= np.linspace(0.35, 0.95, 40)[None, :, None]
        x0, y0, x1, y1 = borders.find_page_box(page.astype(np.uint8))
        assert 20 <= x0 <= 60
        assert (y0, x1, y1) == (0, 1000, 1400)

    def test_the_box_is_in_pixels_of_the_page(self) -> None:
        page = cv2.copyMakeBorder(draw_page(), 0, 0, 60, 0, cv2.BORDER_CONSTANT, value=(9, 9, 9))
        made = make_record(page, DatasetConfig())
        assert isinstance(made, Record)
        assert made.bbox[0] == pytest.approx(60, abs=10)
        assert made.bbox[1:] == (0, 1060, 1400)
        assert (made.page_width, made.page_height) == (1060, 1400)
        assert made.finishing == "trimmed"


class TestDeskew:
    @pytest.mark.parametrize("degrees", [-3.0, -1.0, 0.6, 1.5, 2.8])
    def test_a_slanted_page_is_turned_back(self, degrees: float) -> None:
        slanted = deskew.turn(draw_page(), degrees, WHITE)
        assert deskew.find_slant(slanted) == pytest.approx(-degrees, abs=0.2)

    def test_an_upright_page_and_one_without_lines_stay(self) -> None:
        assert deskew.find_slant(draw_page()) == 0
        noise = np.random.default_rng(2).integers(0, 256, (900, 700), dtype=np.uint8)
        assert deskew.find_slant(noise) == 0
        rings = np.full((900, 900), 250, dtype=np.uint8)
        cv2.circle(rings, (450, 450), 300, 20, 6)
        assert deskew.find_slant(rings) == 0

    @pytest.mark.parametrize("degrees", [-2.0, 1.0, 3.0])
    def test_slanted_hatching_in_an_upright_frame_stays(self, degrees: float) -> None:
        plate = np.full((1500, 1100), 250, dtype=np.uint8)
        rise = round(900 * np.tan(np.radians(degrees)))
        for top in range(160, 1360, 14):
            cv2.line(plate, (100, top), (1000, top - rise), 30, 3)
        plate[:150] = plate[1350:] = 250
        cv2.rectangle(plate, (100, 150), (1000, 1350), 0, 6)
        assert deskew.find_slant(plate) == 0

    def test_corners_are_filled_with_the_paper(self) -> None:
        turned = deskew.turn(draw_page(AGED), 3.0, AGED)
        assert np.abs(turned[0, 0].astype(int) - AGED).max() <= 6
        grey = deskew.turn(draw_page()[:, :, 0], 3.0, WHITE)
        assert grey[0, 0] > 240


class TestWedges:
    """A page that lies askew in the scanner's frame, and what looks like one but is not."""

    @settings(max_examples=8, deadline=None)
    @given(
        degrees=st.one_of(st.floats(-2.0, -0.5), st.floats(0.5, 2.0)),
        sides=st.tuples(*[st.integers(2, 14)] * 4),
    )
    def test_no_dark_wedge_is_left_along_a_turned_page(
        self, degrees: float, sides: tuple[int, int, int, int]
    ) -> None:
        top, bottom, left, right = sides
        framed = cv2.copyMakeBorder(
            draw_page(AGED), top, bottom, left, right, cv2.BORDER_CONSTANT, value=(12, 12, 12)
        )
        picture = finish(deskew.turn(framed, degrees, (12, 12, 12)), Finishing()).pixels
        grey = luma(picture)
        edges = (grey[4], grey[-5], grey[:, 4], grey[:, -5])
        assert max((edge < 110).mean() for edge in edges) < 0.02
        assert picture.shape[0] > 0.9 * 1400
        assert picture.shape[1] > 0.9 * 1000

    @pytest.mark.parametrize("degrees", [0.0, 1.2])
    def test_a_page_without_a_frame_stays_whole(self, degrees: float) -> None:
        page = deskew.turn(draw_page(AGED), degrees, AGED)
        assert finish(page, Finishing()).box == (0, 0, 1000, 1400)

    def test_a_picture_up_to_the_edge_is_not_cut(self) -> None:
        page = draw_page(AGED)
        cv2.circle(page, (1000, 500), 220, (30, 30, 30), -1)
        page[900:1300, 970:] = np.random.default_rng(3).integers(0, 130, (400, 30, 1))
        assert finish(page, Finishing()).box == (0, 0, 1000, 1400)

    def test_print_beside_a_wedge_is_not_cut_with_it(self) -> None:
        look = np.full((600, 430), 230, dtype=np.uint8)
        cv2.fillPoly(look, [np.array([(430, 0), (430, 599), (420, 599)], dtype=np.int32)], 10)
        everywhere = np.ones(look.shape, dtype=np.bool_)
        assert wedges.find_wedges(look, everywhere)[2] > 9 / 430
        look[100:110, 422:428] = 30
        assert wedges.find_wedges(look, everywhere)[2] == 0

    def test_a_page_is_trimmed_only_when_asked(self) -> None:
        framed = cv2.copyMakeBorder(
            draw_page(AGED), 8, 8, 8, 8, cv2.BORDER_CONSTANT, value=(12, 12, 12)
        )
        slanted = deskew.turn(framed, 1.2, (12, 12, 12))
        assert finish(slanted, Finishing()).steps == ("deskewed -1.2", "trimmed")
        assert finish(slanted, Finishing(trim=False)).steps == ("deskewed -1.2",)


class TestPaperTone:
    def test_aged_paper_becomes_neutral_and_keeps_every_tone(self) -> None:
        page = draw_page(AGED)
        picture, steps = apply_all(page, Finishing())
        assert steps == "paper neutralised"
        spread = picture.max(axis=2).astype(int) - picture.min(axis=2)
        assert np.percentile(spread, 99) <= 8  # was 60
        assert np.abs(luma(picture) - luma(page)).max() <= CLEAN_BOUND

    def test_a_coloured_plate_keeps_its_colours(self) -> None:
        page = draw_page(AGED)
        page[800:1300, 150:850] = (60, 110, 170)
        page[900:1200, 300:600] = (190, 40, 50)
        picture, steps = apply_all(page, Finishing())
        assert steps == "paper neutralised"
        inside = np.s_[805:1295, 155:845]
        assert np.abs(picture[inside].astype(int) - page[inside]).max() <= CLEAN_BOUND

    def test_keep_leaves_the_paper(self) -> None:
        page = draw_page(AGED)
        picture, steps = apply_all(page, Finishing(neutral_paper=False))
        assert steps == ""
        np.testing.assert_array_equal(picture, page)

    @pytest.mark.parametrize(
        "colour", [(60, 90, 200), (200, 60, 60), (90, 180, 90), (250, 210, 40)]
    )
    def test_a_coloured_cover_is_no_aged_paper(self, colour: tuple[int, int, int]) -> None:
        cover = np.full((900, 700, 3), colour, dtype=np.uint8)
        assert not paper_tone.is_aged_paper(cover, colour)

    def test_a_painting_without_margins_is_no_aged_paper(self) -> None:
        painting = np.random.default_rng(5).integers(0, 256, (90, 70, 3), dtype=np.uint8)
        painting = cv2.resize(painting, (700, 900))
        assert not paper_tone.is_aged_paper(painting, AGED)

    @pytest.mark.parametrize("channel", [0, 1, 2])
    def test_margins_are_of_the_paper_up_to_thirty_levels_in_each_colour(
        self, channel: int
    ) -> None:
        for level, expected in ((30, True), (-30, True), (31, False), (-31, False)):
            margin = np.array((200, 190, 170))
            margin[channel] += level
            page = np.full((300, 200, 3), margin, dtype=np.uint8)
            assert paper_tone.is_aged_paper(page, (200, 190, 170)) is expected


class TestDescreen:
    def test_a_halftone_becomes_its_tones(self) -> None:
        rows, columns = np.indices((1024, 1024)).astype(np.float32)
        tone = 0.25 + 0.5 * columns / 1024
        period = 5.0
        screen = (np.cos(np.pi * (rows + columns) / period * 1.414)
                  + np.cos(np.pi * (rows - columns) / period * 1.414)) / 4 + 0.5  # fmt: skip
        halftone = np.where(screen < tone, 30, 230).astype(np.uint8)
        found = descreen.find_screen(halftone)
        assert found == pytest.approx(period, rel=0.1)
        smooth = descreen.smooth_screen(halftone, found)
        inner = smooth[100:-100, 100:-100].astype(float)
        assert np.abs(np.diff(inner, axis=1)).mean() < 6  # dots jump by 200

    def test_type_and_rings_are_no_halftone(self) -> None:
        assert descreen.find_screen(draw_page()) == 0

    def test_it_is_done_only_when_asked(self) -> None:
        assert not Finishing().descreen


class TestQuality:
    def test_blur_is_flagged(self) -> None:
        sharp = make_record(draw_page(), DatasetConfig())
        blurred = make_record(cv2.GaussianBlur(draw_page(), (0, 0), 9), DatasetConfig())
        assert isinstance(sharp, Record)
        assert isinstance(blurred, Record)
        assert sharp.flags == ""
        assert blurred.flags == quality.BLURRED
        assert sharp.sharpness is not None
        assert blurred.sharpness is not None
        assert sharp.sharpness > 5 * blurred.sharpness

    def test_a_nearly_blank_page_is_dropped_unless_the_filter_knows_better(self) -> None:
        page = np.full((1400, 1000, 3), AGED, dtype=np.uint8)
        page += np.random.default_rng(0).integers(0, 8, page.shape, dtype=np.uint8)
        cv2.putText(page, "12", (480, 60), cv2.FONT_HERSHEY_SIMPLEX, 1, (40, 40, 40), 2)
        made = make_record(page, DatasetConfig(filter=PageFilter.SIGMA))
        assert made == Rejection("nearly blank")
        # A pale drawing that `auto` has found looks no different.
        for page_filter in (PageFilter.AUTO, PageFilter.NONE):
            assert isinstance(make_record(page, DatasetConfig(filter=page_filter)), Record)

    def test_a_small_vignette_is_not_blank(self) -> None:
        page = np.full((1400, 1000, 3), AGED, dtype=np.uint8)
        for radius in range(4, 90, 8):
            cv2.circle(page, (500, 700), radius, (30, 30, 30), 2)
        assert isinstance(make_record(page, DatasetConfig()), Record)

    def test_too_small_is_said_with_both_sizes(self) -> None:
        made = make_record(draw_page()[:300, :300], DatasetConfig())
        assert made == Rejection(
            "too small: 300 x 300 px are fewer than 384 x 384 (min_size 300 would keep it)"
        )
        made = make_record(draw_page()[:300, :300], DatasetConfig(min_size_px=200))
        assert isinstance(made, Record)
