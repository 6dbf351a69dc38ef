# SPDX-License-Identifier: Apache-2.0
"""Which rows of a table have wanted values."""

import numpy as np

from .columns import Texts


class Condition:
    """Says of a row whether its columns have wanted values."""

    def __init__(self, table, wanted):
        self.table = table
        self.wanted = {name: self._values(name, value) for name, value in wanted.items()}

    def __call__(self, row):
        return all(self._holds(name, row, values) for name, values in self.wanted.items())

    def _values(self, name, value):
        values = list(value) if isinstance(value, (list, tuple, set)) else [value]
        if name not in ("label", "labels"):
            return values
        number = self.table.class_to_idx
        for v in values:
            if isinstance(v, str) and v not in number:
                raise ValueError(f"there is no class {v!r}: the classes are {', '.join(number) or 'not named'}")
        return [number[v] if isinstance(v, str) else v for v in values]

    def _holds(self, name, row, values):
        if name == "file":
            return self.table.files[row] in values
        column = self.table.columns[name]
        if isinstance(column, Texts):
            return column.text(row) in values
        found = column[row]
        return any(v in values for v in np.ravel(found).tolist())
