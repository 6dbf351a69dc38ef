# SPDX-License-Identifier: Apache-2.0
"""Files per second from a web server that takes its time, beside one request after the other and beside fsspec in the
workers of torch's DataLoader.

    python benchmarks/remote.py [--rounds 5] [--files 2000] [--bytes 100000] [--latency 0.02] [--workers 8 32]

Writes benchmarks/results/remote.json and remote.md. The server is a process of its own on loopback that holds each answer
back for the latency; the contents are random and are not decoded. Every way reads all files once, in a process of its own;
ways take turns within a round, and numbers are medians. The peers' environment is torchvision's (benchmarks/environments.py).
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from environments import python_of

BATCH, THREADS = 64, 2


def serve(latency, size):
    """Answers every GET with `size` bytes, or the requested range of them; prints its port."""
    body = os.urandom(size)

    async def connection(reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                await asyncio.sleep(latency)
                part, status, more = body, "200 OK", ""
                for line in head.split("\r\n"):
                    if line.lower().startswith("range: bytes="):
                        first, last = (int(n or size - 1) for n in line.split("=")[1].split("-"))
                        part = body[first : last + 1]
                        status, more = (
                            "206 Partial Content",
                            f"Content-Range: bytes {first}-{min(last, size - 1)}/{size}\r\n",
                        )
                answer = f'HTTP/1.1 {status}\r\nContent-Length: {len(part)}\r\nETag: "x"\r\nAccept-Ranges: bytes\r\n{more}\r\n'
                writer.write(answer.encode() + (b"" if head.startswith("HEAD") else part))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main():
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


class Files:
    """A data set of torch's: one file an index."""

    def __init__(self, urls):
        self.urls, self.system = urls, None

    def __len__(self):
        return len(self.urls)

    def __getitem__(self, index):
        import fsspec

        if self.system is None:
            self.system = fsspec.filesystem("http")
        return len(self.system.cat_file(self.urls[index]))


def fetch(way, url, count):
    """Bytes that came, and the seconds that it took."""
    urls = [f"{url}/{i}.jpg" for i in range(count)]
    if way == "one request after the other":
        import obstore

        store = obstore.store.HTTPStore.from_url(url, client_options={"allow_http": True})
        begin = time.perf_counter()
        return sum(len(obstore.get(store, f"{i}.jpg").bytes()) for i in range(count)), time.perf_counter() - begin
    if way.startswith("fsspec"):
        from torch.utils.data import DataLoader

        loader = DataLoader(
            Files(urls),
            batch_size=BATCH,
            num_workers=int(way.split()[-2]),
            multiprocessing_context="spawn",
            persistent_workers=True,
        )
        next(iter(loader))  # the workers have started and connected
        begin = time.perf_counter()
        return sum(int(batch.sum()) for batch in loader), time.perf_counter() - begin
    from penstock import fn, pipeline_def, storage

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, prefetch_queue_depth=2)
    def pipe():
        return fn.readers.file(files=urls, random_shuffle=True)

    def epoch():
        pipeline = pipe()
        pipeline.build()
        begin, size, left = time.perf_counter(), 0, count
        while left > 0:
            data, _ = pipeline.run()
            size += sum(data[i].shape()[0] for i in range(min(left, BATCH)))
            left -= BATCH
        return size, time.perf_counter() - begin

    connections = int(way.split()[-2]) if "connections" in way else 32
    with tempfile.TemporaryDirectory() as folder:
        storage.configure(
            connections=connections,
            cache=folder if "cache" in way else False,
            cache_limit="100G",
            cache_check="without" not in way,
        )
        if "cache" in way:
            epoch()
        return epoch()


def measure(way, url, count):
    peer = "torchvision" if way.startswith("fsspec") else "penstock"
    done = subprocess.run(
        [python_of(peer), __file__, "--fetch", way, url, str(count)], stdout=subprocess.PIPE, text=True, check=True
    )
    size, seconds = done.stdout.split()[-2:]
    return int(size), float(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rounds", 5), ("files", 2000), ("bytes", 100_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--workers", type=int, nargs="*", default=[8, 32])
    parser.add_argument("--serve", nargs=2)
    parser.add_argument("--fetch", nargs=3)
    o = parser.parse_args()
    if o.serve:
        return serve(float(o.serve[0]), int(o.serve[1]))
    if o.fetch:
        return print(*fetch(o.fetch[0], o.fetch[1], int(o.fetch[2])))
    ways = {"one request after the other": max(1, o.files // 20)}  # enough of them for its rate
    ways.update({f"Penstock, {n} connections": o.files for n in (32, 128)})
    ways.update({"Penstock, 2nd epoch from the cache": o.files, "Penstock, from the cache without asking": o.files})
    if python_of("torchvision"):
        ways.update({f"fsspec, DataLoader, {n} workers": o.files for n in o.workers})
    rates = {way: [] for way in ways}
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(o.latency), str(o.bytes)], stdout=subprocess.PIPE, text=True
    )
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        for k in range(o.rounds):
            for way in sorted(ways, reverse=bool(k % 2)):
                size, seconds = measure(way, url, ways[way])
                if size != ways[way] * o.bytes:
                    raise SystemExit(f"{way} read {size} bytes of {ways[way] * o.bytes}")
                rates[way].append(ways[way] / seconds)
                print(f"{way}: {rates[way][-1]:,.0f} files/s", flush=True)
    finally:
        server.kill()
    single = statistics.median(rates["one request after the other"])
    lines = [
        "# Files from a slow web server",
        "",
        f"{o.files:,} files of {o.bytes / 1000:.0f} KB, {o.latency * 1000:.0f} ms before each "
        f"answer, loopback; {os.cpu_count()} cores shared with the server, load {os.getloadavg()[0]:.1f} at the end; batches of {BATCH}, "
        f"Penstock with {THREADS} threads; medians of {o.rounds} rounds. Made by `python benchmarks/remote.py`.",
        "",
        "| way | files/s | of one after the other |",
        "|---|---|---|",
    ]
    for way, values in rates.items():
        lines.append(f"| {way} | {statistics.median(values):,.0f} | {statistics.median(values) / single:.1f} |")
    target = Path(__file__).parent / "results"
    (target / "remote.json").write_text(
        json.dumps({"facts": {**vars(o), "cores": os.cpu_count()}, "files/s": rates}, indent=1) + "\n"
    )
    (target / "remote.md").write_text("\n".join([*lines, ""]))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
