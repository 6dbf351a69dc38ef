# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 input: JPEG files in the page cache become batches of 128 x 3 x 224 x 224."""

import math
import os
import random
import tempfile
import time

from . import Target, Variant, dali_api, steady

BATCH, SIZE, STEPS = 128, 224, 6
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
UNIT = "img/s"
VARIANTS = {
    "train_f32": Variant("ResNet-50 training, float32 CHW, batch 128", Target(ratio=4.5)),
    "train_f16": Variant("ResNet-50 training, float16 CHW, batch 128", Target(ratio=2.0)),
    "eval_f32": Variant("ResNet-50 evaluation (shorter side 256, center crop 224), batch 128", Target(ratio=2.2)),
}
# "Penstock" is what a training has from its second epoch on: with the entropy index of its files.
FIRST, WITHOUT = "Penstock, first epoch, making the index", "Penstock, no index"
MORE_TARGETS = {"train_f32": {FIRST: 2.8, WITHOUT: 3.2}}
ONLY = {FIRST: ("train_f32",), WITHOUT: ("train_f32", "eval_f32")}
FIRST_EPOCH = 16 * BATCH


def pipeline(peer, variant, threads, files, batch=BATCH, **options):
    """The pipeline of the suite, one text for both libraries."""
    pipeline_def, fn, types = dali_api(peer)
    train, half = variant.startswith("train"), variant.endswith("f16")

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=None, prefetch_queue_depth=2, seed=1, **options)
    def resnet50():
        jpegs, labels = fn.readers.file(files=files, random_shuffle=train, name="reader")
        mirror = 0
        if train:
            images = fn.decoders.image_random_crop(
                jpegs,
                device="cpu",
                output_type=types.RGB,
                num_attempts=10,
                random_aspect_ratio=[3 / 4, 4 / 3],
                random_area=[0.08, 1.0],
            )
            images = fn.resize(images, size=[SIZE, SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
            mirror = fn.random.coin_flip(probability=0.5)
        else:
            images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
            images = fn.resize(images, resize_shorter=256, interp_type=types.INTERP_LINEAR, antialias=True)
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT16 if half else types.FLOAT,
            output_layout="CHW",
            crop=(SIZE, SIZE),
            mean=MEAN,
            std=STD,
            mirror=mirror,
        )
        return images, labels

    built = resnet50()
    built.build()
    return built


def start_pipeline(peer):
    def start(context):
        built = pipeline(peer, context.variant, context.threads, context.data["imagenet"])
        return steady(built.run, BATCH, STEPS)

    return start


def start_indexed(context):
    """All passes but an untimed epoch have the index."""
    files = context.data["imagenet"]
    built = pipeline(
        "penstock", context.variant, context.threads, files, entropy_index=os.path.join(tempfile.mkdtemp(), "index")
    )
    for _ in range(len(files) // BATCH + 2):
        built.run()
    return steady(built.run, BATCH, STEPS)


def start_without_index(context):
    built = pipeline("penstock", context.variant, context.threads, context.data["imagenet"], entropy_index="off")
    return steady(built.run, BATCH, STEPS)


def start_first_epoch(context):
    """Each pass is a whole first epoch, from the making of the pipeline, over as many names as 16 batches have."""
    links = tempfile.mkdtemp()
    names = []
    for k in range(FIRST_EPOCH):
        names.append(os.path.join(links, f"{k}.jpg"))
        os.symlink(os.path.abspath(context.data["imagenet"][k % len(context.data["imagenet"])]), names[-1])

    def one_pass():
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            built = pipeline(
                "penstock", context.variant, context.threads, names, entropy_index=os.path.join(folder, "index")
            )
            for _ in range(FIRST_EPOCH // BATCH):
                built.run()
            seconds = time.perf_counter() - begin
            made = built.stats()["entropy_index"]["made"]
            if made < FIRST_EPOCH:
                raise RuntimeError(f"the index holds {made} of {FIRST_EPOCH} files at the end of the first epoch")
        return FIRST_EPOCH, seconds

    return one_pass


def random_crop(width, height, rng):
    """Left, top, width, height of a crop with 8 to 100 % of the area and an aspect ratio of 3/4 to 4/3."""
    for _ in range(10):
        area, ratio = rng.uniform(0.08, 1) * width * height, math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, width - w), rng.randint(0, height - h), w, h
    return 0, 0, width, height


def start_opencv(context):
    """What a careful user writes by hand: a thread pool around OpenCV, results written into one batch buffer."""
    from concurrent.futures import ThreadPoolExecutor

    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    pool, rng, files = ThreadPoolExecutor(context.threads), random.Random(1), context.data["imagenet"]
    train, half = context.variant.startswith("train"), context.variant.endswith("f16")
    batch = np.empty((BATCH, 3, SIZE, SIZE), np.float16 if half else np.float32)
    scale, shift = [1 / s for s in STD], [-m / s for m, s in zip(MEAN, STD)]

    def load(slot, file):
        image = cv2.imdecode(np.fromfile(file, np.uint8), cv2.IMREAD_COLOR_RGB)
        if train:
            x, y, w, h = random_crop(image.shape[1], image.shape[0], rng)
            shrinks = min(w, h) > SIZE
            image = cv2.resize(
                image[y : y + h, x : x + w], (SIZE, SIZE), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
            )
            if rng.random() < 0.5:
                image = cv2.flip(image, 1)
        else:
            factor = 256 / min(image.shape[:2])
            size = round(image.shape[1] * factor), round(image.shape[0] * factor)
            image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
            y, x = (image.shape[0] - SIZE) // 2, (image.shape[1] - SIZE) // 2
            image = image[y : y + SIZE, x : x + SIZE]
        for c, plane in enumerate(cv2.split(image)):
            if half:
                batch[slot, c] = cv2.addWeighted(plane, scale[c], plane, 0, shift[c], dtype=cv2.CV_32F)
            else:
                cv2.addWeighted(plane, scale[c], plane, 0, shift[c], dst=batch[slot, c], dtype=cv2.CV_32F)

    order = iter(lambda: rng.randrange(len(files)), None)

    def step():
        list(pool.map(load, range(BATCH), [files[next(order)] for _ in range(BATCH)]))

    return steady(step, BATCH, STEPS, untimed=0)  # nothing is read ahead


def start_torchvision(context):
    """ImageFolder's way: Pillow decodes, transforms work on Pillow images, worker processes of the DataLoader."""
    from . import torchvision_import  # noqa: F401

    import torch
    from PIL import Image
    from torchvision.transforms import v2

    torch.set_num_threads(1)
    dtype = torch.float16 if context.variant.endswith("f16") else torch.float32
    mean, std, files = [m / 255 for m in MEAN], [s / 255 for s in STD], context.data["imagenet"]
    if context.variant.startswith("train"):
        geometry = [v2.RandomResizedCrop(SIZE), v2.RandomHorizontalFlip()]
    else:
        geometry = [v2.Resize(256), v2.CenterCrop(SIZE)]
    transform = v2.Compose(
        [*geometry, v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std), v2.ToDtype(dtype)]
    )

    class Files(torch.utils.data.Dataset):
        def __len__(self):
            return 10**7

        def __getitem__(self, i):
            return transform(Image.open(files[i * 7919 % len(files)]).convert("RGB")), 0

    loader = torch.utils.data.DataLoader(
        Files(), BATCH, num_workers=context.threads, drop_last=True, worker_init_fn=lambda _: torch.set_num_threads(1)
    )
    batches = iter(loader)
    return steady(lambda: next(batches), BATCH, STEPS, untimed=2 * context.threads + 1)


def start_tf(context):
    import tensorflow as tf

    train = context.variant.startswith("train")
    dtype = tf.float16 if context.variant.endswith("f16") else tf.float32
    mean, std = tf.constant(MEAN), tf.constant(STD)

    def load(path):
        jpeg = tf.io.read_file(path)
        if train:
            begin, size, _ = tf.image.sample_distorted_bounding_box(
                tf.io.extract_jpeg_shape(jpeg),
                tf.zeros([1, 0, 4]),
                min_object_covered=0.0,
                max_attempts=10,
                aspect_ratio_range=(3 / 4, 4 / 3),
                area_range=(0.08, 1.0),
                use_image_if_no_bounding_boxes=True,
            )
            image = tf.image.decode_and_crop_jpeg(jpeg, tf.concat([begin[:2], size[:2]], 0), channels=3)
            image = tf.image.random_flip_left_right(tf.image.resize(image, [SIZE, SIZE]))
        else:
            image = tf.io.decode_jpeg(jpeg, channels=3)
            shape = tf.cast(tf.shape(image)[:2], tf.float32)
            size = tf.cast(tf.round(shape * (256 / tf.reduce_min(shape))), tf.int32)
            image = tf.image.resize_with_crop_or_pad(tf.image.resize(image, size), SIZE, SIZE)
        return tf.cast(tf.transpose((image - mean) / std, [2, 0, 1]), dtype)

    files = tf.data.Dataset.from_tensor_slices(context.data["imagenet"]).repeat()
    if train:
        files = files.shuffle(400)
    batches = files.map(load, num_parallel_calls=context.threads).batch(BATCH, drop_remainder=True).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = context.threads
    batches = iter(batches.with_options(options))
    return steady(lambda: next(batches), BATCH, STEPS)


METHODS = {
    "Penstock": ("penstock", start_indexed),
    FIRST: ("penstock", start_first_epoch),
    WITHOUT: ("penstock", start_without_index),
    "DALI": ("dali", start_pipeline("dali")),
    "OpenCV in threads": ("opencv", start_opencv),
    "torchvision, Pillow": ("torchvision", start_torchvision),
    "tf.data": ("tf", start_tf),
}
