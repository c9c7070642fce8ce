"""The illustration finder on pages drawn here: type, hatching, halftone, pencil, blank paper."""

from itertools import combinations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_tools.illustrations import find_illustrations, judge_page
from archive_tools.illustrations.boxes import are_near
from archive_tools.illustrations.candidates import find_gapless_ink
from archive_tools.illustrations.finder import LEAST_SHARE_AMONG_RULES
from archive_tools.illustrations.lighting import find_frame, find_sheet
from archive_tools.illustrations.marks import Kind, find_marks, find_rules
from archive_tools.illustrations.paper import separate_ink
from archive_tools.illustrations.pixels import shrink
from archive_tools.illustrations.reading import may_be_negative, read_page
from archive_tools.illustrations.skew import estimate_skew
from archive_tools.metrics import overlap
from archive_tools.page_judgement import reason_without_region

WIDTH, HEIGHT = 800, 1100
PICTURE = (220, 400, 580, 700)
WORDS = ("the", "barn", "owl", "nests", "in", "hollow", "trees", "and", "sleeps", "by", "day")


def draw_type(page, top, bottom, seed=0):
    """Set lines of type, leaving the picture's place free."""
    random = np.random.default_rng(seed)
    for y in range(top, bottom, 22):
        x = 90
        while x < WIDTH - 150:
            word = WORDS[random.integers(len(WORDS))]
            box = (x, y - 14, x + 12 * len(word), y + 6)
            if (
                overlap(box, (PICTURE[0] - 20, PICTURE[1] - 20, PICTURE[2] + 20, PICTURE[3] + 20))
                == 0
            ):
                cv2.putText(page, word, (x, y), cv2.FONT_HERSHEY_DUPLEX, 0.5, 30, 1, cv2.LINE_AA)
            x += 11 * len(word) + 12


