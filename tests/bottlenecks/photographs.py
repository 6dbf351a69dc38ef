# SPDX-License-Identifier: Apache-2.0
"""JPEG files for the scripts."""

import numpy as np
from PIL import Image


def write(folder, name, count, width, height, progressive=False):
    """Writes count pictures with much detail into a folder of the folder."""
    (folder / name).mkdir(exist_ok=True)
    for i in range(count):
        rng = np.random.default_rng(i)
        pixels = rng.integers(0, 256, (height // 4, width // 4, 3), np.uint8)
        picture = Image.fromarray(pixels).resize((width, height), Image.BICUBIC)
        picture.save(folder / name / f"{i}.jpg", quality=92, progressive=progressive)
