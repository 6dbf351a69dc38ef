# SPDX-License-Identifier: Apache-2.0
"""The pages that say a line of another library in our words: each of our lines runs, and gives something."""

import io
import json
import re
from pathlib import Path

import container_files
import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import augment, fn, math, pipeline_def, tfrecord, types
from penstock.sample import Boxes, Sample

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
SHEETS = {"from_torchvision": 25, "from_tf_data": 21, "from_dali": 17, "from_cvcuda": 25}  # lines that run
IN_A_PIPELINE = {"from_tf_data", "from_dali"}


def lines(sheet):
    """The right sides of the first table of a page that are one expression."""
    table = re.search(r"^\|---\|---\|\n((?:\|.*\n)+)", (PAGES / f"{sheet}.md").read_text(), re.MULTILINE)[1]
    return [row.strip("|").split(" | ")[1].strip().split("`")[1] for row in table.splitlines()]


def picture(k):
    return np.random.default_rng(k).integers(0, 256, (40, 60, 3), np.uint8)


def jpeg(k):
    file = io.BytesIO()
    Image.fromarray(picture(k)).save(file, "JPEG")
    return file.getvalue()


def example_of(file):
    """A tf.train.Example with one feature of bytes, `image`."""

    def field(number, content):
        size, coded = len(content), b""
        while size > 127:
            coded, size = coded + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + coded + bytes([size]) + content

    return field(1, field(1, field(1, b"image") + field(2, field(1, field(1, file)))))


def write_files(folder):
    (folder / "images").mkdir()
    boxes = [
        {"id": k + 1, "image_id": k, "category_id": 1, "bbox": [4, 4, 20, 20], "area": 400, "iscrowd": 0}
        for k in range(4)
    ]
    images = [{"id": k, "file_name": f"{k}.jpg", "height": 40, "width": 60} for k in range(4)]
    for k in range(4):
        (folder / "images" / f"{k}.jpg").write_bytes(jpeg(k))
        (folder / "photos" / "ab"[k % 2]).mkdir(parents=True, exist_ok=True)
        (folder / "photos" / "ab"[k % 2] / f"{k}.jpg").write_bytes(jpeg(k))
    (folder / "photo.jpg").write_bytes(jpeg(0))
    text = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "thing"}]}
    (folder / "instances.json").write_text(json.dumps(text))
    container_files.write_tfrecord(folder / "train.tfrecord", [example_of(jpeg(k)) for k in range(4)])


def names():
    """What the lines may use, outside a pipeline."""
    image, boxes = picture(0), np.float32([[4, 4, 24, 24], [5, 5, 25, 25]])
    mask = np.zeros((40, 60, 1), np.uint8)
    mask[10:20, 10:30] = 255
    parts = {"image": penstock.batch([image], layout="HWC"), "boxes": Boxes(penstock.batch([boxes]))}
    return {
        "np": np, "penstock": penstock, "fn": fn, "augment": augment, "types": types, "math": math, "tfrecord": tfrecord,
        "x": image, "image": image, "mask": mask, "boxes": boxes, "scores": np.float32([0.9, 0.8]), "s": Sample(**parts),
        "maps": np.ones((3, 40, 60), np.float32), "f": fn.flip, "g": fn.invert, "python": python, "numbers": numbers,
    }  # fmt: skip


def python(image):
    return image[::-1].copy()


def numbers():
    yield from (np.int32(k) for k in range(100))


def in_a_pipeline(line):
    @pipeline_def(batch_size=4, num_threads=2, seed=1)
    def pipe():
        file, label = fn.readers.file(file_root="photos")
        x = fn.decoders.image(file)
        values = {
            "file": file,
            "label": label,
            "x": x,
            "p": fn.random.coin_flip(dtype=types.BOOL),
            "weights": np.ones((3, 3), np.float32),
        }
        made = conditional(values) if " if p else " in line else eval(line, {**names(), **values})
        return tuple(made.values() if isinstance(made, dict) else made if isinstance(made, (tuple, list)) else [made])

    return pipe().run()


def conditional(v):
    """`f(x) if p else g(x)` as a program has it: what eval() compiles is not converted."""
    p, x, f, g = v["p"], v["x"], fn.flip, fn.invert
    return f(x) if p else g(x)


@pytest.mark.filterwarnings("ignore::penstock.DeviceWarning")  # a line with .gpu()
@pytest.mark.parametrize("sheet", SHEETS)
def test_every_line_of_a_cheat_sheet_runs(sheet, tmp_path, monkeypatch):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = lines(sheet)
    assert len(found) == SHEETS[sheet]
    wrong = []
    for line in found:
        try:
            made = in_a_pipeline(line) if sheet in IN_A_PIPELINE else eval(line, names())
            if "DataLoader" in type(made).__name__:
                made = next(iter(made))
            assert made is not None and (not hasattr(made, "__len__") or len(made) > 0)
        except Exception as error:
            wrong.append(f"{line}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
