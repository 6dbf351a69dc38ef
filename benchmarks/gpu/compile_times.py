# SPDX-License-Identifier: Apache-2.0
"""How long NVRTC needs for each kernel of a cache: what a first call waits for.

    PENSTOCK_CACHE=FOLDER PENSTOCK_KERNELS=compiled python -m pytest tests/gpu/test_every_op_on_a_gpu.py
    python benchmarks/gpu/compile_times.py FOLDER [--rounds 3] [--out RESULT.md]

A file of the cache holds the text that its kernel was made of, so that the tests of the registry leave the kernels of all
operators there. Each text is compiled by itself with the options that it was compiled with; the median of the rounds counts.
NVRTC is warm: a program's first kernel takes its loading more.
"""

import argparse
import ctypes
import glob
import os
import random
import re
import statistics
import struct
import time
from pathlib import Path

HEADER = struct.Struct("<8sQQQ")  # magic, bytes of the key, bytes of the image, checksum


def kernels(folder):
    """(options, text) of each kernel of a cache."""
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if content[:8] != b"PSTKERN1":
            continue
        size = HEADER.unpack_from(content)[1]
        _, _, options, _, text = content[HEADER.size : HEADER.size + size].decode().split("\n", 4)
        yield options.split(), text


def nvrtc():
    folders = os.environ.get("PENSTOCK_NVIDIA_LIBS", "").split(":")
    places = [p for f in folders if f for p in glob.glob(f"{f}/libnvrtc.so.*")]
    return ctypes.CDLL(places[0] if places else "libnvrtc.so")


def seconds(library, options, text):
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    begin = time.perf_counter()
    failed = library.nvrtcCompileProgram(program, len(options), given)
    spent = time.perf_counter() - begin
    library.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise RuntimeError(f"NVRTC returned {failed}")
    return spent


def name_of(text):
    """The instance of a template that the kernel is, or its entry."""
    found = re.findall(r"run\(const char\* table\) \{ (.*?)\(table\)|start\(table, (.*?)\);", text)
    return " ".join(part for part in found[-1] if part) if found else text.splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=300, help="of more kernels, so many that are chosen at random")
    parser.add_argument("--out")
    options = parser.parse_args()
    library = nvrtc()
    found = list(kernels(options.folder))
    all_kernels = random.Random(0).sample(found, min(options.most, len(found)))
    seconds(library, *all_kernels[0])
    times = sorted(
        (statistics.median(seconds(library, *k) for _ in range(options.rounds)) * 1000, name_of(k[1]))
        for k in all_kernels
    )
    p95 = times[min(len(times) - 1, len(times) * 95 // 100)][0]
    lines = [
        f"{len(times)} of {len(found)} kernels: median {times[len(times) // 2][0]:.0f} ms, 95 of 100 within {p95:.0f} ms",
        "",
        "| ms | kernel |",
        "|---|---|",
        *(f"| {ms:.0f} | `{name[:100]}` |" for ms, name in times[:-21:-1]),
    ]
    print("\n".join(lines))
    if options.out:
        Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
