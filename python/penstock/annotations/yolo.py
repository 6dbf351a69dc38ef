# SPDX-License-Identifier: Apache-2.0
"""YOLO: a text file for each image, beside it or in a folder labels, with a line for each object."""

from __future__ import annotations

import os

import numpy as np

from .folders import image_files
from .records import Record, fault, numbers, text_of
from .tables_of_records import table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Table


def yolo(images: str, labels: str | None = None, *, classes: Sequence[str] | str | None = None) -> Table:
    """Reads labels in the text form of YOLO: lines of a class and x center, y center, width, height.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom, as fractions of the image), "labels" (n). An
    image without a text file has no objects. A line of more numbers is a polygon, whose box is taken.

    Args:
        images: The folder of the images.
        labels: The folder of the text files; default: the path of images with its last "images" replaced by
            "labels", or the folder itself if that does not exist.
        classes: Names of the classes, or a text file with one a line; default: the numbers that occur.

    Returns:
        A Table.

    Raises:
        DataError: A file is broken; the text names the file, the line and the cause.

    Example:
        table = penstock.annotations.yolo("coco128/images/train2017", classes="coco.names")
    """
    if labels is None:
        head, found, tail = images.rpartition("images")
        labels = f"{head}labels{tail}" if found and os.path.isdir(f"{head}labels{tail}") else images
    if isinstance(classes, str):
        classes = [line.strip() for line in text_of(classes).splitlines() if line.strip()]
    found = [_record(f, images, labels, classes) for f in image_files(images)]
    if not any(os.path.exists(_text_file(r.file, images, labels)) for r in found):
        raise fault(
            labels, "", f"no image has a text file: expected such as {_text_file(found[0].file, images, labels)}"
        )
    if classes is None:
        last = max((n for r in found for n in r.labels), default=-1)
        classes = [str(k) for k in range(last + 1)]
    for record in found:
        record.labels = [classes[n] for n in record.labels]
    return table_of(found, classes, images)


def _text_file(image, images, labels):
    return os.path.join(labels, os.path.splitext(os.path.relpath(image, images))[0] + ".txt")


def _record(image, images, labels, classes):
    file = _text_file(image, images, labels)
    boxes, numbers_of = [], []
    lines = text_of(file).splitlines() if os.path.exists(file) else []
    for k, line in enumerate(lines, 1):
        if line.strip():
            number, box = _object(line, file, f"line {k}", classes)
            numbers_of.append(number)
            boxes.append(box)
    return Record(image, np.array(boxes, np.float64).reshape(-1, 4), numbers_of)


def _object(line, file, record, classes):
    parts = line.split()
    try:
        number, values = int(parts[0]), [float(p) for p in parts[1:]]
    except ValueError:
        raise fault(file, record, f"expected a class and numbers, got {line!r}") from None
    if not 0 <= number < (1 << 16 if classes is None else len(classes)):
        known = "" if classes is None else f": classes has {len(classes)} names"
        raise fault(file, record, f"there is no class {number}{known}")
    at = numbers(values, file, record, "a box")
    if at.size == 4:
        x, y, w, h = at
        return number, [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
    if at.size < 6 or at.size % 2:
        raise fault(file, record, f"expected 4 numbers of a box or pairs of a polygon, got {at.size}")
    x, y = at[::2], at[1::2]
    return number, [x.min(), y.min(), x.max(), y.max()]
