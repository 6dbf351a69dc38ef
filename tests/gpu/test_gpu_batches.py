# SPDX-License-Identifier: Apache-2.0
"""Batches on a GPU: copies in both directions, DLPack, the CUDA array interface, the order of streams, allocators."""

import ctypes
import gc

import numpy as np
import pytest

import penstock
from penstock import _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

RAGGED = [(5, 7, 3), (3, 9, 3), (1, 1, 3), (64, 65, 3)]


def ramp(shape=(5, 7, 3), dtype=np.uint8):
    return (np.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape)


def arrays(batch):
    return [t.numpy().copy() for t in batch.cpu()]


def test_samples_in_one_row_are_on_the_device_of_the_batch():
    samples = [ramp((n, 3), np.float32) + n for n in (5, 0, 17, 1)]
    values, offsets, positions, longest = penstock.batch(samples).gpu().packed()
    assert {t.device for t in (values, offsets, positions)} == {"gpu:0"} and longest == 17
    np.testing.assert_array_equal(values.cpu().numpy(), np.concatenate(samples))
    assert offsets.cpu().numpy().tolist() == [0, 5, 5, 22, 23]
    assert positions.cpu().numpy().tolist() == [*range(5), *range(17), 0]


def same(batch, expected):
    for a, b in zip(arrays(batch), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64", "bool", "int64"])
def test_a_batch_goes_there_and_back(dtype):
    x = [ramp(s, dtype) for s in RAGGED]
    g = penstock.batch(x, layout="HWC").gpu()
    assert (g.device, g.device_type, g.device_id(), g.layout()) == ("gpu:0", "gpu", 0, "HWC")
    assert g.shape() == RAGGED and g.dtype == types.DType[{"float32": "FLOAT"}.get(dtype, dtype.upper())]
    back = g.cpu()
    assert (back.device, back.device_type, back.device_id(), back.layout()) == ("cpu", "cpu", None, "HWC")
    same(g, x)
    assert g.gpu().data_ptr() == g.data_ptr() if g.is_uniform() else True
    t = penstock.tensor(x[3], layout="HWC").gpu()
    assert t.device == "gpu:0" and t.layout() == "HWC" and t.shape() == list(RAGGED[3])
    np.testing.assert_array_equal(t.cpu().numpy(), x[3])


def test_what_is_scattered_or_strided_on_the_host_is_copied_too():
    x = ramp((6, 8, 10, 3))
    views = [x[0, ::2, ::-1], x[1, 1:5, 3:], x[2].transpose(1, 0, 2), x[3, :, :0]]
    same(penstock.batch(views).gpu(), views)
    same(penstock.batch(x, layout="HWC").gpu(), x)
    same(penstock.batch([np.float32(3)] * 3).gpu(), [np.float32(3)] * 3)


def test_source_of_samples_stays():
    b = penstock.batch([ramp()]).gpu()
    assert b.sources() == [""] and b[0].source_info() == ""


def test_few_samples_come_back_without_the_bytes_between_them(order):
    b = penstock.batch([ramp(s) for s in RAGGED[:3]])
    g = b.gpu()
    start = len(order())
    same(g.cpu(), b)
    copies = [line for line in order()[start:] if "copy" in line]
    assert [int(line.split("copy ")[1].split()[0]) for line in copies] == [ramp(s).nbytes for s in RAGGED[:3]]


def test_a_ragged_batch_is_one_copy(order):
    b = penstock.batch([ramp(s) for s in RAGGED * 4])
    g = b.gpu()
    assert len([line for line in order() if "copy" in line]) == 1
    g.cpu()
    assert len([line for line in order() if "copy" in line]) == 2
    h = g.cpu()  # in pinned memory of ours: no staging
    before = len([line for line in order() if line.startswith("pinned") and "allocate" in line])
    h.gpu()
    assert len([line for line in order() if line.startswith("pinned") and "allocate" in line]) == before


def test_another_gpu():
    if _core.gpu_count() < 2:
        pytest.skip("machine: one GPU")
    x = [ramp(s) for s in RAGGED]
    g = penstock.batch(x).gpu(1)
    assert g.device == "gpu:1" and g.gpu(0).device == "gpu:0"
    same(g, x)
    same(g.gpu(0), x)
    same(fn.flip(g), fn.flip(x))
    assert fn.flip(g).device == "gpu:1" and fn.flip(g, device="gpu:0").device == "gpu:0"
    same(fn.flip(g, device="gpu:0"), fn.flip(x))
    with pytest.raises(TypeError, match="must be on one device: sample 0 on gpu:1, sample 1 on gpu:0"):
        penstock.batch([g[0], g.gpu(0)[1]])


def test_devices_that_do_not_exist():
    with pytest.raises(ValueError, match="there is no GPU 77"):
        penstock.batch([ramp()]).gpu(77)
    with pytest.raises(ValueError, match="there is no GPU 77"):
        fn.flip(ramp(), device="gpu:77")
    for wrong in ("tpu", "gpu:", "gpu:x", "mixed:1", "gpu:-1", "gpu:99999"):
        with pytest.raises(ValueError, match="device must be"):
            fn.flip(ramp(), device=wrong)
    with pytest.raises(TypeError, match="device must be"):
        fn.flip(ramp(), device=3)
    same(fn.flip([ramp()], device="gpu"), [ramp()[:, ::-1]])  # an earlier failure has no effect


def test_numpy_says_what_to_do():
    b = penstock.batch([ramp()] * 2).gpu()
    for f in (
        lambda: np.asarray(b),
        b.as_array,
        b.numpy,
        lambda: b.at(0),
        lambda: b[0].numpy(),
        lambda: b[0][0],
        lambda: list(b[0]),
        lambda: b[0].item(),
        lambda: np.from_dlpack(b[0]),
    ):
        with pytest.raises((TypeError, BufferError, RuntimeError), match=r"\.cpu\(\)|device"):
            f()
    with pytest.raises(AttributeError):
        b.__array_interface__
    with pytest.raises(AttributeError):
        b.cpu().__cuda_array_interface__
    assert "gpu:0" in repr(b) and "gpu:0" in repr(b[0]) and "gpu" not in repr(b.cpu())


def test_printing_copies_pictures():
    pytest.importorskip("PIL")
    assert penstock.batch([ramp()] * 2, layout="HWC").gpu().show().size[0] > 100


def test_one_tensor_of_a_batch():
    x = ramp((4, 5, 7, 3))
    g = penstock.batch(x, layout="HWC").gpu()
    assert g.is_dense_tensor()
    t = g.as_tensor()
    assert t.layout() == "NHWC" and t.data_ptr() == g.data_ptr() and t.shape() == [4, 5, 7, 3]
    np.testing.assert_array_equal(t.cpu().numpy(), x)
    np.testing.assert_array_equal(g.as_reshaped_tensor([20, 21]).cpu().numpy(), x.reshape(20, 21))
    scattered = penstock.batch([g[3], g[0]])
    assert not scattered.is_dense_tensor()
    np.testing.assert_array_equal(scattered.as_tensor().cpu().numpy(), x[[3, 0]])
    one = g[1]
    assert not one.squeeze() and one.shape() == [5, 7, 3]  # in place, as in DALI; nothing to squeeze here
    with pytest.raises(TypeError, match="differ in shape"):
        penstock.batch([ramp(s) for s in RAGGED]).gpu().as_tensor()


def test_names_that_scripts_know():
    from penstock._tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

    g = TensorListGPU([ramp(), ramp()], "HWC")
    assert isinstance(g, TensorListGPU) and isinstance(g, TensorListCPU) and not isinstance(g.as_cpu(), TensorListGPU)
    assert isinstance(g[0], TensorGPU) and isinstance(TensorGPU(ramp()), TensorGPU) and not isinstance(3, TensorGPU)
    assert isinstance(g.as_tensor().as_cpu(), TensorCPU) and g.layout() == "HWC"


def test_copy_to_external():
    x = ramp((4, 5, 7, 3))
    g = penstock.batch(x).gpu()
    to = np.zeros_like(x)
    g.copy_to_external(to.ctypes.data)
    np.testing.assert_array_equal(to, x)
    there = penstock.batch(np.zeros_like(x)).gpu()
    g.copy_to_external(ctypes.c_void_p(there.data_ptr()), cuda_stream=there.stream, non_blocking=True)
    same(there, x)
    with pytest.raises(ValueError, match="address"):
        g.copy_to_external(0)


def test_conversion_of_types():
    g = penstock.tensor(penstock.tensor(ramp()).gpu(), dtype="float32")
    assert g.device == "gpu:0" and g.dtype == types.FLOAT
    np.testing.assert_array_equal(g.cpu().numpy(), ramp().astype(np.float32))


# ---- DLPack and the CUDA array interface ----


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


def consume(capsule):
    """The managed tensor of an unversioned capsule, which a consumer has taken over, and its address."""
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, b"dltensor")
    api.PyCapsule_SetName(capsule, b"used_dltensor")
    return Managed.from_address(address), address


