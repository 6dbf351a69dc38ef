# SPDX-License-Identifier: Apache-2.0
"""inpaint: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case


def inpaint(image, mask, *, radius=3):
    """An image that has one color outside its holes. What others become is tested beside OpenCV in test_inpaint.py."""
    holes = np.asarray(mask).reshape(image.shape[:2]) != 0
    if holes.all():
        return image
    return np.broadcast_to(image[~holes][0], image.shape)


def draw_inpaint(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(["uint8", "int16", "uint16", "float32"]))
    layout = draw(st.sampled_from(["HW", "HWC"]))
    channels = [draw(st.sampled_from([1, 3, 4]))] if layout == "HWC" else []
    images, masks = [], []
    for _ in range(draw(st.integers(1, 3))):
        size = [draw(st.sampled_from([0, 1, 2, 7, 20])) for _ in range(2)]
        mask = rng.random(size) < draw(st.sampled_from([0.0, 0.1, 0.6, 1.0]))
        image = np.broadcast_to(rng.integers(1, 100, channels), size + channels).astype(dtype)
        image[mask] = 120
        images.append(image)
        masks.append(mask.astype(rng.choice(["u1", "?"])) if not masks else mask.astype(masks[0].dtype))
    if draw(st.booleans()):
        masks = [m[..., None] for m in masks]
    constants = {"radius": draw(st.sampled_from([1, 2, 5]))}
    expected = lambda i: inpaint(images[i], masks[i])  # noqa: E731
    return Case([images, masks], [layout, ""], constants, dtype=dtype, error=1e-5, expected=expected)


CASES = {"inpaint": draw_inpaint}
