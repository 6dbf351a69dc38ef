# SPDX-License-Identifier: Apache-2.0
"""Tensor and Batch by the names that scripts for DALI use."""
from ._core import Batch as TensorListCPU
from ._core import Tensor as TensorCPU

__all__ = ["TensorCPU", "TensorListCPU"]