def test_dlpack_device():
    b = penstock.batch([ramp()] * 2)
    assert b.__dlpack_device__() == (1, 0) and b.gpu().__dlpack_device__() == (2, 0)
    assert b.gpu()[0].__dlpack_device__() == (2, 0)


def test_dlpack_out():
    g = penstock.batch(ramp((2, 5, 7, 3))).gpu()
    m, address = consume(g.__dlpack__(stream=2))
    assert (m.tensor.device_type, m.tensor.device_id, m.tensor.ndim) == (2, 0, 4)
    assert m.tensor.data == g.data_ptr() and (m.tensor.code, m.tensor.bits) == (1, 8)
    m.deleter(address)
    np.testing.assert_array_equal(np.from_dlpack(penstock.batch(ramp((2, 3)))), ramp((2, 3)))
    m, address = consume(g.__dlpack__(dl_device=(1, 0)))
    assert m.tensor.device_type == 1
    host = (ctypes.c_uint8 * 210).from_address(m.tensor.data)
    assert bytes(host) == ramp((2, 5, 7, 3)).tobytes()
    m.deleter(address)
    with pytest.raises(BufferError, match="copy is False"):
        g.__dlpack__(dl_device=(1, 0), copy=False)
    m, address = consume(g.__dlpack__(copy=True))
    assert m.tensor.device_type == 2 and m.tensor.data != g.data_ptr()
    m.deleter(address)
    for wrong in (0, -2):
        with pytest.raises(ValueError, match="stream"):
            g.__dlpack__(stream=wrong)


