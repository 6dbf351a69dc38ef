# SPDX-License-Identifier: Apache-2.0
"""The first hour of somebody who builds a library on Penstock: what objects say, pickles, threads, and questions that have
an answer."""

import functools
import pickle
import threading

import numpy as np

import penstock
from penstock import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=1, seed=2)
def numbers(count):
    return fn.readers.indices(size=count, name="reader"), fn.random.uniform(range=[0.0, 1.0])


def said(function):
    try:
        function()
    except Exception as error:
        return str(error)
    raise AssertionError("no error")


pipe = numbers(10)
print(pipe, pipe._repr_html_()[:5], penstock.batch([np.zeros((2, 3), np.uint8)] * 2))
half = pickle.loads(pickle.dumps(functools.partial(fn.resize, size=[4, 4])))
print(half(np.zeros((8, 8, 3), np.uint8)).shape)
results, lock = [], threading.Lock()


def run_once():
    with lock:
        results.append(pipe.run())


threads = [threading.Thread(target=run_once) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("runs", len(results))
for wrong in (
    lambda: numbers(10, on_error="ignore"),
    lambda: numbers(10, device_id="cuda"),
    lambda: numbers(10, seed="a"),
    lambda: penstock.show,
    lambda: fn.color_jitter,
    lambda: pipeline_def(batch_size=1, num_threads=1)(lambda: fn.readers.file(files=["a"], weights=[1.0]))(),
    lambda: pipeline_def(batch_size=1, num_threads=1)(
        lambda: fn.readers.coco(annotations_file="a.json", keypoints=True)
    )(),
    lambda: pipeline_def(batch_size=1, num_threads=1)(
        lambda: fn.readers.nemo_asr(manifest_filepaths=["a.json"], read_speaker=True)
    )(),
):
    print(said(wrong))
