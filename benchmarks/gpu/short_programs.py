# SPDX-License-Identifier: Apache-2.0
"""Short programs on a GPU end while their kernels are still being compiled: 50 of them, each with a cold cache of kernels.

Each is a process of its own: the pipeline of ResNet-50's training, 31 batches, PENSTOCK_KERNELS unset, PENSTOCK_CACHE an
empty folder. It needs the installed package alone. `python short_programs.py [COUNT] [RESULT.md]` writes a table; its
status is 1 where a program did not end well. Ends differ: the end of the script, close() and del, sys.exit, an exception.
"""

import collections
import os
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

LIMIT = 60  # seconds of a program; one that needs more hangs
ENDS = {
    "end": ("", 0),
    "close and del": ("p.close(); del p", 0),
    "sys.exit(3)": ("sys.exit(3)", 3),
    "exception": ("raise KeyError('the program')", 1),
}

PROGRAM = """
import sys
from penstock import fn, pipeline_def, types

@pipeline_def(batch_size=64, num_threads=4, seed=1)
def pipe():
    files, labels = fn.readers.file(files=sys.argv[1:], random_shuffle=True)
    images = fn.decoders.image_random_crop(files, device="mixed")
    images = fn.resize(images, size=[224, 224], antialias=True)
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip(),
                                      mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4])
    return images, labels.gpu()

p = pipe()
for _ in range(31):
    images, labels = p.run()
"""


def pictures(folder, count=64):
    """BMP files, which need no encoder, of several sizes."""
    paths = []
    for k in range(count):
        width, height = 320 + 4 * (k % 17), 240 + 3 * (k % 13)
        head = struct.pack(
            "<2sIHHIIiiHHIIiiII",
            b"BM",
            54 + width * height * 3,
            0,
            0,
            54,
            40,
            width,
            height,
            1,
            24,
            0,
            width * height * 3,
            2835,
            2835,
            0,
            0,
        )
        paths.append(os.path.join(folder, f"{k}.bmp"))
        with open(paths[-1], "wb") as file:
            file.write(head + bytes((7 * k + i) % 256 for i in range(256)) * (width * height * 3 // 256 + 1))
            file.truncate(54 + width * height * 3)
    return paths


def run(end, files):
    """(what became of the program, seconds, what it wrote to its error output)."""
    with tempfile.TemporaryDirectory() as cache:
        env = {n: v for n, v in os.environ.items() if n != "PENSTOCK_KERNELS"} | {"PENSTOCK_CACHE": cache}
        begin = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM + ENDS[end][0], *files],
            env=env,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            errors = process.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "hangs", time.monotonic() - begin, process.communicate()[1]
        seconds = time.monotonic() - begin
    code = process.returncode
    if code == ENDS[end][1]:
        return "well", seconds, errors
    return (signal.Signals(-code).name if code < 0 else f"status {code}"), seconds, errors


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    table = collections.defaultdict(lambda: ([], collections.Counter()))
    with tempfile.TemporaryDirectory() as folder:
        files = pictures(folder)
        for k in range(count):
            end = list(ENDS)[k % len(ENDS)]
            how, seconds, errors = run(end, files)
            table[end][0].append(seconds)
            table[end][1][how] += 1
            print(f"{k + 1} of {count}: {end}: {how}, {seconds:.2f} s", flush=True)
            if how != "well":
                print(errors.decode(errors="replace")[-2000:], flush=True)
    lines = [
        "| how it ends | programs | well | hang | signals and other statuses | seconds: median | longest |",
        "|---|---|---|---|---|---|---|",
    ]
    for end, (seconds, became) in table.items():
        others = ", ".join(f"{n} x {how}" for how, n in became.items() if how not in ("well", "hangs")) or "none"
        lines.append(
            f"| {end} | {len(seconds)} | {became['well']} | {became['hangs']} | {others} | "
            f"{statistics.median(seconds):.2f} | {max(seconds):.2f} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as file:
            file.write(text)
    sys.exit(any(set(became) - {"well"} for _, became in table.values()))


if __name__ == "__main__":
    main()
