# SPDX-License-Identifier: Apache-2.0
"""The DALI parts of classic training scripts, in our words: a ResNet of classes, an SSD with an iterator of its own, an
EfficientNet on TFRecord files. Their pictures are compared with DALI's if nothing is random."""

import io
import json
import subprocess
import sys

import container_files
import dali_oracle
import numpy as np
import pytest
from PIL import Image

COMMON = """
import json, sys
import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
folder = sys.argv[1]
np.random.seed(1)

results = {}

def report(name, batches):
    arrays = [[np.asarray(t.as_cpu() if hasattr(t, "as_cpu") else t) for t in b] for b in batches]
    results[name] = [[[a.dtype.name, list(a.shape), float(np.float64(a).sum())] for a in b] for b in arrays]
"""

RESNET = """
class HybridValPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, size, shard, shards):
        super().__init__(batch_size, num_threads, device_id, seed=12 + (device_id or 0))
        self.input = ops.FileReader(file_root=data_dir, shard_id=shard, num_shards=shards, random_shuffle=False)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(device="cpu", resize_shorter=size)
        self.cmnp = ops.CropMirrorNormalize(device="cpu", dtype=types.FLOAT, output_layout=types.NCHW, crop=(crop, crop),
                                            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
                                            std=[0.229 * 255, 0.224 * 255, 0.225 * 255])

    def define_graph(self):
        self.jpegs, self.labels = self.input(name="Reader")
        return [self.cmnp(self.res(self.decode(self.jpegs))), self.labels]

class HybridTrainPipe(HybridValPipe):
    def __init__(self, *args):
        super().__init__(*args)
        self.decode = ops.ImageDecoderRandomCrop(device="cpu", output_type=types.RGB, random_aspect_ratio=[0.8, 1.25],
                                                 random_area=[0.1, 1.0], num_attempts=100)
        self.res = ops.Resize(device="cpu", resize_x=16, resize_y=16, interp_type=types.INTERP_TRIANGULAR)
        self.coin = ops.CoinFlip(probability=0.5)

    def define_graph(self):
        rng = self.coin()
        self.jpegs, self.labels = self.input(name="Reader")
        return [self.cmnp(self.res(self.decode(self.jpegs)), mirror=rng), self.labels]

train = HybridTrainPipe(2, 2, None, folder + "/classes", 16, 20, 0, 1)
train.build()
images, labels = train.run()
assert images[0].shape() == [3, 16, 16] and train.epoch_size("Reader") == 4
val = HybridValPipe(2, 2, None, folder + "/classes", 16, 20, 0, 1)
val.build()
report("ResNet", val.run())
"""

SSD = """
class COCOPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id):
        super().__init__(batch_size=batch_size, num_threads=num_threads, device_id=device_id, seed=3)
        self.input = ops.COCOReader(file_root=folder + "/coco", annotations_file=folder + "/coco.json", skip_empty=True,
                                    ratio=True, ltrb=True, shard_id=0, num_shards=1, random_shuffle=False)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.crop = ops.RandomBBoxCrop(device="cpu", aspect_ratio=[0.5, 2.0], thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9], scaling=[0.3, 1.0],
                                       bbox_layout="xyXY", allow_no_crop=True, num_attempts=50)
        self.slice = ops.Slice(device="cpu")
        self.twist = ops.ColorTwist(device="cpu")
        self.resize = ops.Resize(device="cpu", resize_x=12, resize_y=12, min_filter=types.DALIInterpType.INTERP_TRIANGULAR)
        self.normalize = ops.CropMirrorNormalize(device="cpu", crop=(12, 12), mean=[100.0] * 3, std=[50.0] * 3, mirror=0,
                                                 dtype=types.FLOAT, output_layout=types.NCHW)
        anchors = np.float32([[0, 0, .5, .5], [.5, .5, 1, 1], [0, 0, 1, 1]]).ravel().tolist()
        self.encode = ops.BoxEncoder(device="cpu", criteria=0.5, anchors=anchors)
        self.rng1, self.rng2 = ops.Uniform(range=[0.875, 1.125]), ops.Uniform(range=[0.5, 1.5])
        self.flip, self.bbflip, self.coin = ops.Flip(device="cpu"), ops.BbFlip(device="cpu", ltrb=True), ops.CoinFlip(probability=0.5)

    def define_graph(self):
        inputs, boxes, labels = self.input(name="Reader")
        images = self.decode(inputs)
        begin, size, boxes, labels = self.crop(boxes, labels)
        images = self.slice(images, begin, size)
        coin = self.coin()
        images, boxes = self.flip(images, horizontal=coin), self.bbflip(boxes, horizontal=coin)
        images = self.twist(self.resize(images), contrast=self.rng1(), brightness=self.rng2())
        images = self.normalize(images)
        boxes, labels = self.encode(boxes, labels)
        return images, boxes, labels

class Iterator:  # as SSD has its own
    def __init__(self, pipe, size):
        self.pipe, self.size, self.seen = pipe, size, 0
        self.pipe.enable_api_check(False)
        with self.pipe._check_api_type_scope(types.PipelineAPIType.ITERATOR):
            self.pipe._prefetch()

    def __iter__(self):
        while self.seen < self.size:
            outputs = self.pipe.share_outputs()
            arrays = [np.array(o.as_tensor()) for o in outputs]
            self.pipe.release_outputs()
            self.pipe.schedule_run()
            self.seen += len(arrays[0])
            yield arrays

pipe = COCOPipeline(2, 2, None)
pipe.build()
batches = list(Iterator(pipe, pipe.epoch_size("Reader")))
results["SSD"] = [[a.dtype.name, list(a.shape)] for a in batches[-1]] + [len(batches)]
"""

