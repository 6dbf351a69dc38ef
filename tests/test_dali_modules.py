# SPDX-License-Identifier: Apache-2.0
"""penstock.dali in this process: its modules, and the meaning of each line that DALI refuses."""

import importlib
import sys
import warnings

import numpy as np
import pytest

import penstock
import penstock.dali
from penstock.dali import meanings
from penstock.dali.aliases import DEPRECATED, MEANINGS, NAMES

IMAGES = [np.random.default_rng(i).integers(0, 256, (6, 4 + i, 3), np.uint8) for i in range(32)]


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(meanings, "_said", set())


@pytest.fixture
def dali():
    penstock.dali.install()
    yield importlib.import_module("nvidia.dali")
    penstock.dali.uninstall()


def meant(name, count=1):
    return pytest.warns(meanings.MeaningWarning, match=MEANINGS[name][:20].replace("*", ".").replace("(", "."))


def images_through(function, **options):
    @penstock.dali.pipeline_def(batch_size=len(IMAGES), num_threads=1, seed=3, **options)
    def pipe():
        return function(penstock.dali.fn.external_source(lambda: IMAGES, layout="HWC"))

    return [np.array(t.numpy()) for t in pipe().run()[0]]


def test_modules_are_penstocks(dali):
    import nvidia.dali.fn.readers
    import nvidia.dali.math
    import nvidia.dali.plugin.base_iterator as base
    import nvidia.dali.tensors as tensors
    from nvidia.dali import fn, newaxis, tfrecord, types
    from nvidia.dali.backend import TensorListCPU
    from nvidia.dali.pipeline.experimental import pipeline_def

    assert dali is penstock.dali and fn is dali.fn and types is penstock.types and newaxis is penstock.newaxis
    assert tfrecord is penstock.tfrecord and tensors.TensorListCPU is TensorListCPU is penstock.Batch
    assert base.LastBatchPolicy is penstock.plugin.base_iterator.LastBatchPolicy and pipeline_def is dali.pipeline_def
    assert nvidia.dali.fn.readers is fn.readers and types.__spec__.name == "penstock.types"
    penstock.dali.install()  # a second call changes nothing
    import nvidia.dali.experimental.dynamic as ndd

    assert ndd is penstock.dali.experimental.dynamic


def test_uninstall_leaves_nothing(dali):
    penstock.dali.uninstall()
    assert not [n for n in sys.modules if n.startswith("nvidia.dali")]
    assert not [f for f in sys.meta_path if type(f).__module__.startswith("penstock")]


def test_what_dali_imported_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvidia.dali", sys)
    with pytest.raises(RuntimeError, match="imported already"):
        penstock.dali.install()


def test_deprecated_names_are_the_new_operators():
    native = [*penstock._core.operators(), "readers.video_resize"]  # which is two of them
    for old, now in DEPRECATED.items():
        found = penstock.dali.fn
        try:
            for part in old.split("."):
                found = getattr(found, part)
        except AttributeError as error:
            assert now not in native and f"no fn.{now} yet" in str(error)
        else:
            now = NAMES.get(now, now)
            assert now in native and found.__wrapped__.__name__ == now.rpartition(".")[2]
    for theirs, ours in NAMES.items():
        found = penstock.dali.fn
        for part in theirs.split("."):
            found = getattr(found, part)
        assert found.__name__ == ours
    with pytest.warns(DeprecationWarning, match="fn.uniform is deprecated: use fn.random.uniform"):
        assert penstock.dali.fn.uniform(range=[1.0, 2.0], batch_size=3)
    assert "experimental" in dir(penstock.dali.fn) and "image" in dir(penstock.dali.fn.decoders)


def test_a_probability_flips_samples(dali):
    with meant("probability"):
        got = images_through(lambda x: dali.fn.flip(x, vertical=1, probability=0.5))
    flipped = [np.array_equal(g, x[::-1, ::-1]) for g, x in zip(got, IMAGES)]
    assert all(f or np.array_equal(g, x) for f, g, x in zip(flipped, got, IMAGES)) and 4 < sum(flipped) < 28
    never = images_through(lambda x: dali.fn.flip(x, probability=0.0))
    always = images_through(lambda x: dali.fn.flip(x, horizontal=0, vertical=1, probability=1.0))
    assert all(np.array_equal(g, x) for g, x in zip(never, IMAGES))
    assert all(np.array_equal(g, x[::-1]) for g, x in zip(always, IMAGES))


