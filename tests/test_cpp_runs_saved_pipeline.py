# SPDX-License-Identifier: Apache-2.0
"""A pipeline saved from Python gives the same bytes in a C++ program with no Python in the process."""

import os
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock import fn, pipeline_def, types

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build")) / "examples" / "example_run_saved_pipeline"


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Two classes of smooth noise as JPEG: gray and color, baseline and progressive, of different sizes."""
    root = tmp_path_factory.mktemp("photographs")
    random = np.random.default_rng(7)
    for i in range(13):
        height, width = random.integers(40, 160, 2)
        noise = Image.fromarray(random.integers(0, 256, (9, 12, 3), np.uint8)).resize(
            (int(width), int(height)), Image.BICUBIC
        )
        folder = root / f"class{i % 2}"
        folder.mkdir(exist_ok=True)
        noise.convert("L" if i % 5 == 4 else "RGB").save(
            folder / f"{i}.jpg", quality=80 + i, progressive=i % 3 == 0, subsampling=i % 3
        )
    return root


@pipeline_def(batch_size=4, num_threads=2, seed=11, prefetch_queue_depth=2)
def training(root):
    encoded, labels = fn.readers.file(file_root=str(root), random_shuffle=True, name="reader")
    images = fn.decoders.image(encoded)
    images = fn.random_resized_crop(images, size=(48, 56))
    images = fn.crop_mirror_normalize(
        images,
        mirror=fn.random.coin_flip(),
        crop=(40, 48),
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[123.675, 116.28, 103.53],
        std=[58.395, 57.12, 57.375],
    )
    return images, labels


@pipeline_def(batch_size=3, num_threads=1, seed=3)
def ragged(root):
    encoded, labels = fn.readers.file(file_root=str(root), name="reader")
    images = fn.flip(fn.decoders.image(encoded, output_type=types.GRAY), horizontal=fn.random.coin_flip())
    return fn.brightness_contrast(images, brightness=fn.random.uniform(range=(0.5, 1.5))), labels


def crc_lines(pipeline, batches):
    lines = []
    for i in range(batches):
        sums = []
        for output in pipeline.run():
            crc = 0
            for k in range(len(output)):
                crc = zlib.crc32(np.ascontiguousarray(np.asarray(output[k])).tobytes(), crc)
            sums.append(f"{crc:08x}")
        lines.append(f"batch {i}: {' '.join(sums)}")
    return lines


def run_program(*arguments):
    environment = {"PATH": os.environ.get("PATH", "")}  # nothing that a Python needs
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize("definition", [training, ragged], ids=["training", "ragged"])
def test_same_bytes_without_python(definition, photographs, tmp_path):
    assert PROGRAM.exists(), "build with -DPENSTOCK_EXAMPLES=ON"
    pipeline = definition(photographs)
    saved = tmp_path / "pipeline.json"
    pipeline.save(saved)
    expected = crc_lines(pipeline, 8)  # over the end of an epoch
    assert len({line.split()[2] for line in expected}) > 3, "the batches are not all alike"
    done = run_program(saved, 8)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == expected


def test_program_has_no_python_in_it():
    linked = subprocess.run(["ldd", PROGRAM], check=True, capture_output=True, text=True).stdout
    assert "libpenstock" in linked
    assert "python" not in linked.lower().replace(str(ROOT).lower(), "")


def test_errors_reach_the_program(photographs, tmp_path):
    saved = tmp_path / "pipeline.json"
    pipeline = training(photographs)
    pipeline.save(saved)
    text = saved.read_text()
    missing = tmp_path / "missing.json"
    missing.write_text(text.replace(str(photographs), str(tmp_path / "nowhere")))
    for path, message in [(missing, "nowhere"), (tmp_path / "absent.json", "cannot open")]:
        done = run_program(path)
        assert done.returncode == 1
        assert message in done.stderr
    damaged = tmp_path / "damaged.json"
    damaged.write_text(text[: len(text) // 2])
    assert run_program(damaged).returncode == 1
