# SPDX-License-Identifier: Apache-2.0
"""The operator of TensorFlow."""

from __future__ import annotations

import os

import tensorflow as tf

import penstock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load() -> Any:
    """Makes the operator known to TensorFlow in this process, and returns its module.

    Data sets do it by themselves. A process that only receives their graphs, as a worker of the tf.data service, calls
    it once.

    Raises:
        FileNotFoundError: The package was built without the operator.

    Example:
        from penstock.plugin.tf import load
        load()
        tf.data.experimental.service.WorkerServer(config).join()
    """
    version = penstock.__version__.rpartition(".")[0]  # Python takes a file that ends with .so for a module
    path = os.path.join(os.path.dirname(penstock.__file__), f"libpenstock_tf.so.{version}")
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"{path} is missing: this package of Penstock was built without its part for TensorFlow"
        )
    return tf.load_op_library(path)
