# SPDX-License-Identifier: Apache-2.0
"""penstock.cvcuda on a GPU: containers in its memory, results in the program's."""

import numpy as np
import penstock
import penstock.cvcuda as cvcuda
import pytest
from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

IMAGES = (np.arange(2 * 13 * 17 * 3) * 37 % 251).astype(np.uint8).reshape(2, 13, 17, 3)


def test_new_tensors_and_images_lie_on_the_gpu():
    tensor = cvcuda.Tensor((2, 13, 17, 3), np.uint8, "NHWC", rowalign=64)
    interface = tensor.cuda().__cuda_array_interface__
    assert interface["strides"] == (13 * 64, 64, 3, 1) and tensor.cpu().shape == (2, 13, 17, 3)
    image = cvcuda.Image(IMAGES[0])
    assert hasattr(image.cuda(), "__cuda_array_interface__")
    np.testing.assert_array_equal(image.cpu(), IMAGES[0])


@pytest.mark.parametrize("stream", [None, "own"])
def test_calls_give_the_values_of_the_host(stream):
    tensor = cvcuda.as_tensor(penstock.tensor(IMAGES).gpu(), "NHWC")
    stream = stream and cvcuda.Stream()
    small = cvcuda.resize(tensor, (2, 6, 8, 3), stream=stream)
    scaled = cvcuda.convertto(small, np.float32, 1 / 255, stream=stream)
    planes = cvcuda.reformat(scaled, "NCHW", stream=stream)
    if stream:
        stream.sync()
    host = cvcuda.resize(cvcuda.as_tensor(IMAGES.copy(), "NHWC"), (2, 6, 8, 3))
    host = cvcuda.reformat(cvcuda.convertto(host, np.float32, 1 / 255), "NCHW")
    np.testing.assert_array_equal(planes.cpu(), host.cpu())


def test_results_are_written_into_the_programs_memory():
    source = cvcuda.as_tensor(penstock.tensor(IMAGES).gpu(), "NHWC")
    memory = penstock.tensor(np.zeros_like(IMAGES)).gpu()
    into = cvcuda.as_tensor(memory, "NHWC")
    assert cvcuda.flip_into(into, source, 1) is into
    np.testing.assert_array_equal(memory.cpu().numpy(), IMAGES[:, :, ::-1])
    assert cvcuda.flip_into(into, into, 1) is into
    np.testing.assert_array_equal(memory.cpu().numpy(), IMAGES)


def test_images_of_several_sizes():
    batch = cvcuda.as_images([penstock.tensor(IMAGES[0]).gpu(), penstock.tensor(IMAGES[1, :4]).gpu()])
    result = cvcuda.gaussian(
        batch, (3, 3), cvcuda.as_tensor(np.int32([[3, 3]]), "NC"), cvcuda.as_tensor(np.float64([[1, 1]]), "NC")
    )
    host = cvcuda.as_images([IMAGES[0].copy(), IMAGES[1, :4].copy()])
    expected = cvcuda.gaussian(
        host, (3, 3), cvcuda.as_tensor(np.int32([[3, 3]]), "NC"), cvcuda.as_tensor(np.float64([[1, 1]]), "NC")
    )
    for a, b in zip(result, expected):
        np.testing.assert_array_equal(a.cpu(), b.cpu())


@pytest.mark.parametrize("name", ["convertto", "normalize", "averageblur", "open", "warp_affine", "channelreorder"])
def test_functions_give_the_bytes_of_the_host(name):
    from test_cvcuda import CALLS

    call = CALLS[name][0]
    for layout in ("NHWC", "NCHW"):
        array = IMAGES if layout == "NHWC" else np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
        there = call(cvcuda.as_tensor(penstock.tensor(array).gpu(), layout))
        assert hasattr(there.cuda(), "__cuda_array_interface__")
        np.testing.assert_array_equal(there.cpu(), call(cvcuda.as_tensor(array, layout)).cpu())
