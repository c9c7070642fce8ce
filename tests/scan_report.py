"""The ScanReport as DESIGN.md section 2 fixes it, checked from outside."""

from typing import Any

LEVELS = ["retake_photo", "monitor", "within_days", "same_day", "emergency"]
SIGN_CLASSES = {
    "lumpy_skin",
    "foot_and_mouth",
    "udder_teat",
    "eye",
    "skin_crust",
    "no_visible_sign",
    "not_cattle",
}
LEAST_LEVELS = {
    "down": "emergency",
    "hard_breathing": "emergency",
    "left_flank_swollen": "emergency",
    "heavy_bleeding": "emergency",
    "sudden_death": "emergency",
    "not_eating": "same_day",
    "fever": "same_day",
    "drooling": "same_day",
    "abortion": "same_day",
    "mouth_sores": "same_day",
    "lame": "within_days",
}
REPORT_KEYS = {
    "level",
    "headline",
    "findings",
    "first_steps",
    "call",
    "why",
    "abstained",
    "signs_used",
    "photos",
    "model",
    "device",
    "device_reason",
    "timings_s",
    "sources",
    "disclaimer",
    # Not in DESIGN.md: photos of the request that could not be read, each with a message, and why
    # the report says what it says.
    "photo_errors",
}
PHOTO_KEYS = {"name", "width", "height", "quality", "probabilities", "heatmap"}
FINDING_KEYS = {"sign", "name", "probability", "notifiable", "zoonotic", "differentials"}


def check_report(report: dict[str, Any]) -> None:
    """Assert that a report without unreadable photos has the documented shape."""
    assert set(report) == REPORT_KEYS, set(report) ^ REPORT_KEYS
    assert report["photo_errors"] == []
    assert report["level"] in LEVELS
    assert report["headline"]
    assert report["first_steps"]
    assert report["call"]
    assert report["why"]
    assert report["sources"]
    assert report["disclaimer"]
    assert set(report["model"]) == {"id", "revision", "calibrated"}
    assert report["device"] in {"gpu", "cpu"}
    assert report["device_reason"]
    assert set(report["timings_s"]) == {"load", "infer", "unload"}
    for photo in report["photos"]:
        assert set(photo) == PHOTO_KEYS
        assert set(photo["probabilities"]) == SIGN_CLASSES
        assert abs(sum(photo["probabilities"].values()) - 1) < 0.01
        assert "/" not in photo["name"]
    for finding in report["findings"]:
        assert set(finding) == FINDING_KEYS


def is_at_least(level: str, least: str) -> bool:
    """Say whether `level` is as urgent as `least`, or more."""
    return LEVELS.index(level) >= LEVELS.index(least)
