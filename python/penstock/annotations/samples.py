# SPDX-License-Identifier: Apache-2.0
"""The rows of a table as a data set: what fn.readers.dataset and fn.readers.packed read."""

import numpy as np

from .columns import Objects, Ragged


class Samples:
    """A data set whose sample k is a dict of columns of row k, or what a function makes of that row."""

    def __init__(self, table, names, load):
        self.table, self.names, self.load = table, names, load

    def __len__(self):
        return len(self.table)

    def __getitem__(self, key):
        """A sample by its number; by the name of a column, a number for each row: lengths, where rows are lists."""
        if isinstance(key, str):
            return self._lengths(key)
        row = self.table.row(int(key))
        if self.load is not None:
            return self.load(row)
        return {name: np.asarray(row[name]) for name in self.names}

    def _lengths(self, name):
        self.table.check([name])
        column = None if name == "file" else self.table.columns[name]
        if isinstance(column, Ragged):
            return np.diff(column.offsets)
        if column is None or isinstance(column, Objects) or column.dtype.kind not in "iuf":
            raise TypeError(f"the column '{name}' has neither numbers nor lists")
        return column
