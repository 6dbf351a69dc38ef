# SPDX-License-Identifier: Apache-2.0
"""Immediate calls on a GPU: the CPU's results, the kinds that come back, where they run, warnings."""

import gc
import json
import operator
import os
import subprocess
import sys
import textwrap
import re
import threading
import warnings

import numpy as np
import pytest

import penstock
from penstock import _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


def ramp(shape=(8, 10, 3), dtype=np.uint8):
    return (np.arange(np.prod(shape)) * 37 % 251).astype(dtype).reshape(shape)


RAGGED = [ramp(), ramp((5, 4, 3)), ramp((17, 33, 3))]
CALLS = {
    "flip": lambda x, **k: fn.flip(x, **k),
    "constants": lambda x, **k: fn.brightness_contrast(x, brightness=1.3, contrast=0.7, **k),
    "per sample": lambda x, **k: fn.brightness_contrast(x, brightness=penstock.per_sample([0.5, 1.5, 2.5]), **k),
    "list argument": lambda x, **k: fn.resize(x, size=[9, 12], interp_type=types.INTERP_LINEAR, **k),
    "no edge": lambda x, **k: fn.resize(x, size=[9, 120], interp_type=types.INTERP_LANCZOS3, outside="cut", **k),
    "ragged result": lambda x, **k: fn.crop(x, crop_h=penstock.per_sample([2, 3, 4]), crop_w=3, **k),
    "type": lambda x, **k: fn.cast(x, dtype=types.FLOAT16, **k),
    "layout": lambda x, **k: fn.crop_mirror_normalize(
        x, mean=[1, 2, 3], std=[4, 5, 6], dtype=types.FLOAT, output_layout="CHW", **k
    ),
}


def host(result):
    return [t.numpy() for t in result.cpu()]


def same(result, expected):
    for a, b in zip(host(result), host(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    assert result.layout() == expected.layout() and result.dtype == expected.dtype


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_gpu_gives_the_cpus_result(call):
    b = penstock.batch(RAGGED, layout="HWC")
    expected = call(b)
    for _ in range(2):  # the second call finds its stage
        out = call(b.gpu())
        assert isinstance(out, penstock.Batch) and out.device == "gpu:0"
        same(out, expected)
        out = call(b, device="gpu")
        assert out.device == "gpu:0"
        same(out, expected)
    back = call(b.gpu(), device="cpu")
    assert back.device == "cpu"
    same(back, expected)


def test_arguments_of_every_call_are_its_own():
    b = penstock.batch(RAGGED, layout="HWC")
    g = b.gpu()
    for k in range(6):
        values = penstock.per_sample([0.1 * k, 0.2 * k, 0.3 * k])
        same(fn.brightness_contrast(g, brightness=values), fn.brightness_contrast(b, brightness=values))
        same(fn.brightness_contrast(g, brightness=0.4 * k), fn.brightness_contrast(b, brightness=0.4 * k))
        same(fn.resize(g, size=[3 + k, 7]), fn.resize(b, size=[3 + k, 7]))
        same(
            fn.crop_mirror_normalize(g, mirror=k % 2, mean=[k, 1, 2], std=[1, 2, 3]),
            fn.crop_mirror_normalize(b, mirror=k % 2, mean=[k, 1, 2], std=[1, 2, 3]),
        )
        same(
            fn.flip(penstock.batch([s[: 3 + k] for s in RAGGED], layout="HWC").gpu()),
            fn.flip(penstock.batch([s[: 3 + k] for s in RAGGED], layout="HWC")),
        )


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "bool"])
@pytest.mark.parametrize("compare", [operator.eq, operator.lt, operator.ge, lambda x, c: fn.where(x > c, x, x)])
def test_a_constant_of_another_type_after_a_call(dtype, compare, monkeypatch):
    """The type that a comparison computes in is not that of the call before it."""
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")
    x = penstock.batch([np.arange(6).reshape(2, 3).astype(dtype)])
    there = x.gpu()
    for c in (3, 0.5, True, 2.5, 300, -1, 1e9, 2):
        np.testing.assert_array_equal(compare(there, c).cpu().as_array(), compare(x, c).as_array(), err_msg=str(c))


