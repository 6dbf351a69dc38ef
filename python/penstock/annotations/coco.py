# SPDX-License-Identifier: Apache-2.0
"""COCO: one JSON file with images, categories, boxes, polygons or run lengths, and keypoints; or with segments of PNGs."""

from __future__ import annotations

import numpy as np

from .outlines import Outlines, outline
from .panoptic import Segments, is_panoptic
from .records import Record, fault, file_below, json_of, numbers, shortened, size_of
from .tables_of_records import table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .table import Table


def coco(
    file: str,
    images: str = "",
    *,
    masks: bool = False,
    keypoints: bool = False,
    crowds: bool = False,
    allow_outside: bool = False,
    panoptic: str = "",
) -> Table:
    """Reads annotations in COCO's form, also its panoptic one: a PNG for each image, with segments_info.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom in pixels), "labels" (n), "image_id", "iscrowd"
    (n), "area" (n); with masks=True "masks" and "mask"; with keypoints=True "points" ((n, k, 3): x, y and
    visibility). Images are in the order of their ids. In the panoptic form a row's values are those of its segments,
    and "segment_id" (n) has their numbers in the PNG; a PNG is read when "masks" or "mask" are looked up.

    Args:
        file: The JSON file.
        images: The folder of the images; default: that of the file.
        masks: Also read polygons and run lengths, compressed or not.
        keypoints: Also read keypoints; an object without them has zeros.
        crowds: Also read the annotations of crowds.
        allow_outside: Read images whose names lead out of the folder.
        panoptic: The folder of the PNGs of the panoptic form; default: the name of the file without .json.

    Returns:
        A Table. Its classes are the names of the categories, in the order of their ids; its keypoints are the
        names that the categories give, if all of them give the same.

    Raises:
        DataError: The file is broken; the text names the annotation and the cause.

    Example:
        table = penstock.annotations.coco("instances_val2017.json", "val2017", masks=True)
        print(table.classes, table.row(0))
    """
    root = json_of(file)
    if not isinstance(root, dict):
        raise fault(file, "", "COCO's form is an object with images, annotations and categories")
    classes = _by_id(root, "categories", file)
    pictures = _by_id(root, "images", file)
    names = [_name(classes[k], k, file) for k in sorted(classes)]
    number = {k: i for i, k in enumerate(sorted(classes))}
    objects = {k: [] for k in pictures}
    annotations, segments = _list(root, "annotations", file), None
    if is_panoptic(annotations):
        segments = Segments(file, panoptic, annotations)
        annotations = segments.objects
    for k, item in enumerate(annotations):
        _sort_in(item, k, objects, number, crowds, file)
    folder = images if images else _folder(file)
    reading = _Reading(file, folder, names, number, masks, keypoints, allow_outside, segments)
    points = _keypoint_names(classes, file) if keypoints else ()
    return table_of((reading.record(pictures[k], k, objects[k]) for k in sorted(pictures)), names, file, points)


def _folder(file):
    return file.replace("\\", "/").rpartition("/")[0]


def _list(root, name, file):
    items = root.get(name)
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        raise fault(file, "", f"{name} must be a list of objects, got {shortened(items)}")
    return items


def _by_id(root, name, file):
    found = {}
    for k, item in enumerate(_list(root, name, file)):
        number = item.get("id")
        if not isinstance(number, int) or isinstance(number, bool) or abs(number) >= 1 << 62:
            raise fault(file, f"{name}[{k}]", f"id must be a whole number, got {shortened(number)}")
        if number in found:
            raise fault(file, f"{name}[{k}]", f"the id {number} occurs twice")
        found[number] = item
    return found


def _name(category, number, file):
    name = category.get("name", str(number))
    if not isinstance(name, str):
        raise fault(file, f"category {number}", f"name must be a text, got {shortened(name)}")
    return name


def _keypoint_names(classes, file):
    """The names of the keypoints, if all categories that have some agree."""
    lists = [classes[k]["keypoints"] for k in sorted(classes) if classes[k].get("keypoints")]
    for names in lists:
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise fault(file, "categories", f"keypoints must be a list of names, got {shortened(names)}")
    return lists[0] if lists and all(names == lists[0] for names in lists) else ()


def _sort_in(item, k, objects, number, crowds, file):
    record = f"annotations[{k}] (id {item.get('id')})"
    for key, known in (("image_id", objects), ("category_id", number)):
        if not isinstance(item.get(key), int) or item[key] not in known:
            raise fault(file, record, f"{key} {shortened(item.get(key))} is not listed")
    if crowds or not item.get("iscrowd"):
        objects[item["image_id"]].append((record, item))


class _Reading:
    def __init__(self, file, folder, names, number, masks, keypoints, outside, segments):
        self.file, self.folder, self.names, self.number = file, folder, names, number
        self.masks, self.keypoints, self.outside, self.segments = masks, keypoints, outside, segments

    def record(self, picture, number, objects):
        """The Record of an image."""
        where = f"image {number}"
        file = file_below(self.folder, picture.get("file_name"), self.file, where, self.outside)
        record = Record(file, self.boxes(objects), [self.names[self.number[o["category_id"]]] for _, o in objects])
        record.attributes = {
            "image_id": number,
            "iscrowd": np.array([bool(o.get("iscrowd")) for _, o in objects], bool),
            "area": np.array([self.area(r, o) for r, o in objects], np.float32),
        }
        if self.segments:
            record.attributes["segment_id"] = np.array([o["id"] for _, o in objects], np.int64)
        if self.masks and self.segments:
            record.masks = self.segments.outlines(picture, number, [o for _, o in objects], self.outside)
        elif self.masks:
            size = size_of(picture.get("height"), picture.get("width"), self.file, where)
            record.masks = Outlines(*size, [outline(o.get("segmentation"), *size, self.file, r) for r, o in objects])
        if self.keypoints:
            record.points = self.points(objects)
        return record

    def area(self, record, item):
        """The area, 0 if it is not given."""
        area = item.get("area", 0)
        return (
            area
            if isinstance(area, (int, float)) and 0 <= area < 1e30
            else numbers([area], self.file, record, "area")[0]
        )

    def boxes(self, objects):
        """(n, 4) left, top, right, bottom."""
        made = np.zeros((len(objects), 4), np.float64)
        for k, (record, item) in enumerate(objects):
            box = numbers(item.get("bbox"), self.file, record, "bbox")
            if box.size != 4 or box[2] < 0 or box[3] < 0:
                raise fault(self.file, record, f"bbox must be x, y, width, height, got {shortened(item['bbox'])}")
            made[k] = box
        made[:, 2:] += made[:, :2]
        return made

    def points(self, objects):
        """(n, k, 3), the same k in all objects."""
        lists = [(r, numbers(o.get("keypoints") or [], self.file, r, "keypoints", 3)) for r, o in objects]
        k = max((p.size for _, p in lists), default=0)
        for record, points in lists:
            if points.size not in (0, k):
                raise fault(self.file, record, f"{points.size // 3} keypoints, other objects have {k // 3}")
        return np.array([p if p.size else np.zeros(k) for _, p in lists]).reshape(len(lists), k // 3, 3)
