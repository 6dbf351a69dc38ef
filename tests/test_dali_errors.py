# SPDX-License-Identifier: Apache-2.0
"""Under the names of DALI, errors of operators are also RuntimeError."""

import numpy as np
import pytest

import penstock
from penstock.dali import Pipeline, fn, pipeline_def, types
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
    for wanted in (kind, RuntimeError, OperatorError):
        with pytest.raises(wanted, match=f"(?s){said}") as raised:
            ran(body)
    if name not in ("a source", "a source's value", "a class"):
        assert "test_dali_errors.py" in str(raised.value), raised.value


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
