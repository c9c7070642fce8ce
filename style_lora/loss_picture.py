"""The loss of a training as a picture: training loss as a band of grey, validation as a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageDraw, ImageFont

from style_lora.atomic_files import write_atomically

Point = tuple[float, float]
_SIZE: Final = (960, 540)
_LEFT, _TOP, _RIGHT, _BOTTOM = 80, 50, 930, 480
_GREY, _LIGHT, _BLUE, _RED, _BLACK = "#8a8f98", "#d9dce1", "#1257a8", "#b3261e", "#1b1d21"
# A step's loss is mostly noise: the curve is a running mean over this share of all steps.
_SMOOTHING_SHARE: Final = 0.02


def save_loss_picture(rows: Sequence[dict[str, Any]], best_step: int, path: Path) -> None:
    """Draw the loss over the steps as a PNG of 960 x 540.

    Args:
        rows: Of the training log.
        best_step: Marked, unless 0.
        path: File to write.

    Raises:
        DiskSpaceError: The disk is full.
    """
    training = _smooth([(row["step"], row["loss"]) for row in rows if "loss" in row])
    validation = [(row["step"], row["validation_loss"]) for row in rows if "validation_loss" in row]
    picture = Image.new("RGB", _SIZE, "white")
    draw = ImageDraw.Draw(picture)
    if training or validation:
        _draw_curves(draw, training, validation, best_step)
    write_atomically(path, lambda partial: picture.save(partial, "PNG"))


def _draw_curves(
    draw: ImageDraw.ImageDraw, training: list[Point], validation: list[Point], best_step: int
) -> None:
    losses = [loss for _, loss in training + validation]
    low, high = min(losses), max(losses)
    high = high if high > low else low + 1e-6
    last = max(step for step, _ in training + validation) or 1

    def place(point: Point) -> Point:
        across = _LEFT + (_RIGHT - _LEFT) * point[0] / last
        return across, _BOTTOM - (_BOTTOM - _TOP) * (point[1] - low) / (high - low)

    _draw_axes(draw, low, high, last)
    for points, colour, width in ((training, _GREY, 2), (validation, _BLUE, 3)):
        if len(points) > 1:
            draw.line([place(point) for point in points], fill=colour, width=width, joint="curve")
    for point in validation:
        x, y = place(point)
        colour = _RED if best_step and point[0] == best_step else _BLUE
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=colour)


def _draw_axes(draw: ImageDraw.ImageDraw, low: float, high: float, last: float) -> None:
    font = ImageFont.load_default(15)
    for quarter in range(5):
        y = _BOTTOM - (_BOTTOM - _TOP) * quarter / 4
        x = _LEFT + (_RIGHT - _LEFT) * quarter / 4
        draw.line((_LEFT, y, _RIGHT, y), fill=_LIGHT)
        value = low + (high - low) * quarter / 4
        draw.text((_LEFT - 8, y), f"{value:.4f}", fill=_BLACK, font=font, anchor="rm")
        draw.text(
            (x, _BOTTOM + 8), f"{last * quarter / 4:.0f}", fill=_BLACK, font=font, anchor="mt"
        )
    draw.text(((_LEFT + _RIGHT) / 2, _SIZE[1] - 8), "steps", fill=_BLACK, font=font, anchor="mb")
    legend = (("training loss", _GREY), ("validation loss", _BLUE), ("best, saved", _RED))
    for number, (text, colour) in enumerate(legend):
        draw.text((_LEFT + 200 * number, 16), text, fill=colour, font=font)


def _smooth(points: list[Point]) -> list[Point]:
    window = max(1, round(len(points) * _SMOOTHING_SHARE))
    smoothed = []
    for index, (step, _) in enumerate(points):
        near = points[max(0, index - window + 1) : index + 1]
        smoothed.append((step, sum(loss for _, loss in near) / len(near)))
    return smoothed
