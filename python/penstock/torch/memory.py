# SPDX-License-Identifier: Apache-2.0
"""Memory that Penstock and torch share."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def to_torch(value: Any) -> Any:
    """Makes a torch tensor over the memory of a Tensor, or of a Batch whose samples have one shape.

    Memory of a GPU is ordered before what torch enqueues on its current stream; it is not freed before what that
    stream has been given by the time the tensor dies. Nothing waits on the host.

    Args:
        value: A Tensor, a Batch, or what penstock.tensor() takes.

    Returns:
        A torch tensor.

    Raises:
        TypeError: The samples differ in shape.

    Example:
        >>> penstock.torch.to_torch(penstock.batch([np.int32([1]), np.int32([2])])).tolist()
        [[1], [2]]
    """
    return value.torch() if isinstance(value, (_core.Batch, _core.Tensor)) else _core.tensor(value).torch()


def use_torch_allocator(device: int | None = None) -> None:
    """Takes the memory of a GPU from the caching allocator of torch, so that both share one pool.

    penstock.set_device_allocator() goes back to the own one of Penstock.

    Args:
        device: The number of the GPU; None: all of them.
    """
    import torch

    def allocate(nbytes, device, stream):
        return torch.cuda.caching_allocator_alloc(nbytes, device, stream)

    def free(address, nbytes, device, stream):
        torch.cuda.caching_allocator_delete(address)

    _core.set_device_allocator(allocate, free, device)