def test_arguments_on_the_gpu():
    b = penstock.batch(RAGGED, layout="HWC")
    values = penstock.per_sample([0.5, 1.5, 2.5])
    same(fn.brightness_contrast(b.gpu(), brightness=values.gpu()), fn.brightness_contrast(b, brightness=values))
    same(fn.brightness_contrast(b, brightness=values.gpu()), fn.brightness_contrast(b, brightness=values))
    mean = penstock.tensor(np.float32([1, 2, 3]))
    same(
        fn.crop_mirror_normalize(b.gpu(), mean=mean.gpu(), std=[1, 1, 1]),
        fn.crop_mirror_normalize(b, mean=mean, std=[1, 1, 1]),
    )


def test_single_samples():
    x = ramp()
    for data in (penstock.tensor(x, layout="HWC").gpu(), x):
        out = fn.flip(data, device="gpu")
        assert isinstance(out, penstock.Tensor) and out.device == "gpu:0"
        np.testing.assert_array_equal(out.cpu().numpy(), x[:, ::-1])
    out = fn.flip(penstock.tensor(x).gpu(), device="cpu")
    assert isinstance(out, penstock.Tensor) and out.device == "cpu"


def test_inputs_on_several_devices_meet_on_the_gpu():
    x, y = ramp((4, 5), np.float32), ramp((4, 5), np.float32)[::-1].copy()
    out = penstock.tensor(x) + penstock.tensor(y).gpu()
    assert out.device == "gpu:0"
    np.testing.assert_array_equal(out.cpu().numpy(), x + y)
    out = penstock.batch([x, x]).gpu() * penstock.tensor(y)
    for t in host(out):
        np.testing.assert_array_equal(t, x * y)
    np.testing.assert_array_equal((penstock.tensor(x).gpu() * 2 + 1).cpu().numpy(), x * 2 + 1)


def test_size_outputs_are_on_the_host():
    g = penstock.batch(RAGGED, layout="HWC").gpu()
    out, sizes = fn.resize(g, size=[4, 4], save_attrs=True)
    assert out.device == "gpu:0" and sizes.device == "cpu"
    assert [t.numpy().tolist() for t in sizes] == [list(x.shape[:2]) for x in RAGGED]


def test_random_operators_draw_the_same():
    a, b = fn.random.uniform(batch_size=4, seed=5, device="gpu"), fn.random.uniform(batch_size=4, seed=5)
    assert a.device == "gpu:0"
    same(a, b)


def test_what_has_no_kernel_runs_on_the_cpu_with_one_warning():
    pytest.importorskip("PIL.Image")
    run_python("""
        import io, warnings, numpy as np, penstock
        from PIL import Image
        from penstock import fn
        file = io.BytesIO()
        Image.new("RGB", (7, 5)).save(file, "PNG")
        g = penstock.batch([np.frombuffer(file.getvalue(), np.uint8)] * 2).gpu()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            out = [fn.peek_image_shape(g) for _ in range(3)]
        assert len(told) == 1 and issubclass(told[0].category, penstock.DeviceWarning), told
        assert "peek_image_shape" in str(told[0].message)
        assert out[0].device == "gpu:0" and out[2].cpu().at(0).tolist() == [5, 7, 3]
    """)


def test_without_a_compiler_of_kernels_the_cpu_does_the_work(real):
    if real:
        pytest.skip("machine: kernels can be made here")
    run_python(
        """
        import warnings, numpy as np, penstock
        from penstock import fn
        x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            out = [fn.flip(penstock.tensor(x).gpu()) for _ in range(3)]
        assert len(told) == 1 and "flip has no GPU kernel" in str(told[0].message)
        assert out[2].device == "gpu:0" and np.array_equal(out[2].cpu().numpy(), x[:, ::-1])
    """,
        PENSTOCK_EMULATED_COMPILER="none",
    )


def test_decoders_bring_pictures_to_the_gpu():
    Image = pytest.importorskip("PIL.Image")
    import io

    out = io.BytesIO()
    Image.fromarray(ramp((40, 60, 3))).save(out, "PNG")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", penstock.DeviceWarning)
        g = fn.decoders.image([out.getvalue()] * 2, device="mixed")
    assert g.device == "gpu:0" and g.layout() == "HWC"
    np.testing.assert_array_equal(host(g)[1], ramp((40, 60, 3)))


