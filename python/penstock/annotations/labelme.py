# SPDX-License-Identifier: Apache-2.0
"""LabelMe: a JSON file for each image, with shapes."""

from __future__ import annotations

import os

import numpy as np

from .outlines import Outline, Outlines
from .records import Record, fault, file_below, json_of, numbers, shortened, size_of
from .tables_of_records import table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Table


def labelme(
    folder: str, *, classes: Sequence[str] | None = None, keypoints: Sequence[str] = (), allow_outside: bool = False
) -> Table:
    """Reads annotations of LabelMe: polygons, rectangles and circles, and points as keypoints.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom in pixels), "labels" (n), "masks" and "mask"; with
    keypoints "points" ((n, k, 3): x, y and 2, or zeros where an object has no such point).

    Args:
        folder: The folder of the JSON files; images are named in relation to it.
        classes: Names of the classes in their order; default: those that occur, sorted.
        keypoints: The labels of points that are keypoints, in their order. A point belongs to the object with its
            group_id, without one to the only object around it.
        allow_outside: Read images whose names lead out of the folder.

    Returns:
        A Table.

    Raises:
        DataError: A file is broken; the text names the file, the shape and the cause.

    Example:
        table = penstock.annotations.labelme("annotated")
    """
    files = sorted(f for f in os.listdir(folder) if f.endswith(".json"))
    names = list(keypoints)
    records = (_record(os.path.join(folder, f), folder, names, allow_outside) for f in files)
    return table_of(records, classes, folder, names)


def _record(file, folder, names, outside):
    root = json_of(file)
    shapes = root.get("shapes") if isinstance(root, dict) else None
    if not isinstance(shapes, list) or not all(isinstance(s, dict) for s in shapes):
        raise fault(file, "", f"LabelMe's form has a list of shapes, got {shortened(shapes)}")
    size = size_of(root.get("imageHeight"), root.get("imageWidth"), file, "")
    for k, shape in enumerate(shapes):
        if not isinstance(shape.get("label"), str):
            raise fault(file, f"shape {k}", f"label must be a text, got {shortened(shape.get('label'))}")
    objects = [(k, s) for k, s in enumerate(shapes) if not (names and s.get("shape_type") == "point")]
    polygons = [_polygon(s, file, f"shape {k}") for k, s in objects]
    boxes = [[*p.min(0), *p.max(0)] for p in polygons]
    image = file_below(folder, root.get("imagePath"), file, "", outside)
    made = Record(image, np.array(boxes, np.float64).reshape(-1, 4), [s["label"] for _, s in objects])
    made.masks = Outlines(*size, [Outline(*size, [p.ravel()]) for p in polygons])
    if names:
        made.points = _keypoints(shapes, [s for _, s in objects], made.boxes, names, file)
    return made


def _keypoints(shapes, objects, boxes, names, file):
    """(n, k, 3) of the points in the groups of objects."""
    made = np.zeros((len(objects), len(names), 3))
    for k, shape in enumerate(shapes):
        if shape.get("shape_type") != "point":
            continue
        if shape["label"] not in names:
            raise fault(file, f"shape {k}", f"the point {shape['label']!r} is none of keypoints: {', '.join(names)}")
        at = _positions(shape, file, f"shape {k}")
        if len(at) != 1:
            raise fault(file, f"shape {k}", f"a point has one position, got {len(at)}")
        row = _object_of(shape, at[0], objects, boxes)
        if row is None:
            cause = f"it is not clear whose {shape['label']!r} this is: give the point and its object one group_id"
            raise fault(file, f"shape {k}", cause)
        made[row, names.index(shape["label"])] = [*at[0], 2]
    return made


def _object_of(shape, at, objects, boxes):
    """The number of the object in a point's group, or of the only one around a point without a group."""
    group = shape.get("group_id")
    if group is not None:
        rows = [k for k, o in enumerate(objects) if o.get("group_id") == group]
    else:
        rows = [k for k, b in enumerate(boxes) if (b[:2] <= at).all() and (at <= b[2:]).all()]
    return rows[0] if len(rows) == 1 else None


def _positions(shape, file, record):
    points = shape.get("points")
    if not isinstance(points, list) or not all(isinstance(p, list) and len(p) == 2 for p in points):
        raise fault(file, record, f"points must be pairs, got {shortened(points)}")
    at = numbers([v for p in points for v in p], file, record, "points").reshape(-1, 2)
    if (abs(at) > 1e6).any():
        raise fault(file, record, "a point lies far out of the image")
    return at


def _polygon(shape, file, record):
    kind, at = shape.get("shape_type", "polygon"), _positions(shape, file, record)
    needed = {"polygon": 3, "rectangle": 2, "circle": 2}
    if kind == "point":
        raise fault(file, record, "a point is not an object: keypoints= names the points that belong to objects")
    if kind not in needed:
        raise fault(file, record, f"shape_type {kind!r} is none of {', '.join(needed)}")
    corners = kind == "rectangle" and len(at) == 4  # as other tools write LabelMe's form
    if len(at) < 3 if kind == "polygon" else len(at) != 2 and not corners:
        raise fault(file, record, f"a {kind} needs {needed[kind]} points, got {len(at)}")
    if kind == "rectangle":
        (x0, y0), (x1, y1) = at.min(0), at.max(0)
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    if kind == "circle":
        angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
        return at[0] + np.hypot(*(at[1] - at[0])) * np.stack([np.cos(angles), np.sin(angles)], 1)
    return at
