# SPDX-License-Identifier: Apache-2.0
"""Columns of a table that are not plain arrays."""

import numpy as np


class Ragged:
    """Arrays of one type that differ in length, as one array and the places where each begins."""

    def __init__(self, values, offsets):
        self.values, self.offsets = values, offsets

    @staticmethod
    def of(arrays, dtype=None, shape=()):
        """Ragged of a list of arrays; `dtype` and `shape` are those of the rows where there is none."""
        offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int64)
        filled = [np.asarray(a, dtype) for a in arrays if len(a)]
        return Ragged(np.concatenate(filled) if filled else np.zeros((0, *shape), dtype or np.float32), offsets)

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, row):
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def rows(self, rows):
        """Ragged of some rows."""
        return Ragged.of([self[r] for r in rows], self.values.dtype, self.values.shape[1:])


class Texts(Ragged):
    """Texts as their bytes in UTF-8."""

    @staticmethod
    def of_texts(texts):
        """Texts of a list of str."""
        made = Ragged.of([np.frombuffer(t.encode(), np.uint8) for t in texts], np.uint8)
        return Texts(made.values, made.offsets)

    def text(self, row):
        """The text of a row."""
        return self[row].tobytes().decode()

    def rows(self, rows):
        made = super().rows(rows)
        return Texts(made.values, made.offsets)


class Objects:
    """What is not an array, such as outlines: a list for each row."""

    def __init__(self, lists):
        self.lists = lists

    def __len__(self):
        return len(self.lists)

    def __getitem__(self, row):
        return self.lists[row]

    def rows(self, rows):
        """Objects of some rows."""
        return Objects([self.lists[r] for r in rows])


def column_of(values):
    """Values of all rows as a column."""
    if isinstance(values, (Ragged, Objects, np.ndarray)):
        return values
    if all(isinstance(v, str) for v in values):
        return Texts.of_texts(values)
    if all(np.ndim(v) == 0 for v in values):
        return np.asarray(values)
    return Ragged.of([np.asarray(v) for v in values])
