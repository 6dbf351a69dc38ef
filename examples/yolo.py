# SPDX-License-Identifier: Apache-2.0
"""Training a small detector like YOLO (Redmon et al., 2016) on a TFRecord file: boxes follow the changes of the pictures.

    python examples/yolo.py [FILE.tfrecord] [--steps N] [--batch N] [--picture FILE]

Training cuts a random window, mirrors it and shifts its colors; evaluation fits the whole picture into a square between gray
bars. Records are those of TensorFlow's object detection: image/encoded, image/object/bbox/xmin and so on,
image/object/class/label with classes 1 to 3. Without a file pictures of squares, disks and triangles are drawn. With a GPU
pictures are decoded there. Ends with an error where the loss does not fall.
"""

import argparse
import io
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from penstock import fn, math, pipeline_def, tfrecord, types
from penstock.plugin.pytorch import DALIGenericIterator

sys.path.append(str(Path(__file__).resolve().parent / "demo"))
import shapes  # noqa: E402
from boxes import compare, keep_best, overlap  # noqa: E402

SIZE, GRID, CLASSES, GRAY = 128, 8, len(shapes.KINDS), 114
SIDES = ("xmin", "ymin", "xmax", "ymax")


def records(path, **order):
    """The encoded picture, its boxes (N, 4) as left, top, right, bottom in units of the picture, their classes (N)."""
    features = {
        "image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "image/object/class/label": tfrecord.VarLenFeature(tfrecord.int64, 0),
        **{f"image/object/bbox/{side}": tfrecord.VarLenFeature(tfrecord.float32, 0.0) for side in SIDES},
    }
    inputs = fn.readers.tfrecord(path=str(path), features=features, name="reader", **order)
    boxes = fn.stack(*(inputs[f"image/object/bbox/{side}"] for side in SIDES), axis=1)
    return inputs["image/encoded"], boxes, fn.cast(inputs["image/object/class/label"], dtype=types.INT32)


def to_network(images, **arguments):
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[64.0] * 3, **arguments
    )


@pipeline_def(num_threads=2, seed=3)
def training(path, device="cpu"):
    encoded, boxes, labels = records(path, random_shuffle=True)
    begin, extent, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        bbox_layout="xyXY",
        aspect_ratio=[0.7, 1.4],
        scaling=[0.5, 1.0],
        thresholds=[0.0, 0.3, 0.5],
        num_attempts=20,
    )
    images = fn.decoders.image_slice(encoded, begin, extent, device=device, output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE])
    images = fn.color_twist(
        images,
        hue=fn.random.uniform(range=[-20, 20]),
        saturation=fn.random.uniform(range=[0.6, 1.4]),
        brightness=fn.random.uniform(range=[0.7, 1.3]),
    )
    mirror = fn.random.coin_flip()
    return to_network(images, mirror=mirror), fn.bb_flip(boxes, ltrb=True, horizontal=mirror), labels


@pipeline_def(num_threads=2)
def evaluation(path, device="cpu"):
    encoded, boxes, labels = records(path)
    images = fn.decoders.image(encoded, device=device, output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE], mode="not_larger")
    images = fn.crop(
        images, crop=[SIZE, SIZE], out_of_bounds_policy="constant", fill_values=[GRAY] * 3, rounding="truncate"
    )
    # Boxes follow the picture: extents of the resized one in units of the square, the rest halved on both sides.
    shape = fn.cast(fn.peek_image_shape(encoded), dtype=types.FLOAT)
    part = fn.stack(shape[1], shape[0]) / math.max(shape[0], shape[1])
    part = fn.cat(part, part, axis=0)
    return to_network(images), boxes * part + (1 - part) / 2, labels


class Detector(torch.nn.Sequential):
    """(N, 5 + classes, GRID, GRID): x and y in the cell, width and height of the picture, object or none, its class."""

    def __init__(self):
        widths, layers = (3, 16, 32, 64, 96), []
        for inside, out in zip(widths, widths[1:]):
            layers += [torch.nn.Conv2d(inside, out, 3, 2, 1), torch.nn.BatchNorm2d(out), torch.nn.SiLU()]
        super().__init__(
            *layers,
            torch.nn.Conv2d(96, 96, 3, 1, 1),
            torch.nn.BatchNorm2d(96),
            torch.nn.SiLU(),
            torch.nn.Conv2d(96, 5 + CLASSES, 1),
        )


def boxes_of(outputs):
    """The box of each cell: (N, GRID, GRID, 4), left, top, right, bottom."""
    place = outputs[:, :4].sigmoid().permute(0, 2, 3, 1)
    y, x = torch.meshgrid(*[torch.arange(GRID, device=outputs.device)] * 2, indexing="ij")
    middle = (torch.stack([x, y], -1) + place[..., :2]) / GRID
    return torch.cat([middle - place[..., 2:] / 2, middle + place[..., 2:] / 2], -1)


def loss_of(outputs, boxes, labels, counts):
    """The cell that contains the center of a box must find it; all others must find nothing."""
    sample = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    held = torch.arange(boxes.shape[1], device=counts.device) < counts[:, None]
    boxes, labels = boxes[held], labels[held].long() - 1
    cell = ((boxes[:, :2] + boxes[:, 2:]) / 2 * GRID).long().clamp(0, GRID - 1)
    x, y = cell[:, 0], cell[:, 1]
    thing = torch.zeros_like(outputs[:, 4])
    thing[sample, y, x] = 1
    place = 1 - overlap(boxes_of(outputs)[sample, y, x], boxes)[1]
    kind = F.cross_entropy(outputs[sample, 5:, y, x], labels, reduction="sum")
    found = F.binary_cross_entropy_with_logits(outputs[:, 4], thing, reduction="sum")
    return (2 * place.sum() + kind + found) / len(outputs)


