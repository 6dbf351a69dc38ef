# SPDX-License-Identifier: Apache-2.0
"""readers.parquet: columns of Parquet files, whose row groups pyarrow decodes."""

from __future__ import annotations

import contextlib
import threading

from .. import _core, _graph as graph
from ..storage.files import RemoteObject
from .arrow import read_columns
from .file_samples import matching_paths, needed_package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


_LEAST_PLAIN = 16 << 10  # bytes of a value on average; smaller ones are faster decoded a row group at a time
_MOST_PLAIN = 1 << 31  # bytes of a column of a row group
_MOST_STAYING = 32 << 20  # bytes of the numbers beside such columns
_AT_ONCE = 64  # row groups
_MOST_OPEN = 64  # files that nobody reads just now


def parquet_file(path, metadata=None):
    """Returns a file as pyarrow reads it.

    Args:
        path: Its path or URL.
        metadata: That of the file, where it is known.
    """
    from pyarrow import parquet

    if "://" in path:
        return parquet.ParquetFile(RemoteObject(path), metadata=metadata, pre_buffer=True)  # in few requests
    # Read page by page: a whole column on its way to its values would leave the processor's cache.
    return parquet.ParquetFile(path, metadata=metadata, pre_buffer=False, buffer_size=1 << 16)


class _Files:
    """Files of pyarrow, each of which has one position, so that one thread at a time reads it.

    They do not belong to threads: what Python keeps for a thread of C++ goes when its call ends, and the end of a file of
    pyarrow at that moment waits for the GIL, which its own thread holds.
    """

    def __init__(self, paths):
        self._paths, self._metadata = paths, {}
        self._lock, self._idle = threading.Lock(), []  # (number, file), the one used last at the end

    @contextlib.contextmanager
    def opened(self, number):
        with self._lock:
            at = next((k for k, (n, _) in enumerate(self._idle) if n == number), None)
            file = self._idle.pop(at)[1] if at is not None else None
        if file is None:
            file = self._open(number)
        yield file
        with self._lock:
            self._idle.append((number, file))
            oldest = self._idle.pop(0) if len(self._idle) > _MOST_OPEN else None
        del oldest  # is closed after the lock was given back

    def _open(self, number):
        path = self._paths[number]
        try:
            file = parquet_file(path, self._metadata.get(number))
        except FileNotFoundError:
            raise FileNotFoundError(f"[readers.parquet] the file does not exist: {path}") from None
        except _core.DataError:  # of remote storage
            raise
        except Exception as error:  # pyarrow's own types
            raise _core.DataError(f"[readers.parquet] {path} is not Parquet: {error}") from error
        self._metadata[number] = file.metadata
        return file


class RowGroups:
    """Decodes row groups of files, which count through all of them. Any thread may call it."""

    def __init__(self, paths, columns):
        needed_package("readers.parquet", "pyarrow.parquet", "pyarrow")
        self.paths, self.columns = paths, columns
        self.files = _Files(paths)
        self.places, self.rows, schema = [], [], None
        self.plain = []  # columns of row groups whose values lie in the files as they are; see plain_chunks()
        for number, path in enumerate(paths):
            with self.files.opened(number) as file:
                own, metadata = self.chosen(file.schema_arrow), file.metadata
            schema = schema or own
            if own.types != schema.types or own.names != schema.names:
                raise _core.DataError(f"[readers.parquet] the columns of {path} are not those of {paths[0]}")
            for k in range(metadata.num_row_groups):
                if "://" not in path:
                    self.plain += plain_chunks(metadata, k, schema, len(self.places), number)
                self.places.append((number, k))
                self.rows.append(metadata.row_group(k).num_rows)
        self.schema = schema
        import pyarrow

        plain = {(group, column) for group, column, *_ in self.plain}
        widths = [f.type.bit_width if pyarrow.types.is_primitive(f.type) else 1 << 62 for f in schema]
        self.decoded = [  # names of the columns that pyarrow decodes, of each row group
            [name for column, name in enumerate(schema.names) if (group, column) not in plain]
            for group in range(len(self.places))
        ]
        # Numbers beside photographs are few: decoded for many row groups at once, and once for all epochs.
        bits = sum(w * n for g, n in enumerate(self.rows) for c, w in enumerate(widths) if (g, c) not in plain)
        self.others_stay = bool(plain) and bits <= 8 * _MOST_STAYING
        self.ahead, self.lock = {}, threading.Lock()  # of row groups that were not asked for yet

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

    def files_of_plain(self):
        """The files that have plain columns, and those columns with the numbers of these files."""
        used = sorted({file for _, _, file, *_ in self.plain})
        own = {file: k for k, file in enumerate(used)}
        chunks = [(group, column, own[file], *place) for group, column, file, *place in self.plain]
        return [self.paths[file] for file in used], chunks

    def __call__(self, group):
        """The capsules of a row group without its plain columns: a schema and an array."""
        if not self.others_stay:
            return self.batch_of([group]).__arrow_c_array__()
        with self.lock:
            if group not in self.ahead:
                self.look_ahead(group)
            return self.ahead.pop(group).__arrow_c_array__()

    def look_ahead(self, group):
        """Decodes a row group and those around it in its file that are decoded alike."""
        begin = group - group % _AT_ONCE
        alike = [
            g
            for g in range(begin, min(begin + _AT_ONCE, len(self.places)))
            if self.places[g][0] == self.places[group][0] and self.decoded[g] == self.decoded[group]
        ]
        try:
            batch = self.batch_of(alike)
        except _core.DataError:  # of another row group, which will say so itself
            alike = [group]
            batch = self.batch_of(alike)
        at = 0
        for g in alike:
            self.ahead[g] = batch.slice(at, self.rows[g])
            at += self.rows[g]

    def batch_of(self, groups):
        """The decoded columns of row groups of one file."""
        import pyarrow

        number, numbers = self.places[groups[0]][0], [self.places[group][1] for group in groups]
        try:
            names = self.decoded[groups[0]]
            with self.files.opened(number) as file:
                table = file.read_row_groups(numbers, columns=names, use_threads=False)
            batches = table.select(names).to_batches()
            if len(batches) != 1:  # a column of several pieces
                batches = pyarrow.Table.from_batches(batches).combine_chunks().to_batches()
            if len(batches) != 1:
                raise ValueError("it has more than 2 GiB in a column: write it with smaller row groups")
            return batches[0]
        except Exception as error:
            raise _core.DataError(f"{self.paths[number]}, row group {numbers[0]}: {error}") from error


