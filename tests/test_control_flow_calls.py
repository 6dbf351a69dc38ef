# SPDX-License-Identifier: Apache-2.0
"""What a pipeline's function calls: recursion that a number ends, lambdas, installed packages, functions that are not converted."""

import os
import subprocess
import sys

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def
from penstock.dali.pipeline import do_not_convert

X = np.arange(16, dtype=np.int32)


def run(body, batch=16, **options):
    @pipeline_def(batch_size=batch, num_threads=1, **options)
    def pipe():
        return body(fn.external_source(lambda: X[:batch], batch=True))

    return pipe().run()[0].as_array()


def chosen(values, k):
    """values[k] of each sample, by halving."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    if k < half:
        return chosen(values[:half], k)
    else:
        return chosen(values[half:], k - half)


def raised_to(x, n):
    if x > 3 and n > 0:
        return raised_to(x * 2, n - 1)
    return x


def endless(x):
    if x > 3:
        x = endless(x - 1)
    return x


def even(x, n):
    return odd(x - 1, n - 1) if x > 0 and n > 0 else x


def odd(x, n):
    if x > 0 and n > 0:
        x = even(x - 2, n - 1)
    return x


@pytest.mark.parametrize("debug", [False, True])
def test_recursion_that_a_number_ends(debug):
    table = [int(v) for v in np.random.default_rng(1).permutation(16)]
    assert np.array_equal(run(lambda k: chosen([k * 0 + v for v in table], k), debug=debug), table)
    assert np.array_equal(run(lambda x: raised_to(x, 5), debug=debug), [raised_to(int(x), 5) for x in X])
    assert np.array_equal(run(lambda x: even(x, 6), debug=debug), [even(int(x), 6) for x in X])


def test_deep_recursion():
    assert np.array_equal(run(lambda x: raised_to(x * 0 + 4, 20), batch=2), [4 << 20] * 2)


def test_endless_recursion_is_an_error_with_the_users_line():
    with pytest.raises(
        RecursionError, match=r"(?s)'endless' calls itself under a condition.*test_control_flow_calls.py"
    ) as raised:
        run(endless)
    assert str(raised.value).count("\n") == 1

    def plain(x, n=0):
        return plain(x, n + 1)

    with pytest.raises(RecursionError, match="maximum recursion depth"):
        run(plain)
    assert np.array_equal(run(lambda x: raised_to(x, 1)), [x * 2 if x > 3 else x for x in X])  # nothing is left


PAIR = (lambda x: -x if x > 3 else x, lambda x: x if x > 3 and x < 9 else x * 0)


def test_lambdas():
    assert np.array_equal(run(lambda x: x + 1 if x > 7 else x - 1), np.where(X > 7, X + 1, X - 1))
    low = 5
    assert np.array_equal(run(lambda x, by=2: x * by if not x < low else x), np.where(X < 5, X, X * 2))
    several = (lambda x, by=low: x if x > by else by, lambda x, *, by=low: x if x < by else by)
    assert np.array_equal(run(several[0]), np.maximum(X, 5)) and np.array_equal(run(several[1]), np.minimum(X, 5))
    assert np.array_equal(run(PAIR[0]), np.where(X > 3, -X, X))
    assert np.array_equal(run(PAIR[1]), np.where((X > 3) & (X < 9), X, 0))
    two = [lambda x: x if x > 1 else -x, lambda x: x if x > 1 else -x]
    assert np.array_equal(run(two[0]), X * np.where(X > 1, 1, -1)) and np.array_equal(run(two[1]), run(two[0]))
    made = pipeline_def(lambda: PAIR[0](fn.external_source(lambda: X, batch=True)), batch_size=16, num_threads=1)
    assert np.array_equal(made().run()[0].as_array(), np.where(X > 3, -X, X))


def test_functions_left_alone():
    @do_not_convert
    def alone(x):
        return x if x > 3 else -x

    with pytest.raises(TypeError, match="no truth while the pipeline is defined"):
        run(lambda x: alone(x))
    assert do_not_convert()(alone) is alone
    with pytest.raises(ValueError, match="defines a pipeline"):
        do_not_convert(pipeline_def(lambda: None))
    assert np.array_equal(run(lambda x: x * (alone(5) + 1)), X * 6)
    from penstock.dali import Pipeline, pipeline_def as dalis
    from penstock.dali.pipeline import experimental

    assert experimental.do_not_convert is do_not_convert
    assert isinstance(
        dalis(lambda: fn.random.uniform())(batch_size=2, num_threads=1, enable_conditionals=True), Pipeline
    )
    assert pipeline_def(lambda: fn.random.uniform())(batch_size=2, num_threads=1, enable_conditionals=False).run()


def test_code_of_installed_packages(tmp_path, monkeypatch):
    """Converted where it gets a value of the pipeline, as DALI does; NumPy and similar packages are not."""
    package = tmp_path / "site-packages" / "augments"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("""
def mirrored(x, values=()):
    if x > 3:
        x = -x
    return x

def table(n):
    assert type(table) is type(lambda: 0) and n
    return [n]
""")
    monkeypatch.syspath_prepend(str(package.parent))
    from penstock._control_flow import conversion

    monkeypatch.setattr(conversion, "_INSTALLED", (*conversion._INSTALLED, str(package.parent) + os.sep))
    import augments

    assert np.array_equal(run(lambda x: augments.mirrored(x) + augments.table(1)[0]), np.where(X > 3, -X, X) + 1)
    assert np.array_equal(run(lambda x: x + int(np.mean([1.0, 3.0]))), X + 2)


SCRIPT = """
import os, sys
os.chdir("/")
from nvidia.dali import fn, pipeline_def, types
import numpy as np

def number(info):
    return np.int32(info.idx_in_epoch)

@pipeline_def(batch_size=4, num_threads=1, py_num_workers=1, py_start_method="spawn")
def pipe():
    x = fn.external_source(number, batch=False, parallel=True)
    if x > 1:
        x = x * 10
    return x

if __name__ == "__main__":
    print(pipe().run()[0].as_array().tolist(), sys.argv[1:], __name__, __file__)
"""


@pytest.mark.parametrize("by_name", [False, True])
def test_a_script_that_leaves_its_folder_and_spawns_workers(by_name, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(penstock.__file__)))
    done = subprocess.run(
        [sys.executable, "-m", "penstock.dali", *(["-m", "train"] if by_name else ["train.py"]), "--lr", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=240,
    )
    assert done.stdout == f"[0, 1, 20, 30] ['--lr', '1'] __main__ {tmp_path / 'train.py'}\n", done.stderr
