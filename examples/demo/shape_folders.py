# SPDX-License-Identifier: Apache-2.0
"""A data set with one picture per file and one folder per kind of shape, and a model that classifies them."""

import random
from pathlib import Path

import torch
from PIL import Image, ImageDraw
from shapes import draw_shape

KINDS = ("square", "disk", "triangle")


def draw(root: Path, count: int, seed: int = 3) -> Path:
    """`count` pictures below `root`."""
    dice = random.Random(seed)
    for i in range(count):
        label = i % len(KINDS)
        folder = root / f"{label}_{KINDS[label]}"
        folder.mkdir(exist_ok=True)
        picture = Image.new(
            "RGB", (dice.randint(70, 100), dice.randint(70, 100)), tuple(dice.randint(0, 110) for _ in range(3))
        )
        side = dice.randint(28, 48)
        draw_shape(
            ImageDraw.Draw(picture),
            label + 1,
            dice.randint(4, picture.width - side - 4),
            dice.randint(4, picture.height - side - 4),
            side,
            tuple(dice.randint(150, 255) for _ in range(3)),
        )
        picture.save(folder / f"{i:04d}.jpg", quality=92)
    return root


def listed(root: Path | str) -> tuple[list[str], list[int]]:
    """(names of the files below, the number of each one's folder)"""
    folders = sorted(f for f in Path(root).iterdir() if f.is_dir())
    found = [(str(file), k) for k, folder in enumerate(folders) for file in sorted(folder.glob("*.jpg"))]
    return [name for name, _ in found], [k for _, k in found]


def model(classes: int) -> torch.nn.Sequential:
    """Logits of classes, from pictures (N, 3, H, W)."""

    def step(channels: int, more: int) -> list[torch.nn.Module]:
        return [torch.nn.Conv2d(channels, more, 3, 2, 1, bias=False), torch.nn.BatchNorm2d(more), torch.nn.ReLU()]

    return torch.nn.Sequential(
        *step(3, 16),
        *step(16, 32),
        *step(32, 48),
        torch.nn.Conv2d(48, 48, 3, 1, 1),
        torch.nn.ReLU(),
        torch.nn.AdaptiveMaxPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(48, classes),
    )
