# SPDX-License-Identifier: Apache-2.0
"""The pipelines of the programs in examples/ with device="gpu": what they give on the CPU."""

import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "demo")]


def batches(pipeline, count=2):
    """[[array, ...], ...]: the samples of each output of some batches."""
    return [
        [sample.numpy() for output in outputs for sample in output.cpu()]
        for outputs in (pipeline.run() for _ in range(count))
    ]


def check(on_cpu, on_gpu):
    assert isinstance(on_gpu.run()[0], penstock._tensors.TensorListGPU), "the pictures lie on the GPU"
    on_cpu.run()
    for expected, got in zip(batches(on_cpu), batches(on_gpu)):
        assert len(expected) == len(got)
        for a, b in zip(expected, got):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(b, a)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    import shapes

    folder = tmp_path_factory.mktemp("drawn")
    for i, (picture, things) in enumerate(shapes.scenes(6)):
        (folder / f"class{i % 2}").mkdir(exist_ok=True)
        picture.save(folder / f"class{i % 2}" / f"{i}.jpg")
    return folder


def test_resnet50(drawn):
    import resnet50

    for definition in (resnet50.training, resnet50.evaluation):
        check(definition(drawn, 64, batch_size=4), definition(drawn, 64, "mixed", batch_size=4, device_id=0))


def test_yolo(tmp_path):
    import yolo

    path = yolo.write_records(tmp_path / "drawn.tfrecord", 6, 1)
    for definition in (yolo.training, yolo.evaluation):
        check(definition(path, batch_size=4), definition(path, "mixed", batch_size=4, device_id=0))


def test_ssd(tmp_path):
    import ssd

    annotations = ssd.draw_pictures(tmp_path, 6)
    for definition in (ssd.training, ssd.evaluation):
        check(
            *(
                definition(str(tmp_path), str(annotations), device, batch_size=4, device_id=0)
                for device in ("cpu", "mixed")
            )
        )


def test_speech(tmp_path):
    pytest.importorskip("soundfile", reason="machine: no soundfile")
    import speech

    manifest = speech.record(tmp_path, "said", 6, 1)
    for kind in ("jasper", "rnnt"):
        check(*(speech.features(manifest, kind, True, device, batch_size=4, device_id=0) for device in ("cpu", "gpu")))


def test_background_blur():
    import background_blur

    random = np.random.default_rng(2)
    pictures = [random.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((60, 80), (97, 40))]
    masks = [random.random((background_blur.SIZE, background_blur.SIZE, 1), np.float32) for _ in pictures]

    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def chain(device):
        there = fn.external_source(lambda: pictures, layout="HWC", device=device)
        tensors, extents = background_blur.to_network(there)
        return background_blur.composite(
            there, fn.external_source(lambda: masks, layout="HWC", device=device), extents
        ), tensors

    check(chain("cpu"), chain("gpu"))


def test_detections_drawn(drawn):
    """benchmarks/gpu/detection.py: boxes kept and drawn on either device."""
    sys.path.append(str(EXAMPLES.parent / "benchmarks" / "gpu"))
    import detection

    files = sorted(str(path) for path in drawn.rglob("*.jpg"))
    expected, found = detection.penstock_program(files, 3, 2, "cpu", "cpu")()
    assert found.sum() > 3
    for boxes_on in ("gpu", "cpu"):
        got, numbers = detection.penstock_program(files, 3, 2, "gpu", boxes_on)()
        np.testing.assert_array_equal(numbers, found)
        for a, b in zip(expected, got):
            np.testing.assert_array_equal(b, a)