def draw_engraving(page, box=PICTURE):
    """Hatch an area in two directions under an outline."""
    x0, y0, x1, y1 = box
    patch = page[y0:y1, x0:x1]
    for start in range(-patch.shape[0], patch.shape[1], 7):
        end = (start + patch.shape[0], patch.shape[0])
        cv2.line(patch, (start, 0), end, 40, 2, cv2.LINE_AA)
    centre = (patch.shape[1] // 2, patch.shape[0] // 2)
    cv2.ellipse(patch, centre, (centre[0] // 2, centre[1] // 2), 0, 0, 360, 20, -1)
    cv2.rectangle(patch, (0, 0), (patch.shape[1] - 1, patch.shape[0] - 1), 20, 2)


def text_page(paper=235):
    page = np.full((HEIGHT, WIDTH), paper, np.uint8)
    draw_type(page, 100, HEIGHT - 90)
    hole = page[PICTURE[1] : PICTURE[3], PICTURE[0] : PICTURE[2]]
    for line in range(14, hole.shape[0], 22):
        cv2.putText(
            hole, "a page of plain type only", (4, line), cv2.FONT_HERSHEY_DUPLEX, 0.5, 30, 1
        )
    return page


def mixed_page(paper=235):
    page = np.full((HEIGHT, WIDTH), paper, np.uint8)
    draw_type(page, 100, HEIGHT - 90)
    draw_engraving(page)
    return page


def turned_box(box, turns):
    """The box on a page turned by `turns` quarter turns against the clock."""
    x0, y0, x1, y1 = box
    width, height = WIDTH, HEIGHT
    for _ in range(turns):
        x0, y0, x1, y1 = y0, width - x1, y1, width - x0
        width, height = height, width
    return (x0, y0, x1, y1)


def with_black_frame(page):
    return cv2.copyMakeBorder(page, 50, 50, 50, 50, cv2.BORDER_CONSTANT, value=10)


def with_noise(page):
    noise = np.random.default_rng(1).normal(0, 20, page.shape)
    return np.clip(page + noise, 0, 255).astype(np.uint8)


def as_jpeg(page):
    return cv2.imdecode(cv2.imencode(".jpg", page, [cv2.IMWRITE_JPEG_QUALITY, 20])[1], 0)


DISTORTIONS = {
    "as is": lambda page: page,
    "dark": lambda page: (page * 0.45).astype(np.uint8),
    "pale": lambda page: (page * 0.35 + 110).astype(np.uint8),
    "negative": lambda page: 255 - page,
    "noise": with_noise,
    "jpeg": as_jpeg,
    "one bit": lambda page: np.where(page < 140, 0, 255).astype(np.uint8),
    "half size": lambda page: cv2.resize(page, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
    "double size": lambda page: cv2.resize(page, None, fx=2, fy=2),
}


@pytest.mark.parametrize("distort", DISTORTIONS.values(), ids=DISTORTIONS)
def test_an_engraving_in_type_is_found_where_it_is(distort):
    page = distort(mixed_page())
    scale = page.shape[1] / WIDTH
    (found,) = find_illustrations(page)
    assert overlap(found.box, tuple(scale * edge for edge in PICTURE)) > 0.85


@pytest.mark.parametrize("distort", DISTORTIONS.values(), ids=DISTORTIONS)
def test_type_alone_is_no_illustration(distort):
    assert find_illustrations(distort(text_page())) == ()


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_page_gives_the_turned_box(turns):
    (found,) = find_illustrations(np.ascontiguousarray(np.rot90(mixed_page(), turns)))
    assert overlap(found.box, turned_box(PICTURE, turns)) > 0.85
    assert find_illustrations(np.ascontiguousarray(np.rot90(text_page(), turns))) == ()


def test_a_scanner_frame_is_reported_and_is_no_picture():
    verdict = judge_page(with_black_frame(text_page()))
    assert "scanner frame" in verdict.traits
    assert verdict.illustrations == ()
    assert "scanner frame" in verdict.reason


def test_a_negative_is_reported():
    assert judge_page(255 - mixed_page()).traits == ("negative",)
    assert judge_page(mixed_page()).traits == ()


@pytest.mark.parametrize("degrees", [-5, -2, 3, 6])
def test_a_skewed_page_is_levelled_and_its_box_brought_back(degrees):
    there = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), degrees, 1)
    size = (WIDTH, HEIGHT)
    skewed = cv2.warpAffine(mixed_page(), there, size, borderMode=cv2.BORDER_REPLICATE)
    verdict = judge_page(skewed)
    (trait,) = verdict.traits
    assert float(trait.split()[2]) == pytest.approx(abs(degrees), abs=0.5)
    x0, y0, x1, y1 = PICTURE
    corners = np.array([(x0, y0, 1), (x1, y0, 1), (x0, y1, 1), (x1, y1, 1)]) @ there.T
    (found,) = verdict.illustrations
    assert overlap(found.box, (*corners.min(axis=0), *corners.max(axis=0))) > 0.85


def small_type():
    """Ink of three columns of small type, its lines seven pixels apart and not quite level."""
    random = np.random.default_rng(5)
    ink = np.zeros((620, 800), np.uint8)
    for column, left in enumerate((30, 276, 523)):
        for y in range(40 + column, 580, 7):
            x = left
            while x < left + 216:
                width = int(random.integers(2, 6))
                ink[y : y + 5, x : x + width] = 1
                x += width + (2 if random.random() < 0.8 else 6)
    return ink


@pytest.mark.parametrize("degrees", [-5, 3, 5])
def test_the_slant_of_small_type_is_not_that_of_every_other_line(degrees):
    there = cv2.getRotationMatrix2D((400, 310), degrees, 1)
    ink = cv2.warpAffine(small_type() * 255, there, (800, 620)) > 110
    assert estimate_skew(ink.astype(np.uint8)) == pytest.approx(degrees, abs=0.5)


@given(st.integers(20, 2600), st.integers(20, 2600))
@settings(max_examples=40, deadline=None)
def test_shrinking_states_its_scale(width, height):
    small, scale = shrink(np.full((height, width), 200, np.uint8), 500_000)
    assert small.size <= 540_000
    for side, whole in zip(small.shape, (height, width), strict=True):
        assert side / scale == pytest.approx(whole, abs=1.5 / scale)
    assert (small == 200).all()


def test_a_page_that_is_one_picture_gives_one_box():
    page = np.full((HEIGHT, WIDTH), 235, np.uint8)
    for box in ((120, 150, 420, 500), (450, 200, 700, 520), (150, 600, 650, 900)):
        draw_engraving(page, box)
    (found,) = find_illustrations(page)
    assert overlap(found.box, (120, 150, 700, 900)) > 0.95


def test_a_halftone_is_found():
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    tone = 0.5 + 0.4 * np.sin(columns / 60) * np.cos(rows / 45)
    dots = (np.sin(columns * 1.1) * np.sin(rows * 1.1) + 1) / 2 < tone
    page = text_page()
    x0, y0, x1, y1 = PICTURE
    page[y0 - 15 : y1 + 15, x0 - 15 : x1 + 15] = 235
    page[y0:y1, x0:x1][dots[y0:y1, x0:x1]] = 40
    (found,) = find_illustrations(page)
    assert overlap(found.box, PICTURE) > 0.85


def test_a_faint_pencil_drawing_is_found_and_paper_grain_is_not():
    random = np.random.default_rng(0)
    page = np.clip(random.normal(200, 2, (HEIGHT, WIDTH)), 0, 255)
    assert find_illustrations(page.astype(np.uint8)) == ()
    strokes = np.zeros((HEIGHT, WIDTH), np.uint8)
    for _ in range(60):
        start, end = random.integers((200, 300), (600, 800), (2, 2)).tolist()
        cv2.line(strokes, start, end, 9, 2, cv2.LINE_AA)
    verdict = judge_page((page - strokes).astype(np.uint8))
    assert verdict.faint
    assert overlap(verdict.illustrations[0].box, (200, 300, 600, 800)) > 0.8


def test_a_blank_page_has_nothing():
    verdict = judge_page(np.full((HEIGHT, WIDTH), 255, np.uint8))
    assert (verdict.score, verdict.reason) == (0, "no illustration found")


def test_the_least_area_that_was_asked_of_a_page_is_told():
    assert judge_page(text_page(), 0.03).least_area_share == 0.03
    assert judge_page(staves(), 0.03).least_area_share == LEAST_SHARE_AMONG_RULES
    assert judge_page(staves(), 0.05).least_area_share == 0.05
    told = reason_without_region(judge_page(staves()))
    assert told == "no illustration of at least 4 % of the page"


def test_least_area_is_an_option():
    page = text_page()
    x0, y0 = 300, 450
    page[y0 - 12 : y0 + 132, x0 - 12 : x0 + 132] = 235
    draw_engraving(page, (x0, y0, x0 + 120, y0 + 120))
    assert find_illustrations(page, least_area_share=0.03) == ()
    assert len(find_illustrations(page, least_area_share=0.004)) == 1


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 260),
    st.integers(1, 260),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["noise", "blobs", "flat"]),
)
def test_boxes_lie_inside_any_page_and_do_not_overlap(width, height, seed, texture):
    random = np.random.default_rng(seed)
    page = random.integers(0, 256, (height, width), dtype=np.uint8)
    if texture == "blobs":
        page = cv2.resize(page[: height // 20 + 1, : width // 20 + 1], (width, height))
    if texture == "flat":
        page[:] = page[0, 0]
    verdict = judge_page(page)
    boxes = [found.box for found in verdict.illustrations]
    for x0, y0, x1, y1 in boxes:
        assert 0 <= x0 < x1 <= width
        assert 0 <= y0 < y1 <= height
    assert not any(are_near(a, b, 0) for a, b in combinations(boxes, 2))
    assert 0 <= verdict.score <= 1


def test_ruled_lines_are_not_strokes_of_letters():
    ink = np.zeros((400, 300), np.uint8)
    ink[200:202, 20:280] = 1
    ink[50:350, 150:152] = 1
    ink[100:110, 100:106] = 1
    rules = find_rules(ink)
    assert rules[201, 50]
    assert rules[60, 151]
    assert not rules[105, 103]


def test_text_lines_and_headline_letters_are_told_apart():
    page = text_page()
    page[:90] = 235
    cv2.putText(page, "BARN OWLS", (100, 70), cv2.FONT_HERSHEY_TRIPLEX, 2.2, 20, 4)
    marks = find_marks(separate_ink(page).ink)
    assert marks.in_line.sum() > 500
    assert np.count_nonzero(marks.kinds == Kind.GLYPH) >= 7
    assert not marks.turned


def test_line_gaps_tell_text_from_solid_ink():
    kinds = np.zeros((200, 200), np.uint8)
    for top in range(0, 200, 20):
        kinds[top : top + 8, :100] = Kind.LETTER
    kinds[:, 120:] = Kind.OTHER
    gapless = find_gapless_ink(kinds, letter=8)
    assert gapless[:, :100].max() == 0
    assert gapless[50:150, 130:190].min() == 1


def test_a_dark_picture_to_the_page_edge_is_no_frame():
    page_map = np.full((100, 80), 230, np.uint8)
    page_map[:, :60] = 20
    assert find_frame(page_map).sum() == 0
    page_map[:, 6:60] = 230
    assert find_frame(page_map)[:, :6].all()


def spread(gutter_x, fold=0):
    """Two pages side by side, the right one with an engraving; `fold` darkens the gutter."""
    page = np.full((HEIGHT, 2 * WIDTH), 235, np.uint8)
    page[:, :WIDTH] = text_page()
    page[:, WIDTH:] = mixed_page()
    page = np.roll(page, gutter_x - WIDTH, axis=1)
    page[:, gutter_x - 12 : gutter_x + 12] -= fold
    return page


@pytest.mark.parametrize("gutter_x", [WIDTH - 120, WIDTH, WIDTH + 50])
@pytest.mark.parametrize("fold", [0, 60])
def test_the_gutter_of_a_spread_is_found_where_it_is(gutter_x, fold):
    verdict = judge_page(spread(gutter_x, fold))
    assert verdict.gutter_x == pytest.approx(gutter_x, abs=60)
    assert "two pages" in verdict.traits


def test_each_page_of_a_spread_is_judged_by_itself():
    page = spread(WIDTH)
    verdict = judge_page(page)
    left, right = verdict.halves
    assert left.box == (0, 0, verdict.gutter_x, HEIGHT)
    assert right.box == (verdict.gutter_x, 0, 2 * WIDTH, HEIGHT)
    assert (left.side, left.illustrations, left.score) == ("left", (), 0)
    (alone,) = judge_page(mixed_page()).illustrations
    (found,) = right.illustrations
    assert right.score == verdict.score == pytest.approx(alone.score, rel=0.15)
    assert verdict.side_of(found.box) == right.side == "right"


def test_a_picture_too_small_for_the_spread_counts_on_its_page():
    page = spread(WIDTH)
    page[120:380, 230:450] = 235
    draw_engraving(page, (260, 150, 420, 350))
    share = 160 * 200 / (HEIGHT * 2 * WIDTH)
    left, _ = judge_page(page, least_area_share=1.5 * share).halves
    assert len(left.illustrations) == 1
    left, _ = judge_page(page, least_area_share=2.5 * share).halves
    assert left.illustrations == ()


def test_a_picture_across_the_gutter_keeps_the_spread_whole():
    page = spread(WIDTH)
    draw_engraving(page, (WIDTH - 200, 250, WIDTH + 200, 800))
    verdict = judge_page(page)
    assert (verdict.gutter_x, verdict.halves) == (None, ())
    assert [verdict.side_of(found.box) for found in verdict.illustrations].count("") > 0


@pytest.mark.parametrize("turns", range(4))
def test_how_a_page_lies_is_told_from_its_letters(turns):
    verdict = judge_page(np.ascontiguousarray(np.rot90(mixed_page(), turns)))
    assert verdict.quarter_turns == turns
    assert verdict.traits == ((f"turned {90 * turns} degrees",) if turns else ())


def test_nothing_is_said_of_how_a_page_without_text_lies():
    page = np.full((HEIGHT, WIDTH), 235, np.uint8)
    draw_engraving(page, (100, 100, 700, 1000))
    assert judge_page(page).quarter_turns == 0


@pytest.mark.parametrize(
    ("trait", "distort"),
    [
        ("dark", lambda page: (page * 0.45).astype(np.uint8)),
        ("low contrast", lambda page: (page * 0.35 + 110).astype(np.uint8)),
        ("noisy", lambda page: with_noise(with_noise(page))),
    ],
)
@pytest.mark.parametrize("make", [text_page, mixed_page])
def test_bad_light_and_grain_are_noticed(make, trait, distort):
    page = cv2.resize(make(), None, fx=1.5, fy=1.5)  # the drawn type is thin
    assert trait in judge_page(distort(page)).traits
    assert judge_page(page).traits == ()


def test_single_pages_and_columns_have_no_gutter():
    assert judge_page(text_page()).gutter_x is None
    page = np.full((HEIGHT, 2 * WIDTH), 235, np.uint8)
    wide_line = " ".join(WORDS * 3)
    for y in range(100, HEIGHT - 90, 22):
        cv2.putText(page, wide_line, (90, y), cv2.FONT_HERSHEY_DUPLEX, 0.5, 30, 1, cv2.LINE_AA)
    assert judge_page(page).gutter_x is None


@pytest.mark.parametrize("grey", [20, 120])
def test_staves_are_no_faint_drawing(grey):
    page = np.full((HEIGHT, WIDTH), 240, np.uint8)
    for top in range(120, 1000, 110):
        for line in range(5):
            page[top + 10 * line : top + 10 * line + 2, 80:720] = grey
    verdict = judge_page(page)
    assert not verdict.faint
    assert verdict.illustrations == ()


@pytest.mark.parametrize("edge", [30, 90])
def test_a_frame_does_not_move_a_picture(edge):
    page = mixed_page()
    framed = cv2.copyMakeBorder(page, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=12)
    verdict = judge_page(framed)
    assert verdict.traits == ("scanner frame",)
    (found,) = verdict.illustrations
    assert overlap(found.box, tuple(side + edge for side in PICTURE)) > 0.85
    assert verdict.score == pytest.approx(judge_page(page).score, rel=0.1)


def test_the_black_margins_of_a_negative_are_no_frame():
    verdict = judge_page(255 - with_white_margin(mixed_page()))
    assert verdict.traits == ("negative",)
    assert len(verdict.illustrations) == 1


def with_white_margin(page):
    return cv2.copyMakeBorder(page, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=235)


def test_the_whole_scan_is_the_sheet_where_dark_edges_are_no_frame():
    page = mixed_page()
    page[:20, : WIDTH // 2] = 10
    assert find_sheet(page) == (0, 0, WIDTH, HEIGHT)
    page[:20] = 10
    assert find_sheet(page) == (0, 24, WIDTH, HEIGHT)


def test_a_page_lit_from_one_side_is_no_negative():
    light = np.linspace(0.5, 1, WIDTH)[None, :]
    page = (mixed_page() * light).astype(np.uint8)
    assert np.median(page) < 170
    assert not may_be_negative(page)
    assert may_be_negative(255 - page)
    assert not may_be_negative((mixed_page() * 0.45).astype(np.uint8))


def staves():
    page = np.full((HEIGHT, WIDTH), 240, np.uint8)
    random = np.random.default_rng(2)
    for top in range(120, 1000, 110):
        for line in range(5):
            page[top + 10 * line, 80:720] = 20
        for x in random.integers(100, 700, 24).tolist():
            cv2.ellipse(page, (x, top + int(random.integers(0, 40))), (6, 4), 20, 0, 360, 20, -1)
            page[top - 10 : top + 25, x + 5 : x + 7] = 20
    return page


@pytest.mark.parametrize("degrees", [-3, 2])
def test_thin_lines_stay_whole_when_a_page_is_levelled(degrees):
    there = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), degrees, 1)
    page = cv2.warpAffine(staves(), there, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REPLICATE)
    reading = read_page(page)
    assert reading.skew_deg == pytest.approx(degrees, abs=0.3)
    level = read_page(staves())
    # Turned after they have been cut from the paper, a third of them is left.
    assert reading.marks.rule_mask.sum() > 0.5 * level.marks.rule_mask.sum()


def test_a_shadow_along_a_whole_side_is_no_picture():
    page = text_page()
    dark = np.linspace(0.15, 0.9, 120)[None, :] * np.ones((HEIGHT, 1))
    page[:, :120] = (page[:, :120] * dark).astype(np.uint8)
    assert judge_page(page).illustrations == ()


def test_a_deep_shadow_along_a_side_of_a_blank_page_is_no_picture():
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    share = rows / (0.195 * HEIGHT * (1 + 0.08 * np.sin(columns / 130)))
    page = 235 * np.where(share < 1, 0.45 + 0.05 * share, 1)
    page += np.random.default_rng(3).normal(0, 4, page.shape)
    assert judge_page(np.clip(page, 0, 255).astype(np.uint8)).illustrations == ()


@pytest.mark.parametrize("turns", range(4))
def test_a_photo_that_bleeds_off_three_edges_is_a_picture(turns):
    depth = int(0.19 * HEIGHT)
    spots = np.random.default_rng(0).random((depth // 12, WIDTH // 12)).astype(np.float32)
    photo = cv2.resize(spots, (WIDTH, depth), interpolation=cv2.INTER_CUBIC)
    page = text_page()
    page[-depth - 24 : -depth] = 235
    page[-depth:] = np.clip(30 + 180 * photo, 0, 255).astype(np.uint8)
    (found,) = find_illustrations(np.ascontiguousarray(np.rot90(page, turns)))
    whole = (0, HEIGHT - depth, WIDTH, HEIGHT)
    assert overlap(found.box, turned_box(whole, turns)) > 0.85
