# SPDX-License-Identifier: Apache-2.0
"""The input of a ResNet-50: decode, random resized crop 224, mirror, normalize, CHW float16, batch 256."""

import measure

from . import cheapest, chosen, target
from .pipelines import resnet50, running


def tables(settings):
    batch = 8 if settings.smoke else 256
    counts = (2,) if settings.smoke else (1, 2, 4, 8, 16)
    methods = {
        f"Penstock, {threads} threads": running(resnet50, "penstock", settings, threads, batch=batch)
        for threads in counts
    }
    if not settings.smoke:
        methods |= {
            f"DALI, load {load}, {threads} threads": running(resnet50, "dali", settings, threads, load)
            for load, threads in ((1.0, 1), (1.0, 8), (0.65, 16))
        }
    rows, failed = measure.race_steps(chosen(methods, settings), batch, settings)
    best = cheapest(rows, "Penstock", 30000)
    targets = []
    if best:
        targets = [
            target(rows, best["method"], "rate", ">=", 30000),
            target(rows, best["method"], "cores", "<=", 3),
            target(rows, f"Penstock, {counts[0]} threads", "rate", ">=", 25000),
        ]
        if measure.CUDA:
            best.update(kernels_of(best["method"], methods, settings))
            targets.append(target(rows, best["method"], "stage_kernels", "<=", 12))
    yield {
        "title": f"ResNet-50 pipeline, batch {batch}, 224, float16 CHW",
        "unit": "img/s",
        "rows": rows,
        "failed": failed,
        "targets": targets,
    }


def kernels_of(method, methods, settings):
    """Kernels a batch; the decoder's own are those that nvJPEG launches (one an image)."""
    try:
        traced = measure.trace(methods[method](), 24, warm=24, top=40)
    except Exception as error:
        return {"trace_failed": str(error)[:200]}
    decoder = sum(n for name, n, _ in traced["top"] if "rgba2rgb" in name or "nvjpeg" in name.lower())
    return {**traced, "top": traced["top"][:8], "stage_kernels": traced["kernels"] - decoder}
