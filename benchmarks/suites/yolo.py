# SPDX-License-Identifier: Apache-2.0
"""Detector input: decode, resize to 640 x 640, color twist, mirror, scale to CHW float32, batches of 32."""

import random

from . import Target, Variant, dali_api, steady

BATCH, SIZE, STEPS = 32, 640, 4
UNIT = "img/s"
VARIANTS = {"yolo": Variant("YOLO-like pipeline, 640x640, color twist, batch 32", Target(ratio=5.0))}


WITHOUT = "Penstock, no index"


def start_pipeline(peer, **options):
    def start(context):
        pipeline_def, fn, types = dali_api(peer)

        @pipeline_def(
            batch_size=BATCH, num_threads=context.threads, device_id=None, prefetch_queue_depth=2, seed=1, **options
        )
        def yolo():
            jpegs, labels = fn.readers.file(files=context.data["coco"], random_shuffle=True, name="reader")
            images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
            images = fn.resize(images, size=[SIZE, SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
            images = fn.color_twist(
                images,
                brightness=fn.random.uniform(range=[0.6, 1.4]),
                contrast=fn.random.uniform(range=[0.6, 1.4]),
                saturation=fn.random.uniform(range=[0.3, 1.7]),
                hue=fn.random.uniform(range=[-5.0, 5.0]),
            )
            return fn.crop_mirror_normalize(
                images,
                dtype=types.FLOAT,
                output_layout="CHW",
                mean=[0.0] * 3,
                std=[255.0] * 3,
                mirror=fn.random.coin_flip(probability=0.5),
            ), labels

        built = yolo()
        built.build()
        for _ in range(len(context.data["coco"]) // BATCH + 3 if peer == "penstock" else 0):
            built.run()  # the epoch that makes the index
        return steady(built.run, BATCH, STEPS)

    return start


def start_opencv(context):
    """The trick of YOLO trainers: color jitter as three 256-entry tables in HSV, which is less than a color twist."""
    from concurrent.futures import ThreadPoolExecutor

    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    pool, rng, files = ThreadPoolExecutor(context.threads), random.Random(1), context.data["coco"]
    batch, ramp = np.empty((BATCH, 3, SIZE, SIZE), np.float32), np.arange(256, dtype=np.float32)

    def load(slot, file):
        image = cv2.imdecode(np.fromfile(file, np.uint8), cv2.IMREAD_COLOR_RGB)
        image = cv2.resize(image, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
        gain = [rng.uniform(1 - spread, 1 + spread) for spread in (0.015, 0.7, 0.4)]
        tables = [ramp * gain[0] % 180, np.clip(ramp * gain[1], 0, 255), np.clip(ramp * gain[2], 0, 255)]
        planes = cv2.split(cv2.cvtColor(image, cv2.COLOR_RGB2HSV))
        image = cv2.merge([cv2.LUT(p, t.astype(np.uint8)) for p, t in zip(planes, tables)])
        image = cv2.cvtColor(image, cv2.COLOR_HSV2RGB)
        if rng.random() < 0.5:
            image = cv2.flip(image, 1)
        for c, plane in enumerate(cv2.split(image)):
            cv2.multiply(plane, 1 / 255, dst=batch[slot, c], dtype=cv2.CV_32F)

    def step():
        list(pool.map(load, range(BATCH), rng.choices(files, k=BATCH)))

    return steady(step, BATCH, STEPS, untimed=0)


METHODS = {
    "Penstock": ("penstock", start_pipeline("penstock")),
    WITHOUT: ("penstock", start_pipeline("penstock", entropy_index="off")),
    "DALI": ("dali", start_pipeline("dali")),
    "OpenCV in threads": ("opencv", start_opencv),
}
