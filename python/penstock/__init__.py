# SPDX-License-Identifier: Apache-2.0
"""Loads, decodes and augments data for training: pipelines, or one operator at a time."""
from . import _core, fn, types
from ._core import Batch, DataError, DeviceWarning, Tensor, batch, per_sample, seed, tensor

__version__ = "0.1.0"
__all__ = ["Batch", "DataError", "DeviceWarning", "Tensor", "batch", "fn", "per_sample", "seed", "tensor", "types"]
