import json

import cv2
import numpy as np
import pytest

from archive_tools.errors import LabelsError
from archive_tools.evaluation import evaluate_labels, format_evaluation, page_sigma, read_grey

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
    assert "sigma" in format_evaluation(report)
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
