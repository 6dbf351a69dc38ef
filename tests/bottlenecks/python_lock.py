# SPDX-License-Identifier: Apache-2.0
"""Another Python thread that never gives its lock up by itself, as one that computes."""

import ctypes
import threading

from penstock import fn, pipeline_def

VERDICT, BATCHES = "lock", 60
HOLD = ctypes.PyDLL(None).usleep  # keeps the lock, and needs no core: other programs do not change what the test sees


@pipeline_def(batch_size=4)
def numbers():
    return fn.python_function(fn.random.uniform(range=[0.0, 1.0], shape=[16]), function=lambda x: x + 1)


def pipeline(folder):
    return numbers()


class beside:
    """The other thread, while the loop runs."""

    def __enter__(self):
        self.ends, self.runs = False, threading.Event()
        self.thread = threading.Thread(target=self.work, name="feature cache", daemon=True)
        self.thread.start()
        self.runs.wait()

    def work(self):
        self.runs.set()
        while not self.ends:
            HOLD(300)

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
