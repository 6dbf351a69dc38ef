# SPDX-License-Identifier: Apache-2.0
"""EfficientNet's input from TFRecord files: a pipeline for training and one for validation, of one class."""

import numpy as np
import small_data
from container_files import example, write_tfrecord
from nvidia.dali import fn, types
from nvidia.dali import tfrecord as tfrec
from nvidia.dali.pipeline import Pipeline

root = small_data.folder()
for part in range(2):
    write_tfrecord(
        root / f"{part}",
        [
            example(
                {
                    "image/encoded": small_data.encoded(small_data.picture(4 * part + n)),
                    "image/class/label": np.array([4 * part + n + 1]),
                }
            )
            for n in range(4)
        ],
        root / f"{part}.idx",
    )


class DaliPipeline(Pipeline):
    def __init__(
        self,
        files,
        indices,
        height,
        width,
        batch_size,
        num_threads,
        device_id,
        shard_id,
        num_shards,
        num_classes,
        training=True,
    ):
        super().__init__(batch_size=batch_size, num_threads=num_threads, device_id=device_id, seed=12 + shard_id)
        with self:
            inputs = fn.readers.tfrecord(
                path=files,
                index_path=indices,
                random_shuffle=training,
                shard_id=shard_id,
                num_shards=num_shards,
                initial_fill=16,
                features={
                    "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
                    "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
                    "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
                },
                name="Reader",
            )
            if training:
                images = fn.decoders.image_random_crop(
                    inputs["image/encoded"],
                    output_type=types.RGB,
                    num_attempts=100,
                    random_aspect_ratio=[0.75, 1.33],
                    random_area=[0.05, 1.0],
                )
                images = fn.resize(images, resize_x=width, resize_y=height)
                images = fn.flip(images, horizontal=fn.random.coin_flip())
            else:
                images = fn.decoders.image(inputs["image/encoded"], output_type=types.RGB)
                images = fn.resize(images, resize_shorter=height)
            images = fn.crop_mirror_normalize(
                images,
                dtype=types.FLOAT,
                crop=(height, width),
                mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
                std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
                output_layout=types.NHWC,
            )
            labels = fn.one_hot(fn.squeeze(inputs["image/class/label"] - 1, axes=[0]), num_classes=num_classes)
            self.set_outputs(images, labels)


files, indices = [str(root / str(p)) for p in range(2)], [str(root / f"{p}.idx") for p in range(2)]
for training in (True, False):
    seen = []
    for shard in range(2):
        pipe = DaliPipeline(files, indices, 32, 32, 2, 2, None, shard, 2, 10, training)
        pipe.build()
        for _ in range(2):
            images, labels = pipe.run()
            assert (
                images.as_array().shape == (2, 32, 32, 3)
                and images.layout() == "HWC"
                and labels.as_array().shape == (2, 10)
            )
            assert (labels.as_array().sum(axis=1) == 1).all()
            seen += labels.as_array().argmax(axis=1).tolist()
    assert sorted(seen) == list(range(8)) and (training or seen == list(range(8)))
print("efficientnet: eight records of two files, in training and in validation")
