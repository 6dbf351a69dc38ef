# SPDX-License-Identifier: Apache-2.0
"""Milliseconds in which a batch of 38.5 MB becomes global arrays of JAX, on 1, 2 and 8 devices of the host, without a copy.

usage: .venv-frameworks/bin/python benchmarks/jax_arrays.py [BATCHES]

Batches of 64 x 3 x 224 x 224 float32 are ready before the clock starts; the loop takes them from the iterator, in turns with batches
of `run()`. The pointers of all parts are compared with the memory of the pipeline. A copy of the batch is the scale."""

import os
import statistics
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from penstock import fn, pipeline_def
from penstock.plugin.jax import DALIGenericIterator

SHAPE = 64, 3, 224, 224


def aligned():
    """An array at a multiple of 64 bytes, as memory of the pipeline is: JAX copies others."""
    memory = np.zeros(int(np.prod(SHAPE)) + 16, np.float32)
    first = -memory.ctypes.data % 64 // 4
    return memory[first : first + int(np.prod(SHAPE))].reshape(SHAPE)


@pipeline_def(batch_size=SHAPE[0], num_threads=1)
def ready():
    data = aligned()
    return fn.external_source(lambda: data, no_copy=True)


def milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def main():
    count = int(sys.argv[1]) if sys.argv[1:] else 100
    pipe, taken = ready(), {}
    pipe.run()
    ways = {"run()": pipe.run}
    for devices in (1, 2, 8):
        sharding = NamedSharding(Mesh(np.array(jax.devices()[:devices]), ("data",)), PartitionSpec("data"))
        iterator = DALIGenericIterator([ready()], ["images"], size=-1, sharding=sharding)
        memory = iterator.__next__()["images"]
        parts = [part.data.unsafe_buffer_pointer() for part in memory.addressable_shards]
        apart = {second - first for first, second in zip(parts, parts[1:])}
        assert len(parts) == devices and apart <= {memory.nbytes // devices}, apart
        ways[f"global array over {devices}"] = iterator.__next__
    data, into = np.zeros(SHAPE, np.float32), np.zeros(SHAPE, np.float32)
    ways["a copy of the bytes"] = lambda: np.copyto(into, data)
    for _ in range(count):
        for name, call in ways.items():
            taken.setdefault(name, []).append(milliseconds(call))
    print("| a batch of 38.5 MB | ms, median | least |\n|---|---:|---:|")
    for name, times in taken.items():
        print(f"| {name} | {statistics.median(times):.3f} | {min(times):.3f} |")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
