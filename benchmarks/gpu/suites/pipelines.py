# SPDX-License-Identifier: Apache-2.0
"""The pipelines that several suites time: one text for Penstock and DALI."""

import os

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


def api(library):
    if library == "penstock":
        from penstock import fn, pipeline_def, types
    else:
        from nvidia.dali import fn, pipeline_def, types
    return pipeline_def, fn, types


def of_decoder(library, load):
    """DALI's share of the engine and its hints about sizes; Penstock has no such settings."""
    if library == "penstock":
        return {}
    return {"hw_decoder_load": load, "preallocate_width_hint": 700, "preallocate_height_hint": 700}


def decode(library, settings, threads, load=None, batch=256):
    pipeline_def, fn, types = api(library)

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=0, seed=1)
    def pipeline():
        jpegs, labels = fn.readers.file(file_root=settings.files("imagenet"), name="reader")
        return fn.decoders.image(jpegs, device="mixed", output_type=types.RGB, **of_decoder(library, load))

    return pipeline()


def resnet50(library, settings, threads, load=None, batch=256, half=True, random_crop_decoder=False):
    pipeline_def, fn, types = api(library)
    crop = dict(random_aspect_ratio=[0.75, 4 / 3], random_area=[0.08, 1.0], num_attempts=100)

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=0, seed=3, prefetch_queue_depth=2)
    def pipeline():
        jpegs, labels = fn.readers.file(
            file_root=settings.files("imagenet"), name="reader", random_shuffle=True, initial_fill=1024
        )
        if random_crop_decoder:
            images = fn.decoders.image_random_crop(
                jpegs, device="mixed", output_type=types.RGB, **crop, **of_decoder(library, load)
            )
            images = fn.resize(images, size=[224, 224], interp_type=types.INTERP_TRIANGULAR)
        else:
            images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB, **of_decoder(library, load))
            images = fn.random_resized_crop(images, size=[224, 224], **crop)
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT16 if half else types.FLOAT,
            output_layout="CHW",
            crop=(224, 224),
            mean=MEAN,
            std=STD,
            mirror=fn.random.coin_flip(probability=0.5),
        )
        return images, labels.gpu()

    return pipeline()


def yolo(library, settings, threads, load=None, batch=64):
    """Decode, fit into 640 x 640, flip, color twist, pad and scale to CHW float16."""
    pipeline_def, fn, types = api(library)

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=0, seed=3, prefetch_queue_depth=2)
    def pipeline():
        jpegs, labels = fn.readers.file(
            file_root=settings.files("coco"), name="reader", random_shuffle=True, initial_fill=512
        )
        images = fn.decoders.image(
            jpegs, device="mixed", output_type=types.RGB, **({"hw_decoder_load": load} if library == "dali" else {})
        )
        images = fn.resize(images, size=[640, 640], mode="not_larger", interp_type=types.INTERP_LINEAR)
        images = fn.flip(images, horizontal=fn.random.coin_flip())
        images = fn.color_twist(
            images,
            brightness=fn.random.uniform(range=(0.6, 1.4)),
            contrast=fn.random.uniform(range=(0.6, 1.4)),
            saturation=fn.random.uniform(range=(0.3, 1.7)),
            hue=fn.random.uniform(range=(-15.0, 15.0)),
        )
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT16,
            output_layout="CHW",
            crop=(640, 640),
            out_of_bounds_policy="pad",
            fill_values=114.0,
            mean=[0.0] * 3,
            std=[255.0] * 3,
        )
        return images, labels.gpu()

    return pipeline()


def running(make, *args, only_cores=None, **options):
    """start() of a method: builds the pipeline and makes its step. only_cores: as many are all that its threads and the one
    that calls it may use."""

    def start():
        pipeline = make(*args, **options)
        if only_cores is None:
            pipeline.build()
            return pipeline.run
        all_cores = os.sched_getaffinity(0)
        few = sorted(all_cores)[:: max(1, len(all_cores) // only_cores)][:only_cores]  # apart from each other

        def confined(call):
            os.sched_setaffinity(0, few)
            try:
                return call()
            finally:
                os.sched_setaffinity(0, all_cores)

        confined(pipeline.build)
        return lambda: confined(pipeline.run)

    return start