def plain_chunks(metadata, row_group, schema, group, file):
    """Returns what arrow_decoded() takes for each column of a row group that needs no decoding: its values are large byte
    arrays, all present, in pages that are neither compressed nor encoded. They are then read as records of other files are,
    each once, when they are needed.

    Args:
        metadata: That of the file.
        row_group: The number of the row group in the file.
        schema: The columns that are read.
        group: The number of the row group in the data set.
        file: The number of the file.

    Returns:
        A list of (group, column, file, offset, bytes, whether pages begin with levels).
    """
    import pyarrow

    types, found = pyarrow.types, []
    of_bytes = (types.is_binary, types.is_large_binary, types.is_string, types.is_large_string)
    there = metadata.row_group(row_group)
    for column, field in enumerate(schema):
        if not any(is_type(field.type) for is_type in of_bytes):
            continue
        leaf = next(k for k in range(there.num_columns) if there.column(k).path_in_schema == field.name)
        chunk, kind = there.column(leaf), metadata.schema.column(leaf)
        present = kind.max_definition_level == 0 or (chunk.is_stats_set and chunk.statistics.null_count == 0)
        if (
            chunk.physical_type == "BYTE_ARRAY"
            and chunk.compression == "UNCOMPRESSED"
            and set(chunk.encodings) <= {"PLAIN", "RLE"}  # RLE: that of the levels
            and not chunk.has_dictionary_page
            and kind.max_repetition_level == 0
            and kind.max_definition_level <= 1
            and present
            and 0 < chunk.num_values * _LEAST_PLAIN <= chunk.total_compressed_size <= _MOST_PLAIN
        ):
            levels = kind.max_definition_level > 0
            found.append((group, column, file, chunk.data_page_offset, chunk.total_compressed_size, levels))
    return found


def parquet(path: Any, *, columns: str | Sequence[str] | None = None, name: str | None = None, **arguments: Any) -> Any:
    """Reads columns of Parquet files. Row groups are decoded by pyarrow, on the threads of the pipeline.

    The types of columns and their values are those of fn.readers.arrow. With random_shuffle the row groups come in random
    order, and the rows of four of them in random order: of the same seed always the same, whatever the number of ranks
    and wherever a checkpoint was taken. The last ten row groups that were needed stay in memory, so files for training
    have row groups of some megabytes. Of columns of large byte arrays, such as photographs, that are written without
    compression and without a dictionary (as `penstock convert` does) no row group is in memory: each value is read from
    the file when it is needed.

    Args:
        path: One path or several, or URLs (s3://, gs://, https://), of which the ranges of the columns are read; patterns
            with * or ? become the files that match, sorted.
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
    table = _core.arrow_decoded(
        groups.schema.__arrow_c_schema__(), groups.rows, sources, groups, *groups.files_of_plain(), groups.others_stay
    )
    return read_columns("readers.arrow", columns, groups.schema.names, dict(arguments, name=name), table)
