# SPDX-License-Identifier: Apache-2.0
"""Whole JPEG files from memory to RGB uint8."""

import itertools
import time

from . import Target, Variant, dali_api, steady

BATCH, STEPS = 32, 24
UNIT = "img/s"
VARIANTS = {"decode": Variant("full JPEG decode, ImageNet-like files from memory", Target(ratio=1.7))}


def read_all(context):
    blobs = []
    for file in context.data["imagenet"]:
        with open(file, "rb") as f:
            blobs.append(f.read())
    return blobs


def start_pipeline(peer):
    def start(context):
        import numpy as np

        pipeline_def, fn, types = dali_api(peer)
        blobs = itertools.cycle([np.frombuffer(b, np.uint8) for b in read_all(context)])

        @pipeline_def(batch_size=BATCH, num_threads=context.threads, device_id=None, prefetch_queue_depth=2)
        def decode():
            jpegs = fn.external_source(source=lambda: [next(blobs) for _ in range(BATCH)], no_copy=True)
            return fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)

        built = decode()
        built.build()
        return steady(built.run, BATCH, STEPS)

    return start


def start_threads(make_decoder):
    """A decoder that takes one file at a time, in a thread pool, a few files a task."""

    def start(context):
        from concurrent.futures import ThreadPoolExecutor

        decode, blobs = make_decoder(), read_all(context)
        pool, tasks = ThreadPoolExecutor(context.threads), 4 * context.threads

        def decode_some(some):
            for blob in some:
                decode(blob)

        def one_pass():
            begin = time.perf_counter()
            list(pool.map(decode_some, [blobs[i::tasks] for i in range(tasks)]))
            return len(blobs), time.perf_counter() - begin

        return one_pass

    return start


def opencv():
    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    return lambda blob: cv2.imdecode(np.frombuffer(blob, np.uint8), cv2.IMREAD_COLOR_RGB)


def simplejpeg():
    import simplejpeg

    return lambda blob: simplejpeg.decode_jpeg(blob, "RGB", fastdct=False, fastupsample=False)


METHODS = {
    "Penstock": ("penstock", start_pipeline("penstock")),
    "DALI": ("dali", start_pipeline("dali")),
    "OpenCV in threads": ("opencv", start_threads(opencv)),
    "libjpeg-turbo (simplejpeg) in threads": ("opencv", start_threads(simplejpeg)),
}
