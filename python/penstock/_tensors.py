# SPDX-License-Identifier: Apache-2.0
"""Tensor and Batch by the names that scripts for DALI use."""

from ._core import Batch as TensorListCPU
from ._core import Tensor as TensorCPU


class _OnGpu(type):
    """isinstance() asks where the memory lies: one class stands for both places."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls._host) and value.device_type == "gpu"

    def __call__(cls, data, layout="", device_id=0):
        value = cls._host(data, layout)
        return value if value.device_type == "gpu" else value.gpu(device_id)


class TensorGPU(metaclass=_OnGpu):
    """Makes a Tensor on a GPU.

    The call takes (data, layout="", device_id=0) and copies what lies on the host.
    """

    _host = TensorCPU


class TensorListGPU(metaclass=_OnGpu):
    """Makes a Batch on a GPU.

    The call takes (data, layout="", device_id=0) and copies what lies on the host.
    """

    _host = TensorListCPU


__all__ = ["TensorCPU", "TensorGPU", "TensorListCPU", "TensorListGPU"]
