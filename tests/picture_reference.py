# SPDX-License-Identifier: Apache-2.0
"""What the operators on pictures mean (filters, histograms, noise, distortions); see reference.py. Parts that a standard
defines bit for bit are OpenCV's: equalizeHist, JPEG."""
import cv2
import numpy as np

BORDERS = {"reflect_101": "reflect", "reflect_1001": "symmetric", "reflect": "symmetric", "wrap": "wrap", "clamp": "edge",
           "replicate": "edge", "constant": "constant"}


def planes(x, layout, function):
    """`function` of every (H, W) plane."""
    h, w = layout.index("H"), layout.index("W")
    moved = np.moveaxis(x, (h, w), (-2, -1))
    out = np.array([function(p) for p in moved.reshape(-1, *moved.shape[-2:])])
    return np.moveaxis(out.reshape(*moved.shape[:-2], *out.shape[-2:]), (-2, -1), (h, w))


def gaussian(x, mean=0.0, stddev=0.0):
    assert stddev == 0
    return x.astype(np.float64) + mean


def salt_and_pepper(x, prob=0.05, salt_vs_pepper=0.5, salt_val=None, pepper_val=None):
    assert prob in (0, 1) and salt_vs_pepper in (0, 1)
    low, high = (-1, 1) if x.dtype.kind == "f" else (0, 1) if x.dtype == bool else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    if not prob:
        return x
    value = (high if salt_val is None else salt_val) if salt_vs_pepper else (low if pepper_val is None else pepper_val)
    return np.full(x.shape, float(value))


def shot(x, factor=0.0):
    assert factor == 0
    return x


def equalize(x, layout):
    return planes(x, layout, lambda p: cv2.equalizeHist(np.ascontiguousarray(p)) if p.size else p)


def laplacian(x, axes, window_size=3, smoothing_size=None, scale=1.0, normalized_kernel=False):
    listed = lambda v: [v] * len(axes) if np.ndim(v) == 0 else v * len(axes) if len(v) == 1 else v
    windows = listed(window_size)
    smooths = None if smoothing_size is None else listed(smoothing_size)

    def binomial(n):
        w = np.ones(1)
        for _ in range(n - 1):
            w = np.convolve(w, [1, 1])
        return w
    total = 0
    for i, (size, factor) in enumerate(zip(windows, listed(scale))):
        part, smoothing = x.astype(np.float64), smooths or [size] * len(axes)
        for k, axis in enumerate(axes):
            w = np.convolve([1, -2, 1], binomial(size - 2)) if k == i else binomial(smoothing[k])
            part = _slide(part, axis, w)
        if normalized_kernel:
            factor = 2.0 ** -(size + sum(smoothing) - smoothing[i] - len(axes) - 2)
        total = total + factor * part
    return total


def _slide(x, axis, weights, mode="reflect"):
    r = len(weights) // 2
    padded = np.pad(x, [(r, r) if a == axis else (0, 0) for a in range(x.ndim)], mode)
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis)
    return windows @ np.asarray(weights, np.float64)


def jpeg_compression_distortion(x, quality=50):
    if x.ndim == 4:
        return np.array([jpeg_compression_distortion(f, quality) for f in x]).reshape(x.shape)
    if not x.size:
        return x
    ok, data = cv2.imencode(".jpg", x[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, int(np.clip(quality, 1, 100))])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]
