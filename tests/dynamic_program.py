# SPDX-License-Identifier: Apache-2.0
"""A program for the dynamic mode of either library: prints what it finds, one line each.

python dynamic_program.py FOLDER [penstock]     FOLDER has the files 0.bin to 6.bin
"""

import sys

import numpy as np

if sys.argv[2:]:
    import penstock.dali

    penstock.dali.install()
import nvidia.dali.experimental.dynamic as ndd

RNG = np.random.default_rng(0)
IMAGES = [RNG.integers(0, 256, (5 + i, 8, 3), np.uint8) for i in range(3)]


def say(name, value):
    if isinstance(value, ndd.Batch):
        value = [value.batch_size, value.layout, value.dtype.bits, value.shape, [np.asarray(t).tolist() for t in value]]
    elif isinstance(value, ndd.Tensor):
        value = [value.layout, value.dtype.bits, value.shape, np.asarray(value).tolist()]
    print(name, value)


images = ndd.batch(IMAGES, layout="HWC")
one = ndd.tensor(IMAGES[0], layout="HWC")
floats = ndd.tensor(np.arange(6, dtype=np.float32).reshape(2, 3), layout="HW")
say("flip", ndd.flip(images, horizontal=1))
say("per sample", ndd.flip(images, horizontal=ndd.batch([np.int32(0), np.int32(1), np.int32(0)])))
say("crop", ndd.crop(one, crop=[2, 3]))
say("cast", ndd.cast(floats * 2, dtype=ndd.uint8))
say("select", images.select(1))
say("slice", images.slice[1:3, 2])
say("part", one[1:3, :, 0])
say("arithmetic", floats + 1)
say("both", images + ndd.batch([np.uint8(1), np.uint8(2), np.uint8(3)]))
say("compare", floats < 2)
say("broadcast", ndd.Batch.broadcast(np.float32([1, 2]), 2))
say("cat", ndd.cat(floats, floats))
say("stack", ndd.stack(floats, floats))
say("sum", ndd.reductions.sum(images, axes=[0, 1]))
say("sqrt", ndd.math.sqrt(ndd.tensor(np.float32([4, 9]))))
say("zeros", ndd.zeros(shape=[2], dtype=ndd.float32))
say("ones", ndd.ones(shape=[2], batch_size=2))
say("pad", ndd.pad(images))
say("padded", ndd.as_tensor(ndd.batch([np.zeros((2, 3)), np.ones((2, 3))])))
say("numbers", ndd.tensor([1, 2]))
say("real", ndd.tensor([1.0, 2.0]))
say("item", ndd.tensor(3).item())
say("type", ndd.batch([np.float32(1.5)], dtype=ndd.int32))
say("facts", (floats.ndim, floats.size, floats.nbytes, floats.itemsize, floats.device.device_type, images.ndim))
say(
    "transform",
    ndd.batch(ndd.transforms.translation(offset=ndd.batch([np.float32([1, 2]), np.float32([3, 4])])), layout="HW"),
)
say("mode", (ndd.EvalMode.current().name, [m.name for m in ndd.EvalMode]))
with ndd.EvalMode.sync_cpu:
    say("inside", ndd.EvalMode.current().name)
files = [f"{sys.argv[1]}/{k}.bin" for k in range(7)]
reader = ndd.readers.File(files=files, labels=list(range(7)))
for epoch in range(2):
    say("samples", [(np.asarray(x).tolist(), np.asarray(y).tolist()) for x, y in reader.next_epoch()])
reader = ndd.readers.File(files=files)
say("batches", [(x.shape, [np.asarray(t).tolist() for t in y]) for x, y in reader.next_epoch(batch_size=3)])
say("meta", reader.get_metadata()["epoch_size"])
source = ndd.ExternalSource([np.float32([1, 2]), np.float32([3])], cycle="quiet")
say("source", [np.asarray(source()).tolist() for _ in range(3)])
first, second = ndd.random.RNG(seed=7), ndd.random.RNG(seed=7)
a, b = ndd.random.uniform(batch_size=3, rng=first), ndd.random.uniform(batch_size=3, rng=second)
say("same", [float(np.asarray(x)) == float(np.asarray(y)) for x, y in zip(a, b)])
c = ndd.random.uniform(batch_size=3, rng=first)
say("next", [float(np.asarray(x)) == float(np.asarray(y)) for x, y in zip(a, c)])
