# SPDX-License-Identifier: Apache-2.0
"""Drawn pictures of squares, disks and triangles for the detectors' examples; the objects and their places are known."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw

KINDS = ("square", "disk", "triangle")  # labels 1, 2, 3
COLORS = ("#ffd23f", "#3bceac", "#ee4266")
Thing = tuple[int, int, int, int, int]  # label, x, y, width, height


def scenes(count: int, seed: int = 1) -> Iterator[tuple[Image.Image, list[Thing]]]:
    """Yields (picture, [(label, x, y, width, height), ...]); coordinates are pixels."""
    dice = random.Random(seed)
    for i in range(count):
        w, h = dice.randint(130, 220), dice.randint(110, 180)
        noise = np.random.default_rng([seed, i]).integers(0, 150, (4, 5, 3), np.uint8)
        picture = Image.fromarray(noise).resize((w, h), Image.Resampling.BICUBIC)
        found: list[Thing] = []
        for _ in range(dice.randint(1, 3)):
            label, side = dice.randint(1, 3), dice.randint(26, 64)
            x, y = dice.randint(0, w - side), dice.randint(0, h - side)
            if all(abs(x - a) > (side + b) / 2 or abs(y - c) > (side + b) / 2 for _, a, c, b, _ in found):
                found.append((label, x, y, side, side))
                draw_shape(ImageDraw.Draw(picture), label, x, y, side, tuple(dice.randint(150, 255) for _ in range(3)))
        yield picture, found


def draw_shape(pen: ImageDraw.ImageDraw, label: int, x: int, y: int, side: int, color: tuple[int, ...]) -> None:
    right, bottom = x + side - 1, y + side - 1
    if label == 1:
        pen.rectangle([x, y, right, bottom], fill=color)
    elif label == 2:
        pen.ellipse([x, y, right, bottom], fill=color)
    else:
        pen.polygon([(x, bottom), ((x + right) / 2, y), (right, bottom)], fill=color)


def draw_boxes(
    picture: Image.Image, boxes: Sequence[Sequence[float]], labels: Sequence[int], scale: float = 1.0
) -> Image.Image:
    """A copy with the boxes (left, top, right, bottom, in units of the picture) and the names of their kinds."""
    picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    pen = ImageDraw.Draw(picture)
    for (left, top, right, bottom), label in zip(boxes, labels):
        color = COLORS[int(label) - 1]
        corners = [left * picture.width, top * picture.height, right * picture.width - 1, bottom * picture.height - 1]
        pen.rectangle(corners, outline=color, width=2)
        pen.text((corners[0] + 4, corners[1] + 1), KINDS[int(label) - 1], fill=color)
    return picture


def sheet(pictures: Sequence[Image.Image], columns: int, size: int) -> Image.Image:
    """Pictures side by side, each at most size x size."""
    gap = 4
    rows = -(-len(pictures) // columns)
    made = Image.new("RGB", (columns * (size + gap) + gap, rows * (size + gap) + gap), "white")
    for k, picture in enumerate(pictures):
        picture.thumbnail((size, size))
        x, y = gap + k % columns * (size + gap), gap + k // columns * (size + gap)
        made.paste(picture, (x + (size - picture.width) // 2, y + (size - picture.height) // 2))
    return made
