# SPDX-License-Identifier: Apache-2.0
"""Names and small behaviors that scripts for DALI depend on."""

import collections.abc
import importlib
import json
import subprocess
import sys

import dali_oracle
import numpy as np
import pytest

import penstock
import penstock.dali
from penstock.dali import Pipeline, fn, ops, pipeline_def, types

IMAGES = [np.random.default_rng(k).integers(0, 256, (4, 5, 3), np.uint8) for k in range(3)]

FACTS = """
import json, sys
import numpy as np
from nvidia.dali import Pipeline, fn, pipeline_def, types
import nvidia.dali as dali
members = lambda kind: {k: int(v) for k, v in kind.__members__.items() if k[0] != "_"}
facts = {name: getattr(types, name) for name in ("NCHW", "NHWC", "NFCHW", "NFHWC", "SAME", "CPU_ONLY_DEVICE_ID")}
facts["members"] = [members(getattr(types, kind)) for kind in ("DALIDataType", "DALIImageType", "DALIInterpType")]
facts["texts"] = [str(v) for v in (types.FLOAT, types.STRING, types.RGB, types.INTERP_LINEAR)] + [f"{types.UINT8}"]
facts["policies"] = [sorted(kind.__members__) for kind in (dali.StreamPolicy, dali.OperatorConcurrency)]
facts["converted"] = [int(types.to_dali_type(t)) for t in (np.int8, np.float32, np.float64, np.bool_, "half")]
import importlib, inspect
from nvidia.dali import data_node, pipeline, tensors
facts["names"] = {owner.__name__.replace("Tensor", "").replace("List", "") or name: sorted(n for n in dir(owner) if n[0] != "_" and not (
        inspect.ismodule(getattr(owner, n)) and not getattr(owner, n).__name__.startswith(("nvidia.dali", "penstock"))))
    for name, owner in [("", pipeline.Pipeline), ("", data_node.DataNode), *(("", importlib.import_module("nvidia.dali" + m)) for m in (
        "", ".types", ".pipeline", ".fn", ".fn.readers", ".ops", ".math", ".tfrecord", ".data_node"))]}
facts["parts"] = [sorted(n for n in dir(c) if n[0] != "_") for c in (tensors.TensorCPU, tensors.TensorListCPU)]

def pipe(function, **options):
    @pipeline_def(batch_size=3, num_threads=1, device_id=None, **options)
    def made():
        return function()
    pipe = made()
    pipe.build()
    return pipe

rng = np.random.default_rng(0)
images = [rng.integers(0, 256, (4, 5, 3), np.uint8) for k in range(3)]
def images_in(): return fn.external_source(lambda: images, layout=types.NHWC)
shown = []
for function in (
        lambda: fn.crop_mirror_normalize(images_in(), output_layout=types.NCHW), lambda: fn.crop_mirror_normalize(images_in(), output_layout=types.NHWC),
        lambda: fn.crop_mirror_normalize(images_in(), output_layout=types.SAME), lambda: fn.transpose(images_in(), perm=[2, 0, 1], output_layout=types.NCHW),
        lambda: images_in() + types.Constant(3).uint8(), lambda: images_in() * types.Constant(2).float32(), lambda: images_in() - types.Constant(1).int64(),
        lambda: images_in().property("layout"), lambda: abs(fn.cast(images_in(), dtype=types.INT16) - 100)):
    out = pipe(function).run()[0]
    shown.append([out.layout(), int(out.dtype), np.array(out[0]).ravel().astype(float).tolist()])
facts["shown"] = shown
facts["refused"] = []
for what in ({"output_ndim": -1}, {"output_ndim": "a"}, {"output_ndim": [1, -2]}, {"output_dtype": int}, {"output_dtype": types.NO_TYPE}, {"output_layout": 3}):
    try:
        Pipeline(1, 1, None, **what)
    except Exception as error:
        facts["refused"].append(type(error).__name__)
saved = pipe(images_in, output_ndim=3, output_dtype=types.UINT8)
saved = Pipeline(3, 1, None, output_ndim=0, output_dtype=[types.FLOAT])
saved.set_outputs(fn.random.uniform(seed=3))
restored = Pipeline.deserialize(saved.serialize())
facts["declared"] = [restored.output_ndim(), [int(t) for t in restored.output_dtype()]]
tensor = pipe(lambda: fn.reshape(images_in(), shape=[1, 4, 5, 1, 3])).run()[0][0]
facts["squeezed"] = [tensor.squeeze(0), tensor.squeeze(1), list(tensor.shape())]
other = Pipeline(batch_size=2, num_threads=1, device_id=None)
other.deserialize_and_build(saved.serialize())
facts["filled"] = [other.max_batch_size, len(other.run()[0])]
facts["iterable"] = isinstance(fn.random.uniform(), __import__("collections").abc.Iterable)
json.dump(facts, sys.stdout)
"""


