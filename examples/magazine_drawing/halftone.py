"""Draws a view and prints it through a halftone screen, as photographs were printed in 1895."""

import cv2
import numpy as np

from examples.magazine_drawing.noise import Field, cloud_field


def draw_view(width_px: int, height_px: int, rng: np.random.Generator) -> Field:
    """Draw a lake among hills with trees and a boat-house, as a photograph would show it.

    Returns:
        Brightness 0..1 (H, W).
    """
    shape = (height_px, width_px)
    ys = np.linspace(0, 1, height_px, dtype=np.float32)[:, None]
    clouds = cloud_field(shape, width_px / 4, rng)
    scene = 0.9 - 0.25 * ys + 0.07 * clouds
    for level, horizon in enumerate((0.34, 0.42, 0.5)):
        scene = _add_hills(scene, horizon, level, rng)
    shore = round(0.62 * height_px)
    scene = _add_house(scene, shore, rng)
    scene[shore:] = _reflect(scene, shore, rng)
    scene[shore : shore + max(height_px // 90, 1)] = 0.74
    scene = _add_trees(scene, rng)
    grain = 0.02 * rng.standard_normal(shape).astype(np.float32)
    blurred = cv2.GaussianBlur(scene.astype(np.float32), (0, 0), width_px / 900)
    return np.asarray(np.clip(blurred + grain, 0.03, 0.97), np.float32)


def _add_hills(scene: Field, horizon: float, level: int, rng: np.random.Generator) -> Field:
    """One ridge; nearer ones are darker and rougher."""
    height, width = scene.shape
    ridge = cloud_field((2, width), width / (2.5 + 2 * level), rng)[0]
    rough = cloud_field((2, width), width / 90, rng)[0] * (0.002 + 0.005 * level)
    crest = (horizon + 0.045 * ridge + rough) * height
    below = np.arange(height)[:, None] > crest[None, :]
    texture = cloud_field(scene.shape, width / 40, rng) * (0.02 + 0.035 * level)
    haze = np.linspace(0, 0.1, height)[:, None]
    return np.asarray(np.where(below, 0.68 - 0.13 * level + texture + haze, scene), np.float32)


def _add_house(scene: Field, shore: int, rng: np.random.Generator) -> Field:
    """A gabled boat-house at the water's edge, with a chimney and dark windows."""
    height, width = scene.shape
    x, side = round(width * rng.uniform(0.52, 0.62)), round(width * 0.13)
    top, eaves = shore - round(height * 0.17), shore - round(height * 0.1)
    near, far, ridge = x + side, x + side * 8 // 5, x + side // 2
    chimney = near + side // 10, top - height // 40
    shapes = [
        (0.84, [(x, eaves), (near, eaves), (near, shore), (x, shore)]),
        (0.66, [(near, eaves), (far, eaves), (far, shore), (near, shore)]),
        (0.35, [(near, chimney[1]), chimney, (chimney[0], top + 6), (near, top + 6)]),
        (0.3, [(x - 4, eaves), (ridge, top), (near, eaves)]),
        (0.24, [(ridge, top), (far - side // 3, top), (far + 4, eaves), (near, eaves)]),
    ]
    for window in (0.18, 0.62, 1.1, 1.32):
        left, lintel = x + round(side * window), eaves + (shore - eaves) // 4
        right, sill = left + side // 7, eaves + (shore - eaves) * 2 // 3
        shapes.append((0.12, [(left, lintel), (right, lintel), (right, sill), (left, sill)]))
    for tone, corners in shapes:
        cv2.fillPoly(scene, [np.array(corners, np.int32)], tone)
    return scene


def _reflect(scene: Field, shore: int, rng: np.random.Generator) -> Field:
    """Water below the shore line: the mirrored view, darker, broken by ripples."""
    height, width = scene.shape
    depth = height - shore
    rows = np.clip(shore - 1 - np.arange(depth), 0, None)
    ripple = cloud_field((depth, max(width // 14, 3)), depth / 14, rng)
    ripple = np.asarray(cv2.resize(ripple, (width, depth)), np.float32)
    down = np.linspace(0.15, 1, depth, dtype=np.float32)[:, None]
    xs = np.arange(width, dtype=np.float32)[None, :] + np.zeros((depth, 1), np.float32)
    source = rows[:, None].astype(np.float32) + 5 * down * ripple
    mirror = cv2.remap(scene, xs, source.astype(np.float32), cv2.INTER_LINEAR)
    mirror = cv2.blur(mirror, (1, max(depth // 30, 1)))
    return np.asarray(0.66 * mirror + 0.07 * down * ripple + 0.2, np.float32)


def _add_trees(scene: Field, rng: np.random.Generator) -> Field:
    """Dark trees in the foreground, and grass along the near bank."""
    height, width = scene.shape
    for trunk in (0.08, 0.21, 0.94):
        foot = (trunk * width, height * float(rng.uniform(0.95, 0.99)))
        scene = _add_tree(scene, foot, height * float(rng.uniform(0.6, 0.74)), rng)
    bank = (0.93 + 0.02 * cloud_field((2, width), width / 5, rng)[0]) * height
    below = np.arange(height)[:, None] > bank[None, :]
    grass = 0.17 + 0.05 * cloud_field(scene.shape, width / 90, rng)
    return np.asarray(np.where(below, grass, scene), np.float32)


def _add_tree(
    scene: Field, foot: tuple[float, float], tall: float, rng: np.random.Generator
) -> Field:
    """A trunk with forked boughs and a ragged crown with light breaking through."""
    height, width = scene.shape
    x, y = foot
    top = y - tall
    for lean in (-0.16, -0.05, 0.04, 0.13):
        bough = [
            (x, y),
            (x + lean * 0.15 * tall, y - 0.45 * tall),
            (x + lean * tall, top + 0.2 * tall),
        ]
        thick = max(round(tall * (0.028 - 0.05 * abs(lean))), 1)
        cv2.polylines(scene, [np.array(bough, np.int32)], False, 0.1, thick, cv2.LINE_AA)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    away = np.hypot((xs - x) / (0.3 * tall), (ys - top - 0.33 * tall) / (0.38 * tall))
    ragged = 0.16 * cloud_field(scene.shape, tall / 6, rng) + 0.17 * cloud_field(
        scene.shape, tall / 40, rng
    )
    cover = np.clip((1 - away + ragged) * 6, 0, 1)
    leaves = 0.2 + 0.06 * cloud_field(scene.shape, tall / 45, rng) - 0.18 * (xs - x) / tall
    leaves -= 0.12 * (ys - top - 0.33 * tall) / tall
    return np.asarray(scene * (1 - cover) + np.clip(leaves, 0.05, 0.5) * cover, np.float32)


def screen(brightness: Field, period_px: float, angle_deg: float = 45.0) -> Field:
    """Print a picture as dots that grow with its darkness.

    Args:
        brightness: Brightness 0..1 (H, W).
        period_px: Distance between dots in pixels.
        angle_deg: Angle of the screen.

    Returns:
        Ink 0..1 (H, W), antialiased by drawing at three times the size.
    """
    finer = 3
    height, width = brightness.shape
    size = (width * finer, height * finer)
    large = cv2.resize(brightness, size, interpolation=cv2.INTER_LINEAR)
    ys, xs = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float32)
    angle, step = np.deg2rad(angle_deg), 2 * np.pi / (period_px * finer)
    u = np.cos((xs * np.cos(angle) + ys * np.sin(angle)) * step)
    v = np.cos((ys * np.cos(angle) - xs * np.sin(angle)) * step)
    # The mean of two cosines is not evenly spread; the arc sine makes it nearly so.
    threshold = 0.5 + np.arcsin(np.clip((u + v) / 2, -1, 1)) / np.pi
    ink = np.clip((threshold - large) * 6 + 0.5, 0, 1)
    return np.asarray(cv2.resize(ink, (width, height), interpolation=cv2.INTER_AREA), np.float32)
