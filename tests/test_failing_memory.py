# SPDX-License-Identifier: Apache-2.0
"""One allocation fails, at each point of a pipeline's life in turn: the run ends well or in a typed error.

`build/failing_memory` runs each of three saved pipelines in child processes (tests/failing_memory/failing_memory.cpp).
Each place is tried: a place that crashes may be one in a thousand.
"""

import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest
import soundfile
from penstock import fn, pipeline_def, types

PROGRAM = Path(__file__).resolve().parent.parent / "build" / "failing_memory"
BATCHES = 3


def _pictures(folder):
    random = np.random.default_rng(1)
    for label in "ab":
        (folder / label).mkdir(parents=True)
        for i in range(3):
            picture = random.integers(0, 255, (60 + 8 * i, 80, 3), np.uint8)
            cv2.imwrite(str(folder / label / f"{i}.jpg"), picture)
            cv2.imwrite(str(folder / label / f"{i}.png"), picture)


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
def _training(folder):
    files, labels = fn.readers.file(file_root=str(folder), random_shuffle=True)
    images = fn.random_resized_crop(fn.decoders.image(files), size=[24, 24])
    mirror = fn.random.coin_flip()
    return fn.crop_mirror_normalize(images, mirror=mirror, dtype=types.FLOAT16, output_layout="CHW"), labels


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
def _control(folder):
    files, _ = fn.readers.file(file_root=str(folder), file_filters=["*.png"])
    image = fn.rotate(fn.decoders.image(files), angle=fn.random.uniform(range=(-20, 20)))
    if fn.random.coin_flip():
        image = fn.median_blur(image, window_size=3)
    else:
        image = fn.equalize(image)
    for _ in range(fn.random.uniform(range=[1, 3], dtype=types.INT32)):
        image[2:6, 3:9] = 7
    return fn.gaussian_blur(image, window_size=5), fn.reductions.mean(image)


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
def _speech(folder):
    files, _ = fn.readers.file(file_root=str(folder), file_filters=["*.wav", "*.flac", "*.ogg"])
    sound, rate = fn.decoders.audio(files, downmix=True, dtype=types.FLOAT)
    bands = fn.mel_filter_bank(fn.spectrogram(sound, nfft=128, window_length=100, window_step=50), nfilter=12)
    return fn.pad(fn.to_decibels(bands)), rate


def _sounds(folder):
    (folder / "s").mkdir(parents=True)
    wave = np.sin(np.arange(4000) / 7).astype(np.float32)
    for name in ("a.wav", "b.flac", "c.ogg"):
        soundfile.write(folder / "s" / name, wave, 8000)


@pytest.mark.parametrize(
    "name, make, files",
    [("training", _training, _pictures), ("control", _control, _pictures), ("speech", _speech, _sounds)],
)
def test_a_run_ends_well_or_in_a_typed_error(name, make, files, tmp_path):
    files(tmp_path / "files")
    pipeline = make(tmp_path / "files")
    saved = tmp_path / f"{name}.json"
    saved.write_bytes(pipeline.serialize())
    done = subprocess.run([PROGRAM, saved, "1", "1", str(BATCHES)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    counted = int(done.stdout.split("in an error ")[1].split(",")[0])
    assert counted > 0, "no allocation failed: " + done.stdout
