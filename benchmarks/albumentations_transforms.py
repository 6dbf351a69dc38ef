# SPDX-License-Identifier: Apache-2.0
"""Transforms of penstock.albumentations in a pipeline beside those of Albumentations, from decoded images of 480 x 640.

    python benchmarks/albumentations_transforms.py [--rounds 15] [--only NAME ...]

It needs Albumentations 1.4 (tools/requirements/albumentations.txt). Each transform is called with p=1, in turn with theirs. The time is that
of the processor, of all threads together, so that other work on the machine counts little: a pipeline that works ahead is measured from
one rest to the next. Milliseconds for an image and the ratio are medians of the rounds.
"""

import argparse
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from albumentations_oracle import theirs  # noqa: E402

import penstock  # noqa: E402
from penstock import albumentations as ours  # noqa: E402
from penstock import fn, types  # noqa: E402

BATCH, BATCHES, CALLS = 8, 3, 4
SIZE = 480, 640


def picture():
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    waves = [np.sin(x / 9 + k) + np.cos(y / (7 + k)) for k in range(3)]
    return ((np.stack(waves, -1) + 2) * 63).astype(np.uint8)


def objects():
    mask = np.zeros(SIZE, np.uint8)
    mask[50:150, 80:220], mask[250:350, 300:500] = 1, 2
    return mask


OTHER = np.clip(np.random.default_rng(3).normal([60, 120, 200], [20, 40, 30], (*SIZE, 3)), 0, 255).astype(np.uint8)
REFERENCES = {"reference_images": [OTHER], "read_fn": lambda v: v}
CALLED = {
    "RandomGridShuffle": {},
    "HistogramMatching": REFERENCES,
    "MaskDropout": {"max_objects": (1, 2)},
    "RandomGravel": {},
    "TemplateTransform": {"templates": OTHER},
    "PlanckianJitter": {},
    "GlassBlur": {},
    "FDA": REFERENCES,
    "Superpixels": {"p_replace": (0.5, 0.5)},
}


def fed(value):
    layout = "HW" if value.ndim == 2 else "HWC"
    return fn.external_source(lambda: [value] * BATCH, layout=layout, dtype=types.UINT8, ndim=value.ndim)


def pipeline(name, data):
    @penstock.pipeline_def(batch_size=BATCH, num_threads=1, seed=5, prefetch_queue_depth=1)
    def transformed():
        transform = ours.Compose([getattr(ours, name)(**CALLED[name], p=1.0)])
        made = transform(**{n: fed(v) for n, v in data.items()})
        return tuple(made[n] for n in data)

    return transformed()


def rest():
    """Waits until nothing works."""
    while True:
        before = time.process_time()
        time.sleep(0.15)
        if time.process_time() - before < 0.002:
            return


def row(name, rounds):
    data = {"image": picture()} | ({"mask": objects()} if name == "MaskDropout" else {})
    pipe, call = pipeline(name, data), theirs.Compose([getattr(theirs, name)(**CALLED[name], p=1.0)])
    pipe.build()
    pipe.run()
    call(**data)
    seconds = [], []
    for _ in range(rounds):
        rest()
        begin = time.process_time()
        for _ in range(BATCHES):
            pipe.run()
        rest()
        seconds[0].append((time.process_time() - begin) / BATCH / BATCHES)
        begin = time.process_time()
        for _ in range(CALLS):
            call(**data)
        seconds[1].append((time.process_time() - begin) / CALLS)
    medians = [f"{statistics.median(s) * 1e3:.2f}" for s in seconds]
    return [name, *medians, f"{statistics.median(b / a for a, b in zip(*seconds)):.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="+", choices=list(CALLED), default=list(CALLED), metavar="NAME")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")
    print(
        f"# Transforms beside Albumentations {theirs.__version__}\n\nLoad {os.getloadavg()[0]:.0f}, {options.rounds} rounds.\n"
    )
    print("| transform | ours, ms | theirs, ms | ratio |\n|---|---|---|---|")
    for name in options.only:
        print("| " + " | ".join(row(name, options.rounds)) + " |", flush=True)


if __name__ == "__main__":
    main()
