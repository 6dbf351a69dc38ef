# SPDX-License-Identifier: Apache-2.0
"""Immediate calls: the result has the kind of the input, without copies, and wrong calls say what is wrong."""

import gc

import numpy as np
import pytest

import penstock
from penstock import fn, types


def ramp(shape=(5, 7, 3), dtype=np.uint8):
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


def test_numpy_gives_numpy():
    x = ramp()
    y = fn.flip(x)
    assert type(y) is np.ndarray and y.dtype == x.dtype
    np.testing.assert_array_equal(y, x[:, ::-1])


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        ">f4",
        ">i2",
    ],
)
def test_every_dtype_of_numpy(dtype):
    x = ramp(dtype=dtype)
    y = fn.flip(x)
    assert y.dtype == x.dtype.newbyteorder("=")
    np.testing.assert_array_equal(y, x[:, ::-1])


def test_arrays_that_are_not_contiguous():
    base = ramp((10, 14, 6))
    for x in (base[::2, ::-1, :3], base.transpose(1, 0, 2), base[:, :, ::2], np.broadcast_to(base[:1], (4, 14, 6))):
        np.testing.assert_array_equal(fn.flip(x), x[:, ::-1])
    packed = np.zeros((4, 5), [("a", "u1"), ("b", "<f4")])  # strides that split elements
    packed["b"] = ramp((4, 5))
    np.testing.assert_array_equal(fn.flip(penstock.tensor(packed["b"], layout="HW")).numpy(), packed["b"][:, ::-1])


def test_a_list_is_a_batch():
    a, b = ramp((4, 5, 3)), ramp((6, 3, 3))
    out = fn.flip([a, b])
    assert isinstance(out, penstock.Batch) and len(out) == 2
    assert out.shape() == [(4, 5, 3), (6, 3, 3)] and out.dtype == types.UINT8 and out.layout() == "HWC"
    np.testing.assert_array_equal(out[1].numpy(), b[:, ::-1])
    again = fn.flip(out)
    assert isinstance(again, penstock.Batch)
    np.testing.assert_array_equal(again.at(0), a)


def test_tensor_gives_tensor_and_keeps_its_layout():
    x = penstock.tensor(ramp((3, 5, 7)), layout="CHW")
    y = fn.flip(x)
    assert isinstance(y, penstock.Tensor) and y.layout() == "CHW"
    np.testing.assert_array_equal(y.numpy(), x.numpy()[:, :, ::-1])


def test_torch_gives_torch():
    import torch

    x = torch.from_numpy(ramp())
    y = fn.flip(x)
    assert isinstance(y, torch.Tensor)
    assert torch.equal(y, torch.flip(x, (1,)))
    z = fn.flip(torch.ones(3, 5, 6, requires_grad=True).detach())
    assert z.dtype == torch.float32
    assert fn.flip(x[:, ::2]).shape == (5, 4, 3)


def test_tensors_of_torch_without_plain_memory_are_refused():
    import torch

    x = torch.ones(3, 5, 6, requires_grad=True)
    with pytest.raises(TypeError, match=r"\[flip\] the tensor requires gradients.*tensor\.detach\(\)"):
        fn.flip(x)
    with pytest.raises(TypeError, match="requires gradients"):
        fn.flip([torch.zeros(3, 5, 6), x * 2])
    with torch.no_grad():
        assert torch.equal(fn.flip(x), torch.ones(3, 5, 6))
    with pytest.raises(TypeError, match=r"\[flip\] torch does not give the memory of this tensor") as refused:
        fn.flip(torch.zeros(3, 5, 6).to_sparse())
    assert "\n" not in str(refused.value)


def test_pillow_gives_pillow():
    from PIL import Image

    for mode, channels in (("RGB", 3), ("L", 1), ("RGBA", 4)):
        pixels = ramp((5, 7, channels))
        image = Image.fromarray(pixels if channels > 1 else pixels[..., 0])
        assert image.mode == mode
        out = fn.flip(image)
        assert isinstance(out, Image.Image) and out.mode == mode and out.size == image.size
        np.testing.assert_array_equal(np.asarray(out).reshape(5, 7, channels), pixels[:, ::-1])


def test_other_objects_with_an_array_interface_or_a_buffer():
    x = ramp()

    class Interface:
        __array_interface__ = x.__array_interface__

    class Dlpack:
        def __dlpack__(self, **_):
            return x.__dlpack__()

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    for o in (Interface(), Dlpack(), memoryview(x)):
        np.testing.assert_array_equal(fn.flip(o), x[:, ::-1])
    assert penstock.tensor(b"abc").shape() == [3] and penstock.tensor(bytearray(b"abcd")).shape() == [4]


