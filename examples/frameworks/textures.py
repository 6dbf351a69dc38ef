# SPDX-License-Identifier: Apache-2.0
"""Writes a folder of small JPEG pictures in four classes, which a network learns in a few steps: no download, no Pillow.

python examples/frameworks/textures.py [FOLDER] [COUNT]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from penstock import fn


def texture(name, rng, height, width):
    """Stripes, squares or a smooth area in random colors."""
    y, x = np.mgrid[:height, :width]
    period = rng.integers(6, 11)
    mask = {
        "across": y // period % 2,
        "down": x // period % 2,
        "squares": (x // period + y // period) % 2,
        "smooth": (x + y) / (height + width),
    }[name][..., None]
    colors = rng.integers(0, 256, (2, 3))
    noise = rng.normal(0, 8, (height, width, 3))
    return np.clip(colors[0] * mask + colors[1] * (1 - mask) + noise, 0, 255).astype(np.uint8)


def write_folder(folder, count=64, seed=3):
    """Writes `count` pictures in subfolders, one for each class; returns the folder."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        name = ("across", "down", "squares", "smooth")[i % 4]
        path = Path(folder) / name / f"{i:04d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = texture(name, rng, *rng.integers(70, 120, 2))
        path.write_bytes(fn.encoders.jpeg(pixels).tobytes())
    return folder


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        print(write_folder(*([sys.argv[1], *map(int, sys.argv[2:3])] if sys.argv[1:] else [made])))
