# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: what an import costs, names, stubs, expressions on tensors, pictures, worker processes."""

import ast
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import penstock
from penstock import _core, fn, types

PACKAGE = pathlib.Path(penstock.__file__).parent
HERE = pathlib.Path(__file__).parent


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout


def test_an_import_is_light():
    code = (
        "import sys\nimport penstock\nfrom penstock import pipeline_def, Pipeline\n"
        "most = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0]\n"
        "assert not {'numpy', 'torch', 'PIL', 'cv2'} & set(sys.modules), sorted(sys.modules)\n"
        "print(int(most) / 1000)\n"
    )
    assert float(python(code)) <= 40


def test_types_by_their_names():
    assert [int(types.UINT8), int(types.FLOAT16), int(types.FLOAT), int(types.BOOL)] == [0, 8, 9, 11]
    assert int(types.INTERP_GAUSSIAN) == 5 and int(types.YCbCr) == 3 and types.DALIDataType.INT64 is types.INT64
    assert types.to_numpy_type(types.FLOAT) is np.float32 and types.to_numpy_type(types.BOOL) is np.bool_
    assert types.to_penstock_type(np.int16) is types.INT16


def test_every_operator_has_a_page():
    for name in _core.operators():
        assert (HERE.parent / "docs/reference/operators" / f"{name}.md").exists()
    assert (PACKAGE / "py.typed").exists()


def test_the_stub_of_the_containers():
    classes = {c.name: c for c in ast.parse((PACKAGE / "_core.pyi").read_text()).body if isinstance(c, ast.ClassDef)}
    inherited = {f.name for f in classes["_Expressions"].body}
    for cls in (penstock.Tensor, penstock.Batch):
        named = {f.name for f in classes[cls.__name__].body if isinstance(f, ast.FunctionDef)} | inherited
        own = {n for n in vars(cls) if callable(getattr(cls, n)) or isinstance(vars(cls)[n], property)}
        assert own - named <= {"__repr__", "__str__", "_repr_html_", "__module__", "__doc__", "__new__"}, cls


def test_every_argument_of_the_table():
    """The arguments that scripts use, for each operator of both."""
    with open(HERE / "dali_arguments.json") as file:
        known = json.load(file)
    common = {"device", "name", "seed", "bytes_per_sample_hint", "preserve"}
    ours = {"external_source"}  # Python's function has them
    missing = {}
    for name in set(known) & set(_core.operators()) - ours:
        have = {a["name"] for a in _core.operator_schema(name)["args"]} | common
        if gone := set(known[name]["arguments"]) - have:
            missing[name] = sorted(gone)
    assert not missing


def test_expressions_on_tensors_and_batches():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    t, b = penstock.tensor(x), penstock.batch([x, x + 1])
    np.testing.assert_array_equal((t * 2 + 1).numpy(), x * 2 + 1)
    np.testing.assert_array_equal((1 - b).at(1), 1 - (x + 1))
    np.testing.assert_array_equal((b > 2).at(0), x > 2)
    np.testing.assert_array_equal((b + b).at(1), 2 * (x + 1))
    np.testing.assert_array_equal(x + t, 2 * x)  # the kind of the first operand
    assert (-t).numpy().max() == 0 and (penstock.tensor(np.uint8([3])) & 1).numpy().tolist() == [1]
    with pytest.raises(TypeError):
        t + "1"


def test_math():
    x = np.linspace(0.1, 2, 7, dtype=np.float32)
    np.testing.assert_allclose(penstock.math.sqrt(penstock.tensor(x)).numpy(), np.sqrt(x), rtol=1e-6)
    np.testing.assert_allclose(penstock.math.exp(x), np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(penstock.math.clamp(x, 0.5, 1), np.clip(x, 0.5, 1).astype(np.float32))
    np.testing.assert_array_equal(penstock.math.max(penstock.tensor(x), 1).numpy(), np.maximum(x, 1))
    assert penstock.math.abs(penstock.tensor(np.int16([-3]))).dtype == types.INT16

    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return penstock.math.log2(fn.external_source([[x]]))

    np.testing.assert_allclose(pipe().run()[0].at(0), np.log2(x), rtol=1e-5, atol=1e-6)


def test_random_numbers_of_immediate_calls():
    penstock.seed(3)
    a = [fn.random.uniform(shape=[4]) for _ in range(2)]
    penstock.seed(3)
    b = [fn.random.uniform(shape=[4]) for _ in range(2)]
    assert isinstance(a[0], np.ndarray) and not np.array_equal(a[0], a[1])
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(fn.random.uniform(shape=[4], seed=9), fn.random.uniform(shape=[4], seed=9))
    batch = fn.random.uniform(batch_size=5)
    assert isinstance(batch, penstock.Batch) and len(batch) == 5 and len({float(t.item()) for t in batch}) == 5


def test_show(tmp_path):
    from PIL import Image

    x = np.zeros((10, 20, 3), np.uint8)
    for value in (
        penstock.batch([x, x[:5]], layout="HWC"),
        penstock.tensor(x),
        penstock.batch(np.zeros((3, 3, 8, 9), np.float32)),
        penstock.tensor(np.zeros((4, 8, 9, 3), np.uint8), layout="FHWC"),
    ):
        sheet = value.show(path=tmp_path / "sheet.png")
        assert isinstance(sheet, Image.Image) and (tmp_path / "sheet.png").exists()
    with pytest.raises(TypeError, match="5 dimensions"):
        penstock.tensor(np.zeros((1, 1, 1, 1, 1), np.uint8)).show()


SCRIPT = """
import os, sys, numpy as np
from penstock import fn, pipeline_def
def sample(info):
    if info.iteration == 3:
        raise StopIteration
    return np.int32([info.idx_in_epoch]), np.int64([os.getpid()])
def broken(i):
    raise KeyError("from the worker")
@pipeline_def(batch_size=2, num_threads=1, py_num_workers=2, py_start_method=sys.argv[1])
def pipe(source, batch):
    return tuple(fn.external_source(source, num_outputs=2, parallel=True, batch=batch, prefetch_queue_depth=2))
if __name__ == "__main__":
    p = pipe(sample, False)
    p.start_py_workers()
    for epoch in range(2):
        got, workers = [], set()
        try:
            while True:
                x, pid = p.run()
                got += x.as_array().ravel().tolist()
                workers |= set(pid.as_array().ravel().tolist())
        except StopIteration:
            p.reset()
        assert got == [0, 1, 2, 3, 4, 5], got
        assert os.getpid() not in workers
    try:
        pipe(broken, True).run()
    except KeyError as error:
        assert "from the worker" in str(error)
    else:
        raise SystemExit("no error")
    try:
        pipe(lambda: 1, True)
    except TypeError:
        print("done")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), method],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "done", done.stderr
