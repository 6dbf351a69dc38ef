# SPDX-License-Identifier: Apache-2.0
"""torch tensors."""

from penstock.plugin.pytorch import DALIGenericIterator as Iterator  # noqa: F401


def numpy_of(value):
    return value.numpy()
