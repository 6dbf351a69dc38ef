# SPDX-License-Identifier: Apache-2.0
"""Ten pointwise operators, one after the other, on 32 images of 512 x 512 x 3."""

import hashlib
import time

from . import Target, Variant, dali_api, steady

BATCH, SIDE, LENGTH, STEPS = 32, 512, 10, 6
UNIT = "batches/s"
VARIANTS = {
    "arithmetic_f32": Variant("ten arithmetic operators, float32", Target(ratio=5.0)),
    "brightness_contrast_f32": Variant("ten brightness_contrast, float32", Target(ratio=4.5)),
    "brightness_contrast_u8": Variant("ten brightness_contrast, uint8, arguments per sample", Target(ratio=8.0)),
}


def images(variant):
    """Smooth pictures with some noise; values 0 to 255 in the variant's type."""
    import numpy as np

    ramp = np.linspace(0, 200, SIDE, dtype=np.float32)
    planes = np.add.outer(ramp, ramp[::-1]) / 2, np.add.outer(ramp[::-1], ramp) / 2, np.hypot.outer(ramp, ramp)
    picture = np.stack(planes, -1)
    noise = np.random.default_rng(1).uniform(0, 50, (BATCH, SIDE, SIDE, 3)).astype(np.float32)
    batch = np.clip(picture + noise, 0, 255)
    return list(batch.astype(np.uint8) if variant.endswith("u8") else batch)


def build(peer, context):
    pipeline_def, fn, _ = dali_api(peer)
    batch = images(context.variant)

    @pipeline_def(
        batch_size=BATCH,
        num_threads=context.threads,
        device_id=None,
        seed=1,
        prefetch_queue_depth=1,
        exec_async=False,
        exec_pipelined=False,
    )
    def chain():
        x = fn.external_source(source=lambda: batch, no_copy=True, layout="HWC")
        if context.variant == "brightness_contrast_u8":
            brightness = fn.random.uniform(range=[0.95, 1.05])
            contrast = fn.random.uniform(range=[0.95, 1.05])
        for i in range(LENGTH):
            if context.variant == "arithmetic_f32":
                x = x + 0.25 if i % 2 else x * 1.01
            elif context.variant == "brightness_contrast_f32":
                x = fn.brightness_contrast(x, brightness=1.01, brightness_shift=0.25)
            else:
                x = fn.brightness_contrast(x, brightness=brightness, contrast=contrast)
        return x

    built = chain()
    built.build()
    return built


def start_pipeline(peer):
    def start(context):
        built = build(peer, context)
        return steady(built.run, 1, STEPS)

    return start


def digest(context):
    """SHA-256 of the first three batches: Penstock's fused run and its slow twin must agree."""
    import numpy as np

    built, total = build("penstock", context), hashlib.sha256()
    for _ in range(3):
        (batch,) = built.run()
        for i in range(BATCH):
            total.update(np.ascontiguousarray(np.asarray(batch[i])).tobytes())
    return total.hexdigest()


def start_torch(context):
    import numpy as np
    import torch

    torch.set_num_threads(context.threads)
    batch = torch.from_numpy(np.stack(images(context.variant)))

    def step():
        x = batch
        for i in range(LENGTH):
            x = (x.add_(0.25) if i % 2 else x.mul_(1.01)) if i else x * 1.01

    return steady(step, 1, STEPS, untimed=1)


def start_numpy_copy(context):
    """The floor for one pass over memory: the batch copied once, in as many threads."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    batch, pool = images(context.variant), ThreadPoolExecutor(context.threads)
    target = [np.empty_like(b) for b in batch]

    def one_pass():
        begin = time.perf_counter()
        for _ in range(STEPS):
            list(pool.map(np.copyto, target, batch))
        return STEPS, time.perf_counter() - begin

    return one_pass


METHODS = {
    "Penstock": ("penstock", start_pipeline("penstock")),
    "Penstock, operator by operator": ("penstock", start_pipeline("penstock")),
    "DALI": ("dali", start_pipeline("dali")),
    "torch, in place": ("torchvision", start_torch),
    "copying the batch": ("opencv", start_numpy_copy),
}
ENV = {"Penstock, operator by operator": {"PENSTOCK_EXEC": "simple"}}
DIGEST = {"Penstock": digest, "Penstock, operator by operator": digest}  # must agree
ONLY = {"torch, in place": {"arithmetic_f32"}}  # methods that are not in every variant
