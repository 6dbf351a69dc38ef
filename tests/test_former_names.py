# SPDX-License-Identifier: Apache-2.0
"""Pickles, checkpoints and states that version 0.1.0 wrote before its modules moved: they load, and mean the same."""

import importlib
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import penstock
from penstock import Pipeline, _former_names, fn, pipeline_def, types


@pipeline_def(batch_size=2, num_threads=1, seed=11)
def of_function(k):
    return fn.readers.indices(size=5, name="reader") * k


class OfClass(Pipeline):
    def define_graph(self):
        return fn.random.uniform(range=[0.0, 1.0])


def loaded(text):
    return pickle.loads(text.replace("HERE", __name__).encode())


@pytest.mark.parametrize(
    "written, now",
    [
        ("cpenstock.types\nDType\n(I0\ntR.", lambda: types.UINT8),
        ("cpenstock.batches\nfilter\n.", lambda: fn.filter),
        ("cpenstock.dataset\ndataset\n.", lambda: fn.readers.dataset),
        ("cpenstock.mixing\nmix\n.", lambda: fn.readers.mix),
        ("cpenstock.video\nvideo_resize\n.", lambda: fn.readers.video_resize),
        ("cpenstock.sources\nexternal_source\n.", lambda: fn.external_source),
        ("cpenstock.python_function\ndl_tensor_python_function\n.", lambda: fn.dl_tensor_python_function),
        ("cpenstock.python_function\nFunctionError\n.", lambda: penstock.FunctionError),
        ("cpenstock.worker_pool\nWorkerError\n.", lambda: penstock.WorkerError),
        ("cpenstock.dataset\nDatasetError\n.", lambda: penstock._operators.dataset.DatasetError),
        ("cpenstock.definition\npipeline_def\n.", lambda: penstock.pipeline_def),
        ("cpenstock.graph\n_NewAxis\n.", lambda: type(penstock.newaxis)),
        ("cpenstock.torch\nDataLoader\n.", lambda: penstock.torch.DataLoader),
    ],
)
def test_names_in_old_pickles(written, now):
    assert loaded(written) is now()
    assert pickle.loads(pickle.dumps(now())) is now()


def test_private_modules_are_there_without_an_import():
    program = (
        "import penstock; from penstock import _former_names\n"
        "for name in _former_names.PRIVATE: assert getattr(penstock, name) is getattr(penstock, '_' + name), name"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_values_in_old_pickles():
    left_out = loaded(
        "ccopy_reg\n_reconstructor\n(cpenstock.statistics\nLeftOut\nc__builtin__\ntuple\n(I0\nI1\nVa\nVb\nttR(d"
        "Vepoch\nI0\nsVposition\nI1\nsVsource\nVa\nsVmessage\nVb\nsVbatch\nI2\nsVnumber\nI3\nsb."
    )
    assert left_out == (0, 1, "a", "b") and (left_out.batch, left_out.number) == (2, 3)
    error = loaded("cpenstock.worker_pool\nWorkerError\n(Vgone\ntR(dVpid\nI5\nsVexitcode\nNsVsignal\nNsb.")
    assert isinstance(error, penstock.WorkerError) and str(error) == "gone" and error.pid == 5


def test_pipelines_in_old_pickles():
    pipeline = loaded("cpenstock.pickled_pipelines\n_defined\n(cHERE\nof_function\n(I3\nt(d(dVseed\nI11\nsVstream\ntR.")
    assert pipeline.run()[0].as_array().tolist() == [0, 3]
    given = {**OfClass(2, 1, seed=7).definition.options}
    state = {"_given": given, "_declared": dict.fromkeys(("dtype", "ndim", "layout")), "_depth": 2, "_checkpoint": None}
    state |= {"_function": None, "_definition": None, "_outputs": None, "_form": None, "_sinks": [], "_sources": {}}
    state |= {"_fed": {}, "_functions": {}, "_epoch_mode": "stream", "_pipeline": None, "_built": False}
    state |= {"_scheduled": 0, "_held": None, "_ended": False, "_origin": [], "_consumed": (0, 0, False)}
    state |= {"_tracing": False, "_took": False}
    again = importlib.import_module("penstock.pickled_pipelines")._of_class(OfClass, state)
    once_more = pickle.loads(pickle.dumps(again))
    expected = OfClass(2, 1, seed=7).run()[0].as_array()
    np.testing.assert_array_equal(again.run()[0].as_array(), expected)
    np.testing.assert_array_equal(once_more.run()[0].as_array(), expected)


def test_old_checkpoints_and_states():
    source = {"consumed": 2, "epoch": 0, "legs": [[1, 2]], "list_hash": 0, "seed": 11, "shuffle": "none", "size": 5}
    source["stick_to_shard"] = False
    text = (
        '{"penstock_checkpoint":2,"seed":11,"skip":0,"sources":{"reader":"{\\"consumed\\":2,\\"epoch\\":0,\\"legs\\":[[1,2]],'
        '\\"list_hash\\":0,\\"seed\\":11,\\"shuffle\\":\\"none\\",\\"size\\":5,\\"stick_to_shard\\":false}"}}'
    )
    assert of_function(3, checkpoint=text.encode()).run()[0].as_array().tolist() == [6, 9]
    pipeline = {"penstock_checkpoint": 2, "seed": 11, "skip": 0}
    for version, stored in ((2, {**pipeline, "sources": {"reader": source}}), (1, text)):
        loader = penstock.torch.DataLoader(of_function(3), ["x"])
        loader.load_state_dict({"version": version, "pipeline": stored, "left": 0})
        assert next(iter(loader))["x"].tolist() == [6, 9]


@pytest.mark.parametrize("name", [*_former_names.MOVED, *_former_names.PRIVATE, "graph.node", "pipeline.statistics"])
def test_modules_that_moved(name):
    now = importlib.import_module(_former_names.now(f"penstock.{name}"))
    before = importlib.import_module(f"penstock.{name}")
    shown = ("__all__", "__doc__", "__file__")
    assert {n: v for n, v in vars(now).items() if n in shown or not n.startswith("__")}.items() <= vars(before).items()
    assert inspect.getsource(before) == inspect.getsource(now)
    assert hasattr(before, "__path__") == hasattr(now, "__path__")
    importlib.reload(before)


def test_a_module_that_moved_is_a_program():
    """With the options of the one that it is now."""
    told = [
        subprocess.run([sys.executable, "-m", f"penstock.{name}", "--help"], capture_output=True, text=True, check=True)
        for name in ("commands", "_commands")
    ]
    assert told[0].stdout == told[1].stdout != ""


@pytest.mark.parametrize("name", ["no_such_module", "graph.no_such_module", "node"])
def test_a_module_that_never_was_is_not_found(name):
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'penstock.{name}'"):
        importlib.import_module(f"penstock.{name}")
