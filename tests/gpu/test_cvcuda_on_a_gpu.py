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


@pytest.mark.filterwarnings("error::penstock.DeviceWarning")
def test_features_are_found_on_the_gpu():
    y, x = np.mgrid[:40, :50]
    spots = [np.uint8(200 * np.exp(-((x - 20 - k) ** 2 + (y - 18) ** 2) / 40)) for k in range(2)]
    array = np.stack(spots)[..., None]
    there = cvcuda.sift(cvcuda.as_tensor(penstock.tensor(array).gpu(), "NHWC"), 9)
    here = cvcuda.sift(cvcuda.as_tensor(array, "NHWC"), 9)
    assert here[3].cpu().min() > 0
    for a, b in zip(there, here):
        np.testing.assert_array_equal(a.cpu(), b.cpu())


@pytest.mark.parametrize("layout, dtype", [("NHWC", np.uint8), ("NCHW", np.uint16), ("NCHW", np.float32)])
def test_areas_of_random_values_have_the_bytes_of_the_host(layout, dtype):
    array = (
        IMAGES.astype(dtype) if layout == "NHWC" else np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2)).astype(dtype)
    )
    anchors, sizes = (
        np.int32([[1, 2], [3, 4], [8, 0]]),
        np.int32([[5, 6, 7], [3, 4, 1], [4, 13, 6]]),
    )  # a mask of channels

    def drawn(x, there, seed):
        given = [np.float32(range(12)), np.int32([0, 1, 1])]
        given = [cvcuda.as_tensor(penstock.tensor(v).gpu() if there else v, letter) for v, letter in zip(given, "NN")]
        areas = [cvcuda.as_tensor(penstock.tensor(v).gpu() if there else v, "NC") for v in (anchors, sizes)]
        return cvcuda.erase(cvcuda.as_tensor(x, layout), *areas, *given, random=True, seed=seed)

    there = drawn(penstock.tensor(array).gpu(), True, 3)
    here = drawn(array, False, 3).cpu()
    assert hasattr(there.cuda(), "__cuda_array_interface__")
    np.testing.assert_array_equal(there.cpu(), here)
    assert (drawn(array, False, 4).cpu() != here).any() and there.dtype == dtype
    images = here if layout == "NHWC" else here.transpose(0, 2, 3, 1)
    outside = np.ones(IMAGES.shape, bool)
    outside[0, 2:8, 1:6], outside[1, 4:8, 3:6, 0], outside[1, 0:13, 8:12, 1:] = False, False, False
    np.testing.assert_array_equal(images[outside], IMAGES[outside].astype(dtype))
    inside = images[~outside].astype(np.float64)
    most = 1.0 if dtype == np.float32 else np.iinfo(dtype).max  # uniform over the range of the type
    assert 0 <= inside.min() and inside.max() <= most and abs(inside.mean() / most - 0.5) < 0.1
