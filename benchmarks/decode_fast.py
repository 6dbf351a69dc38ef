# SPDX-License-Identifier: Apache-2.0
"""What decode="fast" does to pixels: whole photographs resized to SIZE x SIZE, against decode="exact".

    python benchmarks/decode_fast.py FOLDER [--sizes 64 112 224]

Prints a Markdown table: mean and 99.9th percentile of the absolute difference in gray levels, PSNR in dB, and the
processor's time for a photograph.
"""

import argparse
import pathlib
import time

import numpy as np
from penstock import fn, pipeline_def


@pipeline_def
def thumbnails(files, size, decode):
    encoded, _ = fn.readers.file(files=files)
    return fn.resize(fn.decoders.image(encoded, decode=decode), size=[size, size])


def run(files, size, decode):
    """Pixels, and the processor's seconds for a photograph."""
    batch = min(64, len(files))
    pipe = thumbnails(files, size, decode, batch_size=batch, num_threads=2)
    passes = max(1, len(files) // batch)
    pixels = np.concatenate([np.stack([np.asarray(s) for s in pipe.run()[0]]) for _ in range(passes)])
    begin = time.process_time()
    for _ in range(2 * passes):
        pipe.run()
    seconds = (time.process_time() - begin) / (2 * passes * batch)
    return pixels.astype(np.float64), seconds


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--sizes", type=int, nargs="+", default=[64, 112, 224])
args = parser.parse_args()
files = [str(f) for f in sorted(args.folder.rglob("*.jpg"))]
print("| photographs | output | mean | 99.9 % | PSNR | exact | fast |\n|---|---|---|---|---|---|---|")
for size in args.sizes:
    (exact, slow), (fast, quick) = run(files, size, "exact"), run(files, size, "fast")
    difference = np.abs(exact - fast)
    psnr = 10 * np.log10(255**2 / max(np.mean(difference**2), 1e-12))
    print(
        f"| {args.folder.name} ({len(exact)}) | {size} x {size} | {difference.mean():.2f} | "
        f"{np.percentile(difference, 99.9):.0f} | {psnr:.1f} dB | {1e3 * slow:.2f} ms | "
        f"{1e3 * quick:.2f} ms |",
        flush=True,
    )
