# SPDX-License-Identifier: Apache-2.0
"""color_matrix, adjust_gamma and shift_hsv: the references and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operators.draws import number
from operators.image_values import draw_colors, draw_values, full_of


def color_matrix(x, *, coefficients):
    m = np.float64(np.float32(coefficients)).reshape(3, -1)
    return x.astype(np.float64) @ m[:, :3].T + (m[:, 3] if m.shape[1] == 4 else 0)


def adjust_gamma(x, *, gamma):
    part = np.maximum(x.astype(np.float64), 0) / full_of(x)
    return np.clip(part**gamma, 0, 1) * full_of(x)


def shift_hsv(x, *, hue):
    """Channels last."""
    if not x.size:
        return x
    if x.dtype == np.uint8:
        hsv = cv2.cvtColor(x.reshape(-1, 1, 3), cv2.COLOR_RGB2HSV)
        hsv[..., 0] = np.floor(np.mod(hsv[..., 0] + np.float64(hue) / 2, 180))
        return np.float64(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB).reshape(x.shape))
    unit = np.float32(x.reshape(-1, 1, 3)) / np.float32(full_of(x))
    hsv = cv2.cvtColor(np.clip(unit, 0, 1), cv2.COLOR_RGB2HSV)
    hsv[..., 0] = np.mod(hsv[..., 0] + hue, 360)
    return np.float64(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB).reshape(x.shape)) * full_of(x)


MATRICES = st.sampled_from([9, 12]).flatmap(lambda n: st.lists(number(-2, 2), min_size=n, max_size=n))
HSV_ERRORS = {"uint8": 1 / 4080, "uint16": 1e-5, "float16": 1e-4, "float32": 1e-5}  # uint8: of 16 * 255, one step
CASES = {
    "adjust_gamma": draw_values(adjust_gamma, gamma=number(0, 4)),
    "color_matrix": draw_colors(color_matrix, "coefficients", MATRICES, largest=16),
    "shift_hsv": draw_colors(
        shift_hsv, "hue", st.sampled_from([-90, 0, 30, 120, 200]), largest=16, error=HSV_ERRORS.get, unit=True
    ),
}
