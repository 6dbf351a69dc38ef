# SPDX-License-Identifier: Apache-2.0
"""Parquet files, which pyarrow writes."""

from __future__ import annotations

import numpy as np

from .. import _core, fn
from .._operators.parquet import parquet_file
from .fields import KEY, KINDS, Field, bytes_of, flat_values, flattened, whole_values
from .places import files_of
from .reading import Source
from .writing import Target

_ROW_GROUP = 16 << 20  # bytes: a shuffle reads whole row groups
_PAGE = 256 << 10  # bytes: a page of 1 MB, the default, leaves the cache before its values are copied
_KIND = b"penstock.kind"


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from None
    return pyarrow


def field_of_column(column):
    """Returns the field that a column is.

    Args:
        column: A field of pyarrow.

    Raises:
        ValueError: It has another type.
    """
    pa = _pyarrow()
    of, kind = column.type, (column.metadata or {}).get(_KIND, b"").decode()
    types = pa.types
    if types.is_struct(of):  # Hugging Face's pictures
        return Field(column.name, "bytes")
    if types.is_binary(of) or types.is_large_binary(of) or types.is_fixed_size_binary(of):
        return Field(column.name, kind if kind in KINDS else "bytes")
    if types.is_string(of) or types.is_large_string(of):
        return Field(column.name, "json" if kind == "json" else "text")
    if types.is_integer(of) or types.is_boolean(of):
        return Field(column.name, "int")
    if types.is_floating(of):
        return Field(column.name, "float")
    shape = ()
    while types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        shape, of = (*shape, of.list_size if types.is_fixed_size_list(of) else -1), of.value_type
    if shape and (types.is_integer(of) or types.is_floating(of)):
        return Field(column.name, "array", np.dtype(of.to_pandas_dtype()).name, shape)
    raise ValueError(f"column {column.name!r} has the type {column.type}: only= omits it")


class ParquetSource(Source):
    """A field for each column."""

    name = "parquet"
    endings = (".parquet",)
    has_urls = True

    def open(self):
        """Lists the files; the first one shows the columns."""
        self.files = files_of(self.path, self.endings)
        pa = _pyarrow()
        try:
            schema = parquet_file(self.files[0]).schema_arrow
        except pa.ArrowException as error:
            raise _core.DataError(f"this is not Parquet: {error} (file: {self.files[0]})") from error
        only = self.options.get("only")
        columns = [c for c in schema if c.name != KEY and (only is None or c.name in only)]
        if self.manifest is None:
            self.fields = [field_of_column(column) for column in columns]
        self.key_field = KEY if KEY in schema.names else None

    def counted(self):
        """Returns the number of rows."""
        return sum(parquet_file(file).metadata.num_rows for file in self.files)

    def stored_fields(self):
        """Returns the columns: a shape of several dimensions is one of its own."""
        return flattened(self.fields)

    def joined(self, values):
        """Gives arrays their shapes."""
        return whole_values(self.fields, values)

    def nodes(self):
        """Reads columns."""
        names = [field.name for field in self.stored_fields()] + ([KEY] if self.key_field else [])
        values = fn.readers.parquet(self.files, columns=names, name="reader")
        return values if isinstance(values, list) else [values]


class ParquetTarget(Target):
    """A file for each piece; the column __key__ has the name of the sample."""

    name = "parquet"
    ending = "parquet"

    def prepare(self):
        """Makes the schema."""
        pa = _pyarrow()
        plain = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "json": pa.string()}
        columns = [pa.field(KEY, pa.string())]
        for field in flattened(self.fields):
            of = plain.get(field.kind, pa.binary())
            if field.kind == "array":
                of = pa.from_numpy_dtype(field.dtype)
                for extent in reversed(field.shape):
                    of = pa.list_(of, extent) if extent >= 0 else pa.list_(of)
            columns.append(pa.field(field.name, of, metadata={_KIND: field.kind.encode()}))
        self._schema = pa.schema(columns)
        self._plain = [c.name for c in columns if pa.types.is_binary(c.type)]  # encoded already

    def _column(self, kind, values):
        pa = _pyarrow()
        if not (pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)):
            return pa.array([v.decode() if pa.types.is_string(kind) else v for v in values], kind)
        return pa.array([v.tolist() for v in values], kind)

    def _table(self, rows):
        keys, values = [key.encode() for key, _ in rows], zip(*(v for _, v in rows))
        arrays = [self._column(c.type, v) for c, v in zip(self._schema, [keys, *values])]
        return _pyarrow().Table.from_arrays(arrays, schema=self._schema)

    def write(self, number, samples):
        """Writes a file."""
        pa = _pyarrow()
        packed = {c.name: "NONE" if c.name in self._plain else "ZSTD" for c in self._schema}
        with self.new_file(self.file_of(number)) as file:
            with pa.parquet.ParquetWriter(
                file, self._schema, compression=packed, use_dictionary=False, data_page_size=_PAGE
            ) as writer:
                rows, size = [], 0
                for key, values, _ in samples:
                    rows.append((key, flat_values(self.fields, values)))
                    size += bytes_of(self.fields, values)
                    if size >= _ROW_GROUP:
                        writer.write_table(self._table(rows))
                        rows, size = [], 0
                if rows:
                    writer.write_table(self._table(rows))
        return file.entry()
