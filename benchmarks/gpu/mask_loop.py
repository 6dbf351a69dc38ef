# SPDX-License-Identifier: Apache-2.0
"""The dynamic mask of examples/seeds/mask.py on a GPU: the loop that it is here, unrolled to the greatest length under DALI.

python mask_loop.py [penstock | dali]      milliseconds a batch; without a word: both, each in a process of its own
python mask_loop.py count                  what a batch enqueues, and what its assignments copy; of the emulated GPU
                                           (PENSTOCK_GPU_LIBRARY): launches, copies, allocations, waits of the host
"""

import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

BATCH, SIZE, MOST = 64, 512, 16


def pipelines(library):
    if library == "penstock":
        from penstock import fn, pipeline_def, types

        options = {}
    else:
        from nvidia.dali import fn, pipeline_def, types

        options = {"enable_conditionals": True}

    def numbers():
        n = fn.random.uniform(range=[0, MOST + 0.99])
        p = fn.random.uniform(range=[8, 40])
        y, x = fn.random.uniform(range=[0, 300]), fn.random.uniform(range=[0, 300])
        return [fn.cast(v, dtype=types.INT32) for v in (n, p, y, x)]

    @pipeline_def(batch_size=BATCH, num_threads=4, device_id=0, seed=1, **options)
    def unrolled():
        n, p, y0, x0 = numbers()
        mask = fn.constant(fdata=0.0, shape=(2, SIZE, SIZE), device="gpu")
        extent = fn.cast(fn.stack(p, p), dtype=types.FLOAT)
        for k in range(MOST):
            if k < n:
                anchor = fn.cast(fn.stack(y0 + 3 * k, x0 + 5 * k), dtype=types.FLOAT)
                mask = fn.erase(mask, fill_value=0.5, anchor=anchor, shape=extent, axes=(1, 2))
        return mask

    found = {"unrolled": unrolled}
    if library == "penstock":

        @pipeline_def(batch_size=BATCH, num_threads=4, device_id=0, seed=1)
        def natural():
            n, p, y0, x0 = numbers()
            mask = fn.constant(fdata=0.0, shape=(2, SIZE, SIZE), device="gpu")
            for k in range(n):
                y, x = y0 + 3 * k, x0 + 5 * k
                mask[:, y : y + p, x : x + p] = 0.5
            return mask

        found["natural"] = natural
    return found


def measure(library):
    import torch

    for name, make in pipelines(library).items():
        pipe = make()
        pipe.build()
        for _ in range(4):
            pipe.run()
        torch.cuda.synchronize()
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(20):
                out = pipe.run()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) / 20)
        print(
            f"{library}, {name}: {1e3 * statistics.median(times):.2f} ms a batch of {BATCH} masks 2 x {SIZE} x {SIZE}, "
            f"0 to {MOST} squares (least {1e3 * min(times):.2f}, most {1e3 * max(times):.2f})",
            flush=True,
        )
        del out, pipe


def count():
    """Per batch, about: the pipeline runs ahead."""
    log = tempfile.NamedTemporaryFile("r", suffix=".log")
    os.environ["PENSTOCK_EMULATED_LOG"] = log.name  # read when the library is loaded
    for name, make in pipelines("penstock").items():
        pipe = make()
        pipe.build()
        for _ in range(4):
            pipe.run()
        os.truncate(log.name, 0)
        for _ in range(20):
            pipe.run()
        with open(log.name) as lines:
            found = collections.Counter(re.sub(r"^.*?: ", "", line).split(" on ")[0].strip() for line in lines)
        kinds = collections.Counter()
        for what, times in found.items():
            kinds[re.sub(r"[0-9].*", "", what).strip()] += times
        copied = sum(s["copied_bytes"] for s in pipe.stats()["stages"]) / max(1, pipe.stats()["iterations"])
        print(
            f"{name}: "
            + ", ".join(f"{kind} {times / 20:.1f}" for kind, times in sorted(kinds.items()))
            + f"; {copied:.0f} bytes copied by assignments",
            flush=True,
        )
        pipe.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["count"]:
        count()
    elif len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for library in ("penstock", "dali"):
            subprocess.run([sys.executable, __file__, library], check=False)