def detect(outputs):
    """[(boxes, labels), ...] of a batch."""
    scores, kinds = outputs[:, 4].sigmoid().flatten(1), outputs[:, 5:].argmax(1).flatten(1) + 1
    return [keep_best(*sample) for sample in zip(boxes_of(outputs).flatten(1, 2), scores, kinds)]


def train(path, options, device):
    torch.manual_seed(0)
    model = Detector().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    pipeline = training(
        path,
        "mixed" if device == "cuda" else "cpu",
        batch_size=options.batch,
        device_id=0 if device == "cuda" else None,
    )
    batches = DALIGenericIterator(
        pipeline,
        ["images", "boxes", "labels"],
        reader_name="reader",
        auto_reset=True,
        ragged={"boxes": "pad", "labels": "pad"},
    )
    losses, begin = [], time.perf_counter()
    while len(losses) < options.steps:
        for (entry,) in batches:
            loss = loss_of(
                model(entry["images"]), *(entry[k].to(device) for k in ("boxes", "labels", "labels_lengths"))
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) == options.steps:
                break
    rate = options.steps * options.batch / (time.perf_counter() - begin)
    few = max(1, options.steps // 10)
    first, last = np.mean(losses[:few]), np.mean(losses[-few:])
    print(
        f"{options.steps} steps of {options.batch} pictures, {rate:.0f} a second; loss {first:.2f} at first, {last:.2f} at last"
    )
    if not last < 0.7 * first:
        raise SystemExit(f"the loss did not fall: {losses}")
    return model.eval()


def test(path, model, device, batch):
    """Prints how many boxes are found; returns the batch as pictures (N, H, W, 3), and what was found in them."""
    images, boxes, labels = evaluation(path, batch_size=batch).run()
    with torch.no_grad():
        detected = detect(model(images.torch().to(device)).cpu())
    there, right, wrong = compare(
        detected, *([torch.from_numpy(t.numpy()) for t in batch] for batch in (boxes, labels))
    )
    print(f"of {there} things in {len(detected)} other pictures {right} are found, {wrong} of the boxes are wrong")
    pictures = fn.crop_mirror_normalize(
        images, dtype=types.UINT8, output_layout="HWC", mean=[-127.5 / 64] * 3, std=[1 / 64] * 3
    )
    return pictures, detected


def draw(path, model, device, target):
    """Top: training inputs; bottom: what the model finds."""
    from PIL import Image

    images, boxes, labels = training(path, batch_size=6).run()
    seen = fn.crop_mirror_normalize(
        images, dtype=types.UINT8, output_layout="HWC", mean=[-127.5 / 64] * 3, std=[1 / 64] * 3
    )
    rows = [*zip(seen, [b.numpy() for b in boxes], [k.numpy() for k in labels])]
    pictures, detected = test(path, model, device, 12)
    rows += [(p, b.numpy(), k.numpy()) for p, (b, k) in zip(pictures, detected)][:12]
    shapes.sheet([shapes.draw_boxes(Image.fromarray(p.numpy()), b, k, 1.25) for p, b, k in rows], 6, 160).save(
        target, quality=80
    )


def masked_crc(data, table=[]):
    """CRC-32C as TFRecord files have it."""
    if not table:
        values = np.arange(256, dtype=np.uint32)
        for _ in range(8):
            values = np.where(values & 1, values >> 1 ^ 0x82F63B78, values >> 1).astype(np.uint32)
        table.extend(values.tolist())
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def example(features):
    """A tf.train.Example: bytes, lists of whole numbers, lists of floats."""

    def field(number, data):  # of a protocol buffer, with a length in front
        length, head = len(data), bytes([number << 3 | 2])
        while length > 127:
            head, length = head + bytes([length & 127 | 128]), length >> 7
        return head + bytes([length]) + data

    made = b""
    for name, value in features.items():
        if isinstance(value, bytes):
            value = field(1, field(1, value))
        elif isinstance(value[0], float):
            value = field(2, field(1, struct.pack(f"<{len(value)}f", *value)))
        else:
            value = field(3, field(1, bytes(value)))  # each below 128
        made += field(1, field(1, name.encode()) + field(2, value))
    return field(1, made)


def write_records(path, count, seed):
    with open(path, "wb") as file:
        for picture, things in shapes.scenes(count, seed):
            encoded = io.BytesIO()
            picture.save(encoded, "JPEG", quality=90)
            w, h = picture.size
            boxes = [(x / w, y / h, (x + width) / w, (y + height) / h) for _, x, y, width, height in things]
            record = example(
                {
                    "image/encoded": encoded.getvalue(),
                    "image/object/class/label": [thing[0] for thing in things],
                    **{f"image/object/bbox/{side}": [b[k] for b in boxes] for k, side in enumerate(SIDES)},
                }
            )
            length = struct.pack("<Q", len(record))
            file.write(length + masked_crc(length) + record + masked_crc(record))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as folder:
        model = train(options.file or write_records(f"{folder}/training.tfrecord", 96, 1), options, device)
        others = options.file or write_records(f"{folder}/others.tfrecord", 32, 2)
        test(others, model, device, 32)
        if options.picture:
            draw(others, model, device, options.picture)


if __name__ == "__main__":
    main()
