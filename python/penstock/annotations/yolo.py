# SPDX-License-Identifier: Apache-2.0
"""YOLO: a text file for each image, beside it or in a folder labels, with a line for each object."""

from __future__ import annotations

import os

import numpy as np

from .folders import image_files
from .outlines import FractionOutlines
from .records import Record, fault, numbers, text_of
from .tables_of_records import table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Table


def yolo(
    images: str,
    labels: str | None = None,
    *,
    classes: Sequence[str] | str | None = None,
    masks: bool = False,
    keypoints: Sequence[int] | None = None,
) -> Table:
    """Reads labels in the text form of YOLO: lines of a class and x center, y center, width, height.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom, as fractions of the image), "labels" (n). An
    image without a text file has no objects. A line of more numbers is a polygon, whose box is taken; with
    masks=True it is drawn in "masks" and "mask", and so is a box where there is no polygon. With keypoints
    "points" ((n, k, 3): x and y as fractions of the image, and the visibility).

    Args:
        images: The folder of the images.
        labels: The folder of the text files; default: the path of images with its last "images" replaced by
            "labels", or the folder itself if that does not exist.
        classes: Names of the classes, or a text file with one a line, or YOLO's data.yaml, of which `names` are taken;
            default: the numbers that occur.
        masks: Also read the polygons, as masks.
        keypoints: (k, 2) or (k, 3), YOLO's kpt_shape: after its box a line has k points of x, y and, with 3, a
            visibility. With 2 it is 2, and 0 for a point at (0, 0).

    Returns:
        A Table.

    Raises:
        DataError: A file is broken; the text names the file, the line and the cause.
        ImportError: classes is a YAML file and PyYAML is not installed.
        ValueError: keypoints are not such a pair, or masks and keypoints are both asked for.

    Example:
        table = penstock.annotations.yolo("coco128/images/train2017", classes="coco.names")
    """
    shape = None if keypoints is None else _checked(keypoints, masks)
    if labels is None:
        head, found, tail = images.rpartition("images")
        labels = f"{head}labels{tail}" if found and os.path.isdir(f"{head}labels{tail}") else images
    if isinstance(classes, str):
        classes = _classes_of(classes)
    found = [_record(f, images, labels, classes, masks, shape) for f in image_files(images)]
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


def _classes_of(file):
    """The names of the classes that a file lists."""
    if os.path.splitext(file)[1].lower() not in (".yaml", ".yml"):
        return [line.strip() for line in text_of(file).splitlines() if line.strip()]
    try:
        import yaml
    except ImportError:
        raise ImportError(f"reading {file} needs PyYAML: pip install pyyaml") from None
    try:
        root = yaml.safe_load(text_of(file))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise fault(file, "", f"the file is not YAML: {' '.join(str(error).split())}") from None
    names = root.get("names") if isinstance(root, dict) else None
    if isinstance(names, dict):
        if sorted(map(str, names)) != sorted(map(str, range(len(names)))):
            raise fault(file, "names", f"the classes must be numbered from 0 to {len(names) - 1}")
        names = [names[k] for k in range(len(names))]
    if not isinstance(names, list) or not names or not all(isinstance(n, (str, int, float)) for n in names):
        raise fault(file, "names", f"expected a list of the classes, got {type(names).__name__}")
    return [str(n) for n in names]


def _text_file(image, images, labels):
    return os.path.join(labels, os.path.splitext(os.path.relpath(image, images))[0] + ".txt")


def _checked(keypoints, masks):
    shape = tuple(keypoints) if isinstance(keypoints, (list, tuple)) else (keypoints,)
    if len(shape) != 2 or not all(isinstance(n, int) for n in shape) or shape[0] < 1 or shape[1] not in (2, 3):
        raise ValueError(f"keypoints must be (k, 2) or (k, 3), as kpt_shape of YOLO, got {keypoints!r}")
    if masks:
        raise ValueError("YOLO's lines hold polygons or keypoints, not both: give masks or keypoints")
    return shape


def _record(image, images, labels, classes, masks, keypoints):
    file = _text_file(image, images, labels)
    lines = text_of(file).splitlines() if os.path.exists(file) else []
    objects = [_object(line, file, f"line {k}", classes, keypoints) for k, line in enumerate(lines, 1) if line.strip()]
    boxes = np.array([box for _, box, _ in objects], np.float64).reshape(-1, 4)
    made = Record(image, boxes, [number for number, _, _ in objects])
    if masks:
        made.masks = FractionOutlines(image, [_corners(box) if p is None else p for _, box, p in objects])
    if keypoints is not None:
        made.points = np.array([p for _, _, p in objects], np.float64).reshape(len(objects), keypoints[0], 3)
    return made


def _corners(box):
    left, top, right, bottom = box
    return np.array([left, top, right, top, right, bottom, left, bottom])


def _object(line, file, record, classes, keypoints):
    """(class, box, flat polygon or keypoints or None)"""
    parts = line.split()
    try:
        number, values = int(parts[0]), [float(p) for p in parts[1:]]
    except ValueError:
        raise fault(file, record, f"expected a class and numbers, got {line!r}") from None
    if not 0 <= number < (1 << 16 if classes is None else len(classes)):
        known = "" if classes is None else f": classes has {len(classes)} names"
        raise fault(file, record, f"there is no class {number}{known}")
    at = numbers(values, file, record, "a box")
    if keypoints is not None:
        return number, _box(at[:4], file, record), _keypoints(at, keypoints, file, record)
    if at.size == 4:
        return number, _box(at, file, record), None
    if at.size < 6 or at.size % 2:
        raise fault(file, record, f"expected 4 numbers of a box or pairs of a polygon, got {at.size}")
    if (abs(at) > 8).any():
        raise fault(file, record, "the polygon leads far out of its image: its numbers are fractions of it")
    x, y = at[::2], at[1::2]
    return number, [x.min(), y.min(), x.max(), y.max()], at


def _box(at, file, record):
    if (abs(at) > 8).any():
        raise fault(file, record, "the box leads far out of its image: its numbers are fractions of it")
    x, y, w, h = at
    if w < 0 or h < 0:
        raise fault(file, record, f"a box has the width {w:g} and the height {h:g}")
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


def _keypoints(at, shape, file, record):
    count, numbers_each = shape
    if at.size != 4 + count * numbers_each:
        wanted = f"4 numbers of a box and {count} x {numbers_each} of keypoints"
        raise fault(file, record, f"expected {wanted}, got {at.size}")
    points = at[4:].reshape(shape)
    if numbers_each == 3:
        return points
    return np.concatenate([points, 2.0 * points.any(1, keepdims=True)], 1)