# Public names of DALI that Penstock lacks: operators and modules that are missing, and what its modules import themselves.
ABSENT = {
    "OpticalFlow",
    "optical_flow",
    "Reload",
    "cpu_ops",
    "gpu_ops",
    "mixed_ops",
    "python_op_factory",
    "register_cpu_op",
    "register_gpu_op",
    "count",
    "hidden",
    "backend_impl",
    "internal",
    "python_function_plugin",
    "reducers",
    "unique",
    "tfrec",
    "Enum",
    "WorkerPool",
    "b",
    "dali_pickle",
    "pipeline_tls",
    "tensors",
    "tls",
    "types",
    "not_iterable",
    "annotations",
}


@pytest.mark.skipif(not dali_oracle.available(), reason="DALI is not installed")
def test_facts_are_dalis():
    theirs = subprocess.run([dali_oracle.interpreter(), "-W", "ignore", "-c", FACTS], capture_output=True, text=True)
    ours = subprocess.run(
        [sys.executable, "-c", "import penstock.dali as d; d.install()\n" + FACTS], capture_output=True, text=True
    )
    assert not theirs.returncode and not ours.returncode, theirs.stderr + ours.stderr
    theirs, ours = json.loads(theirs.stdout), json.loads(ours.stdout)
    for names, ours_names in zip(theirs.pop("parts"), ours.pop("parts"), strict=True):
        assert set(names) - set(ours_names) <= {"broadcast", "reset"}
    names, here = (
        theirs.pop("names"),
        {
            k.replace("penstock.dali", "nvidia.dali")
            .replace("penstock._", "penstock.")
            .replace("penstock.graph", "nvidia.dali.data_node")
            .replace("penstock.", "nvidia.dali."): v
            for k, v in ours.pop("names").items()
        },
    )
    for owner, public in names.items():
        missing = set(public) - set(here[owner])
        assert not {n for n in missing - ABSENT if not hasattr(__import__("typing"), n)}, owner
    more = ours["members"][2].keys() - theirs["members"][2].keys()
    assert more == {"INTERP_BOX", "INTERP_HAMMING", "INTERP_AREA", "INTERP_LINEAR_EXACT"}
    ours["members"][2] = {name: number for name, number in ours["members"][2].items() if name not in more}
    assert ours["members"][0].pop("BFLOAT16") == 13  # a number that DALI leaves out
    for name, value in theirs.items():
        assert ours[name] == value, name


def run(function, batch=3, make=pipeline_def, **options):
    @make(batch_size=batch, num_threads=1, **options)
    def pipe():
        return function()

    return pipe().run()


def images():
    return fn.external_source(lambda: IMAGES, layout="HWC")


def test_a_type_that_is_not_of_elements_is_refused():
    with pytest.raises(TypeError, match=r"\[cast\] dtype: 12 is not an element type"):
        fn.cast(IMAGES[0], dtype=types.STRING)
    with pytest.raises(TypeError, match="NumPy has no type for DALIDataType.FEATURE"):
        types.to_numpy_type(types.FEATURE)


