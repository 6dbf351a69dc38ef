# SPDX-License-Identifier: Apache-2.0
"""penstock.dali.ops: the classes of DALI's operators."""

import importlib
import json
import subprocess
from pathlib import Path

import dali_oracle
import numpy as np
import pytest

import penstock.dali
from penstock import DataError
from penstock.dali import Pipeline, fn, ops, pipeline_def, types
from penstock.dali.aliases import DEPRECATED

IMAGES = [np.random.default_rng(k).integers(0, 256, (6, 4 + k, 3), np.uint8) for k in range(4)]
ARGUMENTS = json.loads((Path(__file__).parent / "dali_arguments.json").read_text())


def outputs(function, **options):
    @pipeline_def(batch_size=len(IMAGES), num_threads=1, seed=5, **options)
    def pipe():
        return function(ops.ExternalSource(source=lambda: IMAGES, layout="HWC")())

    return [[np.array(t.numpy()) for t in batch] for batch in pipe().run()]


def same(a, b):
    return all(np.array_equal(x, y) for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=True))


LIST = """
import inspect, json, nvidia.dali.ops as ops
def names(module, start=""):
    for n in sorted(dir(module)):
        member = getattr(module, n)
        if inspect.isclass(member):
            yield start + n
        elif inspect.ismodule(member) and member.__name__.startswith("nvidia.dali.ops.") and n != "hidden" and n[0] != "_":
            yield from names(member, start + n + ".")
print(json.dumps(list(names(ops))))
"""


@pytest.mark.skipif(not dali_oracle.available(), reason="DALI is not installed")
def test_operators_that_are_here_are_classes_by_dalis_names():
    done = subprocess.run(
        [dali_oracle.interpreter(), "-W", "ignore", "-c", LIST], capture_output=True, text=True, check=True
    )
    theirs = set(json.loads(done.stdout))

    def names(module, start=""):
        for name in dir(module):
            member = getattr(module, name)
            yield from [start + name] if isinstance(member, type) else names(member, f"{start}{name}.")

    here = set(names(ops)) - {"Compose"}
    native = [n for n in [*penstock._core.operators(), *DEPRECATED] if n in ARGUMENTS]
    assert len(native) > 60
    for name in native:
        group, _, last = name.rpartition(".")
        wanted = f"{group}.{ops.class_name(last)}".lstrip(".")
        assert wanted in theirs, name
        assert wanted in here or DEPRECATED.get(name, name) not in penstock._core.operators(), name
    own = {
        f"{g}.{ops.class_name(n)}".lstrip(".")
        for o in penstock._core.operators()
        if o not in ARGUMENTS
        for g, _, n in [o.rpartition(".")]
    }
    assert (
        here
        - own
        - {"Expand", "FlattenBatch", "Rebatch", "readers.Dataset", "readers.Packed", "readers.Parquet", "inputs.Video"}
        - {"readers.Dicom", "readers.Hdf5", "readers.Nifti", "readers.Zarr"}
        <= theirs
    )


@pytest.mark.parametrize(
    "name, want",
    [
        ("bbox_paste", "BBoxPaste"),
        ("bb_flip", "BbFlip"),
        ("coco_reader", "COCOReader"),
        ("mxnet", "MXNet"),
        ("mfcc", "MFCC"),
        ("rms", "RMS"),
        ("roi_random_crop", "ROIRandomCrop"),
        ("ssd_random_crop", "SSDRandomCrop"),
        ("tfrecord", "TFRecord"),
        ("dl_tensor_python_function", "DLTensorPythonFunction"),
        ("random_object_bbox", "RandomObjectBBox"),
        ("caffe2", "Caffe2"),
        ("hsv", "Hsv"),
        ("jpeg_compression_distortion", "JpegCompressionDistortion"),
        ("nemo_asr", "NemoAsr"),
        ("resize", "Resize"),
    ],
)
def test_names_of_classes(name, want):
    assert ops.class_name(name) == want


