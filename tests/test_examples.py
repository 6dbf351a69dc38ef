# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/: C++ ones compared with Python, the pages and their pictures. `tools/check examples` runs
the scripts themselves."""

import argparse
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import fn, types

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "examples"
BUILT = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build")) / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "demo")]


def run(program, *arguments):
    environment = {"PATH": os.environ.get("PATH", "")}  # nothing that a Python needs
    done = subprocess.run(
        [BUILT / program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment
    )
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
    np.testing.assert_allclose(
        [float(row[2]) for row in rows[:9]], [score for *_, score in found], rtol=1e-4, atol=1e-3
    )


def test_resnet50_trains_in_cpp_on_the_same_bytes(exported):
    import resnet50

    folder, options, _ = exported
    lines = run("example_run_saved_pipeline", options.export / "training.json", 6)
    pipeline = resnet50.training(folder, 32, batch_size=4)
    expected = [f"batch {i}: " + " ".join(crc_of(output) for output in pipeline.run()) for i in range(6)]
    assert len(set(line.split()[2] for line in expected)) == 6 and lines == expected


def drawn_frame(height, width, channels=3):
    """As examples/drawn_frames.h."""
    y, x, c = np.ogrid[:height, :width, :channels]
    return ((x * (c + 1) + y * (3 - c)) // 4 + (x ^ y) % 16).astype(np.uint8)


def test_detection_in_cpp_has_the_bytes_of_the_same_calls_in_python():
    frames = penstock.batch([drawn_frame(*size) for size in ((480, 640), (300, 200), (96, 128))], layout="HWC")
    squares = fn.letterbox(frames, size=[128])
    inputs = fn.crop_mirror_normalize(squares, scale=1 / 255, output_layout="CHW").as_array()
    at = np.arange(8) * 16 + 8
    scores = np.ascontiguousarray(inputs[:, 0][:, at][:, :, at].reshape(-1, 64))
    y, x = (g.ravel() for g in np.meshgrid(at, at, indexing="ij"))
    boxes = np.stack([x - 24, y - 16, x + 24, y + 16], 1).astype(np.float32)
    rows = fn.nms(
        penstock.batch([boxes] * 3),
        penstock.batch(list(scores)),
        iou_threshold=0.3,
        score_threshold=0.4,
        max_detections=5,
    )
    rows = [np.asarray(r) for r in rows]
    placement = fn.letterbox_placement(penstock.batch(list(np.int32([[480, 640], [300, 200], [96, 128]]))), size=[128])
    found = fn.unletterbox_boxes(penstock.batch([boxes[r] for r in rows]), placement)
    drawn = fn.draw_boxes(frames, found, thickness=3, color=[255, 64, 0])
    files = fn.encoders.jpeg(drawn)
    expected = [
        f"frame {i}: {len(r)} boxes, a file of {len(np.asarray(f))} bytes" for i, (r, f) in enumerate(zip(rows, files))
    ]
    assert run("example_detection") == [*expected, "boxes " + crc_of(found), "drawn " + crc_of(drawn)]
    assert sum(len(r) for r in rows) > 3 and any((np.asarray(a) != np.asarray(b)).any() for a, b in zip(drawn, frames))


def test_segmentation_in_cpp_has_the_bytes_of_the_same_calls_in_python():
    shapes = ((240, 320), (150, 100))
    frames = penstock.batch([drawn_frame(*size) for size in shapes], layout="HWC")
    small = fn.resize(frames, size=[32, 32]).as_array()
    coarse = penstock.batch(list(np.where(small[..., :1] >= 128, 255, 0).astype(np.uint8)), layout="HWC")
    large = fn.resize(coarse, size=penstock.per_sample(np.float32(shapes)))
    mask = fn.joint_bilateral_filter(large, frames, diameter=9, sigma_color=20.0, sigma_space=5.0)
    result = fn.composite(frames, fn.gaussian_blur(frames, sigma=6.0), mask)
    assert run("example_segmentation") == ["mask " + crc_of(mask), "result " + crc_of(result)]
    assert all(0 < np.asarray(m).mean() < 255 for m in mask)


def test_video_in_cpp_has_the_bytes_of_the_same_calls_in_python():
    nv12 = penstock.batch(list(drawn_frame(4 * 180, 160, 1).reshape(4, 180, 160, 1)), layout="HWC")
    rgb = fn.color_space_conversion(nv12, image_type="NV12", output_type=types.RGB, color_spec="BT.709")
    inputs = fn.crop_mirror_normalize(fn.resize(rgb, size=[64, 64]), scale=1 / 255, output_layout="CHW")
    drawn = fn.draw_text(rgb, text=["camera 1"], positions=[8.0, 8.0], scale=2, color=[255, 255, 0])
    encoded = fn.color_space_conversion(drawn, image_type=types.RGB, output_type="NV12", color_spec="BT.709")
    assert run("example_video") == ["input " + crc_of(inputs), "nv12 " + crc_of(encoded)]


def test_classification_in_cpp_has_the_bytes_of_the_same_calls_in_python(exported):
    def prepared(images):
        images = fn.color_space_conversion(images, image_type=types.BGR, output_type=types.RGB)
        images = fn.resize(images, size=[224, 224])
        return fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT,
            output_layout="CHW",
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )

    frames = [drawn_frame(480, 640), drawn_frame(300, 200), drawn_frame(96, 128)]
    assert run("example_classification")[0] == "batch " + crc_of(prepared(frames))

    folder, options, model = exported
    files = sorted(folder.glob("*/*.jpg"))[2:4]
    lines = run("example_classification", options.export, *files)
    batch = prepared(fn.decoders.image([file.read_bytes() for file in files], output_type=types.BGR))
    assert lines[0] == "batch " + crc_of(batch)
    import torch

    with torch.no_grad():
        scores = model(torch.from_dlpack(batch.as_tensor()))
    rows = [line.split("\t") for line in lines[1:]]
    assert [row[:2] for row in rows] == [
        [str(f), ("coarse", "fine")[k]] for f, k in zip(files, scores.argmax(1).tolist())
    ]
    np.testing.assert_allclose([float(row[2]) for row in rows], scores.max(1).values, rtol=1e-4, atol=1e-3)


def test_pages_have_their_pictures_and_programs():
    pages = sorted(PAGES.glob("*.md"))
    assert {page.stem for page in pages} >= {"resnet50", "ssd", "yolo", "speech", "background_blur"}
    used = set()
    for page in pages:
        text = page.read_text()
        pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
        assert pictures or page.stem == "lightning_and_accelerate", f"{page.name} has no picture"
        used |= {PAGES / name for name in pictures}
        for program in re.findall(r"`((?:examples|benchmarks)/[\w./]+)`", text):
            assert (ROOT / program).exists(), f"{page.name} names {program}"
    assert used == {path for path in PAGES.iterdir() if path.suffix != ".md"}
    for picture in used:
        assert picture.stat().st_size < 100_000, picture
        Image.open(picture).verify()


def white_squares(folder, count):
    """Black pictures with one white square each: tests of boxes can measure them. (width, height, x, y, side) of each."""
    random, made = np.random.default_rng(8), []
    for i in range(count):
        width, height = random.integers(120, 200, 2)
        side = int(random.integers(50, 80))
        x, y = int(random.integers(0, width - side)), int(random.integers(0, height - side))
        pixels = np.zeros((height, width, 3), np.uint8)
        pixels[y : y + side, x : x + side] = 255
        Image.fromarray(pixels).save(folder / f"{i:02}.jpg", quality=98)
        made.append((int(width), int(height), x, y, side))
    return made


def white_box(image):
    """Left, top, right, bottom of what is bright in a normalized picture (3, H, W), in units of the picture."""
    bright = image.mean(0) > 0.5 * (image.max() + image.min())
    rows, columns = np.flatnonzero(bright.any(1)), np.flatnonzero(bright.any(0))
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]) / np.array(
        [image.shape[2], image.shape[1]] * 2
    )


def test_boxes_follow_the_pictures_of_the_yolo_example(tmp_path, monkeypatch):
    import shapes
    import yolo

    made = white_squares(tmp_path, 12)
    monkeypatch.setattr(
        shapes,
        "scenes",
        lambda count, seed: [
            (Image.open(tmp_path / f"{i:02}.jpg"), [(1, x, y, side, side)]) for i, (_, _, x, y, side) in enumerate(made)
        ],
    )
    path = yolo.write_records(tmp_path / "squares.tfrecord", 12, 1)
    pipelines = yolo.evaluation(path, batch_size=12), yolo.training(path, batch_size=12)
    for pipeline, most in zip(
        pipelines, (2.5 / yolo.SIZE, 5 / yolo.SIZE)
    ):  # a pixel of the file is two to five of the result
        seen = []
        for _ in range(4):
            images, boxes, labels = (output.cpu() for output in pipeline.run())
            for image, box, label in zip(images, boxes, labels):
                assert label.numpy().tolist() == [1]
                np.testing.assert_allclose(white_box(image.numpy()), box.numpy()[0], atol=most)
                seen.append(tuple(box.numpy()[0].tolist()))
        assert (
            len(set(seen)) == 12 if pipeline is pipelines[0] else len(set(seen)) > 36
        )  # some windows are the whole picture


def test_anchors_of_the_ssd_example_get_the_boxes_that_are_seen(tmp_path, monkeypatch):
    import shapes
    import ssd
    import torch

    made = white_squares(tmp_path, 12)
    monkeypatch.setattr(
        shapes,
        "scenes",
        lambda count, seed: [
            (Image.open(tmp_path / f"{i:02}.jpg"), [(1, x, y, side, side)]) for i, (_, _, x, y, side) in enumerate(made)
        ],
    )
    annotations = ssd.draw_pictures(tmp_path, 12)
    images, offsets, labels = ssd.training(str(tmp_path), str(annotations), "cpu", batch_size=12).run()
    for image, offset, label in zip(images, offsets, labels):
        found = label.numpy() == 1
        assert found.any()
        boxes = ssd.boxes_of(torch.from_numpy(offset.numpy()))[found].numpy()
        np.testing.assert_allclose(boxes, np.tile(white_box(image.numpy()), (len(boxes), 1)), atol=4 / ssd.SIZE)


def test_transducer_loss_is_the_sum_over_all_ways():
    """The loss of the speech example, against all orders of words and blanks one by one."""
    import itertools
    import speech
    import torch

    torch.manual_seed(1)
    net = speech.Transducer().double().eval()
    mel = torch.randn(2, speech.SPLICED * speech.MELS, 5, dtype=torch.float64)
    words, lengths, frames = torch.tensor([[3, 1], [7, 0]]), torch.tensor([2, 1]), torch.tensor([5, 3])
    with torch.no_grad():
        said = net.said(net.known(torch.nn.functional.pad(words, (1, 0))))[0]
        scores = net.joint(net.encoder(mel).transpose(1, 2)[:, :, None] + said[:, None]).log_softmax(-1)
        losses = []
        for n in range(2):
            ways, count, last = [], int(lengths[n]), int(frames[n]) - 1
            for at in itertools.combinations_with_replacement(
                range(last + 1), count
            ):  # the frame at which each word is said
                total, said_before = 0.0, 0
                for t in range(last + 1):
                    while said_before < count and at[said_before] == t:
                        total, said_before = total + scores[n, t, said_before, words[n, said_before]], said_before + 1
                    total = total + scores[n, t, said_before, 0]
                ways.append(total)
            losses.append(-torch.logsumexp(torch.stack(ways), 0) / count)
        expected = torch.stack(losses).mean()
        assert float(net.loss(mel, frames, words, lengths)) == pytest.approx(float(expected), rel=1e-9)


def test_background_blur_is_opencvs_but_for_rounding():
    import background_blur
    from penstock import pipeline_def

    random = np.random.default_rng(2)
    pictures = [
        cv2.resize(random.integers(0, 256, (8, 9, 3), np.uint8), size, interpolation=cv2.INTER_CUBIC)
        for size in ((200, 150), (97, 240), (330, 64), (128, 128))
    ]
    masks = [random.random((background_blur.SIZE, background_blur.SIZE, 1), np.float32) for _ in pictures]

    @pipeline_def(batch_size=4, num_threads=2)
    def chain():
        there = fn.external_source(lambda: pictures, layout="HWC")
        tensors, extents = background_blur.to_network(there)
        return tensors, background_blur.composite(there, fn.external_source(lambda: masks, layout="HWC"), extents)

    tensors, results = chain().run()
    for picture, mask, tensor, result in zip(pictures, masks, tensors, results):
        expected, extents = background_blur.opencv_to_network(picture)
        np.testing.assert_allclose(tensor.numpy(), expected, atol=1.001 / background_blur.STD)  # one of 255
        difference = np.abs(background_blur.opencv_composite(picture, mask, extents).astype(int) - result.numpy())
        assert difference.max() <= 1 and difference.mean() < background_blur.MEAN_DIFFERENCE
