# SPDX-License-Identifier: Apache-2.0
"""TensorBatch, and what it has in common with batches of images."""

from __future__ import annotations

from .._base.limits import integer
from .tensors import Container, Tensor, as_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np

    from .formats import TensorLayout


class Collection(Container):
    """A list of at most `capacity` entries."""

    def __init__(self, capacity: int) -> None:
        capacity = integer("capacity", capacity)
        if capacity < 0:
            raise ValueError(f"the capacity must not be negative, got {capacity}")
        self._capacity, self._entries = capacity, []

    @property
    def capacity(self) -> int:
        """How many entries it may have."""
        return self._capacity

    def pushback(self, entries: Any) -> None:
        """Appends one entry or several.

        Args:
            entries: An entry, or a list of them.
        """
        new = list(entries) if isinstance(entries, (list, tuple)) or not isinstance(entries, Container) else [entries]
        if len(self._entries) + len(new) > self._capacity:
            raise RuntimeError(
                f"{type(self).__name__}: {len(self._entries) + len(new)} entries do not fit into a capacity of {self._capacity}"
            )
        for entry in new:
            self._check(entry)
            self._entries.append(entry)

    def popback(self, count: int = 1) -> None:
        """Removes the last entries.

        Args:
            count: How many.
        """
        if count > len(self._entries):
            raise RuntimeError(f"popback({count}): there are {len(self._entries)} entries")
        del self._entries[len(self._entries) - count :]

    def clear(self) -> None:
        """Removes all entries."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._entries))

    def __getitem__(self, index: int) -> Any:
        return self._entries[index]

    def __repr__(self):
        return f"<cvcuda.{type(self).__name__} of {len(self)} in {self._capacity}: {self._entries[:4]!r}>"


class TensorBatch(Collection):
    """Tensors of one type, rank and layout, with shapes of their own."""

    def _check(self, entry):
        if not isinstance(entry, Tensor):
            raise TypeError(f"a TensorBatch holds tensors, got {type(entry).__name__}")
        first = self._entries[0] if self._entries else entry
        if (entry.dtype, entry.ndim, entry.layout) != (first.dtype, first.ndim, first.layout):
            raise RuntimeError(f"a TensorBatch of {first!r} cannot hold {entry!r}: type, rank and layout must be equal")

    def __setitem__(self, index: int, entry: Tensor) -> None:
        others = [e for k, e in enumerate(self._entries) if k != index]
        probe = TensorBatch(len(self._entries))
        probe.pushback([*others, entry])
        self._entries[index] = entry

    @property
    def layout(self) -> TensorLayout | None:
        """The layout of the tensors, or None."""
        return self._entries[0].layout if self._entries else None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of the elements; None without tensors."""
        return self._entries[0].dtype if self._entries else None

    @property
    def ndim(self) -> int:
        """The rank of the tensors; -1 without any."""
        return self._entries[0].ndim if self._entries else -1


def as_tensors(buffers: Sequence[Any] = (), layout: str | None = None) -> TensorBatch:
    """A TensorBatch over arrays of other libraries.

    Args:
        buffers: The arrays.
        layout: The letters of their dimensions.

    Returns:
        A TensorBatch whose capacity is the number of arrays.
    """
    entries = [as_tensor(b, layout) for b in buffers]
    batch = TensorBatch(len(entries))
    batch.pushback(entries)
    return batch
