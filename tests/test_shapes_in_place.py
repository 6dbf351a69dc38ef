# SPDX-License-Identifier: Apache-2.0
"""Other shapes of a value use its memory where nothing else reads it, and nothing else changes."""

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

GIVEN = [np.arange(24, dtype=np.uint8).reshape(4, 6) + i for i in range(3)]
SHAPES = {
    "reshape": lambda x: fn.reshape(x, shape=[6, 4]),
    "expand_dims": lambda x: fn.expand_dims(x, axes=[0]),
    "squeeze": lambda x: fn.squeeze(fn.expand_dims(x, axes=[0]), axes=[0]),
    "pad": lambda x: fn.pad(x, axes=[0]),
}


def run(body):
    arrays = [x.copy() for x in GIVEN]

    @pipeline_def(batch_size=3, num_threads=2, prefetch_queue_depth=1)
    def program():
        return body(fn.external_source(source=lambda: arrays, dtype=types.UINT8, ndim=2))

    pipe = program()
    for _ in range(3):
        made = [[np.asarray(sample).copy() for sample in batch] for batch in pipe.run()]
    for array, given in zip(arrays, GIVEN):
        np.testing.assert_array_equal(array, given)  # the program's own
    return made


def changed(x):
    x[0] = 200
    return x


@pytest.mark.parametrize("name", SHAPES)
def test_who_reads_the_value_too_sees_it_unchanged(name):
    def body(x):
        value = x + 1
        return value, changed(SHAPES[name](value)), SHAPES[name](value)

    values, new, other = run(body)
    for given, value, one, two in zip(GIVEN, values, new, other):
        np.testing.assert_array_equal(value, given + 1)
        expected = np.asarray(SHAPES[name](given + 1))
        np.testing.assert_array_equal(two, expected)
        expected = expected.copy()
        expected[0] = 200
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("name", SHAPES)
def test_a_value_that_nobody_else_reads(name):
    (made,) = run(lambda x: SHAPES[name](x + 1))
    for given, one in zip(GIVEN, made):
        np.testing.assert_array_equal(one, np.asarray(SHAPES[name](given + 1)))
    (made,) = run(lambda x: SHAPES[name](x))  # memory of the program is not the pipeline's to give
    for given, one in zip(GIVEN, made):
        np.testing.assert_array_equal(one, np.asarray(SHAPES[name](given)))


def test_samples_that_are_padded_get_memory_of_their_own():
    def body(x):
        rows = fn.external_source(source=lambda: [np.int64([n]) for n in (1, 4, 3)], dtype=types.INT64, ndim=1)
        return fn.pad(fn.slice(x + 1, end=rows, axes=[0]), axes=[0], fill_value=9.0)

    (made,) = run(body)
    for given, one, n in zip(GIVEN, made, (1, 4, 3)):
        np.testing.assert_array_equal(one[:n], given[:n] + 1)
        assert one.shape == (4, 6) and (one[n:] == 9).all()


@pytest.mark.parametrize("rows", [(4, 4, 4), (1, 4, 3)])
def test_padded_samples_are_one_tensor_without_a_copy(rows):
    @pipeline_def(batch_size=3, num_threads=1)
    def program():
        x = fn.external_source(source=lambda: GIVEN, dtype=types.UINT8, ndim=2)
        ends = fn.external_source(source=lambda: [np.int64([n]) for n in rows], dtype=types.INT64, ndim=1)
        floats = fn.cast(fn.cat(*[x] * 16, axis=1), dtype=types.FLOAT)  # rows are multiples of 64 bytes
        return fn.expand_dims(fn.pad(fn.slice(floats, end=ends, axes=[0]), axes=[0]), axes=[0])

    (made,) = program().run()
    assert made.as_tensor().numpy().ctypes.data == made[0].numpy().ctypes.data


def test_samples_are_joined_along_their_first_dimension():
    @pipeline_def(batch_size=3, num_threads=1)
    def program(columns):
        x = fn.external_source(source=lambda: GIVEN, dtype=types.UINT8, ndim=2)
        rows = fn.external_source(source=lambda: [np.int64([n]) for n in (1, 4, 3)], dtype=types.INT64, ndim=1)
        return fn.slice(x, end=rows, axes=[0])[:, :columns]

    for columns in (6, 1):
        (made,) = program(columns).run()
        expected = np.concatenate([x[:n, :columns] for x, n in zip(GIVEN, (1, 4, 3))])
        np.testing.assert_array_equal(made.joined().numpy(), expected)
    with pytest.raises(TypeError, match=r"differ in their first extent alone; got \(2, 3\) and \(2, 4\) at sample 1"):
        fn.cast([np.zeros((2, 3)), np.zeros((2, 4))], dtype=types.UINT8).joined()
