# SPDX-License-Identifier: Apache-2.0
"""enumerate() and zip() over values of the pipeline, and masks beside other indices, against NumPy on each sample."""

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

ROWS = [np.arange(12, dtype=np.float32).reshape(4, 3) - 5 + k for k in range(5)]
COUNTS = [np.int32(k) for k in (2, 0, 7, 1, 4)]
MASKS = [np.array([(k + j) % 3 == 0 for j in range(4)]) for k in range(5)]


def run(body):
    @pipeline_def(batch_size=5, num_threads=2)
    def pipe():
        rows = fn.external_source(lambda: ROWS, dtype=types.FLOAT, ndim=2)
        n = fn.external_source(lambda: COUNTS, dtype=types.INT32, ndim=0)
        mask = fn.external_source(lambda: MASKS, dtype=types.BOOL, ndim=1)
        return body(rows, n, mask)

    (out,) = pipe().run()
    return [np.array(t.numpy()) for t in out]


def check(body, plain=None):
    for got, rows, n, mask in zip(run(body), ROWS, COUNTS, MASKS):
        expected = (plain or body)(rows.copy(), int(n), mask)
        np.testing.assert_array_equal(got, expected)


def enumerate_rows(rows, n, mask):
    total = rows[0] * 0
    for k, row in enumerate(rows):
        total = total * 2 + row * k
    return total


def enumerate_from(rows, n, mask):
    total = n * 0
    for k, i in enumerate(range(n), 10):
        total = total * 3 + k + i
    return total


def zip_several(rows, n, mask):
    total = rows[0, 0] * 0
    for row, i, keep in zip(rows, range(1, n), mask):
        if keep:
            continue
        total = total + row[1] * i
    return total


def nested(rows, n, mask):
    total = rows[0, 0] * 0
    for (k, row), i in zip(enumerate(rows), range(n)):
        total = total + row[2] * (k + i)
    else:
        total = total + 1.0
    return total


def plain_zip(rows, n, mask):
    total = n * 0
    for k, j in zip([1, 2], range(3)):
        total = total + k * j
    return total


def read_mask_and_number(rows, n, mask):
    return rows[mask, 1]


def read_mask_and_slice(rows, n, mask):
    return rows[mask, 1:]


def read_list_and_number(rows, n, mask):
    return rows[[2, 0, 2], -1]


def assign_mask_and_number(rows, n, mask):
    rows[mask, 1] = 9
    rows[[0, 3], 0:2] = 7
    return rows


def assign_mask_and_values(rows, n, mask):
    rows[mask, 0] += 2.0
    return rows


@pytest.mark.parametrize(
    "body",
    [
        enumerate_rows,
        enumerate_from,
        zip_several,
        nested,
        plain_zip,
        read_mask_and_number,
        read_mask_and_slice,
        read_list_and_number,
        assign_mask_and_number,
        assign_mask_and_values,
    ],
    ids=lambda f: f.__name__,
)
def test_as_numpy_does(body):
    check(body)


def test_number_before_a_mask():
    columns = np.array([True, False, True])

    def body(rows, n, mask):
        rows[1, columns] = 3
        return rows[1, columns] + rows[0, columns]

    check(body)


def test_where_chooses_samples_and_elements():
    images = [np.full((2, 3, 1), i, np.uint8) for i in range(4)]
    counts = [np.int32(i) for i in range(4)]

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        x = fn.external_source(lambda: images, dtype=types.UINT8, layout="HWC")
        n = fn.external_source(lambda: counts, dtype=types.INT32, ndim=0)
        sample = fn.where(n > 1, x, 255 - x)
        element = fn.where(x % 2 == 0, 0.5, x)
        return sample, element, fn.where(n, n, -1)

    sample, element, number = ([np.array(t.numpy()) for t in batch] for batch in pipe().run())
    for i, x in enumerate(images):
        assert sample[i].tolist() == (x if i > 1 else 255 - x.astype(int)).tolist() and sample[i].shape == x.shape
        assert element[i].dtype == np.float32 and (element[i] == np.where(x % 2 == 0, 0.5, x)).all()
        assert number[i].dtype == np.int32 and number[i].shape == () and number[i] == (i or -1)


def test_where_is_an_immediate_call_and_refuses_shapes():
    np.testing.assert_array_equal(
        fn.where(np.array([True, False]), np.array([[1], [2]]), np.array([7, 8])), [[1, 8], [2, 8]]
    )
    with pytest.raises(ValueError, match=r"\[where\] the shapes"):
        fn.where(np.ones(3, bool), np.zeros(2), np.zeros(4))