def test_constants_outside_of_a_pipeline():
    node = types.Constant(np.float32([1, 2, 2]))
    assert isinstance(node, penstock.DataNode) and node.ndim == 1 and node.dtype == types.FLOAT
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(node + 1, fn.stack(node, types.Constant([1.0, 2.0, 3.0])))
    got = pipe.run()
    assert got[0].as_array().tolist() == [[2, 3, 3]] * 2 and got[1].as_array().tolist() == [[[1, 2, 2], [1, 2, 3]]] * 2


@pytest.mark.skipif(not penstock._core.gpu_why_not(), reason="machine: there is a GPU")
def test_outputs_declared_gpu_show_tensors():
    penstock._graph.scope._warned.add("device")
    first, second = run(lambda: (fn.flip(images(), device="gpu"), images()))
    assert first.at(1).shape() == [4, 5, 3] and first[1].shape() == [4, 5, 3] and isinstance(first, penstock.Batch)
    assert second.at(1).shape == (4, 5, 3) and np.array_equal(first.at(1), second.at(1)[:, ::-1])


@pytest.mark.parametrize("make", [pipeline_def, penstock.pipeline_def])
def test_lists_of_arrays_are_batches_while_debugging(make):
    @make(batch_size=3, num_threads=1, debug=True)
    def pipe():
        return fn.flip(IMAGES), fn.rotate(IMAGES, angle=0.0) + images()

    flipped, sums = pipe().run()
    assert all(np.array_equal(a.numpy(), i[:, ::-1]) for a, i in zip(flipped, IMAGES))
    assert all(np.array_equal(a.numpy(), i + i) for a, i in zip(sums, IMAGES))
    with pytest.raises(TypeError, match="(?s)a list of arrays is a batch with debug=True.*test_dali_shims.py"):
        run(lambda: fn.flip(IMAGES), make=make)


def test_truth_and_comparisons_of_tensors():
    tensor = penstock.tensor(np.int32([3, 4]))
    assert (tensor == np.int32([3, 4])).all() and (tensor == [3, 5]).any() and not (tensor == np.int32([3, 5])).all()
    assert (
        penstock.tensor(np.float32(2)) == 2
        and not bool(penstock.tensor(np.int32(0)))
        and bool(penstock.tensor(np.int32([7])))
    )
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tensor)
    matrix = penstock.tensor(np.eye(2, dtype=np.int32))
    assert matrix.any(axis=0).tolist() == [True, True] and matrix.all(0).tolist() == [False, False]
    out = run(lambda: fn.cast(fn.random.coin_flip(probability=1.0), dtype=types.INT32))[0]
    assert "yes" if out[0] == 1 else False


def test_squeeze_changes_the_tensor():
    tensor = penstock.tensor(np.zeros((1, 4, 1, 3), np.uint8), "NHWC")
    assert (
        tensor.squeeze(1) is False
        and tensor.squeeze(0) is True
        and tensor.shape() == [4, 1, 3]
        and tensor.layout() == "HWC"
    )
    assert tensor.squeeze() and tensor.shape() == [4, 3] and tensor.layout() == "HC" and not tensor.squeeze()
    with pytest.raises(ValueError, match="dimension 5"):
        tensor.squeeze(5)


def test_values_of_a_pipeline_are_not_iterable():
    node = fn.random.uniform()
    assert not isinstance(node, collections.abc.Iterable) and isinstance(node, penstock.DataNode)
    for use in (iter, list, lambda n: (lambda a, b: 0)(*n)):
        with pytest.raises(TypeError, match="not iterable|must be an iterable"):
            use(node)

    for use in (list, lambda n: (lambda a, b: 0)(*n), lambda n: [v for v in n], sum):
        with pytest.raises(TypeError, match="(?s)a value of the pipeline cannot be iterated while.*test_dali_shims.py"):
            run(lambda: use(images()))

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():  # as scripts do
        out = fn.random.uniform()
        return tuple(out) if isinstance(out, collections.abc.Iterable) else out

    pipe().run()


