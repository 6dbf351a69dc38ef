# SPDX-License-Identifier: Apache-2.0
"""Iterators that show the next batch before it is taken, as the PeekableIterator of clu does."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from ..interface import LastBatchPolicy
from .iterator import DALIGenericIterator
from .iterator_of_function import data_iterator, iterators_of, with_parameters_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DALIGenericPeekableIterator", "LastBatchPolicy", "peekable_data_iterator"]


class DALIGenericPeekableIterator(DALIGenericIterator):
    """Gives what DALIGenericIterator gives, and shows the next batch before it is taken.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding, pmap_compatible: As those of DALIGenericIterator.
    """

    _shown = _before = _thread = None

    def __next__(self):
        shown, self._shown, self._before = self._shown, None, None
        return super().__next__() if shown is None else shown

    def peek(self) -> Any:
        """Returns what next() will return.

        Raises:
            StopIteration: The epoch has ended.
        """
        if self._shown is None:
            before = super().state() if self._first is None else None
            self._shown = super().__next__()
            self._before = before
        return self._shown

    def peek_async(self) -> Future:
        """Returns a Future of what peek() returns. next() must not be called before it is done."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        return self._thread.submit(self.peek)

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that next() has returned.

        Raises:
            RuntimeError: No batch was handed out, and the first one is prepared.
        """
        return super().state() if self._before is None else self._before

    def load_state(self, state: dict[str, Any]) -> None:
        """Continues from a state.

        Args:
            state: What state() returned.
        """
        self._shown = self._before = None
        super().load_state(state)

    @property
    def element_spec(self) -> dict[str, Any]:
        """The shape and the type of each output: clu's ArraySpec, or jax.ShapeDtypeStruct without clu."""
        try:
            from clu.data.dataset_iterator import ArraySpec as Spec
        except ImportError:
            from jax import ShapeDtypeStruct as Spec

        return {name: Spec(shape=array.shape, dtype=array.dtype) for name, array in self.peek().items()}


@with_parameters_of(data_iterator)
def peekable_data_iterator(**options: Any) -> Any:
    """Makes of a pipeline's function one that returns iterators with peek(): as data_iterator does.

    Args:
        pipeline_fn, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding, devices, pmap_compatible: As those of data_iterator.

    Returns:
        A function that returns a DALIGenericPeekableIterator.
    """
    return iterators_of(DALIGenericPeekableIterator, **options)
