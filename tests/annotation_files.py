# SPDX-License-Identifier: Apache-2.0
"""Small data sets in each format of annotations, written into a folder."""

import json

import cv2
import numpy as np
import soundfile

SIZES = [(40, 60), (33, 57), (64, 31), (50, 50), (1, 1), (90, 41)]


def images(folder, sizes=SIZES, seed=0):
    """Writes PNG images; returns their names."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{k:03}.png" for k in range(len(sizes))]
    for name, (h, w) in zip(names, sizes):
        cv2.imwrite(str(folder / name), rng.integers(0, 256, (h, w, 3), np.uint8))
    return names


def class_folders(folder, counts):
    """Folders of classes with so many images each."""
    for k, (name, n) in enumerate(counts.items()):
        images(folder / name, [SIZES[(k + j) % 4] for j in range(n)], seed=k)
    return folder


def polygon(rng, h, w, corners):
    """A flat list x, y, x, y ... of any corners, some outside the image, some twice."""
    at = rng.uniform(-0.1, 1.1, (corners, 2)) * [w, h]
    return np.round(np.repeat(at, 1 + (rng.random(corners) < 0.2), axis=0), 2).ravel().tolist()


def coco(folder, segmentations=None, keypoints=3, seed=3):
    """images/ and coco.json with random objects; returns the object that was written."""
    rng = np.random.default_rng(seed)
    names, items = images(folder / "images"), []
    for k, (h, w) in enumerate(SIZES):
        for _ in range(int(rng.integers(0, 4))):
            x, y = rng.uniform(0, 0.5, 2) * [w, h]
            box = [float(v) for v in np.round([x, y, *(rng.uniform(0.2, 0.5, 2) * [w, h])], 2)]
            points = np.c_[rng.uniform(0, 1, (keypoints, 2)) * [w, h], rng.integers(0, 3, keypoints)].ravel()
            item = {"id": len(items) + 1, "image_id": 10 + k, "category_id": int(rng.choice([3, 7, 20])), "bbox": box}
            item |= {"area": box[2] * box[3], "iscrowd": 0, "keypoints": [float(p) for p in points]}
            item["segmentation"] = segmentations(rng, h, w) if segmentations else [polygon(rng, h, w, 5)]
            items.append(item)
    root = {
        "images": [
            {"id": 10 + k, "file_name": n, "height": h, "width": w} for k, (n, (h, w)) in enumerate(zip(names, SIZES))
        ],
        "categories": [{"id": 20, "name": "bus"}, {"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}],
        "annotations": items,
    }
    (folder / "coco.json").write_text(json.dumps(root))
    return root


def recordings(folder, seconds, rate=8000):
    """WAV files of noise; returns their names."""
    rng = np.random.default_rng(5)
    for k, s in enumerate(seconds):
        soundfile.write(str(folder / f"{k}.wav"), rng.uniform(-0.5, 0.5, int(s * rate)), rate)
    return [f"{k}.wav" for k in range(len(seconds))]


def panoptic(folder, seed=4):
    """images/, panoptic.json and panoptic/ with random segments; returns what was written and the maps of numbers."""
    rng = np.random.default_rng(seed)
    names, items, maps = images(folder / "images"), [], []
    (folder / "panoptic").mkdir()
    for k, (h, w) in enumerate(SIZES):
        numbers = rng.choice(np.arange(1, 1 << 24), 4, replace=False)
        ids = np.repeat(np.repeat(rng.choice([0, *numbers], ((h + 7) // 8, (w + 7) // 8)), 8, 0), 8, 1)[:h, :w]
        png = np.stack([ids >> 16, ids >> 8 & 255, ids & 255], -1).astype(np.uint8)  # OpenCV writes BGR
        cv2.imwrite(str(folder / "panoptic" / f"{k}.png"), png)
        segments = []
        for number in np.unique(ids[ids > 0]).tolist():
            y, x = np.nonzero(ids == number)
            box = [x.min(), y.min(), x.max() - x.min() + 1, y.max() - y.min() + 1]
            segment = {"id": number, "category_id": int(rng.choice([3, 7, 20])), "area": int(y.size)}
            segments.append(segment | {"bbox": [int(v) for v in box], "iscrowd": int(rng.random() < 0.2)})
        items.append({"image_id": 10 + k, "file_name": f"{k}.png", "segments_info": segments})
        maps.append(ids)
    root = {
        "images": [
            {"id": 10 + k, "file_name": n, "height": h, "width": w} for k, (n, (h, w)) in enumerate(zip(names, SIZES))
        ],
        "categories": [{"id": k, "name": n, "isthing": int(k > 5)} for k, n in ((20, "bus"), (3, "cat"), (7, "dog"))],
        "annotations": items,
    }
    (folder / "panoptic.json").write_text(json.dumps(root))
    return root, maps
