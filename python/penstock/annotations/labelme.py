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


def labelme(folder: str, *, classes: Sequence[str] | None = None, allow_outside: bool = False) -> Table:
    """Reads annotations of LabelMe: shapes that are polygons, rectangles or circles.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom in pixels), "labels" (n), "masks" and "mask".

    Args:
        folder: The folder of the JSON files; images are named in relation to it.
        classes: Names of the classes in their order; default: those that occur, sorted.
        allow_outside: Read images whose names lead out of the folder.

    Returns:
        A Table.

    Raises:
        DataError: A file is broken; the text names the file, the shape and the cause.

    Example:
        table = penstock.annotations.labelme("annotated")
    """
    files = sorted(f for f in os.listdir(folder) if f.endswith(".json"))
    return table_of((_record(os.path.join(folder, f), folder, allow_outside) for f in files), classes, folder)


def _record(file, folder, outside):
    root = json_of(file)
    shapes = root.get("shapes") if isinstance(root, dict) else None
    if not isinstance(shapes, list) or not all(isinstance(s, dict) for s in shapes):
        raise fault(file, "", f"LabelMe's form has a list of shapes, got {shortened(shapes)}")
    size = size_of(root.get("imageHeight"), root.get("imageWidth"), file, "")
    polygons = [_polygon(s, file, f"shape {k}") for k, s in enumerate(shapes)]
    for k, shape in enumerate(shapes):
        if not isinstance(shape.get("label"), str):
            raise fault(file, f"shape {k}", f"label must be a text, got {shortened(shape.get('label'))}")
    boxes = [[*p.min(0), *p.max(0)] for p in polygons]
    outlines = [Outline(*size, [p.ravel()]) for p in polygons]
    image = file_below(folder, root.get("imagePath"), file, "", outside)
    made = Record(image, np.array(boxes, np.float64).reshape(-1, 4), [s["label"] for s in shapes])
    made.masks = Outlines(*size, outlines)
    return made


def _polygon(shape, file, record):
    kind, points = shape.get("shape_type", "polygon"), shape.get("points")
    if not isinstance(points, list) or not all(isinstance(p, list) and len(p) == 2 for p in points):
        raise fault(file, record, f"points must be pairs, got {shortened(points)}")
    at = numbers([v for p in points for v in p], file, record, "points").reshape(-1, 2)
    if (abs(at) > 1e6).any():
        raise fault(file, record, "a point lies far out of the image")
    needed = {"polygon": 3, "rectangle": 2, "circle": 2}
    if kind not in needed:
        raise fault(file, record, f"shape_type {kind!r} is none of {', '.join(needed)}")
    if len(at) < 3 if kind == "polygon" else len(at) != 2:
        raise fault(file, record, f"a {kind} needs {needed[kind]} points, got {len(at)}")
    if kind == "rectangle":
        (x0, y0), (x1, y1) = at.min(0), at.max(0)
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    if kind == "circle":
        angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
        return at[0] + np.hypot(*(at[1] - at[0])) * np.stack([np.cos(angles), np.sin(angles)], 1)
    return at
