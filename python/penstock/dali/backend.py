# SPDX-License-Identifier: Apache-2.0
"""The names of nvidia.dali.backend: tensors, and the settings of DALI's memory. Penstock's pools follow the load by
themselves and are shared by all pipelines, so that the latter is accepted without effect."""

from .._tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU

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


def SetDeviceBufferGrowthFactor(factor):
    """Accepted without effect."""


def GetHostBufferShrinkThreshold():
    """DALI's default; buffers follow rules of Penstock's own."""
    return 0.5


def GetHostBufferGrowthFactor():
    """DALI's default; buffers follow rules of Penstock's own."""
    return 1.1


GetDeviceBufferGrowthFactor = GetHostBufferGrowthFactor


def __getattr__(name):
    why = {
        "GetSchema": "the arguments of an operator are in its docstring and its signature",
        "TryGetSchema": "the arguments of an operator are in its docstring and its signature",
        "LoadLibrary": "operators of C++ libraries are built against DALI's own classes and cannot be loaded",
    }
    starts = {
        "Registered": "dir(fn) has the names of the operators",
        "Get": "Penstock uses none of NVIDIA's libraries of this name",
    }
    found = why.get(name) or next((text for start, text in starts.items() if name.startswith(start)), None)
    raise AttributeError(f"Penstock has no nvidia.dali.backend.{name}{f': {found}' if found else ''}")
