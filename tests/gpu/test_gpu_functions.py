# SPDX-License-Identifier: Apache-2.0
"""The user's functions and debug=True in pipelines on a GPU."""

import numpy as np

from penstock import fn, pipeline_def, types

IMAGES = [np.random.default_rng(i).integers(0, 255, (20 + i, 30, 3), dtype=np.uint8) for i in range(6)]


def same(tensor):
    return tensor


def test_functions_get_and_give_memory_of_the_gpu():
    devices = set()

    def look(tensor):
        devices.add(str(getattr(tensor, "device", "")).partition(":")[0])
        return tensor

    @pipeline_def(batch_size=6, num_threads=2, device_id=0)
    def p():
        x = fn.external_source(lambda: IMAGES, device="gpu", layout="HWC")
        y = fn.python_function(fn.flip(x), function=look, device="gpu", output_layouts="HWC")
        z = fn.python_function(y.cpu(), function=lambda v: v + 1)
        return fn.flip(y), z, fn.python_function(x, function=same)

    made = p()
    for _ in range(3):
        a, b, c = made.run()
    assert [v.device_type for v in (a, b, c)] == ["gpu", "cpu", "gpu"] and "cpu" not in devices
    for k, image in enumerate(IMAGES):
        assert (a.cpu()[k].numpy() == image).all() and (c.cpu()[k].numpy() == image).all()
        assert (b[k].numpy() == image[:, ::-1] + np.uint8(1)).all()


def test_debug_gives_the_same_bytes():
    def body():
        x = fn.external_source(lambda: IMAGES, layout="HWC", dtype=types.UINT8)
        y = fn.gaussian_blur(x.gpu(), sigma=fn.random.uniform(range=[0.5, 2]))
        if fn.reductions.mean(y).cpu() > 127:
            y = fn.flip(y)
        for k in range(fn.cast(fn.random.uniform(range=[0, 4]), dtype=types.INT32)):
            y[2:4, :] = k
        return fn.resize(y, size=(8, 8)), fn.python_function(y.cpu(), function=lambda v: v.mean(axis=(0, 1)))

    plain, debug = (
        pipeline_def(body)(batch_size=6, num_threads=2, seed=7, device_id=0, debug=d) for d in (False, True)
    )
    for _ in range(3):
        for u, v in zip(plain.run(), debug.run()):
            assert u.device == v.device and u.dtype == v.dtype
            assert all((s.numpy() == t.numpy()).all() for s, t in zip(u.cpu(), v.cpu()))


def test_debug_joins_values_of_both_devices():
    """A condition or a loop moves a value to the GPU for some samples; the others have it on the host."""

    def body():
        x = fn.external_source(lambda: IMAGES, layout="HWC", dtype=types.UINT8)
        y = x
        if fn.reductions.mean(x) > 127:
            y = fn.flip(x.gpu())
        for _ in range(fn.random.uniform(range=[0, 3], dtype=types.INT32)):
            x = fn.flip(x.gpu(), vertical=1)
        return x, y

    plain, debug = (
        pipeline_def(body)(batch_size=6, num_threads=2, seed=7, device_id=0, debug=d) for d in (False, True)
    )
    for u, v in zip(plain.run(), debug.run()):
        assert u.device == v.device
        assert all((s.numpy() == t.numpy()).all() for s, t in zip(u.cpu(), v.cpu(), strict=True))