def test_source_info_and_properties(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"xyz")
    data = fn.readers.file(files=[str(tmp_path / "a.bin")])[0]
    pipe = Pipeline(1, 1, None)
    pipe.set_outputs(
        data.source_info(), data.property(key="source_info"), fn.reshape(data, layout="W").property("layout")
    )
    names = [bytes(b.as_array()).decode() for b in pipe.run()]
    assert names == [str(tmp_path / "a.bin")] * 2 + ["W"]


def test_classes_by_position_and_none():
    def body():
        data, more = ops.ExternalSource(lambda: (IMAGES, IMAGES), 2, layout="HWC")()
        more = ops.Erase(fill_value=None, shape=[1, 1])(more, anchor=[0, 0], fill_value=[7])
        return (
            ops.PythonFunction(lambda a: a[::-1])(data),
            more,
            *ops.DLTensorPythonFunction(lambda a, b: (b, a[:]), 2)(data, more),
        )

    turned, erased, other, same = run(body)  # the capsules come in lists, by default
    assert np.array_equal(other.at(2), erased.at(2)) and np.array_equal(same.at(2), IMAGES[2])
    assert np.array_equal(turned.at(1), IMAGES[1][::-1]) and erased.at(1)[0, 0].tolist() == [7, 7, 7]
    with pytest.raises(TypeError, match=r"\[flip\] the constructor takes 0 arguments by position"):
        ops.Flip(1)
    with pytest.raises(TypeError, match="'source' was given twice"):
        ops.ExternalSource(lambda: 0, source=lambda: 0)
    pytest.importorskip("torch")
    from penstock.dali.plugin.pytorch import TorchPythonFunction

    doubled = run(lambda: TorchPythonFunction(lambda t: t * 2)(images()))[0]
    assert np.array_equal(doubled.at(0), IMAGES[0] * 2)


def test_functions_may_write_into_their_inputs():
    def zeroed(a):
        a[0] = 0
        return a

    def batch_zeroed(samples):
        for a in samples:
            a[0] = 0
        return samples

    for options in (
        {"function": zeroed},
        {"function": batch_zeroed, "batch_processing": True},
        {"function": zeroed, "num_workers": 2},
    ):

        def body():
            data = images()
            return fn.python_function(data, **options), data

        got, data = run(body)
        for k, image in enumerate(IMAGES):
            want = image.copy()
            want[0] = 0
            assert np.array_equal(got.at(k), want) and np.array_equal(data.at(k), image)

    def fails(a):
        raise KeyError("mine")

    with pytest.raises(penstock.FunctionError, match="(?s)'fails' raised KeyError: 'mine'.*test_dali_shims.py"):
        run(lambda: fn.python_function(images(), function=fails))


def test_sources_that_nobody_reads():
    def never():
        raise AssertionError("nobody reads it")

    def pairs():
        return IMAGES, None

    def samples(info):
        return (IMAGES[info.idx_in_batch], None) if info.idx_in_batch else (IMAGES[0], IMAGES[0])

    for source, options in (
        (pairs, {}),
        (samples, {"batch": False}),
        (iter([pairs()]), {}),
        (iter([samples(types.SampleInfo(0, k, 0, 0)) for k in range(3)]), {"batch": False}),
    ):

        def body():
            fn.external_source(never)
            fn.flip(fn.external_source(never, layout="HWC", dtype=types.INT16))
            return fn.copy(fn.external_source(source, 2, dtype=[types.UINT8, types.INT16], ndim=[3, 1], **options)[0])

        assert np.array_equal(run(body)[0].as_array(), IMAGES)
    sizes = iter([3, 1, 2])
    pipe = Pipeline(3, 1, None)
    with pipe:
        fn.flip(fn.external_source(name="fed", layout="HWC"))
        fn.external_source(never)
        pipe.set_outputs(fn.external_source(lambda: IMAGES[: next(sizes)]))
    assert [len(pipe.run()[0]) for _ in range(3)] == [3, 1, 2]  # not fed, and whatever the size
    pipe.feed_input("fed", IMAGES)
    with pytest.raises(StopIteration):
        pipe.run()
    with pytest.raises(TypeError, match="gave NoneType for a batch"):
        run(lambda: tuple(fn.external_source(pairs, 2)))


