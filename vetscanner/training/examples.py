"""What a network is fine-tuned on: photos, healthy eyes, drawn negatives, and their weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vetscanner.schema import SignClass
from vetscanner.training.augment import Pixels, cut_eyes
from vetscanner.training.drawn_negatives import iter_drawn_negatives
from vetscanner.training.labels import SIGNS, LabelledPhoto, class_indices, read_pixels

# A view is smaller than this, so more pixels would only cost memory.
MAX_SHORT_SIDE_PX = 320
# One drawn picture for every so many photos: enough to be known, too few to crowd out animals.
PHOTOS_PER_NEGATIVE = 20
# Classes are drawn in proportion to their size to this power: 1 as they come, 0 all alike.
CLASS_SIZE_POWER = 0.5
WEAK_WEIGHT = 0.6
# The two eyes of a face are cut from one photo.
EYE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Examples:
    """Pictures to learn from.

    Attributes:
        pictures: uint8 RGB (H, W, 3) of any size.
        labels: Indices into `SIGNS` (pictures,).
        weights: How often each is drawn, adding up to 1 (pictures,).
    """

    pictures: list[Pixels]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]


def read_pictures(photos: tuple[LabelledPhoto, ...]) -> list[Pixels]:
    """Decode all photos once, no larger than needed.

    Raises:
        InvalidOptionError: When a photo cannot be read.
    """
    return [_shrink(read_pixels(photo.path)) for photo in photos]


def gather_examples(
    photos: tuple[LabelledPhoto, ...], pictures: list[Pixels], seed: int
) -> Examples:
    """Put photos, healthy eyes cut from faces and drawn negatives together.

    Args:
        photos: The photos to learn from.
        pictures: Their pixels.
        seed: Fixes what is drawn.
    """
    weights = [WEAK_WEIGHT if photo.is_weak else 1.0 for photo in photos]
    labels = list(class_indices(photos))
    faces = [i for i, photo in enumerate(photos) if photo.subtype == "healthy_face"]
    eyes = [eye for i in faces for eye in cut_eyes(pictures[i])]
    drawn = list(
        iter_drawn_negatives(len(photos) // PHOTOS_PER_NEGATIVE, np.random.default_rng(seed))
    )
    labels += [SIGNS.index(SignClass.NO_VISIBLE_SIGN)] * len(eyes)
    labels += [SIGNS.index(SignClass.NOT_CATTLE)] * len(drawn)
    weights += [EYE_WEIGHT] * len(eyes) + [1.0] * len(drawn)
    together = np.array(labels, dtype=np.int64)
    return Examples([*pictures, *eyes, *drawn], together, _balance(together, np.array(weights)))


def deal(examples: Examples, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose the pictures of one epoch: each as often as its weight says, give or take one.

    Args:
        examples: What to choose from.
        count: How many to choose.
        rng: Source of all randomness.

    Returns:
        Indices into the pictures, (count,), in random order.
    """
    order = rng.permutation(len(examples.labels))
    # Evenly spaced marks over the added-up weights: less left to luck than single draws.
    marks = (np.arange(count) + rng.random()) / count
    upper = np.cumsum(examples.weights[order])
    chosen = order[np.searchsorted(upper / upper[-1], marks, side="right")]
    return rng.permutation(chosen)


def _balance(labels: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Raise the weight of rare classes; the result adds up to 1."""
    sizes = np.bincount(labels, weights, minlength=len(SIGNS))
    balanced = weights * sizes[labels] ** (CLASS_SIZE_POWER - 1.0)
    return np.asarray(balanced / balanced.sum())


def _shrink(pixels: Pixels) -> Pixels:
    """Shrink a picture so that its short side has at most `MAX_SHORT_SIDE_PX`."""
    height, width = pixels.shape[:2]
    scale = MAX_SHORT_SIDE_PX / min(height, width)
    if scale >= 1.0:
        return pixels
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))