@pytest.mark.parametrize("asked, consumer", [(None, 1), (1, 1), (2, 2), (0x5550, 0x5550), (-1, None)])
def test_dlpack_orders_the_streams(order, asked, consumer):
    g = penstock.tensor(ramp()).gpu()
    own = g.stream
    start = len(order())
    m, address = consume(g.__dlpack__(stream=asked))
    given = order()[start:]
    if consumer is None:
        assert given == []
    else:  # the consumer's stream waits until the tensor is written
        assert [line for line in given if f"{consumer:#x} waits for event" in line], given
    del g
    gc.collect()
    start = len(order())
    m.deleter(address)
    end = order()[start:]
    freed = [i for i, line in enumerate(end) if "free 105 bytes" in line]
    assert len(freed) == 1 and f"on {own:#x}" in end[freed[0]], end
    if consumer is not None:  # freed on the writer's stream, which waits for what the consumer has enqueued
        recorded = next(i for i, line in enumerate(end) if "record event" in line and f"on {consumer:#x}" in line)
        waited = next(i for i, line in enumerate(end) if f"{own:#x} waits for event" in line)
        assert recorded < waited < freed[0]
    else:
        assert len(end) == 1


class Producer:
    """Another library's tensor on a GPU."""

    def __init__(self, tensor):
        self.tensor, self.streams = tensor, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream)


