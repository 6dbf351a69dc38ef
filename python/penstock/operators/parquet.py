# SPDX-License-Identifier: Apache-2.0
"""readers.parquet: columns of Parquet files, whose row groups pyarrow decodes."""

from __future__ import annotations

import threading

from .. import _core, graph
from .arrow import read_columns
from .file_samples import matching_paths, needed_package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class RowGroups:
    """Decodes row groups of files, which count through all of them. Any thread may call it."""

    def __init__(self, paths, columns):
        parquet = needed_package("readers.parquet", "pyarrow.parquet", "pyarrow")
        self.parquet, self.paths, self.columns = parquet, paths, columns
        self.files = threading.local()  # a file of pyarrow has one position
        self.places, self.rows, schema = [], [], None
        for number, path in enumerate(paths):
            file = self.file(number)
            own = self.chosen(file.schema_arrow)
            schema = schema or own
            if own.types != schema.types or own.names != schema.names:
                raise _core.DataError(f"[readers.parquet] the columns of {path} are not those of {paths[0]}")
            for k in range(file.metadata.num_row_groups):
                self.places.append((number, k))
                self.rows.append(file.metadata.row_group(k).num_rows)
        self.schema = schema

    def chosen(self, schema):
        """The columns that are read, without what was attached to them."""
        import pyarrow

        names = schema.names if self.columns is None else self.columns
        tops = list(dict.fromkeys(n if n in schema.names else n.partition(".")[0] for n in names))
        for name in tops:
            if name not in schema.names:
                there = ", ".join(map(repr, schema.names))
                raise ValueError(
                    f"[readers.parquet] there is no column {name!r}; there are {there}\n  at {graph.user_line()}"
                )
        return pyarrow.schema([schema.field(name).remove_metadata() for name in tops])

    def open(self, path, kind):
        if kind is not None:
            return self.parquet.ParquetFile(path, filesystem=kind, pre_buffer=True)
        # Read page by page: a whole column on its way to its values would leave the processor's cache.
        return self.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16)

    def file(self, number):
        opened = self.files.__dict__.setdefault("opened", {})
        if number not in opened:
            path, kind = self.paths[number], None
            try:
                if "://" in path:
                    from pyarrow import fs

                    kind, path = fs.FileSystem.from_uri(path)
                opened[number] = self.open(path, kind)
            except FileNotFoundError:
                raise FileNotFoundError(f"[readers.parquet] the file does not exist: {self.paths[number]}") from None
            except Exception as error:  # pyarrow's own types
                raise _core.DataError(f"[readers.parquet] {self.paths[number]} is not Parquet: {error}") from error
        return opened[number]

    def __call__(self, group):
        """The capsules of a row group: a schema and an array."""
        import pyarrow

        number, k = self.places[group]
        try:
            table = self.file(number).read_row_group(k, columns=self.schema.names, use_threads=False)
            batches = table.select(self.schema.names).to_batches()
            if len(batches) != 1:  # a column of several pieces
                batches = pyarrow.Table.from_batches(batches).combine_chunks().to_batches()
            if len(batches) != 1:
                raise ValueError("it has more than 2 GiB in a column: write it with smaller row groups")
            return batches[0].__arrow_c_array__()
        except Exception as error:
            raise _core.DataError(f"{self.paths[number]}, row group {k}: {error}") from error


def parquet(path: Any, *, columns: str | Sequence[str] | None = None, name: str | None = None, **arguments: Any) -> Any:
    """Reads columns of Parquet files. Row groups are decoded by pyarrow, on the threads of the pipeline.

    The types of columns and their values are those of fn.readers.arrow. With random_shuffle the row groups come in random
    order, and the rows of four of them in random order: of the same seed always the same, whatever the number of ranks
    and wherever a checkpoint was taken. The last ten row groups that were needed stay in memory, so files for training
    have row groups of some megabytes.

    Args:
        path: One path or several; patterns with * or ? become the files that match, sorted. Of URLs (s3://, gs://)
            pyarrow reads the ranges of the columns, with its own settings.
        columns: Names of the columns. None: all of them, as a dict.
        name: The name of the reader.
        **arguments: Those of fn.readers.arrow, such as `missing`, and of every reader.

    Returns:
        A value of the pipeline, a list with one for each column, or a dict of them.

    Raises:
        ImportError: pyarrow is not installed.
        FileNotFoundError: A file does not exist.
        ValueError: There is no such column, or it has a type that cannot be read.
        DataError: A file is not Parquet, or is damaged.

    Example:
        >>> import pyarrow.parquet
        >>> pyarrow.parquet.write_table(pyarrow.table({"text": ["one", "two"], "label": [1, 2]}), "words.parquet")
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def rows():
        ...     return fn.readers.parquet("words.parquet", columns="label")
        >>> rows().run()[0].as_array().tolist()
        [1, 2]
    """
    names = [columns] if isinstance(columns, str) else columns if columns is None else list(columns)
    groups = RowGroups(matching_paths("readers.parquet", path), names)
    sources = [f"{groups.paths[number]}, row group {k}" for number, k in groups.places]
    table = _core.arrow_decoded(groups.schema.__arrow_c_schema__(), groups.rows, sources, groups)
    return read_columns("readers.arrow", columns, groups.schema.names, dict(arguments, name=name), table)
