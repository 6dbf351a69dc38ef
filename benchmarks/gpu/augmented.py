# SPDX-License-Identifier: Apache-2.0
"""Augmented batches of decoded images on one GPU: RandAugment at 224, and mosaics of 640 x 640 with boxes and masks.

    python benchmarks/gpu/augmented.py [--batch 256] [--rounds 5] [--batches 30] [--threads 8] [--device gpu] [--only NAME]

The decoded images are on the device; boxes and labels are on the host, as readers give them. Images a second, the median of the
rounds, whole pipelines with their host work.
"""

import argparse
import statistics
import time

import numpy as np


def pipelines(batch, threads, device, small):
    import penstock
    from penstock import augment, fn, pipeline_def, types
    from penstock.sample import Boxes, Sample

    rng = np.random.default_rng(5)
    on_device = lambda arrays: getattr(penstock.batch(arrays, layout="HWC"), device)()
    side = 96 if small else 640

    def pictures(height, width, channels, most):
        coarse = rng.integers(0, most, (batch, height // 8, width // 8, channels), np.uint8)
        return on_device([c.repeat(8, 0).repeat(8, 1) for c in coarse])

    options = {"batch_size": batch, "num_threads": threads, "seed": 1, "device_id": 0 if device == "gpu" else None}

    def rand_augment():
        images = pictures(224, 224, 3, 256)

        @pipeline_def(**options)
        def program():
            return augment.rand_augment(fn.external_source(always(images), device=device))

        return program()

    def mosaic():
        images, masks = pictures(side, side, 3, 256), pictures(side, side, 1, 20)
        corners = rng.uniform(0, 0.7 * side, (batch, 8, 2))
        boxes = list(
            np.concatenate([corners, corners + rng.uniform(8, 0.3 * side, (batch, 8, 2))], 2).astype(np.float32)
        )
        labels = [np.arange(8, dtype=np.int32)] * batch

        @pipeline_def(**options)
        def program():
            image, mask = (fn.external_source(always(x), device=device) for x in (images, masks))
            box, label = (fn.external_source(always(x)) for x in (boxes, labels))
            sample = Sample(image=image, mask=mask, boxes=Boxes(box, min_visibility=0.1), labels=label)
            sample = augment.mosaic(sample, size=side)
            sample = augment.random_affine(sample, 10, translate=(0.1, 0.1), scale=(0.5, 1.5), interpolation="bilinear")
            sample = fn.flip(sample, horizontal=fn.random.coin_flip())
            image = fn.color_twist(
                sample["image"],
                saturation=fn.random.uniform(range=[0.5, 1.5]),
                brightness=fn.random.uniform(range=[0.6, 1.4]),
                hue=fn.random.uniform(range=[-6.0, 6.0]),
            )
            image = fn.crop_mirror_normalize(image, dtype=types.FLOAT16, output_layout="CHW", std=[255.0] * 3)
            return image, sample["mask"], sample["boxes"], sample["labels"]

        return program()

    return {"rand_augment 224": rand_augment, "mosaic 640, affine, color, flip": mosaic}


def always(value):
    return lambda: value


def rate(pipeline, batches, batch):
    import penstock

    start = time.perf_counter()
    for _ in range(batches):
        out = pipeline.run()
    last = out[0] if isinstance(out, tuple) else out
    (last.cpu() if hasattr(last, "cpu") else penstock.batch(last))  # waits for the device
    return batches * batch / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--device", default="gpu", choices=["gpu", "cpu"])
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true", help="pictures of 96 x 96, to try it")
    options = parser.parse_args()
    print(f"batch {options.batch}, {options.threads} threads, {options.device}")
    for name, make in pipelines(options.batch, options.threads, options.device, options.small).items():
        if options.only not in name:
            continue
        pipeline = make()
        rate(pipeline, min(options.batches, 10), options.batch)
        rates = [rate(pipeline, options.batches, options.batch) for _ in range(options.rounds)]
        print(
            f"| {name} | {statistics.median(rates):,.0f} images/s | {min(rates):,.0f} to {max(rates):,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
