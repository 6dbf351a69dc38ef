# SPDX-License-Identifier: Apache-2.0
"""readers.arrow: columns of Arrow tables, in memory or in files."""

from __future__ import annotations

import os

from .. import _core, _graph as graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _selection(source):
    """The table and the rows of a data set of Hugging Face, which keeps shuffles and selections beside its table."""
    table, rows = getattr(getattr(source, "data", None), "table", None), None
    if table is None or not hasattr(source, "_indices"):
        return source, None
    if source._indices is not None:
        import numpy

        rows = numpy.asarray(source._indices.column(0), numpy.int64)
    return table, rows


def lent_table(source, operator="readers.arrow"):
    """Takes the table that an object lends through Arrow's C data interface.

    Args:
        source: The object.
        operator: The operator, for messages.

    Returns:
        The table, as the extension holds it.

    Raises:
        TypeError: The object lends no table.
    """
    source, rows = _selection(source)
    if hasattr(source, "__arrow_c_stream__"):
        table = _core.arrow_stream(source.__arrow_c_stream__())
    elif hasattr(source, "__arrow_c_array__"):
        table = _core.arrow_array(*source.__arrow_c_array__())
    else:
        raise TypeError(
            f"[{operator}] the source is an object with __arrow_c_stream__ or __arrow_c_array__ (a table of pyarrow, a "
            f"data set of Hugging Face ...), or paths of Arrow files, not {type(source).__name__}\n  at {graph.user_line()}"
        )
    return table if rows is None else _core.arrow_rows(table, rows.tobytes())


def read_columns(operator, columns, there, given, table=None):
    """Adds the node that reads columns of a table, or of files that `given` names.

    Args:
        operator: The operator.
        columns: Names, or None for all that are `there`.
        there: Names of all columns.
        given: The other arguments.
        table: The table, which the pipeline keeps; None: files.

    Returns:
        A value of the pipeline, a list, or without `columns` a dict of them.
    """
    pipeline = graph.required(f"fn.{operator}(...)")
    if table is not None:
        pipeline.definition.lent.append(table)
        given["table"] = table.number
    names = [columns] if isinstance(columns, str) else list(there if columns is None else columns)
    given = {k: v for k, v in given.items() if v is not None}
    values = _core.operator_function(operator)(columns=names, **given)
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if columns is None:
        return dict(zip(names, values))
    return values[0] if len(values) == 1 else values


def arrow(
    source: Any,
    *,
    columns: str | Sequence[str] | None = None,
    missing: str = "error",
    missing_number: float | None = None,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads columns of an Arrow table: one in memory that any library lends, or Arrow IPC files.

    Nothing is copied: the bytes of a picture go from the table to the decoder. Bytes and text are uint8, 1-D; a number
    is a scalar of its type; a list of numbers is 1-D, lists of lists and lists of fixed length have a dimension for
    each. For a column of structs with a field "bytes", as Hugging Face stores pictures, that field is read, or the file
    that the field "path" names where it is absent; "column.field" names any other field.

    Args:
        source: An object with __arrow_c_stream__ or __arrow_c_array__ (a table of pyarrow or polars, a table of Lance,
            a block of Ray), a data set of Hugging Face with its selection and order, or one path or several of Arrow
            IPC files (what save_to_disk writes); patterns with * or ? become the files that match, sorted.
        columns: Names of the columns. None: all of them, as a dict.
        missing: What an absent value (null) gives: "error", an error of the sample; "empty", bytes and lists without
            elements, and NaN for floating-point numbers.
        missing_number: The number that stands for absent numbers, instead of `missing`.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        A value of the pipeline, a list with one for each column, or a dict of them.

    Raises:
        TypeError: The source is not a table.
        ValueError: There is no such column, or it has a type that cannot be read.
        DataError: A file is not Arrow IPC, or is damaged.

    Example:
        >>> import pyarrow
        >>> class Table:  # any library's
        ...     def __arrow_c_stream__(self, requested_schema=None):
        ...         return pyarrow.table({"text": ["one", "two"], "label": [1, 2]}).__arrow_c_stream__()
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def rows():
        ...     text, label = fn.readers.arrow(Table(), columns=["text", "label"])
        ...     return text, label
        >>> text, label = rows().run()
        >>> label.as_array().tolist(), bytes(text[0].numpy())
        ([1, 2], b'one')
    """
    given = dict(arguments, missing=missing, missing_number=missing_number, name=name)
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if isinstance(source, (list, tuple)) and source and all(isinstance(p, (str, os.PathLike)) for p in source):
        given["path"] = [os.fspath(p) for p in source]
        there = _core.arrow_columns(given["path"]) if columns is None else ()
        return read_columns("readers.arrow", columns, there, given)
    table = lent_table(source)
    return read_columns("readers.arrow", columns, table.columns, given, table)
