# SPDX-License-Identifier: Apache-2.0
"""Columns of Ray Data, as Arrow or NumPy has them, to samples and back."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Table:
    """Rows of a data set in memory, as map_batches(batch_format="pyarrow" or "numpy") gives them.

    Args:
        data: A table of pyarrow, or a dict of arrays.

    Raises:
        TypeError: It is something else.
    """

    def __init__(self, data: Any) -> None:
        self.arrow = hasattr(data, "column_names") and hasattr(data, "schema")
        if not self.arrow and not isinstance(data, dict):
            kind = f"{type(data).__module__}.{type(data).__name__}"
            raise TypeError(f"[Stage] rows come as {kind}: give map_batches batch_format='pyarrow' or 'numpy'")
        self.data = data
        self.names = list(data.column_names if self.arrow else data)
        self.rows = data.num_rows if self.arrow else len(next(iter(data.values()), ()))

    def samples(self, name: str) -> Any:
        """A column as samples: an array whose first axis counts them, or a list of arrays.

        Raises:
            ValueError: There is no such column, or a row of it has no value.
            TypeError: It holds what is not an array.
        """
        if name not in self.names:
            raise ValueError(f"[Stage] there is no column '{name}': the rows have {', '.join(self.names) or 'none'}")
        if not self.arrow:
            return _of_numpy(name, self.data[name])
        parts = [_of_chunk(name, chunk) for chunk in self.data.column(name).chunks if len(chunk)]
        if len(parts) == 1:
            return parts[0]
        return [sample for part in parts for sample in part]

    def with_columns(self, made: dict[str, Any], dropped: set[str], rows: Sequence[int] | None) -> Any:
        """The table with other columns, in the form in which it came.

        Args:
            made: New columns, each an array whose first axis counts the rows, or a list of arrays.
            dropped: Columns that it had.
            rows: Those that stay, of the columns that it had; None: all.
        """
        kept = [name for name in self.names if name not in dropped and name not in made]
        if not self.arrow:
            old = {name: self.data[name] if rows is None else self.data[name][list(rows)] for name in kept}
            return {**old, **{name: _to_numpy(values) for name, values in made.items()}}
        table = self.data.select(kept)
        if not kept:
            import pyarrow

            return pyarrow.table({name: _to_arrow(values) for name, values in made.items()})
        if rows is not None:
            table = table.take(list(rows))
        for name, values in made.items():
            table = table.append_column(name, _to_arrow(values))
        return table


def _bytes_of(name, row, value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if value is None:
        raise ValueError(f"[Stage] row {row} of the column '{name}' has no value")
    raise TypeError(f"[Stage] the column '{name}' holds {type(value).__name__}, which is not an array")


def _of_numpy(name, column):
    column = np.asarray(column)
    if column.dtype == object or column.dtype.kind in "SU":
        return [
            _bytes_of(name, row, value)
            for row, value in enumerate(column.tolist() if column.dtype.kind in "SU" else column)
        ]
    return column


def _of_chunk(name, chunk):
    """A chunk of a column of Arrow; numbers and bytes are not copied."""
    import pyarrow
    from pyarrow import types

    kind = chunk.type
    if chunk.null_count:
        row = next(k for k in range(len(chunk)) if not chunk[k].is_valid)
        raise ValueError(f"[Stage] row {row} of a chunk of the column '{name}' has no value")
    if isinstance(kind, pyarrow.BaseExtensionType):
        if hasattr(chunk, "to_numpy_ndarray"):
            return _of_numpy(name, chunk.to_numpy_ndarray())
        return _of_numpy(name, chunk.to_numpy(zero_copy_only=False))
    if types.is_binary(kind) or types.is_string(kind) or types.is_large_binary(kind) or types.is_large_string(kind):
        wide = types.is_large_binary(kind) or types.is_large_string(kind)
        _, places, data = chunk.buffers()
        offsets = np.frombuffer(places, np.int64 if wide else np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return [data[begin:end] for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())]
    if types.is_list(kind) or types.is_large_list(kind):
        if not types.is_primitive(kind.value_type):
            raise TypeError(f"[Stage] the column '{name}' holds {kind}: lists of numbers and tensors are arrays")
        offsets, values = chunk.offsets.to_numpy(), chunk.values.to_numpy(zero_copy_only=False)
        return [values[begin:end] for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())]
    if types.is_fixed_size_list(kind) and types.is_primitive(kind.value_type):
        return chunk.flatten().to_numpy(zero_copy_only=False).reshape(len(chunk), kind.list_size)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return chunk.to_numpy(zero_copy_only=False)
    raise TypeError(f"[Stage] the column '{name}' holds {kind}, which is not an array")


def _to_numpy(values):
    if isinstance(values, np.ndarray):
        return values
    column = np.empty(len(values), object)
    for k, value in enumerate(values):
        column[k] = value
    return column


def _to_arrow(values):
    if isinstance(values, np.ndarray) and values.ndim == 1:
        import pyarrow

        return pyarrow.array(values)
    from ray.data.extensions import ArrowTensorArray, ArrowVariableShapedTensorArray

    if isinstance(values, np.ndarray):
        return ArrowTensorArray.from_numpy(values)
    return ArrowVariableShapedTensorArray.from_numpy(values)
