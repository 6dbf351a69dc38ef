# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/: what C++ ones compute beside Python, the pages and their pictures. `tools/check examples` runs
the scripts themselves."""
import argparse
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock import fn, types

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "examples"
BUILT = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build")) / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "demo")]


def run(program, *arguments):
    environment = {"PATH": os.environ.get("PATH", "")}  # nothing that a Python needs
    done = subprocess.run([BUILT / program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def crc_of(batch):
    crc = 0
    for sample in batch:
        crc = zlib.crc32(np.ascontiguousarray(sample.numpy()).tobytes(), crc)
    return f"{crc:08x}"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A ResNet-50 after one step on nine pictures of two classes, and its folder for C++."""
    import resnet50
    import torch
    torch.set_num_threads(1)  # other tests run beside this one
    made = tmp_path_factory.mktemp("resnet50")
    random = np.random.default_rng(5)
    for i in range(9):
        folder = made / "pictures" / ("fine" if i % 3 else "coarse")
        folder.mkdir(parents=True, exist_ok=True)
        noise = Image.fromarray(random.integers(0, 256, (3, 4, 3) if i % 3 else (12, 16, 3), np.uint8))
        noise.resize((70 + 3 * i, 60 + i)).save(folder / f"{i}.jpg")
    options = argparse.Namespace(steps=1, batch=4, size=32, export=made / "exported")
    model, _ = resnet50.train(made / "pictures", options, "cpu")
    resnet50.settle(model, made / "pictures", options, "cpu")
    resnet50.export(model, made / "pictures", options)
    return made / "pictures", options, model


def test_resnet50_in_cpp_sees_the_same_bytes_and_says_the_same(exported):
    import resnet50
    folder, options, model = exported
    lines = run("example_resnet50_inference", options.export)
    batches = [crc_of(images) for images, _ in resnet50.batches_of(resnet50.evaluation(folder, 32, batch_size=4))]
    assert len(batches) == 3 and [line.split()[1] for line in lines if line.startswith("batch ")] == batches
    rows = [line.split("\t") for line in lines if "\t" in line]
    found = resnet50.predict(model, folder, options, "cpu")
    assert len(found) == 9 and [row[:2] for row in rows[:9]] == [[file, name] for file, _, name, _ in found]
    np.testing.assert_allclose([float(row[2]) for row in rows[:9]], [score for *_, score in found], rtol=1e-4, atol=1e-3)


def test_resnet50_trains_in_cpp_on_the_same_bytes(exported):
    import resnet50
    folder, options, _ = exported
    lines = run("example_run_saved_pipeline", options.export / "training.json", 6)
    pipeline = resnet50.training(folder, 32, batch_size=4)
    expected = [f"batch {i}: " + " ".join(crc_of(output) for output in pipeline.run()) for i in range(6)]
    assert len(set(line.split()[2] for line in expected)) == 6 and lines == expected


def test_classification_in_cpp_has_the_bytes_of_the_same_calls_in_python(exported):
    def prepared(images):
        images = fn.color_space_conversion(images, image_type=types.BGR, output_type=types.RGB)
        images = fn.resize(images, size=[224, 224])
        return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
                                        std=[0.229 * 255, 0.224 * 255, 0.225 * 255])

    def frame(height, width):
        y, x, c = np.ogrid[:height, :width, :3]
        return ((x * (c + 1) + y * (3 - c)) // 4 + (x ^ y) % 16).astype(np.uint8)
    assert run("example_classification")[0] == "batch " + crc_of(prepared([frame(480, 640), frame(300, 200), frame(96, 128)]))

    folder, options, model = exported
    files = sorted(folder.glob("*/*.jpg"))[:4]
    lines = run("example_classification", options.export, *files)
    batch = prepared(fn.decoders.image([file.read_bytes() for file in files], output_type=types.BGR))
    assert lines[0] == "batch " + crc_of(batch)
    import torch
    with torch.no_grad():
        scores = model(torch.from_dlpack(batch.as_tensor()))
    rows = [line.split("\t") for line in lines[1:]]
    assert [row[:2] for row in rows] == [[str(f), ("coarse", "fine")[k]] for f, k in zip(files, scores.argmax(1).tolist())]
    np.testing.assert_allclose([float(row[2]) for row in rows], scores.max(1).values, rtol=1e-4, atol=1e-3)


def test_pages_have_their_pictures_and_programs():
    pages = sorted(PAGES.glob("*.md"))
    assert pages
    used = set()
    for page in pages:
        text = page.read_text()
        pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
        assert pictures, f"{page.name} has no picture"
        used |= {PAGES / name for name in pictures}
        for program in re.findall(r"`((?:examples|benchmarks)/[\w./]+)`", text):
            assert (ROOT / program).exists(), f"{page.name} names {program}"
    assert used == {path for path in PAGES.iterdir() if path.suffix != ".md"}
    for picture in used:
        assert picture.stat().st_size < 100_000, picture
        Image.open(picture).verify()