def test_dlpack_in():
    t = penstock.tensor(ramp(), layout="HWC").gpu()
    p = Producer(t)
    g = penstock.tensor(p)
    assert g.device == "gpu:0" and g.data_ptr() == t.data_ptr() and p.streams == [g.stream] and g.stream > 2
    np.testing.assert_array_equal(g.cpu().numpy(), ramp())
    out = fn.flip(p)
    assert isinstance(out, penstock.Tensor) and out.device == "gpu:0"
    np.testing.assert_array_equal(out.cpu().numpy(), ramp()[:, ::-1])
    b = penstock.batch([p, p])
    assert b.device == "gpu:0"
    same(b, [ramp(), ramp()])
    same(fn.flip([p, Producer(penstock.tensor(ramp((3, 2, 3))).gpu())]), [ramp()[:, ::-1], ramp((3, 2, 3))[:, ::-1]])
    capsule = t.__dlpack__()
    assert penstock.tensor(capsule).device == "gpu:0"


def test_memory_of_others_is_kept_until_our_work_is_done(order):
    t = penstock.tensor(ramp((11, 13))).gpu()
    g = penstock.tensor(Producer(t))
    own = g.stream

    def freed():
        return [i for i, line in enumerate(order()) if line.startswith("gpu") and "free 143 bytes" in line]

    del t
    gc.collect()
    assert not freed()
    del g
    gc.collect()
    assert order().index(f"gpu 0: notify on {own:#x}") < freed()[0]


class CudaArray:
    """Another library's array, with no DLPack."""

    def __init__(self, tensor, **changed):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changed}


def test_cuda_array_interface_out():
    t = penstock.tensor(ramp(dtype=np.float32)).gpu()
    i = t.__cuda_array_interface__
    assert (
        i["version"] == 3 and i["shape"] == (5, 7, 3) and i["typestr"] == "<f4" and i["data"] == (t.data_ptr(), False)
    )
    assert i["stream"] == t.stream
    b = penstock.batch(ramp((2, 3))).gpu()
    assert b.__cuda_array_interface__["shape"] == (2, 3)
    with pytest.raises(AttributeError):
        penstock.batch([ramp((2, 3)), ramp((3, 2))]).gpu().__cuda_array_interface__


def test_cuda_array_interface_in(order):
    t = penstock.tensor(ramp()).gpu()
    for stream in (None, 1, 2, t.stream, 0x7770):
        g = penstock.tensor(CudaArray(t, stream=stream))
        assert g.device == "gpu:0" and g.data_ptr() == t.data_ptr()
        np.testing.assert_array_equal(g.cpu().numpy(), ramp())
        if stream in (1, 2, 0x7770):
            assert any("record event" in line and f"on {stream:#x}" in line for line in order())
    columns = penstock.tensor(CudaArray(t, shape=(5, 7), strides=(21, 3)))
    assert columns.shape() == [5, 7]
    np.testing.assert_array_equal(columns.cpu().numpy(), ramp()[..., 0])
    np.testing.assert_array_equal(fn.flip(columns, horizontal=0, vertical=1).cpu().numpy(), ramp()[::-1, :, 0])
    for wrong, error in (
        (dict(stream=0), ValueError),
        (dict(mask=t), TypeError),
        (dict(typestr="<c8"), TypeError),
        (dict(data=(ramp().ctypes.data, False)), TypeError),
        (dict(shape=(-1, 3)), TypeError),
    ):
        with pytest.raises(error):
            penstock.tensor(CudaArray(t, **wrong))