def test_errors_are_those_of_the_cpu():
    g = penstock.batch(RAGGED).gpu()
    for call in (
        lambda b: fn.flip(b, b),
        lambda b: fn.crop(b, crop=[99, 99]),
        lambda b: fn.resize(b, size="big"),
        lambda b: fn.brightness_contrast(b, brightness=penstock.per_sample([1, 2])),
        lambda b: fn.flip(b, nonsense=1),
        lambda b: _core.operator_function("_same_extents")(
            b, fn.crop(b, crop=[3, 3]), names=["image", "mask"], checked_for="crop"
        ),
    ):
        with pytest.raises((ValueError, TypeError, penstock.DataError)) as on_cpu:
            call(penstock.batch(RAGGED))
        with pytest.raises(type(on_cpu.value)) as on_gpu:
            call(g)
        assert str(on_gpu.value) == str(on_cpu.value)
    same(fn.flip(g), fn.flip(penstock.batch(RAGGED)))


def test_errors_of_files_are_those_of_the_first_sample():
    gaps, text = np.zeros(40, np.uint8)[::2], np.frombuffer(b"this is some text", np.uint8)
    for files in ([text, gaps, gaps], [gaps, text], [gaps[:0], gaps]):
        said = set()
        for device in ("cpu", "mixed"):
            with pytest.raises((TypeError, penstock.DataError)) as refused:
                fn.decoders.image_crop(penstock.batch(files), crop=[2, 2], device=device)
            said.add(str(refused.value))
        assert len(said) == 1 and "sample 0" in said.pop()


def asked_for(lines):
    """What was requested of a GPU, without numbers."""
    return [re.sub(r"gpu 0: |pinned 0: |\d+ bytes | ?on 0x[0-9a-f]+|\d+", "", line).strip() for line in lines]


def test_a_small_call_is_an_allocation_and_a_launch(order):
    g = penstock.batch(RAGGED, layout="HWC").gpu()
    for small in (  # no call of a test that has generic kernels: they stay with the call
        lambda: fn.saturation(g, saturation=1.5),
        lambda: fn.invert(g),
        lambda: fn.resize(g, resize_x=3, resize_y=3, interp_type=types.INTERP_CUBIC, antialias=False),
    ):
        small()
        start = len(order())
        out = small()
        assert asked_for(order()[start:]) == ["allocate", "launch"]
        assert out.stream == g.stream  # one stream for the calls of a thread
        del out


def test_a_larger_call_copies_its_table_once_and_waits_for_nothing(order):
    g = penstock.batch(RAGGED * 20, layout="HWC").gpu()
    fn.flip(g)
    start = len(order())
    out = fn.flip(g)
    asked = asked_for(order()[start:])
    assert sorted(asked) == sorted(["allocate"] * 2 + ["copy", "launch", "free"])  # the result and the table
    assert asked.index("copy") < asked.index("launch")
    assert len(out) == len(g)


def test_threads_have_streams_of_their_own_and_wait_for_each_other(order):
    g = penstock.batch(RAGGED, layout="HWC").gpu()
    results = []

    def work():
        results.append(fn.flip(g))

    start = len(order())
    t = threading.Thread(target=work)
    t.start()
    t.join()
    lines = order()[start:]
    theirs = results[0].stream
    assert theirs != g.stream
    launch = next(i for i, x in enumerate(lines) if f"launch on {theirs:#x}" in x)
    before = next(i for i, x in enumerate(lines) if f"{theirs:#x} waits for event" in x)
    after = next(
        i for i, x in enumerate(lines) if f"{g.stream:#x} waits for event" in x
    )  # g is not freed under the kernel
    assert before < launch < after
    same(results[0], fn.flip(penstock.batch(RAGGED, layout="HWC")))


def test_many_threads_at_once():
    b = penstock.batch(RAGGED, layout="HWC")
    g, failed = b.gpu(), []

    def work(k):
        try:
            for i in range(20):
                v = 0.1 * ((k + i) % 7)
                same(fn.brightness_contrast(g, brightness=v), fn.brightness_contrast(b, brightness=v))
                same(fn.flip(fn.resize(g, size=[5 + k, 6])), fn.flip(fn.resize(b, size=[5 + k, 6])))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_gpu_the_cpu_does_the_work_with_one_warning():
    run_python(
        """
        import warnings, numpy as np, penstock, pytest
        from penstock import fn
        x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(3):
                out = fn.flip(x, device="gpu")
        assert len(told) == 1 and told[0].category is penstock.DeviceWarning, told
        assert isinstance(out, np.ndarray) and np.array_equal(out, x[:, ::-1])
        with pytest.raises(ValueError, match="no GPU can be used"):
            penstock.tensor(x).gpu()
    """,
        PENSTOCK_GPU_LIBRARY="/nowhere.so",
        PENSTOCK_REQUIRE_GPU="0",
    )
    run_python(
        """
        import numpy as np, pytest
        from penstock import fn
        with pytest.raises(RuntimeError, match="PENSTOCK_REQUIRE_GPU"):
            fn.flip(np.zeros((2, 2, 3), np.uint8), device="gpu")
    """,
        PENSTOCK_GPU_LIBRARY="/nowhere.so",
        PENSTOCK_REQUIRE_GPU="1",
    )


