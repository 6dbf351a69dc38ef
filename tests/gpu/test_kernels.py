# SPDX-License-Identifier: Apache-2.0
"""The kernel that runs a stage has no visible effect: the generic one, the stage's own, one after the other, or the CPU."""

import os
import subprocess
import sys

import pytest

from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

PROGRAM = """
import hashlib, io, sys, time
import numpy as np
from PIL import Image
import penstock
from penstock import fn, pipeline_def, types

rng = np.random.default_rng(5)
pictures, files = [], []
for k in range(8):
    size = rng.integers(40, 120, 2).tolist()
    picture = Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8)).resize(size, 3)
    pictures.append(np.asarray(picture))
    held = io.BytesIO()
    picture.save(held, "PNG")
    files.append(np.frombuffer(held.getvalue(), np.uint8))
waves = [rng.normal(0, 300, (int(n), 7)).astype(np.float32) for n in rng.integers(1, 90, 8)]

@pipeline_def(batch_size=8, num_threads=2, seed=3, device_id=0, prefetch_queue_depth=2)
def pipe(device):
    image = fn.external_source(lambda: pictures, layout="HWC", batch=True)
    wave = fn.external_source(lambda: waves, batch=True)
    decoded = fn.decoders.image_random_crop(fn.external_source(lambda: files, batch=True),
                                            device="mixed" if device == "gpu" else "cpu")
    if device == "gpu":
        image, wave = image.gpu(), wave.gpu()
    bright = fn.random.uniform(range=[0.5, 1.5])
    flip = fn.random.coin_flip()
    return (fn.crop_mirror_normalize(fn.random_resized_crop(image, size=[24, 32]), mirror=flip, dtype=types.FLOAT16,
                                     mean=[120.0, 110, 100], std=[60.0, 50, 40]),
            fn.brightness_contrast(fn.color_twist(image, hue=30.0, brightness=bright), contrast=0.7),
            fn.rotate(fn.gaussian_blur(image, window_size=5), angle=30.0, fill_value=7.0, keep_size=True),
            fn.resize(decoded, size=[16, 16]),
            fn.cast(wave * 2.5 + wave, dtype=types.INT16))

def digests(device, runs, pause):
    built, found = pipe(device), []
    built.build()
    for _ in range(runs):
        sums = []
        for batch in built.run():
            host = batch.cpu() if device == "gpu" else batch
            sums.append(hashlib.sha256(b"".join(np.asarray(host[k]).tobytes() for k in range(8))).hexdigest())
        found.append(sums)
        time.sleep(pause)
    return found

runs, pause = int(sys.argv[1]), float(sys.argv[2])
want, got = digests("cpu", runs, 0), digests("gpu", runs, pause)
assert want[0] != want[1]
for turn, (a, b) in enumerate(zip(want, got)):
    assert a == b, (turn, [x == y for x, y in zip(a, b)])
"""


@pytest.mark.parametrize(
    "kernels, compiler, delay, runs",
    [
        ("compiled", "", "", 4),
        ("generic", "off", "", 4),
        ("auto", "off", "", 4),
        ("auto", "none", "", 4),
        ("auto", "", "60", 25),
    ],
)
def test_kernels_show_nowhere(kernels, compiler, delay, runs, tmp_path):
    environment = {
        **os.environ,
        "PENSTOCK_KERNELS": kernels,
        "PENSTOCK_EMULATED_COMPILER": compiler,
        "PENSTOCK_EMULATED_COMPILE_MS": delay or "0",
        "PENSTOCK_CACHE": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(runs), "0.05" if delay else "0"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr


def test_a_process_ends_while_kernels_are_compiled(tmp_path):
    program = """
import numpy as np, penstock
from penstock import fn
x = penstock.tensor(np.arange(24, dtype=np.uint8).reshape(2, 4, 3)).gpu()
for k in range(3):
    assert np.array_equal(fn.flip(x).cpu().numpy(), np.arange(24, dtype=np.uint8).reshape(2, 4, 3)[:, ::-1])
    fn.brightness(x, brightness=1.5), fn.hsv(x, hue=20.0)
"""
    environment = {
        **os.environ,
        "PENSTOCK_KERNELS": "auto",
        "PENSTOCK_EMULATED_COMPILE_MS": "300",
        "PENSTOCK_CACHE": str(tmp_path),
    }
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=240)
    assert (run.returncode, run.stderr) == (0, "")