EFFICIENTNET = """
import nvidia.dali.tfrecord as tfrec
class DaliPipeline(Pipeline):
    def __init__(self, tfrec_filenames, idx_filenames, height, width, batch_size, num_threads, device_id, training):
        kwargs = dict(prefetch_queue_depth=3, exec_async=True, exec_pipelined=True, set_affinity=True)
        super().__init__(batch_size, num_threads, device_id, seed=21, **kwargs)
        self.training = training
        self.input = ops.TFRecordReader(path=tfrec_filenames, index_path=idx_filenames, random_shuffle=training, shard_id=0,
                                        num_shards=1, initial_fill=8, features={
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1)})
        self.decode = ops.ImageDecoderRandomCrop(device="cpu", output_type=types.RGB, random_area=[0.08, 1.0]) if training else (
            ops.ImageDecoder(device="cpu", output_type=types.RGB))
        self.resize = ops.Resize(device="cpu", resize_x=width, resize_y=height)
        self.jitter = ops.ColorTwist(device="cpu")
        self.norm = ops.CropMirrorNormalize(device="cpu", dtype=types.FLOAT, crop=(height, width), output_layout=types.NHWC,
                                            mean=[127.0] * 3, std=[58.0] * 3)
        self.uniform, self.coin = ops.Uniform(range=[0.9, 1.1]), ops.CoinFlip(probability=0.5)
        self.cast, self.one_hot = ops.Cast(device="cpu", dtype=types.INT32), ops.OneHot(num_classes=7)

    def define_graph(self):
        inputs = self.input(name="Reader")
        images = self.resize(self.decode(inputs["image/encoded"]))
        if self.training:
            images = self.norm(self.jitter(images, saturation=self.uniform()), mirror=self.coin())
        else:
            images = self.norm(images)
        return images, self.one_hot(self.cast(inputs["image/class/label"]))

files = ([folder + "/data.tfrecord"], [folder + "/data.idx"], 9, 11, 4, 2, None)
train = DaliPipeline(*files, True)
train.build()
images, labels = train.run()
assert images[0].shape() == [9, 11, 3] and labels[0].shape() == [7]
val = DaliPipeline(*files, False)
val.build()
report("EfficientNet", val.run())
print(json.dumps(results))
"""


def picture(k, kind="PNG"):
    stream = io.BytesIO()
    pixels = np.random.default_rng(k).integers(0, 256, (8, 9, 3), np.uint8)
    Image.fromarray(pixels).resize((32 + k, 28)).save(stream, kind)
    return stream.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scripts")
    for k in range(4):
        place = made / "classes" / "ab"[k % 2] / f"{k}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(picture(k))
    (made / "coco").mkdir()
    notes = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]}
    for k in range(5):
        (made / "coco" / f"{k}.jpg").write_bytes(picture(k, "JPEG"))
        notes["images"].append({"id": k, "file_name": f"{k}.jpg", "width": 32 + k, "height": 28})
        for box in range(k % 3):
            notes["annotations"].append(
                {
                    "id": 10 * k + box,
                    "image_id": k,
                    "category_id": 1 + box,
                    "bbox": [2 + box, 3, 12, 14],
                    "area": 168,
                    "iscrowd": 0,
                }
            )
    (made / "coco.json").write_text(json.dumps(notes))
    container_files.write_tfrecord(
        made / "data.tfrecord",
        [container_files.example({"image/encoded": picture(k), "image/class/label": np.array([k])}) for k in range(6)],
        made / "data.idx",
    )
    return made


@pytest.mark.skipif(not dali_oracle.available(), reason="DALI is not installed")
def test_scripts(folder, tmp_path):
    program = tmp_path / "main.py"
    program.write_text(COMMON + RESNET + SSD + EFFICIENTNET)
    running = [
        subprocess.Popen([*start, str(program), str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for start in (
            (sys.executable, "-W", "ignore", "-m", "penstock.dali"),
            (dali_oracle.interpreter(), "-W", "ignore"),
        )
    ]
    said = [p.communicate(timeout=120) for p in running]
    assert not any(p.returncode for p in running), [errors for _, errors in said]
    ours, theirs = (json.loads(out) for out, _ in said)
    assert (
        ours.pop("SSD")
        == theirs.pop("SSD")
        == [["float32", [2, 3, 12, 12]], ["float32", [2, 3, 4]], ["int32", [2, 3]], 2]
    )
    assert list(ours) == list(theirs) == ["ResNet", "EfficientNet"]
    for name, batches in theirs.items():
        for ours_batch, theirs_batch in zip(ours[name], batches, strict=True):
            for (kind, shape, total), (dalis, dalis_shape, dalis_total) in zip(ours_batch, theirs_batch, strict=True):
                assert (kind, shape) == (dalis, dalis_shape)
                assert abs(total - dalis_total) < 0.003 * np.prod(shape, dtype=int) + 1e-6, name
