# SPDX-License-Identifier: Apache-2.0
"""Training a small single-shot detector (SSD, Liu et al., 2016) on annotations in COCO's format.

    python examples/ssd.py [FOLDER ANNOTATIONS.json] [--steps N] [--batch N] [--picture FILE]

The pipeline does what SSD's training does to pictures and boxes: a random window that keeps the boxes, a flip of both, and for
each anchor the box that it must find. Without arguments, pictures of squares, disks and triangles are drawn. With a GPU pictures
are decoded and resized there. Ends with an error where the loss does not fall.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIGenericIterator

sys.path.append(str(Path(__file__).resolve().parent / "demo"))
import shapes  # noqa: E402
from boxes import compare, keep_best  # noqa: E402

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
STDS = [0.1, 0.1, 0.2, 0.2]  # of the offsets, as SSD divides them


@pipeline_def(num_threads=2, seed=7)
def training(root, annotations, device):
    encoded, boxes, labels = fn.readers.coco(
        file_root=root,
        annotations_file=annotations,
        ratio=True,
        ltrb=True,
        skip_empty=True,
        random_shuffle=True,
        name="coco",
    )
    begin, extent, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        bbox_layout="xyXY",
        aspect_ratio=[0.5, 2.0],
        scaling=[0.4, 1.0],
        thresholds=[0.0, 0.1, 0.3, 0.5],
        allow_no_crop=True,
        num_attempts=50,
    )
    flips = fn.random.coin_flip()
    images = fn.decoders.image_slice(encoded, begin, extent, device=device, output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE])
    images = fn.crop_mirror_normalize(
        images, mirror=flips, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[64.0] * 3
    )
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flips)
    boxes, labels = fn.box_encoder(
        boxes,
        labels,
        anchors=ANCHORS.ravel().tolist(),
        criteria=0.5,
        offset=True,
        scale=float(SIZE),
        means=[0.0] * 4,
        stds=STDS,
    )
    return images, boxes, labels


@pipeline_def(num_threads=2)
def evaluation(root, annotations, device):
    encoded, boxes, labels = fn.readers.coco(
        file_root=root, annotations_file=annotations, ratio=True, ltrb=True, name="coco"
    )
    images = fn.decoders.image(encoded, device=device, output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE])
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[64.0] * 3)
    return images, boxes, labels


class Detector(torch.nn.Module):
    """Two maps of features, each with a head that gives every anchor a class and an offset."""

    def __init__(self, classes):
        super().__init__()
        step = lambda a, b: torch.nn.Sequential(
            torch.nn.Conv2d(a, b, 3, 2, 1), torch.nn.BatchNorm2d(b), torch.nn.ReLU()
        )
        self.first = torch.nn.Sequential(step(3, 16), step(16, 32), step(32, 48))
        self.second = step(48, 64)
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(n, IN_A_CELL * (4 + classes), 3, padding=1) for n in (48, 64))
        self.classes = classes

    def forward(self, images):
        first = self.first(images)
        maps = (first, self.second(first))
        rows = torch.cat(
            [
                head(m).permute(0, 2, 3, 1).reshape(len(images), -1, 4 + self.classes)
                for head, m in zip(self.heads, maps)
            ],
            1,
        )
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


def boxes_of(offsets):
    """The inverse of box_encoder: offsets (..., anchors, 4) of the middles and of the logarithms of the sides."""
    anchors = torch.from_numpy(ANCHORS).to(offsets.device)
    sides, offsets = anchors[:, 2:] - anchors[:, :2], offsets * torch.tensor(STDS, device=offsets.device)
    middle = (anchors[:, :2] + anchors[:, 2:]) / 2 + offsets[..., :2] * sides
    half = sides * offsets[..., 2:].exp() / 2
    return torch.cat([middle - half, middle + half], -1)


def detect(offsets, scores):
    """[(boxes, labels), ...] of a batch."""
    best = scores.softmax(-1)[..., 1:].max(-1)
    return [keep_best(*sample) for sample in zip(boxes_of(offsets), best.values, best.indices + 1)]


def draw_pictures(folder, count=64, seed=1):
    """Squares, disks and triangles with annotations as COCO's; returns the annotations' path."""
    images, annotations = [], []
    for i, (picture, things) in enumerate(shapes.scenes(count, seed)):
        picture.save(folder / f"{seed}_{i}.jpg", quality=92)
        images.append({"id": i, "file_name": f"{seed}_{i}.jpg", "width": picture.width, "height": picture.height})
        annotations += [
            {
                "id": len(annotations) + k + 1,
                "image_id": i,
                "category_id": label,
                "bbox": box,
                "area": box[2] * box[3],
                "iscrowd": 0,
            }
            for k, (label, *box) in enumerate(things)
        ]
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(shapes.KINDS)]
    path = folder / f"annotations{seed}.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return path


def train(root, annotations, steps, batch):
    classes = 1 + len(json.loads(Path(annotations).read_text())["categories"])
    gpu = torch.cuda.is_available()
    torch.manual_seed(0)
    model = Detector(classes).to("cuda" if gpu else "cpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    pipeline = training(
        str(root), str(annotations), "mixed" if gpu else "cpu", batch_size=batch, device_id=0 if gpu else None
    )
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
    print(
        f"{steps} steps of {batch} pictures, {rate:.0f} a second; {len(ANCHORS)} anchors; loss {first:.2f} at first, {last:.2f} at last"
    )
    if not last < 0.7 * first:
        raise SystemExit(f"the loss did not fall: {losses}")
    return model.eval()


def test(root, annotations, model, batch):
    """Prints how many boxes are found; returns the batch as pictures (N, H, W, 3), and what was found in them."""
    device = next(model.parameters()).device
    images, boxes, labels = evaluation(str(root), str(annotations), "cpu", batch_size=batch).run()
    with torch.no_grad():
        detected = detect(*(values.cpu() for values in model(images.torch().to(device))))
    there, right, wrong = compare(
        detected, *([torch.from_numpy(t.numpy()) for t in values] for values in (boxes, labels))
    )
    print(f"of {there} things in {batch} other pictures {right} are found, {wrong} of the boxes are wrong")
    return to_pictures(images), detected


def to_pictures(images):
    return fn.crop_mirror_normalize(
        images, dtype=types.UINT8, output_layout="HWC", mean=[-127.5 / 64] * 3, std=[1 / 64] * 3
    )


def draw(root, trained_on, annotations, model, target):
    """Top: training inputs, with the anchors that have a box, and the boxes; bottom: what the model finds."""
    from PIL import Image, ImageDraw

    images, offsets, labels = training(str(root), str(trained_on), "cpu", batch_size=6).run()
    rows = []
    for picture, each, kinds in zip(to_pictures(images), boxes_of(offsets.torch()), labels.torch()):
        found = kinds > 0
        picture = Image.fromarray(picture.numpy()).resize((160, 160))
        for anchor in ANCHORS[found.numpy()]:
            ImageDraw.Draw(picture).rectangle((anchor * 160).tolist(), outline="#ffffff")
        rows.append(shapes.draw_boxes(picture, each[found].tolist(), kinds[found].tolist()))
    pictures, detected = test(root, annotations, model, 12)
    rows += [
        shapes.draw_boxes(Image.fromarray(p.numpy()), b.tolist(), k.tolist(), 160 / SIZE)
        for p, (b, k) in zip(pictures, detected)
    ]
    shapes.sheet(rows, 6, 160).save(target, quality=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("annotations", nargs="?")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    if options.folder and not options.annotations:
        parser.error("a folder needs the path of its annotations")
    with tempfile.TemporaryDirectory() as made:
        root = Path(options.folder or made)
        trained_on = options.annotations or draw_pictures(root)
        others = options.annotations or draw_pictures(root, 32, 2)
        model = train(root, trained_on, options.steps, options.batch)
        test(root, others, model, 32)
        if options.picture:
            draw(root, trained_on, others, model, options.picture)


if __name__ == "__main__":
    main()
