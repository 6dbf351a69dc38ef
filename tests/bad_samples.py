# SPDX-License-Identifier: Apache-2.0
"""Batches in which several samples fail, each in another operator, and the error that a batch of them ends in.

It is that of the first operator of the program that fails, and of its samples the first one: as if the operators ran one after the
other, sample by sample. A decoder with a window decodes first.
"""

import io
import os
import random
import re

import numpy as np
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types


def encoded(height, width, format="JPEG", **options):
    file = io.BytesIO()
    pixels = np.random.default_rng(height + width).integers(0, 256, (height, width, 3), np.uint8)
    Image.fromarray(pixels).save(file, format, **options)
    return file.getvalue()


# Some are less than 10 high or wide: too small for the windows below.
GOOD = [encoded(30, 40), encoded(9, 40), encoded(40, 9), encoded(50, 50, progressive=True)]
GOOD += [encoded(30, 30, "PNG"), encoded(9, 30, "PNG"), encoded(30, 20, "WEBP")]


def damaged(file, rng):
    """In the header or in the pixels: each is found in another part of a decoder. Also by a decoder that reads only the window."""
    return rng.choice([b"not a picture at all", file[:12], file[: len(file) // 2], file[: len(file) // 2]])


def batch(seed):
    rng = random.Random(seed)
    files = [rng.choice(GOOD) for _ in range(rng.choice([2, 3, 6, 20]))]
    return [np.frombuffer(damaged(f, rng) if rng.random() < 0.3 else f, np.uint8) for f in files]


def cropped(x):
    return fn.crop(x, crop=[10, 10], out_of_bounds_policy="error")


IN_PIXELS = {"normalized_anchor": False, "normalized_shape": False}
# Programs as lists of operators.
PROGRAMS = {
    "decoded": [lambda f, on: fn.decoders.image(f, device=on)],
    "resized": [lambda f, on: fn.decoders.image(f, device=on), lambda x, _: fn.resize(x, size=[12, 12])],
    "cropped": [lambda f, on: fn.decoders.image(f, device=on), lambda x, _: cropped(x)],
    "blurred": [
        lambda f, on: fn.decoders.image(f, device=on),
        lambda x, _: fn.median_blur(x, window_size=3),
        lambda x, _: cropped(x),
    ],
    "two windows": [
        lambda f, on: fn.decoders.image(f, device=on),
        lambda x, _: fn.crop(x, crop=[10, 5], out_of_bounds_policy="error"),
        lambda x, _: fn.slice(x, 0, 10, axes=[1], out_of_bounds_policy="error", **IN_PIXELS),
    ],
    "window": [lambda f, on: fn.decoders.image_crop(f, crop=[10, 10], device=on)],
}
WINDOWS = ("window",)  # programs whose decoder has one


def told(error):
    text = str(error).split("\n  at ")[0]
    number = re.search(r" \(sample (\d+)( of epoch \d+)?\)", text)
    return type(error), text[: number.start()] if number else text, int(number[1]) if number else None


def expected(name, files):
    """Type, text and sample of the error, by operators that see one sample; None: there is none."""
    values = [penstock.batch([f]) for f in files]
    for operator in PROGRAMS[name]:
        errors = []
        for i, value in enumerate(values):
            try:
                values[i] = operator(value, "cpu")
            except Exception as error:
                errors.append((i, error))
        if name in WINDOWS:
            errors.sort(key=lambda e: not isinstance(e[1], penstock.DataError))  # stable
        if errors:
            kind, text, _ = told(errors[0][1])
            return kind, text, errors[0][0]
    return None


def error_of(run):
    try:
        run()
    except Exception as error:
        return told(error)
    return None


def value(name, x, on):
    for operator in PROGRAMS[name]:
        x = operator(x, on)
    return x


def called(name, files, gpu=False):
    return error_of(lambda: value(name, penstock.batch(files), "mixed" if gpu else "cpu"))


def piped(name, files, gpu=False, executor="", **options):
    @pipeline_def(
        batch_size=len(files), num_threads=2, device_id=0 if gpu else None, prefetch_queue_depth=1, seed=1, **options
    )
    def pipe():
        return value(name, fn.external_source(lambda: files, dtype=types.UINT8), "mixed" if gpu else "cpu")

    def run():
        before = os.environ.pop("PENSTOCK_EXEC", None)
        os.environ["PENSTOCK_EXEC"] = executor
        try:
            made = pipe()
            try:
                made.run()
            finally:
                made.close()
        finally:
            os.environ.pop("PENSTOCK_EXEC", None)
            if before is not None:
                os.environ["PENSTOCK_EXEC"] = before

    return error_of(run)


def compiled(name, files, gpu=False, threads=1):
    @pipeline_def(batch_size=1, num_threads=1, device_id=0 if gpu else None)
    def pipe():
        return value(name, fn.external_source(name="f", dtype=types.UINT8, ndim=1), "mixed" if gpu else "cpu")

    return error_of(lambda: pipe().compile(num_threads=threads)(files))
