# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays."""

from penstock.plugin.numpy import NumpyIterator as Iterator  # noqa: F401


def numpy_of(value):
    return value
