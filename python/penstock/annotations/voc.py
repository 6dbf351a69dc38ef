# SPDX-License-Identifier: Apache-2.0
"""Pascal VOC: an XML file for each image."""

from __future__ import annotations

import os
import re
from xml.etree import ElementTree

import numpy as np

from .records import Record, fault, file_below, numbers, text_of
from .tables_of_records import table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Table


def voc(
    annotations: str, images: str | None = None, *, classes: Sequence[str] | None = None, allow_outside: bool = False
) -> Table:
    """Reads annotations of Pascal VOC.

    Columns: "boxes" ((n, 4) float32, left, top, right, bottom in pixels; the outer corners of VOC's first and
    last pixels, which count from 1), "labels" (n), "difficult" (n), "truncated" (n).

    Args:
        annotations: The folder of the XML files.
        images: The folder of the images; default: JPEGImages beside the folder.
        classes: Names of the classes in their order; default: those that occur, sorted.
        allow_outside: Read images whose names lead out of the folder.

    Returns:
        A Table.

    Raises:
        DataError: A file is broken; the text names the file, the object and the cause.

    Example:
        table = penstock.annotations.voc("VOC2012/Annotations")
    """
    images = os.path.join(os.path.dirname(os.path.normpath(annotations)), "JPEGImages") if images is None else images
    files = sorted(f for f in os.listdir(annotations) if f.endswith(".xml"))
    return table_of((_record(os.path.join(annotations, f), images, allow_outside) for f in files), classes, annotations)


def _record(file, images, outside):
    text = text_of(file)
    if re.search("<!(DOCTYPE|ENTITY)", text):
        raise fault(file, "", "the file declares entities, which an annotation has no use for")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise fault(file, f"line {error.position[0]}", f"the file is not XML: {error}") from None
    items = root.findall("object")
    made = Record(file_below(images, root.findtext("filename"), file, "", outside))
    made.boxes = np.array([_box(o, file, f"object {k}") for k, o in enumerate(items)]).reshape(-1, 4)
    made.labels = [_text(o, "name", file, f"object {k}") for k, o in enumerate(items)]
    made.attributes = {n: np.array([o.findtext(n) == "1" for o in items], bool) for n in ("difficult", "truncated")}
    return made


def _text(item, name, file, record):
    text = item.findtext(name)
    if not text:
        raise fault(file, record, f"<{name}> is missing")
    return text.strip()


def _box(item, file, record):
    values = [_text(item, f"bndbox/{n}", file, record) for n in ("xmin", "ymin", "xmax", "ymax")]
    try:
        box = numbers([float(v) for v in values], file, record, "bndbox")
    except ValueError:
        raise fault(file, record, f"bndbox must be four numbers, got {values}") from None
    if box[0] > box[2] or box[1] > box[3]:
        raise fault(file, record, f"bndbox ends before it begins: {values}")
    return box - [1, 1, 0, 0]
