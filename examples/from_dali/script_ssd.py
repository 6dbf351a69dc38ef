# SPDX-License-Identifier: Apache-2.0
"""SSD's COCO pipeline of `ops` and its own iterator, which gives pictures with all boxes of a batch in one array."""

import numpy as np
import small_data
from nvidia.dali import ops, types
from nvidia.dali.pipeline import Pipeline

root, annotations = small_data.coco(8)
SIZE = 48


class COCOPipeline(Pipeline):
    def __init__(self, batch_size, device_id, file_root, annotations_file, num_shards=1, shard_id=0, seed=3):
        super().__init__(batch_size=batch_size, device_id=device_id, num_threads=2, seed=seed)
        self.input = ops.readers.COCO(
            file_root=file_root,
            annotations_file=annotations_file,
            skip_empty=True,
            shard_id=shard_id,
            num_shards=num_shards,
            ratio=True,
            ltrb=True,
            random_shuffle=True,
            shuffle_after_epoch=False,
        )
        self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
        self.crop = ops.RandomBBoxCrop(
            device="cpu",
            aspect_ratio=[0.5, 2.0],
            thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
            scaling=[0.3, 1.0],
            bbox_layout="xyXY",
            allow_no_crop=True,
            num_attempts=10,
        )
        self.slice = ops.Slice(device="cpu")
        self.twist = ops.ColorTwist(device="cpu")
        self.resize = ops.Resize(device="cpu", resize_x=SIZE, resize_y=SIZE, min_filter=types.INTERP_TRIANGULAR)
        self.normalize = ops.CropMirrorNormalize(
            device="cpu",
            crop=(SIZE, SIZE),
            mean=[124.0, 116.0, 104.0],
            std=[58.0, 57.0, 57.0],
            dtype=types.FLOAT,
            output_layout=types.NCHW,
            pad_output=False,
        )
        self.flip, self.boxflip = ops.Flip(device="cpu"), ops.BbFlip(device="cpu", ltrb=True)
        self.level, self.angle = ops.random.Uniform(range=[0.7, 1.3]), ops.random.Uniform(range=[-18.0, 18.0])
        self.coin = ops.random.CoinFlip(probability=0.5)

    def define_graph(self):
        mirror = self.coin()
        files, boxes, labels = self.input(name="Reader")
        begin, size, boxes, labels = self.crop(boxes, labels)
        images = self.resize(self.slice(self.decode(files), begin, size))
        images = self.twist(
            images, saturation=self.level(), contrast=self.level(), brightness=self.level(), hue=self.angle()
        )
        return self.normalize(self.flip(images, horizontal=mirror)), self.boxflip(boxes, horizontal=mirror), labels


class COCOIterator:
    """Over pipelines of one epoch, by the calls that such iterators use: schedule a run, take outputs, release them."""

    def __init__(self, pipes, size):
        self.pipes, self.size, self.count = pipes, size, 0
        for pipe in pipes:
            pipe.build()
            pipe.schedule_run()

    def __iter__(self):
        while self.count < self.size:
            for pipe in self.pipes:
                images, boxes, labels = pipe.share_outputs()
                pictures = images.as_array().copy()
                counts = [boxes.at(i).shape[0] for i in range(len(boxes))]
                together = np.concatenate([boxes.at(i) for i in range(len(boxes))])
                classes = np.concatenate([labels.at(i).ravel() for i in range(len(labels))])
                pipe.release_outputs()
                pipe.schedule_run()
                self.count += len(counts)
                yield pictures, together, classes, np.cumsum([0] + counts)
        self.count %= self.size


pipes = [COCOPipeline(4, None, str(root), str(annotations), 2, shard) for shard in range(2)]
loader = COCOIterator(pipes, 8)
assert pipes[0].prefetch_queue_depth == 2 and pipes[0].epoch_size("Reader") == 8
total = 0
for epoch in range(2):
    for pictures, boxes, labels, offsets in loader:
        assert pictures.shape == (4, 3, SIZE, SIZE) and len(boxes) == len(labels) == offsets[-1]
        assert (boxes[:, :2] < boxes[:, 2:]).all() and boxes.min() >= 0 and boxes.max() <= 1.00001
        assert set(labels.tolist()) <= {1, 2} and (np.diff(offsets) >= 1).all()
        total += len(boxes)
assert 16 <= total <= 32
print(f"ssd: 16 pictures of two shards with {total} boxes in one array a batch")
