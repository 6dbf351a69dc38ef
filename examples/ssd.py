# SPDX-License-Identifier: Apache-2.0
"""Training a small single-shot detector (SSD, Liu et al., 2016) on annotations of COCO's form.

    python examples/ssd.py [FOLDER ANNOTATIONS.json] [--steps N] [--batch N]

The pipeline does what SSD's training does to pictures and boxes: a random window that keeps the boxes, a flip of both, and for
each anchor the box that it shall find. Without arguments pictures of squares and disks are drawn. With a GPU pictures are decoded
and resized there. Ends with an error where the loss does not fall.
"""
import argparse
import json
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIGenericIterator

SIZE, GRIDS, SIDES = 96, (12, 6), ((0.15, 0.25), (0.35, 0.5))  # cells a side, and the anchors' sides in each cell


def make_anchors():
    """Squares and oblongs around the middle of each cell: (N, 4), left, top, right, bottom."""
    rows = []
    for cells, sides in zip(GRIDS, SIDES):
        for y in range(cells):
            for x in range(cells):
                for side in sides:
                    for stretch in (1.0, 1.4, 1 / 1.4):
                        half = np.array([side * stretch, side / stretch]) / 2
                        middle = (np.array([x, y]) + 0.5) / cells
                        rows.append([*(middle - half), *(middle + half)])
    return np.clip(np.array(rows, np.float32), 0, 1)


ANCHORS = make_anchors()
IN_A_CELL = len(SIDES[0]) * 3


@pipeline_def(num_threads=2, seed=7)
def training(root, annotations, device):
    encoded, boxes, labels = fn.readers.coco(file_root=root, annotations_file=annotations, ratio=True, ltrb=True,
                                             skip_empty=True, random_shuffle=True, name="coco")
    begin, extent, boxes, labels = fn.random_bbox_crop(
        boxes, labels, bbox_layout="xyXY", aspect_ratio=[0.5, 2.0], scaling=[0.4, 1.0], thresholds=[0.0, 0.1, 0.3, 0.5],
        allow_no_crop=True, num_attempts=50)
    flips = fn.random.coin_flip()
    images = fn.decoders.image_slice(encoded, begin, extent, device=device, output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE])
    images = fn.crop_mirror_normalize(images, mirror=flips, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[64.0] * 3)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flips)
    boxes, labels = fn.box_encoder(boxes, labels, anchors=ANCHORS.ravel().tolist(), criteria=0.5, offset=True, scale=float(SIZE),
                                   means=[0.0] * 4, stds=[0.1, 0.1, 0.2, 0.2])
    return images, boxes, labels


class Detector(torch.nn.Module):
    """Two maps of features, each with a head that gives every anchor a class and an offset."""

    def __init__(self, classes):
        super().__init__()
        step = lambda a, b: torch.nn.Sequential(torch.nn.Conv2d(a, b, 3, 2, 1), torch.nn.BatchNorm2d(b), torch.nn.ReLU())
        self.first = torch.nn.Sequential(step(3, 16), step(16, 32), step(32, 48))
        self.second = step(48, 64)
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(n, IN_A_CELL * (4 + classes), 3, padding=1) for n in (48, 64))
        self.classes = classes

    def forward(self, images):
        first = self.first(images)
        maps = (first, self.second(first))
        rows = torch.cat([head(m).permute(0, 2, 3, 1).reshape(len(images), -1, 4 + self.classes) for head, m in zip(self.heads, maps)], 1)
        return rows[..., :4], rows[..., 4:]


def loss_of(offsets, scores, boxes, labels):
    """Smooth L1 of the anchors that have a box; cross entropy of them and of the three times as many worst others."""
    labels = labels.to(scores.device, torch.int64)
    found = labels > 0
    each = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)
    others = each.detach().masked_fill(found, 0).sort(1, descending=True).indices.argsort(1)
    counted = found | (others < 3 * found.sum(1, keepdim=True))
    place = F.smooth_l1_loss(offsets[found], boxes.to(offsets.device)[found], reduction="sum")
    return (place + each[counted].sum()) / found.sum().clamp(min=1)


def draw_pictures(folder, count=48):
    """Bright squares (1) and disks (2) on noise, with annotations as COCO's; returns the annotations' path."""
    from PIL import Image, ImageDraw

    dice, images, annotations = random.Random(1), [], []
    for i in range(count):
        w, h = dice.randint(120, 200), dice.randint(100, 160)
        picture = Image.fromarray(np.random.default_rng(i).integers(0, 90, (h, w, 3), np.uint8))
        for _ in range(dice.randint(1, 3)):
            side = dice.randint(25, 60)
            x, y, kind = dice.randint(0, w - side), dice.randint(0, h - side), dice.choice([1, 2])
            shape = ImageDraw.Draw(picture).rectangle if kind == 1 else ImageDraw.Draw(picture).ellipse
            shape([x, y, x + side - 1, y + side - 1], fill=(250, 220, 60) if kind == 1 else (70, 210, 250))
            annotations.append({"id": len(annotations) + 1, "image_id": i, "category_id": kind, "bbox": [x, y, side, side],
                                "area": side * side, "iscrowd": 0})
        picture.save(folder / f"{i}.jpg", quality=92)
        images.append({"id": i, "file_name": f"{i}.jpg", "width": w, "height": h})
    path = folder / "annotations.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "square"},
                                                                                             {"id": 2, "name": "disk"}]}))
    return path


def train(root, annotations, steps, batch):
    classes = 1 + len(json.loads(Path(annotations).read_text())["categories"])
    gpu = torch.cuda.is_available()
    torch.manual_seed(0)
    model = Detector(classes).to("cuda" if gpu else "cpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    pipeline = training(str(root), str(annotations), "mixed" if gpu else "cpu", batch_size=batch, device_id=0 if gpu else None)
    batches = DALIGenericIterator(pipeline, ["images", "boxes", "labels"], reader_name="coco", auto_reset=True)
    losses, begin = [], time.perf_counter()
    while len(losses) < steps:
        for (entry,) in batches:
            loss = loss_of(*model(entry["images"]), entry["boxes"], entry["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == steps:
                break
    rate = steps * batch / (time.perf_counter() - begin)
    few = max(1, steps // 5)
    first, last = np.mean(losses[:few]), np.mean(losses[-few:])
    print(f"{steps} steps of {batch} pictures, {rate:.0f} a second; {len(ANCHORS)} anchors; loss {first:.2f} at first, {last:.2f} at last")
    assert last < 0.7 * first, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("annotations", nargs="?")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    if options.folder and not options.annotations:
        parser.error("a folder needs the path of its annotations")
    with tempfile.TemporaryDirectory() as made:
        root = Path(options.folder or made)
        train(root, options.annotations or draw_pictures(root), options.steps, options.batch)


if __name__ == "__main__":
    main()
