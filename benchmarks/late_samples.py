# SPDX-License-Identifier: Apache-2.0
"""What a slow sample costs: late="wait" and late="swap", with and without slow samples, in turn.

    python benchmarks/late_samples.py [--batch-size 256] [--threads 16] [--batches 30] [--rounds 3] [--wait-ms 2] [--prefetch 2]

Each sample is a small picture on a server of this machine that answers after --wait-ms; one in 200 takes 100 times as long. So the threads
wait, as for storage, and the rate does not depend on the number of cores. With --work, samples are decoded instead: one in 200 has 100 times
as many pixels, which is 1.5 times the work, and the table says so. Prints samples a second and the ratio to the rate without slow samples.
"""

import argparse
import http.server
import io
import os
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from penstock import fn, pipeline_def

EVERY, TIMES = 200, 100


class Server(http.server.ThreadingHTTPServer):
    """Sends one picture for each name; names that contain "slow" take TIMES as long."""

    daemon_threads, request_queue_size = True, 512

    def __init__(self, body, seconds):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

            def do_GET(self):
                time.sleep(seconds * (TIMES if "slow" in self.path else 1))
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"1"')
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"1"')
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def picture(side):
    pixels = np.random.default_rng(side).integers(0, 256, (side // 8, side // 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((side, side), Image.BICUBIC).save(file, "JPEG", quality=90)
    return file.getvalue()


@pipeline_def
def program(files):
    encoded, label = fn.readers.file(files=files, labels=list(range(len(files))), name="reader")
    return fn.resize(fn.decoders.image(encoded), size=[64, 64]), label


def rate(files, options, batches):
    pipe = program(files, **options)
    for _ in range(3):
        pipe.run()
    begin = time.perf_counter()
    for _ in range(batches):
        pipe.run()
    return batches * options["batch_size"] / (time.perf_counter() - begin)


def names(count, work, folder, seconds, slow):
    """Files of which one in EVERY is slow, or none."""
    is_slow = [slow and i % EVERY == EVERY // 2 for i in range(count)]
    if work:
        for name, side in (("usual", 160), ("slow", 1600)):
            Path(folder, f"{name}.jpg").write_bytes(picture(side))
        return [os.path.join(folder, "slow.jpg" if s else "usual.jpg") for s in is_slow]
    server = names.server = getattr(names, "server", None) or Server(picture(96), seconds)
    return [f"http://127.0.0.1:{server.server_port}/{'slow' if s else 'usual'}/{i}.jpg" for i, s in enumerate(is_slow)]


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("batch-size", 256), ("threads", 16), ("batches", 30), ("rounds", 3), ("prefetch", 2)):
        parse.add_argument(f"--{name}", type=int, default=value)
    parse.add_argument("--wait-ms", type=float, default=2.0)
    parse.add_argument("--work", action="store_true")
    a = parse.parse_args()
    warnings.simplefilter("ignore")
    count = a.batch_size * (a.batches + 8)
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(a.rounds):
            for late in ("wait", "swap"):
                for slow in (False, True):
                    options = {
                        "batch_size": a.batch_size,
                        "num_threads": a.threads,
                        "prefetch_queue_depth": a.prefetch,
                        "late": late,
                        "entropy_index": "off",
                    }
                    files = names(count, a.work, folder, a.wait_ms / 1e3, slow)
                    made.setdefault((late, slow), []).append(rate(files, options, a.batches))
    best = {key: max(rates) for key, rates in made.items()}
    usual = best["wait", False]
    print(f"batches of {a.batch_size}, {a.threads} threads, {a.prefetch} ahead, {'decoding' if a.work else 'waiting'}")
    print("| late | without slow samples, samples/s | with | ratio | beside wait without |")
    print("|---|---|---|---|---|")
    for late in ("wait", "swap"):
        without, with_slow = best[late, False], best[late, True]
        print(f"| {late} | {without:.0f} | {with_slow:.0f} | {with_slow / without:.2f} | {with_slow / usual:.2f} |")
    if a.work:
        print("one sample in 200 of 100 times the pixels is 1.5 times the work: at most 0.67 with all cores at work")


if __name__ == "__main__":
    main()
