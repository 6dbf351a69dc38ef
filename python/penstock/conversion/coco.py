# SPDX-License-Identifier: Apache-2.0
"""COCO's form: pictures in a folder, and a JSON file with their boxes and outlines."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np

from .. import _core, fn
from ..annotations.records import fault, file_below, json_of, numbers, shortened
from .fields import Field, sum_of, the_one
from .reading import Source
from .scaling import boxes_of
from .writing import PictureFiles, PieceOfFile, Target, safe_name

_FILE, _IMAGES, _PARTS = "annotations.json", "images", ".penstock.parts"
FIELDS = [
    Field("image", "image"),
    Field("boxes", "array", "float32", (-1, 4)),
    Field("labels", "array", "int64", (-1,)),
    Field("coco", "json"),
]
_OF_FILE = ("file_name", "height", "width")  # of the picture as it is written


def text_of(root):
    """Returns what the field "coco" holds.

    Args:
        root: An object with "image" and "annotations".
    """
    return json.dumps(root, separators=(",", ":"), sort_keys=True).encode()


class CocoSource(Source):
    """Fields: image; boxes, left, top, right, bottom in pixels; labels, which count the categories in the order of their
    ids; coco, what the file says of the picture and of its objects. Pictures are in the order of the file.
    """

    name = "coco"
    endings = (".json",)

    def open(self):
        """Reads the annotations."""
        file = os.path.join(self.path, _FILE) if os.path.isdir(self.path) else self.path
        root = json_of(file)
        if not isinstance(root, dict):
            raise fault(file, "", "COCO's form is an object with images, annotations and categories")
        lists = {}
        for name in ("images", "annotations", "categories"):
            lists[name] = root.get(name)
            if not isinstance(lists[name], list) or not all(isinstance(item, dict) for item in lists[name]):
                raise fault(file, "", f"{name} must be a list of objects, got {shortened(lists[name])}")
        beside = os.path.join(os.path.dirname(file), _IMAGES)
        folder = self.options.get("images") or (beside if os.path.isdir(beside) else os.path.dirname(file))
        self._file, self._pictures = file, lists["images"]
        self.files = [
            file_below(folder, picture.get("file_name"), file, f"images[{k}]")
            for k, picture in enumerate(self._pictures)
        ]
        if not self.files:
            raise fault(file, "", "it has no images")
        self.fields = list(FIELDS)
        more = {k: v for k, v in root.items() if k not in lists}
        self.about = {"annotations": "coco", "categories": lists["categories"], "more": more}
        self._number = self._numbers(lists["categories"])
        self.about["classes"] = [str(c.get("name", c["id"])) for c in self._by_id]
        self._objects = self._sorted(lists["annotations"])

    def _numbers(self, categories):
        for k, category in enumerate(categories):
            if type(category.get("id")) is not int:
                raise fault(self._file, f"categories[{k}]", "id must be a whole number")
        self._by_id = sorted(categories, key=lambda c: c["id"])
        return {category["id"]: k for k, category in enumerate(self._by_id)}

    def _sorted(self, annotations):
        """The annotations of each picture, with their places in the file."""
        found = {}
        for k, picture in enumerate(self._pictures):
            if type(picture.get("id")) is not int or picture["id"] in found:
                raise fault(self._file, f"images[{k}]", "id must be a whole number that occurs once")
            found[picture["id"]] = []
        for k, item in enumerate(annotations):
            record = f"annotations[{k}] (id {item.get('id')})"
            for name, known in (("image_id", found), ("category_id", self._number)):
                if type(item.get(name)) is not int or item[name] not in known:
                    raise fault(self._file, record, f"{name} {shortened(item.get(name))} is not listed")
            if numbers(item.get("bbox", []), self._file, record, "bbox").size not in (0, 4):
                raise fault(self._file, record, f"bbox must be x, y, width, height, got {shortened(item['bbox'])}")
            found[item["image_id"]].append(item)
        return [found[picture["id"]] for picture in self._pictures]

    def counted(self):
        """Returns the number of pictures."""
        return len(self.files)

    def identity(self):
        """Returns a number that another file of annotations changes."""
        with open(self._file, "rb") as file:
            return sum_of(file.read())

    def stored_fields(self):
        """Returns the picture and its number."""
        return [FIELDS[0], Field("number", "int")]

    def nodes(self):
        """Reads pictures, with their places in the file."""
        return fn.readers.file(files=self.files, labels=list(range(len(self.files))), name="reader")

    def joined(self, values):
        """Adds what the file says of a picture."""
        picture, k = values
        objects = self._objects[k]
        image = {name: value for name, value in self._pictures[k].items() if name not in _OF_FILE}
        made = {
            "image": picture,
            "boxes": boxes_of(objects),
            "labels": np.array([self._number[o["category_id"]] for o in objects], np.int64),
            "coco": text_of({"image": image, "annotations": objects}),
        }
        return [made[field.name] for field in self.fields]

    def record(self, number):
        """Returns the file of a picture."""
        return self.files[number]

    def key(self, number, record):
        """Returns the name of the picture without its ending."""
        return os.path.splitext(os.path.normpath(self._pictures[number]["file_name"]).replace(os.sep, "/"))[0]


class CocoTarget(Target):
    """Pictures below images/, and annotations.json."""

    name = "coco"

    def prepare(self):
        """Needs a picture, and "coco", or boxes and labels."""
        image = the_one(self.fields, "image", "image", self.options.get("image"))
        named = {field.name: k for k, field in enumerate(self.fields)}
        self._coco, self._boxes, self._labels = (named.get(name) for name in ("coco", "boxes", "labels"))
        has_boxes = self._boxes is not None and self.fields[self._boxes].shape == (-1, 4) and self._labels is not None
        if image is None or not (self._coco is not None or has_boxes):
            raise ValueError(
                "COCO's form needs a picture, boxes (n, 4) and labels (n); the fields are "
                f"{', '.join(f'{f.name} ({f})' for f in self.fields)}"
            )
        self._image = self.fields.index(image)
        used = {self._image, self._coco, self._boxes, self._labels}
        left = [f.name for k, f in enumerate(self.fields) if k not in used]
        if left:
            keep = ",".join(f.name for k, f in enumerate(self.fields) if k in used)
            raise ValueError(f"COCO's form cannot hold {', '.join(left)}: only={keep} omits them")
        if self._coco is None and "categories" not in self.about:
            names = self.about.get("classes")
            if names is None:
                raise ValueError("COCO's form needs the names of the classes, which these data do not have")
            self.about["categories"] = [{"id": k, "name": name} for k, name in enumerate(names)]
        self.fields[self._image] = Field("image", "image")
        self._ids = sorted(c["id"] for c in self.about.get("categories", ()))
        self._pictures = PictureFiles(self.folder)

    def resume(self, entries):
        """Knows which files are there."""
        for entry in entries:
            self._pictures.taken.update(entry["files"])

    def _described(self, values, record):
        """What the file says of a picture."""
        if self._coco is not None:
            try:
                root = json.loads(values[self._coco])
                return dict(root["image"]), [dict(item) for item in root["annotations"]]
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise _core.DataError(f"field 'coco' has another form: {error!r} (file: {record})") from None
        boxes, labels = values[self._boxes].astype(float), values[self._labels]
        if len(labels) != len(boxes) or any(not 0 <= label < len(self._ids) for label in labels):
            raise _core.DataError(f"the labels do not fit the boxes or the classes (file: {record})")
        return {}, [
            {
                "category_id": self._ids[label],
                "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]],
                "area": (b[2] - b[0]) * (b[3] - b[1]),
                "iscrowd": 0,
            }
            for b, label in zip(boxes.tolist(), labels.tolist())
        ]

    def write(self, number, samples):
        """Writes pictures, and what the file says of them."""
        files, total, lines = [], 0, []
        for key, values, record in samples:
            picture, key = values[self._image], safe_name(key, record)
            name = self._pictures.write(f"{_IMAGES}/{key}", picture, record)
            height, width = (int(n) for n in fn.peek_image_shape(np.frombuffer(picture, np.uint8))[:2])
            image, objects = self._described(values, record)
            image |= {"file_name": name[len(_IMAGES) + 1 :], "height": height, "width": width}
            lines.append(json.dumps([image, objects], separators=(",", ":")).encode())
            files.append(name)
            total += len(picture)
        with PieceOfFile(self.folder, f"{_PARTS}/{number:06d}") as file:
            file.write(b"\n".join(lines))
        return {"files": files, "bytes": total}

    def finish(self, entries):
        """Writes annotations.json."""
        images, annotations = [], []
        for number in range(len(entries)):
            with open(os.path.join(self.folder, _PARTS, f"{number:06d}"), "rb") as file:
                for line in file:
                    image, objects = json.loads(line)
                    image.setdefault("id", len(images))
                    for item in objects:
                        item.setdefault("id", len(annotations))
                        item["image_id"] = image["id"]
                        annotations.append(item)
                    images.append(image)
        root = {**self.about.get("more", {}), "images": images, "annotations": annotations}
        root["categories"] = self.about.get("categories", [])
        with PieceOfFile(self.folder, _FILE) as file:
            file.write(json.dumps(root, separators=(",", ":")).encode())

    def clean(self):
        """Removes the parts of annotations.json."""
        shutil.rmtree(os.path.join(self.folder, _PARTS), ignore_errors=True)
