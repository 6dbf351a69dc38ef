# SPDX-License-Identifier: Apache-2.0
"""Runs three epochs of the ResNet-50 training pipeline and prints what memory that took at its peak.

python memory_worker.py penstock|dali THREADS < JSON list of files
"""

import json
import sys
import threading

from race import status_kb
from suites import dali_api, resnet50

PREFETCH, EPOCHS, BYTES_F32 = 2, 3, 4


def private_kb():
    return status_kb("self", "RssAnon", "RssShmem")


class Peak(threading.Thread):
    """Samples the private memory of this process every 5 ms."""

    def __init__(self):
        super().__init__(daemon=True)
        self.kb, self.done = 0, threading.Event()

    def run(self):
        while not self.done.wait(0.005):
            self.kb = max(self.kb, private_kb())


def main():
    peer, threads = sys.argv[1], int(sys.argv[2])
    files = json.load(sys.stdin)
    dali_api(peer)  # the imports
    before, peak = private_kb(), Peak()
    peak.start()
    pipeline = resnet50.pipeline(peer, "train_f32", threads, files)
    for _ in range(-(-EPOCHS * len(files) // resnet50.BATCH)):
        batch = pipeline.run()
    peak.done.set()
    peak.join()
    one_batch = resnet50.BATCH * 3 * resnet50.SIZE**2 * BYTES_F32
    del batch
    print(
        json.dumps(
            {
                "peak_mb": (max(peak.kb, private_kb()) - before) / 1024,
                "after_imports_mb": before / 1024,
                "batches_mb": (PREFETCH + 1) * one_batch / 2**20,
            }
        )
    )


main()
