# SPDX-License-Identifier: Apache-2.0
"""Methods of Tensor and Batch that scripts for DALI call, with DALI's results."""

import numpy as np
import pytest

from penstock import Batch as TensorListCPU
from penstock import Tensor as TensorCPU
from penstock import types

ROWS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_reset_removes_all_samples():
    batch = TensorListCPU(ROWS, "HW")
    batch.reset()
    assert (len(batch), batch.shape(), batch.dtype, batch.layout()) == (0, [], types.NO_TYPE, "")
    assert list(batch) == [] and "0 samples" in repr(batch)
    with pytest.raises(IndexError, match="out of range for a batch of 0"):
        batch.at(0)


def test_broadcast_repeats_a_tensor():
    sample = TensorCPU(ROWS, "HWC")
    batch = TensorListCPU.broadcast(sample, 3)
    assert batch.shape() == [(2, 3, 4)] * 3 and batch.layout() == "HWC"
    assert all(np.array_equal(s, ROWS) for s in batch) and batch[2].data_ptr() == sample.data_ptr()
    with pytest.raises(ValueError, match="num_samples=0"):
        TensorListCPU.broadcast(sample, 0)


def test_batches_without_samples():
    for batch, dtype, ndim, layout in (
        (TensorListCPU([]), types.NO_TYPE, 0, ""),
        (TensorListCPU(np.zeros((0, 3), np.int16)), types.INT16, 1, ""),
        (TensorListCPU(np.zeros((0, 3, 4), np.uint8), "HW"), types.UINT8, 2, "HW"),
    ):
        assert (len(batch), batch.shape(), batch.dtype, batch.ndim(), batch.layout()) == (0, [], dtype, ndim, layout)
        assert list(batch) == []
    with pytest.raises(ValueError, match="one axis more"):
        TensorListCPU(np.float32(3))


def test_samples_of_two_layouts_are_refused():
    with pytest.raises(ValueError, match="sample 0 has 'HW', sample 1 has 'WC'"):
        TensorListCPU([TensorCPU(ROWS[0], "HW"), TensorCPU(ROWS[1], "WC")])
    assert TensorListCPU([TensorCPU(ROWS[0], "HW"), ROWS[1]]).layout() == "HW"


def test_print_shows_values():
    """The form is that of DALI 2.4, with Penstock's names of the classes."""
    assert str(TensorCPU(ROWS[0], "HW")) == (
        "Tensor(\n    [[ 0.  1.  2.  3.]\n     [ 4.  5.  6.  7.]\n     [ 8.  9. 10. 11.]],\n    dtype=DALIDataType.FLOAT,\n"
        '    layout="HW",\n    device="cpu",\n    shape=(3, 4))'
    )
    assert (
        str(TensorCPU(np.int64(3)))
        == 'Tensor(\n    3,\n    dtype=DALIDataType.INT64,\n    device="cpu",\n    shape=())'
    )
    assert str(TensorListCPU([ROWS[0, :1], ROWS[1, :2]])) == (
        "Batch(\n    [[[0. 1. 2. 3.]],\n\n     [[12. 13. 14. 15.]\n      [16. 17. 18. 19.]]],\n    dtype=DALIDataType.FLOAT,\n"
        '    device="cpu",\n    num_samples=2,\n    shape=[(1, 4), (2, 4)])'
    )
    many = str(TensorListCPU(np.arange(20)))
    assert "[0, 1, ..., 18, 19]" in many and "shape=[(), (), ..., (), ()]" in many and "num_samples=20" in many
    assert str(TensorCPU(np.zeros((100, 100), np.uint8))).count("\n") == 8
    assert (
        "[]" in str(TensorListCPU([]))
        and repr(TensorListCPU(ROWS)) == "Batch(2 samples, float32, layout '', shapes (3, 4))"
    )


def test_numbers_have_types():
    found = [types.Constant(v).dtype for v in (5, 5.5, True)]
    assert found == [types.INT32, types.FLOAT, types.BOOL]
    assert types.Constant(5).uint8().dtype == types.UINT8 and repr(types.Constant(2)) == "ScalarConstant(2, INT32)"
    with pytest.raises(OverflowError, match="does not fit into INT32"):
        types.Constant(2**40)
    assert types.Constant(2**40, dtype=types.INT64).dtype == types.INT64
