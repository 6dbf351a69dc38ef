# SPDX-License-Identifier: Apache-2.0
"""Batches as jax.Array, and functions of JAX in pipelines; docs/how_to/train_with_jax.md shows them at work.

JAX is imported at the first batch or call.
"""

from . import fn
from .function import jax_function
from .iterator import DALIGenericIterator, LastBatchPolicy
from .iterator_of_function import data_iterator

__all__ = ["DALIGenericIterator", "LastBatchPolicy", "data_iterator", "jax_function"]
