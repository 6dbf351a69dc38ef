# SPDX-License-Identifier: Apache-2.0
"""What a loader makes of batches: tensors of torch, or arrays of NumPy where torch is not installed."""

import numpy as np


class TorchArrays:
    """Tensors of torch over the memory of the pipeline."""

    def of(self, value):
        """A tensor of a Batch whose samples have one shape, or of a Tensor."""
        return value.torch()

    def extents(self, shape, values, like):
        """int64 of this shape, where `like` is."""
        import torch

        return torch.tensor(values, dtype=torch.int64, device=like.device).reshape(shape)

    def is_of_integers(self, tensor):
        """Whether a tensor may hold the numbers of classes."""
        kind = tensor.dtype
        return not (kind.is_floating_point or kind.is_complex or str(kind) == "torch.bool")

    def as_labels(self, tensor):
        """int64 (N)"""
        import torch

        return tensor.reshape(-1).to(torch.int64)

    def bytes_of(self, tensor):
        """The bytes of a text."""
        return bytes(tensor.cpu().numpy())


class NumpyArrays:
    """Arrays of NumPy over the memory of the pipeline, or over a copy of what lies on a GPU."""

    def of(self, value):
        """An array of a Batch whose samples have one shape, or of a Tensor."""
        value = value.as_cpu()
        return value.as_array()

    def extents(self, shape, values, like):
        """int64 of this shape."""
        return np.array(values, np.int64).reshape(shape)

    def is_of_integers(self, array):
        """Whether an array may hold the numbers of classes."""
        return array.dtype.kind in "iu"

    def as_labels(self, array):
        """int64 (N)"""
        return array.reshape(-1).astype(np.int64)

    def bytes_of(self, array):
        """The bytes of a text."""
        return array.tobytes()


TORCH = TorchArrays()
FRAMEWORKS = {"torch": TORCH, "numpy": NumpyArrays()}
