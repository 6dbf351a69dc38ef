# SPDX-License-Identifier: Apache-2.0
"""Chains of operators over 64 images of 1080p: each is one kernel, judged by the bandwidth of a copy in the same run."""

import measure
import torch

from . import chosen, target
from .images import cvcuda_module, dali_pipeline, fields, penstock_batch, penstock_pipeline

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def two(fn, types, x):
    return fn.contrast(fn.brightness(x, brightness=1.1), contrast=1.2)


def to_half(fn, types, x):
    x = fn.brightness_contrast(x, brightness=1.1, contrast=1.2)
    return fn.crop_mirror_normalize(x, dtype=types.FLOAT16, output_layout="CHW", mean=MEAN, std=STD)


def ten(fn, types, x):
    for i in range(10):
        x = fn.brightness_contrast(x, brightness=1 + 0.01 * (i - 5), contrast=1 + 0.02 * (i - 4))
    return x


def cvcuda_calls(images, count):
    """`count` calls of brightness_contrast, uint8."""

    def make():
        cv = cvcuda_module()
        source, out = (cv.as_tensor(t, "NHWC") for t in (images, torch.empty_like(images)))
        values = [cv.as_tensor(torch.full((len(images),), v, device="cuda"), "N") for v in (1.1, 1.2, 3.0, 128.0)]

        def call():
            for _ in range(count):
                cv.brightness_contrast_into(out, source, *values)

        return call

    return make


def tables(settings):
    count, height, width = (4, 64, 96) if settings.smoke else (64, 1080, 1920)
    bandwidth = measure.copy_bandwidth(settings)
    images = fields(count, height, width)
    elements = images.numel()
    floats = images.float() if not settings.smoke else images[:2].float()
    cases = [
        ("uint8 to uint8: brightness, contrast", two, images, 2 * elements, 0.85, 2),
        ("uint8 to float16: brightness_contrast, normalize, CHW", to_half, images, 3 * elements, 0.85, 0),
        ("ten brightness_contrast, float32", ten, floats, 8 * floats.numel(), 0.85, 0),
        ("ten brightness_contrast, uint8", ten, images, 2 * elements, 0.5, 10),
    ]
    for title, body, source, bytes_moved, wanted, calls in cases:
        methods = {"Penstock": lambda: penstock_pipeline(penstock_batch(source), body)}
        if not settings.smoke:
            methods["DALI"] = lambda: dali_pipeline(source, body)
            if calls:
                methods[f"CV-CUDA, {calls} calls of brightness_contrast"] = cvcuda_calls(source, calls)
        rows, failed = measure.race_calls(chosen(methods, settings), settings, bytes_moved / bandwidth * 1e6)
        yield {
            "title": f"{title}: {count} x {height} x {width} x 3; copy {bandwidth / 1e9:.0f} GB/s",
            "unit": "us",
            "rows": rows,
            "failed": failed,
            "targets": [target(rows, "Penstock", "of_copy", ">=", wanted)],
        }
