# SPDX-License-Identifier: Apache-2.0
"""What a steady state asks of CUDA: kernels, copies, and the calls that must not be there."""

import measure

from . import target
from .pipelines import decode, resnet50, running, yolo

FORBIDDEN = ("cudaDeviceSynchronize", "cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2", "cuCtxSynchronize")


def tables(settings):
    rows, failed, targets = [], {}, []
    batch = 8 if settings.smoke else 256
    cases = {
        "ResNet-50": running(resnet50, "penstock", settings, 4, batch=batch),
        "decode": running(decode, "penstock", settings, 4, batch=batch),
        "YOLO": running(yolo, "penstock", settings, 4, batch=batch // 4),
    }
    for name, start in cases.items():
        try:
            step = start()
            for _ in range(2 if settings.smoke else 24):
                step()
            if not measure.CUDA:
                rows.append({"method": name, "us": 0.0})
                continue
            row = {"method": name, **measure.trace(step, 16, top=10)}
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
            continue
        row["note"] = "; ".join(
            [
                ", ".join(f"{call} {n:.2f}" for call, n in row["host_calls"].items()) or "none",
                "the measurement itself: " + ", ".join(f"{call} {n}" for call, n in row["of_the_measurement"].items()),
            ]
        )
        row["forbidden"] = sum(n for call, n in row["host_calls"].items() if call in FORBIDDEN)
        rows.append(row)
        targets.append(target(rows, name, "forbidden", "<=", 0))
    yield {
        "title": f"the steady state, a batch of {batch} (YOLO {batch // 4}): kernels, copies, waiting calls",
        "unit": "",
        "rows": rows,
        "failed": failed,
        "targets": targets,
    }
