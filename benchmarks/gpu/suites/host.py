# SPDX-License-Identifier: Apache-2.0
"""What calling costs on the host: images of 8 x 8 pixels, so that the device has nothing to do."""

import measure
import torch

from . import chosen, row_of, target
from .images import DEVICE, cvcuda_module, dali_pipeline, penstock_batch, penstock_pipeline


def small(count):
    return [torch.zeros(8, 8, 3, dtype=torch.uint8, device=DEVICE) for _ in range(count)]


def penstock_call():
    from penstock import fn

    batch = penstock_batch(small(1))
    return lambda: fn.flip(batch, horizontal=1)


def penstock_call_on_torch():
    from penstock import fn

    image = small(1)[0]
    return lambda: fn.flip(image, horizontal=1)


def cvcuda_call():
    cv = cvcuda_module()
    images = torch.zeros(1, 8, 8, 3, dtype=torch.uint8, device="cuda")
    source, out = cv.as_tensor(images, "NHWC"), cv.as_tensor(torch.empty_like(images), "NHWC")
    return lambda: cv.flip_into(out, source, 1)


def penstock_wrap(images):
    return lambda: penstock_batch(images)


def cvcuda_wrap(images):
    cv = cvcuda_module()

    def call():
        batch = cv.ImageBatchVarShape(len(images))
        batch.pushback([cv.as_image(image, cv.Format.RGB8) for image in images])

    return call


def hues(count):
    def body(fn, types, x):
        for _ in range(count):
            x = fn.hsv(x, hue=fn.random.uniform(range=(-9.0, 9.0)))
        return x if count else fn.copy(x)

    return body


def blurs(count):
    """Operators that stay kernels of their own."""

    def body(fn, types, x):
        for _ in range(count):
            x = fn.gaussian_blur(x, sigma=fn.random.uniform(range=(0.5, 0.9)), window_size=3)
        return x if count else fn.copy(x)

    return body


def tables(settings):
    one = {"Penstock, a batch of one": penstock_call, "Penstock, a torch tensor": penstock_call_on_torch}
    if not settings.smoke:
        one["CV-CUDA flip_into"] = cvcuda_call
    rows, failed = measure.race_calls(chosen(one, settings), settings)
    yield {
        "title": "one immediate operator (flip, 8 x 8 x 3): microseconds",
        "unit": "us",
        "rows": rows,
        "failed": failed,
        "targets": [target(rows, "Penstock, a batch of one", "host_us", "<=", 8)],
    }

    images = small(8 if settings.smoke else 256)
    wraps = {"Penstock": lambda: penstock_wrap(images)}
    if not settings.smoke:
        wraps["CV-CUDA ImageBatchVarShape"] = lambda: cvcuda_wrap(images)
    rows, failed = measure.race_calls(chosen(wraps, settings), settings, traced=False)
    yield {
        "title": f"{len(images)} torch images into a ragged batch",
        "unit": "us",
        "rows": rows,
        "failed": failed,
        "targets": [target(rows, "Penstock", "host_us", "<=", 300)],
    }

    batch = penstock_batch(images)
    runs = {}
    for kind, body in (("hsv", hues), ("gaussian_blur", blurs)):
        for count in (0, 1, 8):
            runs[f"Penstock, {count} {kind}"] = lambda body=body, count=count: penstock_pipeline(batch, body(count))
            if count and kind == "hsv" and not settings.smoke:
                runs[f"DALI, {count} {kind}"] = lambda body=body, count=count: dali_pipeline(images, body(count))
    rows, failed = measure.race_calls(chosen(runs, settings), settings)
    for kind in ("hsv", "gaussian_blur"):
        first, last = row_of(rows, f"Penstock, 1 {kind}"), row_of(rows, f"Penstock, 8 {kind}")
        if first and last:
            rows.append(
                {
                    "method": f"Penstock, one more {kind} (eight less one, by seven)",
                    "us": (last["us"] - first["us"]) / 7,
                }
            )
    yield {
        "title": f"run() of a pipeline of n operators, batch {len(images)}, 8 x 8 x 3",
        "unit": "us",
        "rows": rows,
        "failed": failed,
        "targets": [
            target(rows, f"Penstock, one more {k} (eight less one, by seven)", "us", "<=", 15)
            for k in ("hsv", "gaussian_blur")
        ],
    }