def test_a_pair_for_each_axis(dali):
    with meant("resize pair"):
        got = images_through(lambda x: dali.fn.resize(x, resize_x=(9, 5), resize_y=(9, 5)))
    want = images_through(lambda x: dali.fn.resize(x, resize_x=9, resize_y=5))
    assert got[0].shape == (5, 9, 3) and all(np.array_equal(a, b) for a, b in zip(got, want))


def test_arguments_of_the_function_and_of_pipeline(dali):
    @dali.pipeline_def(num_threads=1)
    def pipe(n, batch_size=3):
        return dali.fn.external_source(lambda: [np.float32([batch_size, n])] * batch_size)

    with meant("shared argument"):
        assert pipe(5).run()[0].as_array().tolist() == [[3, 5]] * 3
    made = pipe(5, batch_size=4)
    assert made.max_batch_size == 4 and made.run()[0].as_array().tolist() == [[4, 5]] * 4
    both = dali.pipeline_def(num_threads=1, batch_size=2)(lambda batch_size: dali.fn.constant(idata=batch_size))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert both(batch_size=7).run()[0].as_array().tolist() == [[7]] * 2  # the function's alone, as in DALI
    with pytest.raises(ValueError, match="belongs to the function and to Pipeline"):
        penstock.pipeline_def(pipe.__wrapped__)(5, batch_size=4)


def test_shards_of_a_function_that_has_none(dali, tmp_path):
    names = [str(tmp_path / f"{i}") for i in range(6)]
    for name in names:
        with open(name, "wb") as file:
            file.write(b"x")

    @dali.pipeline_def(batch_size=3, num_threads=1)
    def pipe(files):
        return dali.fn.readers.file(files=files)[1]

    with meant("shard"):
        second = pipe(names, shard_id=1, num_shards=2)
    assert second.run()[0].as_array().ravel().tolist() == [3, 4, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # each is said once
        assert pipe(names, shard_id=0, num_shards=2).run()[0].as_array().ravel().tolist() == [0, 1, 2]


def test_the_only_reader(dali, tmp_path):
    pytest.importorskip("torch")
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    for i in range(5):
        (tmp_path / f"{i}").write_bytes(b"x")

    @dali.pipeline_def(batch_size=2, num_threads=1)
    def pipe(readers):
        files = [str(tmp_path / f"{i}") for i in range(5)]
        labels = [dali.fn.readers.file(files=files)[1] for _ in range(readers)]
        return labels[-1]

    with meant("reader_name"):
        epochs = DALIGenericIterator(pipe(1), ["label"], reader_name="no such", auto_reset=True)
    assert len(list(epochs)) == 3
    with pytest.raises(RuntimeError, match="there is no reader 'no such'"):
        DALIGenericIterator(pipe(2), ["label"], reader_name="no such")


def test_debug_and_a_hint_of_bytes(dali):
    with meant("bytes_per_sample_hint"):
        got = images_through(lambda x: x, debug=True, bytes_per_sample_hint=100)
    assert all(np.array_equal(a, b) for a, b in zip(got, IMAGES))
    with pytest.raises(TypeError, match="'no_such' that Pipeline does not have"):
        dali.pipeline_def(no_such=1)


def test_modules_that_are_missing_say_what_to_write(dali):
    for name, said in (("plugin.cupy", "DLPack"),):
        with pytest.raises(ModuleNotFoundError, match=f"no counterpart of 'nvidia.dali.{name}.*{said}"):
            importlib.import_module(f"nvidia.dali.{name}")


def test_autoserialize_marks_a_pipeline(dali):
    autoserialize = importlib.import_module("nvidia.dali.plugin.triton").autoserialize
    made = autoserialize(
        dali.pipeline_def(batch_size=1, num_threads=1, device_id=None)(lambda: penstock.types.Constant(1))
    )
    assert made._is_autoserialize and len(made().run()) == 1
    with pytest.raises(TypeError, match="write @autoserialize above @pipeline_def"):
        autoserialize(lambda: None)
