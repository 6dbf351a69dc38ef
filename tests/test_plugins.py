# SPDX-License-Identifier: Apache-2.0
"""Plug-ins for frameworks: what BaseIterator promises holds for the iterator of each, and they need no private name."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plugins
from conftest import EXAMPLES
from penstock import DataError, fn, pipeline_def, types
from penstock.plugin.interface import LastBatchPolicy

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import count_additions  # noqa: E402
import python_imports  # noqa: E402

EPOCHS = 3
PAGE = "docs/how_to/add_a_plugin.md"


@pipeline_def(batch_size=3, num_threads=1, seed=3)
def indices(shard=0, shards=1, pad=False):
    """20 numbers, and pictures that hold them."""
    index = fn.readers.indices(
        size=20, name="reader", random_shuffle=True, shard_id=shard, num_shards=shards, pad_last_batch=pad
    )
    return index, fn.cast(index, dtype=types.UINT8) + types.Constant(
        0, dtype=types.UINT8, shape=[2, 3, 1], layout="HWC"
    )


def iterator(name, policy, shards, pad, size, **options):
    pipelines = [indices(s, shards, pad) for s in range(shards)]
    options |= {"reader_name": "reader"} if size is None else {"size": size}
    return plugins.plugin(name).Iterator(
        pipelines, ["index", "picture"], last_batch_policy=policy, auto_reset=True, **options
    )


def epochs(name, found, count):
    """What `count` epochs give, as numbers, with None at the end of each."""
    numpy_of = plugins.plugin(name).numpy_of
    for _ in range(count):
        for entry in found:
            for outputs in entry:
                picture = numpy_of(outputs["picture"])
                assert picture.shape == (len(picture), 2, 3, 1) and picture.dtype == np.uint8
                np.testing.assert_array_equal(picture[:, 0, 0, 0], numpy_of(outputs["index"]))
            yield [numpy_of(outputs["index"]).tolist() for outputs in entry]
        yield None


def test_each_plugin_has_its_file():
    found = set(plugins.names())
    assert {"numpy", "pytorch"} <= found
    missing = [name for name in found if not any((Path(p) / f"{name}.py").exists() for p in plugins.__path__)]
    assert not missing, f"no file in tests/plugins says how {missing} are tested"


def test_a_plugin_without_a_file_fails(monkeypatch):
    monkeypatch.setattr(plugins, "__path__", [])
    with pytest.raises(AssertionError, match="no file in tests/plugins says how .*numpy"):
        test_each_plugin_has_its_file()


CASES = list(itertools.product(LastBatchPolicy, (1, 3), (False, True), (None, 12)))


@pytest.mark.parametrize("name", list(plugins.names()))
def test_epochs_are_those_of_numpy(name):
    for case in CASES:
        got, expected = (list(epochs(n, iterator(n, *case), 2)) for n in (name, "numpy"))
        assert got == expected, case
        assert len(got) == 2 + sum(
            len(list(part)) for end, part in itertools.groupby(got, lambda e: e is None) if not end
        )


@pytest.mark.parametrize("name", list(plugins.names()))
def test_an_iterator_continues_from_its_state(name):
    cases = CASES if EXAMPLES > 1 else CASES[:: 1 if name == "numpy" else 5]
    for case in cases:
        whole = list(epochs(name, iterator(name, *case), EPOCHS))
        for stop in range(1, len(whole), 3):
            first = iterator(name, *case, prepare_first_batch=False)
            head = list(itertools.islice(epochs(name, first, EPOCHS), stop))
            state = json.loads(json.dumps(first.state()))
            assert set(state) == {"version", "pipelines", "iterator"} and state["version"] == 2
            second = iterator(name, *case)
            second.load_state(state)
            over = head[-1] is not None and whole[stop] is None  # the next loop is that of the next epoch
            left = EPOCHS - head.count(None) - over
            assert head + [None] * over + list(epochs(name, second, left)) == whole, (case, stop)


@pytest.mark.parametrize("policy, shards", list(itertools.product(LastBatchPolicy, (1, 2))))
def test_a_batch_that_fails_counts(tmp_path, policy, shards):
    """Epochs with damaged files have the batches that they have with whole ones, but for those that fail."""

    @pipeline_def(batch_size=1, num_threads=1)
    def arrays(shard):
        return fn.readers.numpy(
            file_root=str(folder), file_filter="*.npy", name="reader", shard_id=shard, num_shards=shards
        )

    def steps():
        pipelines = [arrays(shard) for shard in range(shards)]
        found = plugins.plugin("numpy").Iterator(
            pipelines, ["x"], reader_name="reader", last_batch_policy=policy, auto_reset=True, prepare_first_batch=False
        )
        for _ in range(2):
            while True:
                try:
                    yield [outputs["x"].ravel().tolist() for outputs in next(found)]
                except DataError as error:
                    yield re.search(r"\d\.npy", str(error))[0]
                except StopIteration:
                    break
            yield None

    whole = []
    for damaged in ((), (0,), (2,), (4,), (1, 4)):
        folder = tmp_path / "-".join(["files", *map(str, damaged)])
        folder.mkdir()
        for k in range(5):
            np.save(folder / f"{k}.npy", np.full(1, k))
        for k in damaged:
            (folder / f"{k}.npy").write_bytes(b"not an array")
        found = list(itertools.islice(steps(), 30))
        whole = whole or found
        assert len(found) == len(whole)
        for step, expected in zip(found, whole):
            names = {f"{int(k)}.npy" for part in expected or [] for k in part}
            bad = {f"{k}.npy" for k in damaged}
            if isinstance(step, str):  # [] has a sample that the shard repeats, which does not count
                assert step in (bad if [] in expected else names & bad)
            else:
                assert step == expected and not names & bad


def test_states_of_others_are_refused():
    case = LastBatchPolicy.FILL, 1, False, None
    state = iterator("numpy", *case, prepare_first_batch=False).state()
    with pytest.raises(ValueError, match="not a state of an iterator with these pipelines"):
        iterator("numpy", LastBatchPolicy.DROP, 1, False, None).load_state(state)
    with pytest.raises(ValueError, match="not a state of an iterator with these pipelines"):
        iterator("numpy", *case).load_state({"version": 2})
    with pytest.raises(ValueError, match="not a state of this version"):
        indices().driver().load_state({"version": 99, "pipeline": {}})
    with pytest.raises(RuntimeError, match="the first batch is prepared"):
        iterator("numpy", *case).state()
    checkpointed = plugins.plugin("numpy").Iterator(indices(enable_checkpointing=True), ["index", "picture"])
    assert checkpointed.state()["pipelines"][0]["pipeline"]["sources"]["reader"]["consumed"] == 0
    assert json.loads(checkpointed.checkpoints()[0])["sources"]["reader"].startswith("{")


def test_what_a_driver_says_of_a_pipeline():
    @pipeline_def(batch_size=2, num_threads=1)
    def inputs():
        fed = fn.external_source(name="fed", dtype=types.FLOAT, ndim=1)
        return {"a": fed, "b": (fn.readers.indices(size=5, num_shards=2, name="reader"), fed.shape())}

    driver = inputs().driver(epochs="even")
    assert [(i.dtype, i.ndim, i.layout, i.device) for i in driver.output_infos()] == [
        (types.FLOAT, 1, "", "cpu"),
        (types.INT64, 0, "", "cpu"),
        (types.INT64, 1, "", "cpu"),
    ]
    assert (driver.inputs, driver.output_form) == (["fed"], {"a": 0, "b": (1, 2)})
    assert driver.formed("xyz") == {"a": "x", "b": ("y", "z")}
    assert (driver.epochs, driver.batches_per_epoch(), driver.number_of_shards()) == ("even", 2, 2)
    assert indices().driver().output_form == (0, 1) and indices().driver().inputs == []


@pytest.mark.parametrize(
    "room, text, found",
    [
        ("plugin", "pipeline._run()", ["_run"]),
        ("torch", "x = loader.pipeline._depth", ["_depth"]),
        ("dali", "self._run()", []),
        ("_graph", "pipeline._pipeline.run()", ["_pipeline"]),
        ("_graph", "pipeline.definition.graph.add(1)", []),
        ("_debugging", "self.pipeline._start()", ["_start"]),
        ("_pipeline", "pipeline._pipeline.run()", []),
        ("plugin", "class A:\n    def _run(self):\n        return other._run", []),
        ("plugin", "torch._C", []),
    ],
)
def test_private_names_of_pipelines_are_refused(room, text, found):
    names = python_imports.names_of_pipelines()
    assert {"_depth", "_run", "_consumed", "_pipeline"} <= names
    assert [name for _, name in python_imports.private_names(room, text, names)] == found


def test_the_package_keeps_its_rules():
    assert [f"{path}:{line}: {what}" for path, line, what in python_imports.breaches()] == []


# Runs the tests of this file in a process where a typed plug-in and its file are found beside those of the tree.
TYPED = """
import sys
folder, tests, *arguments = sys.argv[1:]
sys.path.insert(0, tests)
import penstock.plugin, plugins
penstock.plugin.__path__.append(folder + "/python/penstock/plugin")
plugins.__path__.append(folder + "/tests/plugins")
import penstock.dali
penstock.dali.install()
import nvidia.dali.plugin.buffers as by_its_name
import penstock.plugin.buffers
assert by_its_name is penstock.plugin.buffers
penstock.dali.uninstall()
import pytest
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *arguments]))
"""


def test_the_page_that_adds_a_plugin(tmp_path):
    paths = []
    for path, code in count_additions.typed_files(ROOT / PAGE):
        assert not (ROOT / path).exists() and code.startswith("# SPDX-License-Identifier: Apache-2.0"), path
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(code)
        paths.append(path)
    assert paths == ["python/penstock/plugin/buffers.py", "tests/plugins/buffers.py"]
    counted = {addition: (new, edited) for addition, new, edited, _ in count_additions.rows()}
    assert counted["plug-in"] == (paths, [])
    names = python_imports.names_of_pipelines()
    assert list(python_imports.private_names("plugin", (tmp_path / paths[0]).read_text(), names)) == []

    command = [
        sys.executable,
        "-c",
        TYPED,
        tmp_path,
        ROOT / "tests",
        "tests/test_plugins.py",
        "-k",
        "buffers or its_file",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
