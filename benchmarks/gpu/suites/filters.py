# SPDX-License-Identifier: Apache-2.0
"""Blurs and a warp over 64 images of 1080p, one immediate call each."""

import math

import measure
import torch

from . import chosen, target
from .images import cvcuda_module, dali_pipeline, fields, penstock_batch

TURN = [math.cos(0.2), -math.sin(0.2), 30.0, math.sin(0.2), math.cos(0.2), -20.0]


def blur(window, sigma):
    return lambda fn, types, x: fn.gaussian_blur(x, window_size=window, sigma=sigma)


def warp(fn, types, x):
    return fn.warp_affine(x, matrix=TURN, fill_value=0, interp_type=types.INTERP_LINEAR)


def immediate(images, body):
    def make():
        from penstock import fn, types

        batch = penstock_batch(images)
        return lambda: body(fn, types, batch)

    return make


def cvcuda(images, window=0, sigma=0.0):
    def make():
        cv = cvcuda_module()
        import numpy as np

        source, out = (cv.as_tensor(t, "NHWC") for t in (images, torch.empty_like(images)))
        if window:
            return lambda: cv.gaussian_into(out, source, (window, window), (sigma, sigma), cv.Border.REFLECT101)
        matrix, fill = np.array(TURN, np.float32).reshape(2, 3), np.zeros(4, np.float32)
        return lambda: cv.warp_affine_into(
            out, source, matrix, int(cv.Interp.LINEAR), border_mode=cv.Border.CONSTANT, border_value=fill
        )

    return make


def tables(settings):
    count, height, width = (2, 64, 96) if settings.smoke else (64, 1080, 1920)
    bandwidth = measure.copy_bandwidth(settings)
    images = fields(count, height, width)
    cases = [
        ("gaussian blur 5 x 5", blur(5, 1.1), (5, 1.1), 400),
        ("gaussian blur 31 x 31", blur(31, 5.0), (31, 5.0), 2000),
        ("warp affine, linear", warp, (), 450),
    ]
    for title, body, of_cvcuda, wanted in cases:
        methods = {"Penstock": immediate(images, body)}
        if not settings.smoke:
            methods["DALI"] = lambda: dali_pipeline(images, body)
            methods["CV-CUDA"] = cvcuda(images, *of_cvcuda)
        rows, failed = measure.race_calls(chosen(methods, settings), settings, 2 * images.numel() / bandwidth * 1e6)
        yield {
            "title": f"{title}, uint8, {count} x {height} x {width} x 3",
            "unit": "us",
            "rows": rows,
            "failed": failed,
            "targets": [target(rows, "Penstock", "kernel_us" if measure.CUDA else "us", "<=", wanted)],
        }
