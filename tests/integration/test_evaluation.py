import json

import cv2
import numpy as np
import pytest

from archive_tools.errors import LabelsError
from archive_tools.evaluation import evaluate_labels, page_sigma
from archive_tools.label_file import read_grey

HEADER = "path,label,kind,source,regions\n"


@pytest.fixture
def labelled(tmp_path):
    """Write a label file over drawn pages: a flat one and one of strong contrast."""
    flat = np.full((120, 80), 200, np.uint8)
    contrast = flat.copy()
    contrast[:60] = 0
    cv2.imwrite(str(tmp_path / "flat.png"), flat)
    cv2.imwrite(str(tmp_path / "contrast.png"), contrast)

    def write(*rows, header=HEADER):
        path = tmp_path / "labels.csv"
        path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_auto_and_regions_stand_beside_sigma(tmp_path, labelled):
    page = np.full((1000, 700), 235, np.uint8)
    for start in range(-400, 400, 6):
        cv2.line(page[300:600, 150:550], (start, 0), (start + 300, 300), 30, 2)
    cv2.imwrite(str(tmp_path / "plate.png"), page)
    truth = "[[0.214, 0.3, 0.786, 0.6], [0, 0, 0.05, 0.05]]"
    report = evaluate_labels(
        labelled(
            f'plate.png,illustration,grey,a,"{truth}"',
            "flat.png,text,grey,b,[]",
            f'plate.png,ornament,grey,b,"{truth}"',
        )
    )
    auto = report["auto"]
    assert (auto["n"], auto["precision"], auto["recall"], auto["f1"]) == (2, 1, 1, 1)
    assert auto["ornaments"] == {"n": 1, "kept": 1}
    # The small true box is not asked for, and the page with ornaments is left out.
    assert report["regions"]["n_truth"] == 1
    assert report["regions"]["recall_iou50"] == report["regions"]["precision_iou50"] == 1
    assert report["regions"]["per_source"]["b"]["n_found"] == 0
    assert set(auto["leave_one_source_out"]["thresholds"]) == {"a", "b"}
    json.dumps(report, allow_nan=False)


@pytest.mark.shared_data
def test_labelled_scans_show_the_better_rule(shared_data, tmp_path):
    """Every 20th labelled page: the whole set takes minutes and belongs to `make bench`."""
    rows = (shared_data / "scans" / "labels.csv").read_text(encoding="utf-8").splitlines()
    chosen = tmp_path / "labels.csv"
    chosen.write_text("\n".join([rows[0], *rows[1::20]]), encoding="utf-8")
    for source in {row.split("/")[0] for row in rows[1::20]}:
        (tmp_path / source).symlink_to(shared_data / "scans" / source)
    report = evaluate_labels(chosen)
    assert report["auto"]["f1"] > 0.9 > 0.5 > report["sigma"]["f1"]
    assert report["regions"]["recall_iou50"] > 0.7


def test_sigma_figures_by_source_and_kind_with_ornaments_apart(labelled):
    report = evaluate_labels(
        labelled(
            "contrast.png,mixed,grey,a,",
            'flat.png,illustration,grey,a,"[[0, 0, 1, 1]]"',
            "flat.png,text,colour,b,[]",
            "contrast.png,ornament,colour,b,",
        )
    )
    sigma = report["sigma"]
    assert (sigma["n"], sigma["precision"], sigma["recall"]) == (3, 1.0, 0.5)
    assert sigma["auc"] == pytest.approx(0.75)
    assert sigma["per_source"]["a"]["kept_share"] == 0.5
    assert sigma["per_kind"]["colour"]["n"] == 1
    assert sigma["ornaments"] == {"n": 1, "kept": 1}
    assert report["ms_per_page"] > 0
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("path,label\n", "flat.png,text", "lacks the columns kind, source, regions"),
        (HEADER, "flat.png,picture,grey,a,", "a label must be one of"),
        (HEADER, "flat.png,text", "as many values as there are columns"),
        (HEADER, "gone.png,text,grey,a,", "gone.png"),
        (HEADER, "labels.csv,text,grey,a,", "cannot be read"),
        (HEADER, 'flat.png,mixed,grey,a,"[[1, 2]]"', "line 2: regions is not a JSON list"),
        (HEADER, 'flat.png,mixed,grey,a,"[[1, 0, 0, 1]]"', "fractions of the page"),
    ],
    ids=["columns", "label", "short-row", "missing-image", "no-image", "bad-box", "turned-box"],
)
def test_a_bad_label_file_is_explained(labelled, header, row, message):
    with pytest.raises(LabelsError, match=message.replace("[", r"\[")):
        evaluate_labels(labelled(row, header=header))


def test_missing_empty_and_binary_label_files_are_explained(tmp_path, labelled):
    with pytest.raises(LabelsError, match="cannot be read"):
        evaluate_labels(tmp_path / "nothing.csv")
    with pytest.raises(LabelsError, match="no rows"):
        evaluate_labels(labelled())
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00path\x00")
    with pytest.raises(LabelsError):
        evaluate_labels(binary)


def test_sigma_is_that_of_the_page_at_144_dpi():
    stripes = np.zeros((3368, 2400), np.uint8)
    stripes[::2] = 255  # one-pixel stripes vanish when the page is halved
    assert page_sigma(stripes) < 1
    assert page_sigma(stripes[:1684, :1200]) > 126


def test_transparent_pixels_are_paper(tmp_path):
    path = tmp_path / "clear.png"
    cv2.imwrite(str(path), np.zeros((8, 8, 4), np.uint8))
    assert read_grey(path).min() == 255
