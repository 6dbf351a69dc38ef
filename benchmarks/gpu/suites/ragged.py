# SPDX-License-Identifier: Apache-2.0
"""Random resized crop, flip, normalize, CHW float16 from 256 images of different sizes that are on the device."""

import measure
import torch

from . import chosen, target
from .images import cvcuda_module, dali_pipeline, penstock_batch, penstock_pipeline, ragged

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
SIZE = 224


def body(antialias):
    def build(fn, types, x):
        x = fn.random_resized_crop(x, size=[SIZE, SIZE], interp_type=types.INTERP_LINEAR, antialias=antialias, seed=7)
        return fn.crop_mirror_normalize(
            x,
            dtype=types.FLOAT16,
            output_layout="CHW",
            crop=(SIZE, SIZE),
            mean=MEAN,
            std=STD,
            mirror=fn.random.coin_flip(probability=0.5),
        )

    return build


def cvcuda_two_calls(images):
    """random_resized_crop and crop_flip_normalize_reformat, with the batches wrapped before."""

    def make():
        cv = cvcuda_module()
        count = len(images)

        def wrapped(tensors):
            batch = cv.ImageBatchVarShape(count)
            batch.pushback([cv.as_image(t, cv.Format.RGB8) for t in tensors])
            return batch

        cropped = [torch.empty(SIZE, SIZE, 3, dtype=torch.uint8, device="cuda") for _ in images]
        source, between = wrapped(images), wrapped(cropped)
        out = cv.as_tensor(torch.empty(count, 3, SIZE, SIZE, dtype=torch.float16, device="cuda"), "NCHW")
        rectangles = torch.tensor([[0, 0, SIZE, SIZE]] * count, dtype=torch.int32, device="cuda").view(count, 1, 1, 4)
        flips = (torch.arange(count, dtype=torch.int32, device="cuda") % 2).view(count, 1, 1, 1)
        mean, std = (torch.tensor(v, device="cuda").view(1, 1, 1, 3) for v in (MEAN, STD))
        arguments = [cv.as_tensor(t, "NHWC") for t in (rectangles, flips, mean, std)]

        def call(keep=(images, cropped, rectangles, flips, mean, std)):
            cv.random_resized_crop_into(between, source, 0.08, 1.0, 0.75, 4 / 3, cv.Interp.LINEAR, 7)
            cv.crop_flip_normalize_reformat_into(out, between, *arguments, flags=cv.NormalizeFlags.SCALE_IS_STDDEV)

        return call

    return make


def tables(settings):
    images = ragged(6, 40, 60) if settings.smoke else ragged(256, 224, 512)
    cases = [("", False, 90, 110), (", antialiased", True, 140, None)]
    for title, antialias, kernel, whole in cases:
        methods = {
            "Penstock": lambda: penstock_pipeline(penstock_batch(images), body(antialias)),
            "Penstock, run(images=batch)": lambda: penstock_pipeline(penstock_batch(images), body(antialias), fed=True),
        }
        if not settings.smoke:
            methods["DALI"] = lambda: dali_pipeline(images, body(antialias))
            if not antialias:
                methods["CV-CUDA, two calls"] = cvcuda_two_calls(images)
        rows, failed = measure.race_calls(chosen(methods, settings), settings)
        targets = [
            target(rows, "Penstock", "kernel_us", "<=", kernel),
            target(rows, "Penstock", "kernels", "<=", 1),
            target(rows, "Penstock", "copies", "<=", 1),
        ]
        if whole:
            targets.append(target(rows, "Penstock", "us", "<=", whole))
        yield {
            "title": f"random resized crop, flip, normalize, CHW float16{title}: {len(images)} images",
            "unit": "us",
            "rows": rows,
            "failed": failed,
            "targets": targets,
        }
