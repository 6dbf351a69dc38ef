# SPDX-License-Identifier: Apache-2.0
"""Under the names of DALI, errors of operators and pipelines are RuntimeError, ValueError and TypeError."""

import numpy as np
import pytest

import penstock
from penstock.dali import Pipeline, fn, ops, pipeline_def, types
from penstock.dali.errors import OperatorError

X = np.zeros((2, 3), np.float32)


def ran(body, make=pipeline_def, **options):
    @make(batch_size=2, num_threads=1, **options)
    def pipe():
        return body(fn.external_source(lambda: [X, X]))

    return pipe().run()


CASES = {
    "an argument while defining": (lambda x: fn.flip(x, horizontl=1), TypeError, "'horizontl'.*'horizontal'"),
    "a type while defining": (lambda x: x & 1, TypeError, r"\[_and\]"),
    "a value while running": (lambda x: fn.squeeze(x, axes=[0]), ValueError, r"\[squeeze\]"),
    "a class": (lambda x: penstock.dali.ops.Flip()(x, horizontl=1), TypeError, "horizontl"),
    "a source": (lambda x: fn.external_source(lambda: [], num_outputs=0), ValueError, "num_outputs"),
    "a source's value": (lambda x: fn.external_source(lambda: [None]), TypeError, r"\[external_source\]"),
    "a missing file": (lambda x: fn.readers.file(file_root="/no/such/folder")[0], FileNotFoundError, "/no/such/folder"),
}


@pytest.mark.parametrize("name", CASES)
def test_both_classes_message_and_line(name):
    body, kind, said = CASES[name]
    for wanted in (kind, RuntimeError, ValueError, TypeError, OperatorError):
        with pytest.raises(wanted, match=f"(?s){said}") as raised:
            ran(body)
    if name not in ("a source", "a source's value", "a class"):
        assert "test_dali_errors.py" in str(raised.value), raised.value


def of_two_structures(x):
    if x[0, 0] > 1:
        y = (x, x)
    else:
        y = (x,)
    return y


def set_in_one_branch(x):
    if x[0, 0] > 1:
        y = x
    return y


@pytest.mark.parametrize(
    "body, kind, said",
    [(of_two_structures, TypeError, "one structure"), (set_in_one_branch, UnboundLocalError, "'y' has no value here")],
)
def test_conditions(body, kind, said):
    for wanted in (kind, RuntimeError, ValueError):
        with pytest.raises(wanted, match=said):
            ran(body)


def test_classes_and_saved_pipelines():
    calls = {
        "is not a saved pipeline": lambda: Pipeline.deserialize(b"abc"),
        "calls a function of this program": lambda: made_with(fn.python_function(source(), function=abs)).serialize(),
        "cannot be resumed": lambda: stepped(made_with(source())).checkpoint(),
        "to the constructor and to the call": lambda: ops.ExternalSource(lambda: X)(source=lambda: X),
        "takes 2 arguments by position": lambda: ops.ExternalSource(1, 2, 3),
    }
    for said, call in calls.items():
        with pytest.raises(RuntimeError, match=said):
            call()


def source():
    return fn.external_source(lambda: [X, X])


def made_with(output):
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(output)
    return pipe


def stepped(pipe):
    pipe.run()
    return pipe


def test_exceptions_of_the_program_pass_unchanged():
    class Own(ValueError):
        pass

    def body(x, kind):
        raise kind("mine")

    for kind in (ValueError, Own):
        with pytest.raises(kind, match="mine") as raised:
            ran(lambda x: body(x, kind))
        assert type(raised.value) is kind


def test_penstocks_own_names_keep_their_classes():
    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return penstock.fn.squeeze(penstock.fn.external_source(lambda: [X]), axes=[0])

    with pytest.raises(ValueError) as raised:
        pipe().run()
    assert not isinstance(raised.value, RuntimeError)


def test_arrays_and_feeding():
    with pytest.raises(RuntimeError, match=r"\[squeeze\]"):
        fn.squeeze(X, axes=[0])
    pipe = Pipeline(1, 1, None)
    pipe.set_outputs(fn.external_source(name="x", dtype=types.UINT8))
    with pytest.raises(RuntimeError, match="(?i)type"):
        pipe.feed_input("x", [X])
        pipe.run()
    with pytest.raises(RuntimeError, match="no external source 'y'"):
        pipe.feed_input("y", [X])