def test_no_copy_in_and_out():
    x = ramp()
    t = penstock.tensor(x)
    assert t.data_ptr() == x.ctypes.data and t.numpy().ctypes.data == x.ctypes.data
    b = penstock.batch([x, x])
    assert b[1].data_ptr() == x.ctypes.data
    y = np.from_dlpack(t)
    assert y.ctypes.data == x.ctypes.data
    y[0, 0, 0] = 77
    assert x[0, 0, 0] == 77
    import torch

    assert t.torch().data_ptr() == x.ctypes.data and torch.from_dlpack(t).data_ptr() == x.ctypes.data


def test_results_outlive_what_made_them():
    out = fn.flip([ramp()] * 3)
    view = out[2].numpy()
    expected = view.copy()
    del out
    gc.collect()
    for _ in range(20):
        fn.flip([ramp(dtype=np.uint8) + 1] * 3)
    np.testing.assert_array_equal(view, expected)


def test_per_sample_arguments():
    x = ramp()
    out = fn.flip([x, x, x], horizontal=penstock.per_sample([0, 1, 0]), vertical=penstock.per_sample([0, 0, 1]))
    for got, want in zip(out, (x, x[:, ::-1], x[::-1])):
        np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="2 values for 3 samples"):
        fn.flip([x, x, x], horizontal=penstock.per_sample([0, 1]))


@pytest.mark.parametrize(
    "value", [2, 2.0, True + 1, np.float32(2), np.int64(2), np.array(2.0), np.array([2]), [2], (2.0,)]
)
def test_constants_of_every_kind(value):
    x = ramp(dtype=np.float32)
    np.testing.assert_array_equal(fn.brightness_contrast(x, brightness=value), x * 2)
    np.testing.assert_array_equal(fn.brightness_contrast(x, brightness=None), x)


@pytest.mark.parametrize("dtype", [types.FLOAT, 9, "float32", "float", np.float32, np.dtype("float32"), float])
def test_element_types_of_every_kind(dtype):
    assert fn.brightness_contrast(ramp(), dtype=dtype).dtype == np.float32


def test_element_types_of_torch():
    import torch

    assert fn.brightness_contrast(ramp(), dtype=torch.float16).dtype == np.float16


def test_wrong_calls_are_named():
    x = ramp()
    with pytest.raises(TypeError, match=r"\[flip\].*'horizontl'.*did you mean 'horizontal'"):
        fn.flip(x, horizontl=1)
    with pytest.raises(ValueError, match=r"\[flip\] takes 1 input, got 2"):
        fn.flip(x, x)
    with pytest.raises(ValueError, match=r"\[flip\]"):
        fn.flip()
    with pytest.raises(TypeError, match=r"\[brightness_contrast\].*brightness"):
        fn.brightness_contrast(x, brightness="much")
    with pytest.raises(TypeError, match="object"):
        fn.flip(np.array([None, 1]))
    with pytest.raises(TypeError, match="string"):
        fn.flip("photo.jpg")
    with pytest.raises(TypeError, match="NoneType|None"):
        fn.flip(None)
    with pytest.raises(TypeError, match="one dtype"):
        fn.flip([x, x.astype(np.float32)])
    with pytest.raises(TypeError, match="element type"):
        fn.brightness_contrast(x, dtype="flaot32")
    with pytest.raises(AttributeError):
        fn.no_such_operator
    with pytest.raises(ValueError):
        fn.flip([])


def test_common_keywords_are_accepted():
    x = ramp()
    y = fn.flip(x, name="mirror", seed=3, bytes_per_sample_hint=[0], preserve=True, device="cpu")
    np.testing.assert_array_equal(y, x[:, ::-1])


def test_a_batch_that_is_uniform_is_one_array():
    out = fn.flip([ramp()] * 4)
    assert out.is_dense_tensor() and out.as_array().shape == (4, 5, 7, 3)
    assert np.asarray(out).ctypes.data == out.data_ptr() and np.from_dlpack(out).shape == (4, 5, 7, 3)
    assert out.as_reshaped_tensor([4, 105]).shape() == [4, 105]
    ragged = fn.flip([ramp((4, 5, 3)), ramp((6, 3, 3))])
    assert not ragged.is_dense_tensor()
    with pytest.raises(TypeError, match="differ in shape"):
        ragged.as_array()
    with pytest.raises(IndexError):
        ragged[2]
    assert len(list(ragged)) == 2 and len(ragged.tensors) == 2
    assert [len(t) for t in ragged] == [4, 6]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "uint8", "int64", "bool"])
