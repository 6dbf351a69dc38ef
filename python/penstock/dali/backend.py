# SPDX-License-Identifier: Apache-2.0
"""The names of nvidia.dali.backend: tensors, and the settings of DALI's memory. Penstock's pools follow the load by
themselves and are shared by all pipelines, so that the latter is accepted without effect."""

from ..tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

__all__ = [
    "PreallocateDeviceMemory",
    "PreallocatePinnedMemory",
    "ReleaseUnusedMemory",
    "SetHostBufferGrowthFactor",
    "SetHostBufferShrinkThreshold",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
]


def ReleaseUnusedMemory():
    """Accepted without effect."""


def PreallocateDeviceMemory(bytes, device_id=-1):
    """Accepted without effect."""


def PreallocatePinnedMemory(bytes):
    """Accepted without effect."""


def SetHostBufferShrinkThreshold(ratio):
    """Accepted without effect."""


def SetHostBufferGrowthFactor(factor):
    """Accepted without effect."""