def test_a_class_is_the_function_with_arguments_kept():
    want = outputs(lambda x: fn.resize(x, size=[3, 5], interp_type=types.INTERP_NN))
    assert same(want, outputs(lambda x: ops.Resize(size=[3, 5], interp_type=types.INTERP_NN)(x)))
    assert same(want, outputs(lambda x: ops.Resize(size=[3, 5])(x, interp_type=types.INTERP_NN)))
    assert same(want, outputs(lambda x: ops.Resize(interp_type=types.INTERP_NN)([x, x], size=[3, 5])[1]))
    drawn = outputs(lambda x: ops.Rotate(fill_value=0)(x, angle=ops.random.Uniform(range=[-20.0, 20.0])()))
    assert same(drawn, outputs(lambda x: fn.rotate(x, angle=fn.random.uniform(range=[-20.0, 20.0]), fill_value=0)))
    two = outputs(lambda x: tuple(ops.Resize(size=[3, 5], save_attrs=True)(x)))
    assert same(two, outputs(lambda x: tuple(fn.resize(x, size=[3, 5], save_attrs=True))))
    assert same(outputs(lambda x: ops.PythonFunction(function=lambda a: a + 1)(x)), [[i + np.uint8(1) for i in IMAGES]])


def test_compose():
    chain = ops.Compose([ops.Resize(size=[3, 5]), ops.Flip(), ops.Cast(dtype=types.FLOAT)])
    assert same(outputs(chain), outputs(lambda x: fn.cast(fn.flip(fn.resize(x, size=[3, 5])), dtype=types.FLOAT)))
    with pytest.warns(penstock.DeviceWarning) if penstock._core.gpu_why_not() else pytest.MonkeyPatch.context():
        penstock._graph.scope._warned.discard("device")
        assert same(
            outputs(ops.Compose([ops.Resize(size=[3, 5]), ops.Flip(device="gpu"), lambda x: x.cpu()])),
            outputs(lambda x: fn.flip(fn.resize(x, size=[3, 5]))),
        )


def test_a_program_with_classes(tmp_path):
    """As programs for DALI were written before there was fn."""
    from PIL import Image

    for k in range(5):
        (tmp_path / str(k % 2)).mkdir(exist_ok=True)
        Image.fromarray(IMAGES[0] + np.uint8(k)).save(tmp_path / str(k % 2) / f"{k}.png")

    class Training(Pipeline):
        def __init__(self, batch_size, num_threads, device_id=None):
            super().__init__(batch_size, num_threads, device_id, seed=12)
            self.input = ops.FileReader(file_root=str(tmp_path), random_shuffle=False)
            self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
            self.normalize = ops.CropMirrorNormalize(dtype=types.FLOAT, crop=(4, 4), mean=[1.0] * 3, std=[2.0] * 3)
            self.coin = ops.random.CoinFlip(probability=1.0)

        def define_graph(self):
            jpegs, labels = self.input(name="Reader")
            return self.normalize(self.decode(jpegs), mirror=self.coin()), labels

    with pytest.warns(DeprecationWarning, match="use fn.readers.file"):
        fn_module = importlib.import_module("penstock.dali.fn")
        fn_module._warned.discard("file_reader")
        pipe = Training(3, 2)
        pipe.build()
    images, labels = pipe.run()
    assert labels.as_array().ravel().tolist() == [0, 0, 0] and pipe.epoch_size("Reader") == 5
    crop = IMAGES[0][1:5, :4].astype(np.float32)
    assert np.array_equal(images.at(0), (crop[:, ::-1].transpose(2, 0, 1) - 1) / 2)


def test_wrong_uses():
    with pytest.raises(
        ValueError, match=r"\[resize\] the argument 'size' was given to the constructor and to the call"
    ):
        outputs(lambda x: ops.Resize(size=[2, 2])(x, size=[3, 3]))
    with pytest.raises(TypeError, match="sise"):
        outputs(lambda x: ops.Resize(sise=[2, 2])(x))
    with pytest.raises(AttributeError, match="Penstock has no ops.NoSuch yet"):
        ops.NoSuch
    with pytest.raises(AttributeError, match="Penstock has no ops.readers.NoSuch yet"):
        ops.readers.NoSuch
    with pytest.raises(DataError, match=r"\[decoders.image\]"):

        @pipeline_def(batch_size=1, num_threads=1)
        def pipe():
            return ops.decoders.Image()(ops.ExternalSource(source=lambda: [np.zeros(9, np.uint8)])())

        pipe().run()
    assert ops.Resize(device="gpu", preserve=True).device == "gpu" and ops.Resize(preserve=True).preserve
    assert repr(ops.readers.File(files=["a"])) == "ops.readers.file(files=['a'])"


def test_imports_of_dali():
    penstock.dali.install()
    try:
        import nvidia.dali.ops as theirs
        from nvidia.dali.ops import readers

        assert theirs is ops and readers is ops.readers and readers.File is ops.readers.File
    finally:
        penstock.dali.uninstall()
