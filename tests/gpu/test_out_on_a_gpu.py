# SPDX-License-Identifier: Apache-2.0
"""out= and stream= of immediate calls on a GPU."""

import numpy as np
import penstock
import pytest
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

IMAGE = (np.arange(13 * 17 * 3) * 37 % 251).astype(np.uint8).reshape(13, 17, 3)


def there(array, layout="HWC"):
    return penstock.tensor(array, layout=layout).gpu()


class OfAnotherLibrary:
    """What only has the interface of CUDA's arrays."""

    def __init__(self, array):
        self.array = there(array)

    @property
    def __cuda_array_interface__(self):
        return dict(self.array.__cuda_array_interface__)


def test_a_result_is_written_into_memory_of_the_gpu():
    into = there(np.zeros_like(IMAGE))
    assert fn.flip(there(IMAGE), out=into) is into
    np.testing.assert_array_equal(into.cpu().numpy(), IMAGE[:, ::-1])
    whole = there(np.zeros((3, 13, 17), np.uint8), "CHW")
    fn.transpose(there(IMAGE), perm=[2, 0, 1], out=whole)
    np.testing.assert_array_equal(whole.cpu().numpy(), IMAGE.transpose(2, 0, 1))


def test_a_batch_is_written_into_a_batch_a_list_and_an_array():
    batch = penstock.batch([IMAGE, IMAGE[:4]], layout="HWC").gpu()
    into = [there(np.zeros_like(IMAGE)), there(np.zeros_like(IMAGE[:4]))]
    fn.invert(batch, out=into)
    np.testing.assert_array_equal(into[1].cpu().numpy(), 255 - IMAGE[:4])
    target = penstock.batch([np.zeros_like(IMAGE), np.zeros_like(IMAGE[:4])], layout="HWC").gpu()
    fn.invert(batch, out=target)
    np.testing.assert_array_equal(target.cpu().at(0), 255 - IMAGE)


def test_arrays_of_other_libraries_are_written():
    into = OfAnotherLibrary(np.zeros_like(IMAGE))
    assert fn.flip(there(IMAGE), out=into) is into
    _core.wait_for_stream(0, 1)
    np.testing.assert_array_equal(into.array.cpu().numpy(), IMAGE[:, ::-1])


def test_a_call_runs_on_the_given_stream_and_another_one_can_wait_for_it():
    first, then = _core.make_stream(0), _core.make_stream(0)
    made = fn.flip(there(IMAGE), stream=first)
    assert made.stream == first
    _core.order_streams(0, first, then)
    again = fn.flip(made, stream=then)
    assert again.stream == then
    _core.wait_for_stream(0, then)
    np.testing.assert_array_equal(again.cpu().numpy(), IMAGE)
    for stream in (first, then):
        _core.drop_stream(0, stream)


def test_memory_of_the_host_is_refused_for_a_result_on_the_gpu():
    with pytest.raises(ValueError, match="is on cpu, but the call runs on gpu:0"):
        fn.flip(there(IMAGE), out=np.zeros_like(IMAGE))