def test_modules_are_attributes():
    penstock.dali.install()
    try:
        dali = importlib.import_module("nvidia.dali")
        for name in (
            "backend",
            "data_node",
            "external_source",
            "fn",
            "math",
            "ops",
            "pickling",
            "pipeline",
            "plugin",
            "tensors",
            "tfrecord",
            "types",
        ):
            assert importlib.import_module(f"nvidia.dali.{name}") is getattr(dali, name), name
        assert dali.data_node.DataNode is penstock.DataNode and dali.backend.TensorCPU is penstock.Tensor
        dali.backend.ReleaseUnusedMemory()
        from nvidia.dali.plugin.jax.fn import jax_function
        from nvidia.dali.plugin.numba.fn.experimental import numba_function
        import nvidia.dali.plugin.numba as numba

        assert numba.fn.experimental.numba_function is numba_function is penstock.plugin.numba.numba_function
        assert jax_function is penstock.plugin.jax.jax_function
        with pytest.raises(AttributeError, match="no fn.optical_flow: it needs NVIDIA's engine"):
            dali.fn.optical_flow
        with pytest.raises(AttributeError, match="Penstock uses none of NVIDIA's libraries"):
            dali.backend.GetNppVersion
        with pytest.raises(ModuleNotFoundError, match="torch_utils' yet: Tensor.torch"):
            importlib.import_module("nvidia.dali.plugin.pytorch.torch_utils")
        assert dali.backend.GetHostBufferGrowthFactor() == 1.1
        made = dali.pipeline_def(max_batch_size=3, num_threads=1, device_id=None)(lambda: penstock.types.Constant(1))()
        assert made.max_batch_size == 3
        with pytest.raises(AttributeError, match="no attribute 'reducers' yet"):
            dali.reducers
        assert dali.plugin_manager is importlib.import_module("nvidia.dali.plugin_manager")
        with pytest.raises(FileNotFoundError, match="there is no plug-in libabsent.so"):
            dali.plugin_manager.load_library("libabsent.so")
        assert "-std=c++20" in dali.sysconfig.get_compile_flags()
        with pytest.raises(ImportError):
            from nvidia.dali import optical  # noqa: F401
    finally:
        penstock.dali.uninstall()


def test_api_check_is_accepted():
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(fn.random.uniform())
    pipe.enable_api_check(True)
    assert len(pipe.run()[0]) == 2


def test_layouts_of_choices_and_no_new_axes(tmp_path):
    (tmp_path / "a").write_bytes(b"xyz")
    path = np.frombuffer(str(tmp_path / "a").encode(), np.int8)

    def body():
        x = images()
        return (
            fn.random.choice(x),
            fn.random.choice(x, shape=[2]),
            fn.random.choice(x, shape=[2, 2]),
            fn.expand_dims(x, axes=[]),
            fn.io.file.read(fn.external_source(lambda: [path] * 3)),
        )

    *got, data = run(body)
    assert [(b.layout(), b.shape()[0]) for b in got] == [
        ("WC", (5, 3)),
        ("HWC", (2, 5, 3)),
        ("", (2, 2, 5, 3)),
        ("HWC", (4, 5, 3)),
    ]
    assert bytes(data.at(0)) == b"xyz" and data.dtype == types.UINT8


def test_bytes_as_another_type():
    tensor, batch = penstock.tensor(np.float32([1, 2])), penstock.batch([np.float32([1, 2])] * 2)
    tensor.reinterpret(types.INT32)
    batch.reinterpret(types.UINT32)
    assert tensor.dtype == types.INT32 and tensor.numpy().tolist() == np.float32([1, 2]).view(np.int32).tolist()
    assert (
        batch.dtype == types.UINT32 and batch.as_array().tolist() == [np.float32([1, 2]).view(np.uint32).tolist()] * 2
    )
    for value in (tensor, batch):
        with pytest.raises(ValueError, match="cannot be reinterpreted as u?int8: their sizes differ"):
            value.reinterpret(types.UINT8)