def test_numpys_scalars_keep_their_type(kind):
    scalar = np.dtype(kind).type(1)
    assert penstock.batch([scalar, scalar]).cpu()[1].numpy().dtype == kind
    assert np.asarray(fn.copy(penstock.batch([scalar]))[0]).dtype == kind


def test_batches_from_arrays():
    x = ramp((3, 4, 5, 3))
    b = penstock.batch(x, layout="HWC")
    assert len(b) == 3 and b.layout() == "HWC" and b[1].data_ptr() == x[1].ctypes.data
    assert penstock.per_sample([1, 2.5]).dtype == types.FLOAT and penstock.per_sample([1, 2]).dtype == types.INT32
    assert penstock.per_sample([[1, 2], [3, 4]]).shape() == [(2,), (2,)]
    assert penstock.tensor([1, 2], dtype="float16").dtype == types.FLOAT16


def test_documentation_of_a_function():
    import inspect

    assert fn.flip.__name__ == "flip" and fn.flip.__module__ == "penstock.fn"
    assert "Mirrors" in fn.flip.__doc__ and "horizontal" in fn.flip.__doc__
    assert "horizontal" in inspect.signature(fn.flip).parameters


def test_parts_of_the_containers():
    import ctypes

    t = penstock.tensor(ramp((1, 5, 1, 3)), layout="NHWC")
    assert t.ndim() == 4 and penstock.fn.squeeze(t, axes=[0, 2]).layout() == "HC"
    assert t.get_property("layout") == "NHWC" and t.nbytes == 15 and len(t) == 1
    b = penstock.batch([ramp(), ramp()])
    b.set_layout("HWC")
    assert b.layout() == "HWC" and b.ndim() == 3 and b.nbytes == 210
    with pytest.raises(ValueError):
        b.set_layout("HW")
    target = (ctypes.c_uint8 * 210)()
    b.copy_to_external(ctypes.addressof(target))
    assert bytes(target) == ramp().tobytes() * 2
    assert len(penstock.Batch.from_dlpack_list([ramp(), ramp()], layout="HWC")) == 2
    assert penstock._tensors.TensorListCPU is penstock.Batch


def hostile_objects():
    x = ramp((4, 4, 3))
    good = dict(x.__array_interface__)

    class Interface:
        def __init__(self, **wrong):
            self.__array_interface__ = {**good, **wrong}

    class Dlpack:
        def __dlpack__(self, **_):
            return 5

    yield from (Interface(shape=s) for s in ((-1, 4, 3), (2**40, 2**40), "abc", (1,) * 9))
    yield from (Interface(data=d) for d in (None, (None, False), (0, False), b"ab", (1,)))
    yield from (Interface(strides=s) for s in ((1,), (1, 2, 3, 4), "a"))
    yield from (Interface(typestr=t) for t in ("<c8", "", 3))
    yield from (
        Dlpack(),
        Dlpack,
        np.zeros((1,) * 9),
        np.array("abc"),
        np.array([1 + 2j]),
        np.zeros(3, "M8[s]"),
        {},
        set(),
        object(),
        [None],
        ["a"],
        [x, [1, 2]],
        iter([x]),
        2**70,
        type,
        penstock,
        fn.flip,
        [x, x.astype(np.int8)],
    )


@pytest.mark.parametrize(
    "call",
    [
        fn.flip,
        penstock.tensor,
        penstock.batch,
        penstock.per_sample,
        lambda v: fn.flip([v]),
        lambda v: fn.flip(ramp(), horizontal=v),
        lambda v: fn.brightness_contrast(ramp(), dtype=v),
        lambda v: fn.brightness_contrast(ramp(), brightness=v),
        lambda v: fn.flip(ramp(), seed=v),
        lambda v: fn.flip(ramp(), device=v),
        lambda v: penstock.tensor(ramp(), layout=v),
        lambda v: penstock.batch([ramp()])[v],
    ],
)
def test_hostile_objects_raise_an_exception_of_the_right_kind(call):
    for value in hostile_objects():
        try:
            call(value)
        except (TypeError, ValueError, OverflowError, MemoryError, IndexError):
            pass
