# SPDX-License-Identifier: Apache-2.0
"""Tables and histograms on one CPU thread, beside OpenCV: lookup_table, equalize, clahe, histogram.

    taskset -c 1 python benchmarks/table.py > results/table.md

A time is the least CPU time of a call in several turns of both.
"""

import time

SIZES = [(512, 512), (1080, 1920)]
TURNS, CALLS = 5, 4


def seconds(call):
    least = float("inf")
    for _ in range(CALLS):
        begin = time.process_time()
        call()
        least = min(least, time.process_time() - begin)
    return least


def pairs(height, width):
    import cv2
    import numpy as np

    import penstock
    from penstock import fn, types

    cv2.setNumThreads(1)
    noise = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    rgb = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 3), None, 0, 255, cv2.NORM_MINMAX)
    gray, real = np.ascontiguousarray(rgb[..., 0]), rgb.astype(np.float32)
    ours, flat, floats = (penstock.tensor(x, layout=t) for x, t in ((rgb, "HWC"), (gray, "HW"), (real, "HWC")))
    table, tiles = np.arange(255, -1, -1), cv2.createCLAHE(2.0, (8, 8))
    mapping = {"keys": list(range(256)), "values": table.tolist()}
    limits = {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}

    def lightness():
        lab = cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)
        lab[..., 0] = tiles.apply(lab[..., 0])
        return cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)

    counts = lambda x: [cv2.calcHist([x], [k], None, [256], [0, 256]) for k in range(3)]
    byte, single = table.astype(np.uint8), table.astype(np.float32)
    return {
        "lookup_table uint8": (lambda: fn.lookup_table(ours, dtype=types.UINT8, **mapping), lambda: cv2.LUT(rgb, byte)),
        "lookup_table float32": (lambda: fn.lookup_table(ours, **mapping), lambda: cv2.LUT(rgb, single)),
        "equalize gray": (lambda: fn.equalize(flat), lambda: cv2.equalizeHist(gray)),
        "equalize": (lambda: fn.equalize(ours), lambda: cv2.merge([cv2.equalizeHist(p) for p in cv2.split(rgb)])),
        "clahe gray": (lambda: fn.clahe(flat, **limits), lambda: tiles.apply(gray)),
        "clahe": (lambda: fn.clahe(ours, **limits), lightness),
        "histogram uint8": (lambda: fn.histogram(ours), lambda: counts(rgb)),
        "histogram float32": (lambda: fn.histogram(floats, range=[0, 256]), lambda: counts(real)),
    }


def main():
    print("| image | operator | Penstock, µs | OpenCV, µs | OpenCV / Penstock |\n|---|---|---|---|---|")
    for height, width in SIZES:
        for name, both in pairs(height, width).items():
            turns = [[seconds(call) for call in both] for _ in range(TURNS)]
            own, other = (1e6 * min(turn[i] for turn in turns) for i in range(2))
            print(f"| {height} x {width} | {name} | {own:.0f} | {other:.0f} | {other / own:.2f} |", flush=True)


if __name__ == "__main__":
    main()
