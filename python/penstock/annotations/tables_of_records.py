# SPDX-License-Identifier: Apache-2.0
"""A Table of the records that a format yields."""

import numpy as np

from ..progress import steps
from .records import fault
from .columns import Objects, Ragged
from .table import Table


def table_of(records, classes, file, keypoints=()):
    """A Table of Records. Classes: the names in their order; None: those that occur, sorted."""
    records = list(steps(records, f"read {file}", unit="image"))
    if not records:
        raise fault(file, "", "no image is listed")
    columns = {}
    if classes is None:
        classes = sorted({name for r in records for name in r.labels if r.labels is not None})
    number = {name: k for k, name in enumerate(classes)}
    if records[0].boxes is not None:
        columns["boxes"] = Ragged.of([r.boxes for r in records], np.float32, (4,))
    if records[0].labels is not None:
        columns["labels"] = Ragged.of([[_number(number, n, r) for n in r.labels] for r in records], np.int64)
    if records[0].masks is not None:
        columns["masks"] = Objects([r.masks for r in records])
    if records[0].points is not None:
        k = max((r.points.shape[1] for r in records if len(r.points)), default=0)
        columns["points"] = Ragged.of([r.points for r in records], np.float32, (k, 3))
    for name in records[0].attributes:
        columns[name] = [r.attributes[name] for r in records]
    return Table([r.file for r in records], columns, classes, keypoints)


def _number(number, name, record):
    if name not in number:
        raise fault(record.file, "", f"the class {name!r} is none of classes: {', '.join(map(str, number))}")
    return number[name]
