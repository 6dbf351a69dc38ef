# SPDX-License-Identifier: Apache-2.0
"""Augmentations beside a torch DataLoader on the same cores: samples of several parts, and RandAugment.

    python benchmarks/samples.py [--beside albumentations|torchvision] [--workers 2] [--rounds 5] [--batches 12] [--processor] [--json FILE]

It needs torch, and Albumentations (2.0.8 is its last version under the MIT license) or torchvision. Both take turns; images a second,
the median of the rounds. With --processor it is images a second of processor time: one thread, and the peer in the process itself. Then
work of others on the machine counts little.

albumentations: images with masks, boxes and labels. Both turn by up to 15 degrees and scale by 0.8 to 1.2, mirror half of the samples,
crop 384 x 384 at random, change brightness and contrast, and normalize; from decoded images of 480 x 640 in memory, with a mask of one
channel and 8 boxes each.

torchvision: from decoded images of 256 x 256 in memory, random crops of 224 x 224, half of them mirrored, RandAugment with its default
settings, and normalization.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

HEIGHT, WIDTH, SIDE, BATCH, BOXES = 480, 640, 384, 32, 8
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def samples(count=64):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(count):
        image = rng.integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
        mask = rng.integers(0, 20, (HEIGHT // 16, WIDTH // 16, 1), np.uint8).repeat(16, 0).repeat(16, 1)
        corner = rng.uniform(0, 0.7, (BOXES, 2)) * [WIDTH, HEIGHT]
        boxes = np.hstack([corner, corner + rng.uniform(20, 0.3 * HEIGHT, (BOXES, 2))]).astype(np.float32)
        found.append((image, mask, boxes, np.arange(BOXES, dtype=np.int32)))
    return found


def penstock_batches(data, workers):
    from penstock import augment, fn, pipeline_def, types
    from penstock.sample import Boxes, Sample

    def source(part):
        return lambda info: data[info.idx_in_epoch % len(data)][part]

    @pipeline_def(batch_size=BATCH, num_threads=workers, seed=1)
    def train():
        image, mask = (fn.external_source(source(k), layout="HWC", batch=False) for k in (0, 1))
        boxes, labels = (fn.external_source(source(k), batch=False) for k in (2, 3))
        sample = Sample(image=image, mask=mask, boxes=Boxes(boxes, min_visibility=0.1), labels=labels)
        sample = augment.random_affine(sample, 15, scale=(0.8, 1.2), interpolation="bilinear")
        place = {"crop_pos_x": fn.random.uniform(range=[0.0, 1.0]), "crop_pos_y": fn.random.uniform(range=[0.0, 1.0])}
        sample = fn.crop(sample, crop=[SIDE, SIDE], **place)
        sample = fn.flip(sample, horizontal=fn.random.coin_flip())
        drawn = [fn.random.uniform(range=[0.8, 1.2]) for _ in range(2)]
        sample = fn.brightness_contrast(sample, brightness=drawn[0], contrast=drawn[1])
        return fn.crop_mirror_normalize(sample, dtype=types.FLOAT, mean=MEAN, std=STD)

    pipe = train()
    pipe.build()
    while True:
        yield pipe.run()


def albumentations_batches(data, workers):
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
    import albumentations as A
    import cv2
    import torch

    transform = A.Compose(
        [
            A.Affine(rotate=(-15, 15), scale=(0.8, 1.2), p=1.0),
            A.RandomCrop(SIDE, SIDE),
            A.HorizontalFlip(p=0.5),
            A.RandomBrightnessContrast(0.2, 0.2, p=1.0),
            A.Normalize(mean=[m / 255 for m in MEAN], std=[s / 255 for s in STD]),
        ],
        bbox_params=A.BboxParams(format="pascal_voc", label_fields=["labels"], min_visibility=0.1),
    )

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 10**6

        def __getitem__(self, k):
            image, mask, boxes, labels = data[k % len(data)]
            made = transform(image=image, mask=mask, bboxes=boxes, labels=labels)
            planes = torch.from_numpy(made["image"].transpose(2, 0, 1).copy())
            return planes, torch.from_numpy(made["mask"]), np.float32(made["bboxes"]), made["labels"]

    def together(rows):
        images, masks, boxes, labels = zip(*rows)
        return torch.stack(images), torch.stack(masks), boxes, labels

    cv2.setNumThreads(0)
    yield from loaded(Data(), workers, together)


def loaded(data, workers, together=None):
    """Batches of a torch DataLoader, whose workers have a core each."""
    import torch

    def alone(worker=0):
        if "cv2" in sys.modules:
            sys.modules["cv2"].setNumThreads(0)
        torch.set_num_threads(1)

    if not workers:
        alone()
    ahead = {"prefetch_factor": 2, "worker_init_fn": alone} if workers else {}
    yield from torch.utils.data.DataLoader(data, BATCH, num_workers=workers, collate_fn=together, **ahead)


def pictures(count=64):
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (32, 32, 3), np.uint8).repeat(8, 0).repeat(8, 1) for _ in range(count)]


def penstock_rand_augment(data, workers):
    from penstock import augment, fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=workers, seed=1)
    def train():
        image = fn.external_source(lambda info: data[info.idx_in_epoch % len(data)], layout="HWC", batch=False)
        place = {"crop_pos_x": fn.random.uniform(range=[0.0, 1.0]), "crop_pos_y": fn.random.uniform(range=[0.0, 1.0])}
        image = fn.crop(image, crop=[224, 224], **place)
        image = fn.flip(image, horizontal=fn.random.coin_flip())
        image = augment.rand_augment(image)
        return fn.crop_mirror_normalize(image, dtype=types.FLOAT, mean=MEAN, std=STD)

    pipe = train()
    pipe.build()
    while True:
        yield pipe.run()


def torchvision_rand_augment(data, workers):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import torch
    import torchvision_oracle  # noqa: F401  first: its compiled part may be missing
    from torchvision.transforms import v2

    transform = v2.Compose(
        [
            v2.RandomCrop(224),
            v2.RandomHorizontalFlip(),
            v2.RandAugment(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD]),
        ]
    )
    planes = [torch.from_numpy(image.transpose(2, 0, 1).copy()) for image in data]

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 10**6

        def __getitem__(self, k):
            return transform(planes[k % len(planes)])

    yield from loaded(Data(), workers)


PROGRAMS = {
    "albumentations": (samples, penstock_batches, albumentations_batches),
    "torchvision": (pictures, penstock_rand_augment, torchvision_rand_augment),
}


def rate(batches, count, clock):
    start = clock()
    for _ in range(count):
        next(batches)
    return count * BATCH / (clock() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", choices=list(PROGRAMS), default="albumentations")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    make_data, ours, theirs = PROGRAMS[options.beside]
    data = make_data()
    clock = time.process_time if options.processor else time.perf_counter
    makers = {"penstock": ours, options.beside: theirs}
    workers = {"penstock": options.workers, options.beside: options.workers}
    if options.processor:
        workers = {"penstock": 1, options.beside: 0}
    found = {name: [] for name in makers}
    for _ in range(options.rounds):  # a loader that waits works ahead: each round has its own
        for name, make in makers.items():
            batches = make(data, workers[name])
            rate(batches, 4, clock)
            found[name].append(rate(batches, options.batches, clock))
            batches.close()
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    ratio = statistics.median(a / b for a, b in zip(found["penstock"], found[options.beside]))
    for name, value in medians.items():
        print(f"{name:15} {value:8.0f} images/s")
    print(f"ratio {ratio:.1f}, the median of {options.rounds} rounds")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rates": found, "ratio": ratio, "workers": workers}, file, indent=1)


if __name__ == "__main__":
    main()
