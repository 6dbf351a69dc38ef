# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile JPEG files through a pipeline on the GPU, among whole ones, against the same pipeline on the CPU.

    python decode_on_gpu.py [COUNT]         (under compute-sanitizer: `run.sh mutated` of the bundle for GPUs)

The omitted samples and the bytes of all others must be the CPU's, and no whole file may be omitted. Ends with 0 and a
line of counts, or with 1.
"""

import sys
import time

import numpy as np

import mutations
from penstock import fn, pipeline_def, types

BATCHES = (256, 64, 7)


def batches(count, size):
    for first in range(0, count, size):
        files = [data for _, data in mutations.files(min(size, count - first), first)]
        yield [np.frombuffer(f, np.uint8) for f in files], [np.int64(first + i) for i in range(len(files))]


@pipeline_def(num_threads=8, device_id=0, on_error="skip", prefetch_queue_depth=3)
def decoding(source, device, output_type, **decoder):
    data, number = fn.external_source(source, num_outputs=2, dtype=[types.UINT8, types.INT64], ndim=[1, 0])
    return fn.decoders.image(data, device=device, output_type=output_type, **decoder), number


def by_number(images, numbers):
    return {int(np.array(n)): np.array(i) for n, i in zip(numbers.as_cpu(), images.as_cpu(), strict=True)}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    begin, longest, decoded, left_out, wrong, done = time.monotonic(), 0.0, 0, 0, 0, 0
    for size, output_type in zip(BATCHES, (types.RGB, types.BGR, types.GRAY), strict=True):
        part = count * 6 // 10 if size == BATCHES[0] else count * 3 // 10 if size == BATCHES[1] else count - done
        done += part
        there = decoding(batches(part, size), "mixed", output_type, decoder="cuda", batch_size=size)
        here = decoding(batches(part, size), "cpu", output_type, batch_size=size)
        for first in range(0, part, size):
            from_ = time.monotonic()
            got = by_number(*there.run())
            longest = max(longest, time.monotonic() - from_)
            want = by_number(*here.run())
            for n in range(first, min(first + size, part)):
                if (
                    (n in got) != (n in want)
                    or (n % 4 == 0 and n not in got)
                    or (n in got and not np.array_equal(got[n], want[n]))
                ):
                    wrong += 1
                    print(f"file {n} of batches of {size}: on the GPU {n in got}, on the CPU {n in want}", flush=True)
            decoded, left_out = decoded + len(got), left_out + min(size, part - first) - len(got)
    print(
        f"{done} files, {time.monotonic() - begin:.0f} s, a batch {longest:.2f} s at most: {decoded} decoded, {left_out} left out, "
        f"{wrong} wrong"
    )
    return 1 if wrong or not decoded else 0


if __name__ == "__main__":
    sys.exit(main())
