# SPDX-License-Identifier: Apache-2.0
"""A server of a classifier: JPEG bytes of a request go through a Penstock function straight into the input of ONNX Runtime.

    python examples/onnxruntime_inference.py [MODEL.onnx] [PICTURE ...] [--size N] [--requests N]

Without a model a small one is made here, with random weights; without pictures, squares and disks are drawn. Several threads
answer requests at once with one function and one session. A request may hold a file that is damaged: its picture gets an error,
the others get their classes. Ends with an error if an answer differs from that of a request by itself, or if the function's input
for the model differs from what the pipeline gives.
"""

import argparse
import io
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw

from penstock import fn, pipeline_def, types


@pipeline_def(batch_size=1, num_threads=1)
def preprocessing(size):
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1), output_type=types.RGB)
    images = fn.resize(images, size=[size, size])
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4]
    )


def small_model(classes=10):
    """A convolution, the mean over the picture, a linear layer."""
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(3)
    weights = {
        "kernels": random.normal(size=(8, 3, 5, 5)).astype(np.float32) / 9,
        "matrix": random.normal(size=(8, classes)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["images", "kernels"], ["edges"], strides=[4, 4]),
        helper.make_node("Relu", ["edges"], ["found"]),
        helper.make_node("GlobalAveragePool", ["found"], ["means"]),
        helper.make_node("Flatten", ["means"], ["features"]),
        helper.make_node("MatMul", ["features", "matrix"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, "height", "width"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", classes])],
        [numpy_helper.from_array(w, name) for name, w in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def drawn_pictures(count):
    random = np.random.default_rng(5)
    files = []
    for i in range(count):
        picture = Image.new("RGB", (160 + 9 * i, 120 + 5 * i), tuple(random.integers(0, 256, 3).tolist()))
        draw = ImageDraw.Draw(picture)
        shape = draw.ellipse if i % 2 else draw.rectangle
        shape([30, 20, 100 + 3 * i, 90], fill=tuple(random.integers(0, 256, 3).tolist()))
        file = io.BytesIO()
        picture.save(file, "JPEG")
        files.append(np.frombuffer(file.getvalue(), np.uint8))
    return files


class Classifier:
    """Answers requests, from any number of threads."""

    def __init__(self, model, size):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1  # the server has a thread for each request
        self.session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name
        self.function = preprocessing(size).compile()
        self.size = size

    def classes(self, jpegs):
        """For each file its class, or why it has none."""
        images = np.zeros((len(jpegs), 3, self.size, self.size), np.float32)
        _, errors = self.function.attempt(jpegs, into=images)
        (scores,) = self.session.run(None, {self.input: images})
        return [error or int(row.argmax()) for error, row in zip(errors, scores)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("pictures", nargs="*")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--requests", type=int, default=40)
    options = parser.parse_args()
    model = Path(options.model).read_bytes() if options.model else small_model()
    files = [np.fromfile(p, np.uint8) for p in options.pictures] or drawn_pictures(8)
    classifier = Classifier(model, options.size)

    together = np.zeros((len(files), 3, options.size, options.size), np.float32)
    classifier.function(files, into=together)
    (by_pipeline,) = preprocessing(options.size, batch_size=len(files)).run(jpegs=files)
    if (together != by_pipeline.as_array()).any():
        sys.exit("the function and the pipeline differ")

    alone = [classifier.classes([file])[0] for file in files]
    damaged = classifier.classes([files[0], files[1][:100].copy()])
    if damaged[0] != alone[0] or not isinstance(damaged[1], Exception):
        sys.exit(f"a damaged file changed the answer of another one: {damaged}")
    print(f"a damaged file: {damaged[1]}")

    begin = time.perf_counter()
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda i: classifier.classes([files[i % len(files)]])[0], range(options.requests)))
    seconds = time.perf_counter() - begin
    if answers != [alone[i % len(files)] for i in range(options.requests)]:
        sys.exit("an answer depends on the other requests")
    print(f"classes {alone}; {options.requests} requests on 4 threads: {options.requests / seconds:.0f} a second")


if __name__ == "__main__":
    main()
