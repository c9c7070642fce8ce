"""What scanners and copyists do to a page: the distortions that the filter is measured under."""

from collections.abc import Callable

import cv2
import numpy as np

from archive_tools.label_file import Grey


def rotate(degrees: float) -> Callable[[Grey], Grey]:
    """Return a distortion that turns a page against the clock on a larger sheet."""

    def turn(grey: Grey) -> Grey:
        height, width = grey.shape
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
        cosine, sine = abs(matrix[0, 0]), abs(matrix[0, 1])
        size = (round(width * cosine + height * sine), round(width * sine + height * cosine))
        matrix[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
        turned = cv2.warpAffine(grey, matrix, size, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(turned, np.uint8)

    return turn


def shrink_to(long_side: int) -> Callable[[Grey], Grey]:
    """Return a distortion that brings the long side down to so many pixels."""

    def shrink(grey: Grey) -> Grey:
        scale = long_side / max(grey.shape)
        if scale >= 1:
            return grey
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8)

    return shrink


def grade(gain: float, offset: float) -> Callable[[Grey], Grey]:
    """Return a distortion that scales and shifts all greys."""
    return lambda grey: (grey * gain + offset).astype(np.uint8)


def add_noise(grey: Grey) -> Grey:
    """Add grain of 25 grey levels."""
    noise = np.random.default_rng(0).normal(0, 25, grey.shape)
    return np.clip(grey + noise, 0, 255).astype(np.uint8)


def compress(grey: Grey) -> Grey:
    """Store as JPEG of quality 20 and decode."""
    _, jpeg = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, 20])
    return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_GRAYSCALE), np.uint8)


def cut_to_one_bit(grey: Grey) -> Grey:
    """Cut to black and white at Otsu's threshold."""
    _, bits = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.asarray(bits, np.uint8)


def light_from_one_side(grey: Grey) -> Grey:
    """Light the page from one corner: 44 % is left at the other."""
    height, width = grey.shape
    light = np.linspace(0.55, 1, width)[None, :] * np.linspace(0.8, 1, height)[:, None]
    return (grey * light).astype(np.uint8)


def frame(grey: Grey) -> Grey:
    """Lay the page on a black scanner bed."""
    edge = max(grey.shape) // 20
    sides = (edge, edge, edge, edge)
    return np.asarray(cv2.copyMakeBorder(grey, *sides, cv2.BORDER_CONSTANT, value=12), np.uint8)


DISTORTIONS: dict[str, Callable[[Grey], Grey]] = {
    "as it is": lambda grey: grey,
    "90 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 1)),
    "180 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 2)),
    "270 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 3)),
    "skew 2 degrees": rotate(2),
    "skew 5 degrees": rotate(5),
    "negative": lambda grey: 255 - grey,
    "dark (x 0.45)": grade(0.45, 0),
    "yellow (x 0.78)": grade(0.78, 0),
    "low contrast (x 0.35)": grade(0.35, 110),
    "noise, sigma 25": add_noise,
    "JPEG quality 20": compress,
    "1 bit (Otsu)": cut_to_one_bit,
    "lit from one side": light_from_one_side,
    "black frame": frame,
    "1100 px": shrink_to(1100),
    "842 px": shrink_to(842),
    "600 px": shrink_to(600),
}
