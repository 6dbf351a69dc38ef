# SPDX-License-Identifier: Apache-2.0
"""What a pipeline calls with the numbers of a batch's rows."""

import numpy as np

from .._core import DataError

LARGEST_BATCH = 1 << 31  # bytes of the masks of one image


class Lookup:
    """Gives the values of columns for the rows of a batch: one call for a batch, not one for each sample."""

    __name__ = "look_up"

    def __init__(self, table, names):
        self.table, self.names = table, names

    def __call__(self, rows):
        rows = [int(np.asarray(r).reshape(())) for r in rows]
        made = tuple([self.value(name, r) for r in rows] for name in self.names)
        return made if len(made) > 1 else made[0]

    def value(self, name, row):
        """The value of one row, as an array."""
        table = self.table
        if name == "file":
            return np.frombuffer(table.files[row].encode(), np.uint8)
        if name == "mask" and name not in table.columns:
            return label_map(table.columns["masks"][row].in_pixels(), table.columns["labels"][row])
        value = table.columns[name][row]
        if name == "masks":
            return instance_masks(value.in_pixels())
        return np.asarray(value)


def instance_masks(outlines):
    """(n, H, W) uint8 of an Outlines."""
    if len(outlines) * outlines.height * outlines.width > LARGEST_BATCH:
        raise DataError(
            f"the masks of {len(outlines)} objects in {outlines.height} x {outlines.width} pixels are too large; "
            "'mask' is one map of all"
        )
    made = np.zeros((len(outlines), outlines.height, outlines.width), np.uint8)
    for k, outline in enumerate(outlines.items):
        made[k] = outline.mask()
    return made


def label_map(outlines, labels):
    """(H, W, 1) int32: the label plus 1."""
    made = np.zeros((outlines.height, outlines.width, 1), np.int32)
    for outline, label in zip(outlines.items, labels):
        made[outline.mask() != 0] = int(label) + 1
    return made