# ---- Allocators ----


class Allocator:
    def __init__(self):
        self.taken, self.calls, self.fails = {}, [], False

    def allocate(self, nbytes, device, stream):
        if self.fails:
            raise RuntimeError("no more")
        t = np.empty(nbytes + 256, np.uint8)
        address = -(-t.ctypes.data // 256) * 256
        self.taken[address] = t
        self.calls.append((nbytes, device, stream))
        return address

    def free(self, address, nbytes, device, stream):
        del self.taken[address]


def test_an_allocator_of_the_program(real):
    if real:
        pytest.skip("machine: the test's allocator gives memory of the host")
    a = Allocator()
    penstock.set_device_allocator(a.allocate, a.free, 0)
    try:
        g = penstock.tensor(ramp()).gpu()
        assert a.calls[-1][:2] == (105, 0) and a.calls[-1][2] == g.stream and g.data_ptr() in a.taken
        out = fn.flip(g)
        np.testing.assert_array_equal(out.cpu().numpy(), ramp()[:, ::-1])
        if _core.gpu_count() > 1:
            assert penstock.tensor(ramp()).gpu(1).data_ptr() not in a.taken
        a.fails = True
        with pytest.raises(MemoryError, match="no more"):
            penstock.tensor(ramp()).gpu()
    finally:
        penstock.set_device_allocator()
    assert penstock.tensor(ramp()).gpu().data_ptr() not in a.taken
    del g, out
    gc.collect()
    assert not a.taken  # returns to its allocator


# ---- A real GPU with torch ----


def cuda_torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("machine: torch without CUDA")
    return torch


def test_torch_round_trip():
    torch = cuda_torch()
    x = torch.arange(5 * 7 * 3, dtype=torch.uint8, device="cuda").reshape(5, 7, 3)
    t = penstock.tensor(x)
    assert t.device == "gpu:0" and t.data_ptr() == x.data_ptr()
    back = t.torch()
    assert back.is_cuda and back.data_ptr() == x.data_ptr() and torch.equal(back, x)
    out = fn.flip(x)
    assert out.is_cuda and torch.equal(out, x.flip(1))
    many = [torch.full((4 + i, 5, 3), i, dtype=torch.uint8, device="cuda") for i in range(9)]
    for a, b in zip(fn.flip(many), many):
        assert torch.equal(a.torch(), b)
    assert torch.equal(fn.flip(x.cpu(), device="gpu"), x.flip(1))
    assert torch.equal(torch.from_dlpack(penstock.tensor(x.cpu()).gpu()), x)


def test_torch_streams():
    torch = cuda_torch()
    side = torch.cuda.Stream()
    for _ in range(30):
        with torch.cuda.stream(side):
            x = torch.zeros(1 << 24, dtype=torch.float32, device="cuda")
            for _ in range(20):
                x += 1
            y = fn.brightness_contrast(x.view(1 << 12, 1 << 12, 1), brightness=2.0)
            assert y.device == x.device
            t = penstock.tensor(x)
        main = t.torch()  # on the default stream, which waits for the side stream
        assert float(main[-1]) == 20 and float(t.cpu().numpy()[0]) == 20
        side.synchronize()
        assert float(y[0, 0, 0]) == 40 and float(y[-1, -1, 0]) == 40


def test_torch_allocator():
    torch = cuda_torch()
    import penstock.torch

    penstock.torch.use_torch_allocator()
    try:
        before = torch.cuda.memory_allocated()
        g = penstock.tensor(np.zeros(1 << 22, np.uint8)).gpu()
        assert torch.cuda.memory_allocated() >= before + (1 << 22)
        assert torch.equal(g.torch(), torch.zeros(1 << 22, dtype=torch.uint8, device="cuda"))
        del g
        gc.collect()
        assert torch.cuda.memory_allocated() <= before + (1 << 20)
    finally:
        penstock.set_device_allocator()