def test_out_of_device_memory_is_a_memory_error(real):
    if real:
        pytest.skip("machine: the limit is the emulated GPU's")
    run_python(
        """
        import numpy as np, penstock, pytest
        from penstock import fn
        x = np.zeros((100, 100, 3), np.uint8)
        with pytest.raises(MemoryError, match="room for 3000000"):
            penstock.batch([x] * 100).gpu()
        g = penstock.tensor(x).gpu()
        with pytest.raises(MemoryError):
            fn.resize(g, size=[2000, 2000])
        assert np.array_equal(fn.flip(g).cpu().numpy(), x)
    """,
        PENSTOCK_EMULATED_MEMORY="1000000",
    )


def test_torch_tensors_of_a_gpu(real):
    """A stand-in for torch with CUDA, so that the path through its current stream is tested without it."""
    if real:
        pytest.skip("machine: test_gpu_batches.py has the real torch")
    out = run_python(
        """
        import json, os, sys, types as t
        import numpy as np, penstock
        from penstock import fn, _core

        class Tensor:
            def __init__(self, inner): self.inner = inner
            def detach(self): return self
            requires_grad = False
        torch = t.ModuleType("torch")
        torch.Tensor = Tensor
        torch.utils = t.ModuleType("torch.utils")
        torch.utils.dlpack = t.ModuleType("torch.utils.dlpack")
        torch.utils.dlpack.to_dlpack = lambda x: x.inner.__dlpack__(stream=-1)
        torch.utils.dlpack.from_dlpack = lambda capsule: Tensor(penstock.tensor(capsule))
        class Current:
            cuda_stream = 0x6660
        torch.cuda = t.ModuleType("torch.cuda")
        torch.cuda.current_stream = lambda device: Current
        for name, module in {"torch": torch, "torch.utils": torch.utils, "torch.utils.dlpack": torch.utils.dlpack}.items():
            sys.modules[name] = module

        x = np.arange(105, dtype=np.uint8).reshape(5, 7, 3)
        inner = penstock.tensor(x).gpu()
        start = len(open(os.environ["PENSTOCK_EMULATED_LOG"]).read().splitlines())
        out = fn.flip(Tensor(inner))
        assert isinstance(out, Tensor)
        assert np.array_equal(out.inner.cpu().numpy(), x[:, ::-1])
        moved = fn.flip(Tensor(penstock.tensor(x)), device="gpu")
        assert isinstance(moved, Tensor) and moved.inner.device == "gpu:0"
        b = penstock.batch([Tensor(inner)] * 3)
        assert b.stream == 0x6660 and b.device == "gpu:0"
        assert fn.flip([Tensor(inner)] * 2).stream == 0x6660
        t = inner.torch()
        assert t.inner.device == "gpu:0"
        print(json.dumps(open(os.environ["PENSTOCK_EMULATED_LOG"]).read().splitlines()[start:]))
    """,
        PENSTOCK_EMULATED_LOG=os.environ["PENSTOCK_EMULATED_LOG"] + ".torch",
    )
    os.unlink(os.environ["PENSTOCK_EMULATED_LOG"] + ".torch")
    lines = json.loads(out)
    assert any("launch on 0x6660" in line for line in lines)
    assert not any("launch" in line and "0x6660" not in line for line in lines)
    assert any("0x6660 waits for event" in line for line in lines)  # .torch() of what another stream wrote


def test_results_outlive_their_inputs():
    out = []
    for k in range(20):
        out.append((k, fn.flip(penstock.batch([ramp((6, 7, 3)) + np.uint8(k)], layout="HWC").gpu())))
        gc.collect()
    for k, b in out:
        np.testing.assert_array_equal(host(b)[0], (ramp((6, 7, 3)) + np.uint8(k))[:, ::-1])
