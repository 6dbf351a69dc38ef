# SPDX-License-Identifier: Apache-2.0
"""The input of a detector: 640 x 640, color twist, batch 64."""

import measure

from . import best_of, chosen, target
from .pipelines import running, yolo


def tables(settings):
    batch = 4 if settings.smoke else 64
    methods = {
        f"Penstock, {threads} threads": running(yolo, "penstock", settings, threads, batch=batch)
        for threads in ((2,) if settings.smoke else (2, 4, 16))
    }
    if not settings.smoke:
        methods |= {f"DALI, load {load}, 16 threads": running(yolo, "dali", settings, 16, load) for load in (1.0, 0.65)}
    rows, failed = measure.race_steps(chosen(methods, settings), batch, settings)
    ours = max((r for r in rows if r["method"].startswith("Penstock")), key=lambda r: r["rate"], default=None)
    peer = best_of(rows, "DALI")
    targets = [target(rows, ours["method"], "rate", ">=", 1.25 * peer if peer else None)] if ours else []
    yield {
        "title": f"YOLO-like pipeline, 640 x 640, color twist, batch {batch}",
        "unit": "img/s",
        "rows": rows,
        "failed": failed,
        "targets": targets,
    }
