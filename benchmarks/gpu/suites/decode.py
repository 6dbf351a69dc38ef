# SPDX-License-Identifier: Apache-2.0
"""JPEG files to RGB on the GPU: a pipeline of reader and decoder, batch 256."""

import measure

from . import cheapest, chosen, target
from .pipelines import decode, running


def tables(settings):
    batch = 8 if settings.smoke else 256
    methods = {
        f"Penstock, {threads} threads": running(decode, "penstock", settings, threads, batch=batch)
        for threads in ((2,) if settings.smoke else (1, 2, 4))
    }
    methods["Penstock, 2 threads on 2 cores"] = running(decode, "penstock", settings, 2, batch=batch, only_cores=2)
    if not settings.smoke:
        methods |= {
            f"DALI, load {load}, {threads} threads": running(decode, "dali", settings, threads, load)
            for load, threads in ((0.65, 16), (1.0, 2), (1.0, 8))
        }
    rows, failed = measure.race_steps(chosen(methods, settings), batch, settings)
    best = cheapest(rows, "Penstock", 30000)
    targets = (
        [target(rows, best["method"], "rate", ">=", 30000), target(rows, best["method"], "cores", "<=", 2)]
        if best
        else []
    )
    yield {
        "title": f"JPEG decode to RGB, pipeline, batch {batch}",
        "unit": "img/s",
        "rows": rows,
        "failed": failed,
        "targets": targets,
    }
