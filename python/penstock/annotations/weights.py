# SPDX-License-Identifier: Apache-2.0
"""Rows that are drawn by weights."""

import numpy as np


class WeightedRows:
    """Turns numbers from 0 to 1 into rows, each as often as its weight says."""

    __name__ = "weighted_rows"

    def __init__(self, weights):
        self.ends = np.cumsum(weights) / np.sum(weights)
        self.last = int(np.flatnonzero(weights)[-1])  # a sum may round to less than 1

    def __call__(self, places, drawn):
        """The rows of a batch; `places` only say how many samples the reader has for it."""
        pairs = np.array([np.asarray(d) for d in drawn], np.float64).reshape(len(places), 2)
        rows = np.searchsorted(self.ends, pairs[:, 0] + pairs[:, 1] * 2.0**-24, side="right")
        return [np.array(r, np.int32) for r in np.minimum(rows, self.last)]


def weights_of_rows(table, weights):
    """A float64 for each row of a table."""
    if isinstance(weights, str) or isinstance(weights, dict):
        if "label" not in table.columns:
            raise ValueError("weights of classes need a column 'label'; give a number for each row")
        labels = np.asarray(table.columns["label"])
        weights = _of_classes(table, labels, weights)[labels]
    weights = np.asarray(weights, np.float64)
    if weights.shape != (len(table),):
        raise ValueError(f"weights must have one number for each of {len(table)} rows, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError("weights must be finite, not negative and not all 0")
    return weights


def _of_classes(table, labels, weights):
    if weights == "balanced":
        return 1 / np.maximum(1, np.bincount(labels, minlength=len(table.classes)))
    if isinstance(weights, str):
        raise ValueError(f"weights must be 'balanced', a dict of classes or a number for each row, got {weights!r}")
    if set(weights) != set(table.classes):
        raise ValueError(
            f"weights must name all classes: {', '.join(table.classes)}; got {', '.join(map(str, weights))}"
        )
    return np.array([weights[name] for name in table.classes], np.float64)
