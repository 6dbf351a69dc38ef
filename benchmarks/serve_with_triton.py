# SPDX-License-Identifier: Apache-2.0
"""A pipeline in a Triton server beside the same pipeline in this process.

    python benchmarks/serve_with_triton.py [--rounds N] [--photos FOLDER]

Requests of 64 JPEG files come and go through system shared memory, so that no network counts. Rounds alternate; a row has the
least wall time and the least processor time of a batch: this process' for run(), the server's for requests. The last rows are the
cost of a request whose pipeline has nothing to do, as the server's own statistics have it. Needs .venv-triton (make test).
"""

import argparse
import os
import sys
import tempfile
import time
from multiprocessing import shared_memory
from pathlib import Path

import numpy as np
import photos
from penstock import fn, pipeline_def, types
from penstock.plugin.triton import install

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "triton_backend"), str(ROOT / "tests")]
from triton_server import Server, bytes_elements, save_model  # noqa: E402

BATCH, THREADS = 64, 2


@pipeline_def(batch_size=BATCH, num_threads=THREADS)
def preprocessing():
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    images = fn.resize(images, size=[224, 224])
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4]
    )


@pipeline_def(batch_size=BATCH, num_threads=1)
def nothing():
    return fn.external_source(name="x", dtype=types.FLOAT, ndim=1)


def processor_seconds(pid):
    """The time that a process and its children have had."""
    seconds = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(entry.name) == pid or int(fields[1]) == pid:
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


class Region:
    def __init__(self, client, name, size):
        self.memory, self.name, self.size = shared_memory.SharedMemory(create=True, size=size), name, size
        body = {"key": f"/{self.memory.name}", "offset": 0, "byte_size": size}
        client.json("POST", f"/v2/systemsharedmemory/region/{name}/register", body)

    def inside(self):
        return {"shared_memory_region": self.name, "shared_memory_byte_size": self.size}


def least(rounds, ways, seconds_of, batches=6):
    """{way: (wall, processor time) of a batch in milliseconds}, of the rounds with the least of each."""
    best = {name: (1e9, 1e9) for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            cpu, wall = seconds_of[name](), time.perf_counter()
            for _ in range(batches):
                call()
            wall, cpu = time.perf_counter() - wall, seconds_of[name]() - cpu
            best[name] = tuple(min(a, 1e3 * b / batches) for a, b in zip(best[name], (wall, cpu)))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--photos", type=Path, default=ROOT / "benchmarks" / "data" / "imagenet")
    options = parser.parse_args()
    paths = sorted(options.photos.rglob("*.jpg")) or photos.write_folder(options.photos)
    files = [paths[i % len(paths)].read_bytes() for i in range(BATCH)]
    folder = Path(tempfile.mkdtemp())
    install(folder / "backends")
    save_model(folder / "models", "preprocessing.penstock", preprocessing())
    save_model(folder / "models", "nothing.penstock", nothing())
    pipeline, arrays = preprocessing(), [np.frombuffer(f, np.uint8) for f in files]

    def in_process():
        pipeline.feed_input("jpegs", arrays)
        return pipeline.run()[0]

    expected = np.asarray(in_process().as_array())
    with Server(folder / "models", folder / "backends", folder / "log") as server, server.client() as client:
        given, size = bytes_elements(files), expected.nbytes
        sent, got = Region(client, "sent", len(given)), Region(client, "got", size)
        sent.memory.buf[:] = given
        entry = {"name": "jpegs", "datatype": "BYTES", "shape": [BATCH, 1], "parameters": sent.inside()}
        answer = {"name": "OUTPUT0", "parameters": got.inside()}
        ways = {"run() in this process": in_process}
        ways["in the server"] = lambda: client.send("preprocessing.penstock", [entry], b"", [answer])
        ways["in the server, both ways by HTTP"] = lambda: client.infer("preprocessing.penstock", {"jpegs": files})
        ways["in the server"]()
        assert np.array_equal(np.frombuffer(got.memory.buf, np.float32).reshape(expected.shape), expected)
        clocks = {name: lambda: processor_seconds(server.process.pid) for name in ways}
        clocks["run() in this process"] = time.process_time
        best = least(options.rounds, ways, clocks)
        base = best["run() in this process"]
        print(
            f"{BATCH} files of {len(given) // BATCH} bytes, {THREADS} threads\n{'':34} wall ms   images/s   CPU ms   run()'s / its"
        )
        for name, (wall, cpu) in best.items():
            print(
                f"{name:34} {wall:7.1f} {1e3 * BATCH / wall:10.0f} {cpu:8.1f}   {base[0] / wall:.2f} wall, {base[1] / cpu:.2f} CPU"
            )
        x = np.zeros((1, 4), np.float32)
        for _ in range(3000):
            client.infer("nothing.penstock", {"x": x})
        stats = client.json("GET", "/v2/models/nothing.penstock/stats")["model_stats"][0]["inference_stats"]
        for part in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
            print(f"a request with nothing to do, {part:15} {stats[part]['ns'] / stats[part]['count'] / 1e3:8.1f} us")
        for region in (sent, got):
            client.json("POST", f"/v2/systemsharedmemory/region/{region.name}/unregister")
            region.memory.close()
            region.memory.unlink()


if __name__ == "__main__":
    main()
