# SPDX-License-Identifier: Apache-2.0
"""A loader for PyTorch's training loops, and memory that both share."""

from .._base.public import public
from .loader import DataLoader
from .memory import to_torch, use_torch_allocator

__all__ = ["DataLoader", "to_torch", "use_torch_allocator"]
public(__name__, DataLoader, to_torch, use_torch_allocator)
