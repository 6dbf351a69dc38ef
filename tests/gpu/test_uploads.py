# SPDX-License-Identifier: Apache-2.0
"""All bytes that are copied to a GPU have been written, also those between samples and between the parts of tables."""

import os
import subprocess
import sys

import pytest

from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


def uploads():
    import numpy as np

    import penstock
    from penstock import Pipeline, fn, types

    pictures = [np.full((5 + i, 7 + i % 3, 3), i, np.uint8) for i in range(12)]
    batch = penstock.batch(pictures, layout="HWC").gpu()
    holes = penstock.batch([np.zeros((9, 11, 3), np.uint8)[: 3 + i, ::2] for i in range(6)], layout="HWC").gpu()
    fn.flip(holes, horizontal=1)
    penstock.batch(pictures[:3]).gpu().cpu().gpu()  # few samples of unlike shapes: copied one by one, up together
    mean = fn.reductions.mean(batch)
    fn.brightness(batch, brightness=mean)
    fn.normalize(fn.cat(batch, batch), axes=[0, 1])
    fn.erase(batch, shape=[2, 2], fill_value=mean)
    for device, antialias in (("gpu", True), ("cpu", False)):
        with Pipeline(batch_size=12, num_threads=2, device_id=0) as pipe:
            x = fn.external_source(lambda: pictures, layout="HWC", device=device).gpu()
            flipped = fn.crop_mirror_normalize(
                fn.random_resized_crop(x, size=[6, 5], antialias=antialias),
                mirror=fn.random.coin_flip(),
                mean=[1.0, 2.0, 3.0],
                dtype=types.FLOAT16,
            )
            blurred = fn.gaussian_blur(x, sigma=fn.random.uniform(range=(0.5, 0.9)), window_size=3)
            turned = fn.rotate(
                fn.hsv(x, hue=fn.random.uniform(range=(-9.0, 9.0))), angle=fn.random.uniform(range=(0.0, 9.0))
            )
            pipe.set_outputs(
                flipped,
                blurred,
                turned,
                fn.pad(x),
                fn.transpose(x, perm=[2, 0, 1]),
                fn.brightness(x, brightness=fn.reductions.mean(x)),
            )
        for _ in range(3):
            pipe.run()
    large = [np.full((700 + i, 1000, 3), i, np.uint8) for i in range(9)]
    with Pipeline(batch_size=9, num_threads=2, device_id=0) as pipe:
        pipe.set_outputs(fn.flip(fn.external_source(lambda: large, layout="HWC").gpu(), horizontal=1))
    pipe.run()


@pytest.mark.parametrize("kernels", ["compiled", "generic"])
def test_all_that_is_copied_has_been_written(real, kernels):
    if real:
        pytest.skip("machine: the emulated GPU knows what was written")
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_uploads; test_uploads.uploads()"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=os.getcwd(),
        env={**os.environ, "PENSTOCK_EMULATED_POISON": "1", "PENSTOCK_KERNELS": kernels},
    )
    assert done.returncode == 0, done.stderr


def test_a_value_of_all_samples_goes_up_once(order):
    import numpy as np

    from penstock import fn, pipeline_def

    table = np.arange(50 * 60, dtype=np.float32).reshape(50, 60)

    @pipeline_def(batch_size=8, num_threads=1, device_id=0)
    def function():
        x = fn.external_source(
            lambda info: np.full((50, 60), info.idx_in_epoch, np.float32), batch=False, ndim=2, dtype=np.float32
        )
        return x.gpu() + fn.constant(fdata=table.ravel().tolist(), shape=[50, 60]).gpu()

    pipe = function()
    for k in range(3):
        (made,) = pipe.run()
        want = np.arange(8 * k, 8 * k + 8, dtype=np.float32)[:, None, None] + table
        np.testing.assert_array_equal(made.as_cpu().as_array(), want)
    copied = [int(line.split("copy ")[1].split()[0]) for line in order() if "copy " in line and " bytes" in line]
    tables, batches = copied.count(50 * 60 * 4), copied.count(8 * 50 * 60 * 4)
    assert tables >= 3  # one for each batch that was begun
    assert batches == tables + 3  # what differs, and the three results on the way back
