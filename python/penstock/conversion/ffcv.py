# SPDX-License-Identifier: Apache-2.0
"""FFCV's .beton files, which can be read but not written.

A file is a header, descriptions of the fields, a table with a row for each sample, the data, and a table of allocations: which
address has how many bytes. Numbers are in the row of a sample, all else at an address that the row has.
"""

from __future__ import annotations

import json
import os

import numpy as np

from .. import _core, fn
from .fields import DTYPES, Field, sum_of
from .places import files_of
from .reading import Source

HEADER = np.dtype(
    [
        ("version", "<u2"),
        ("num_fields", "<u2"),
        ("page_size", "<u4"),
        ("num_samples", "<u8"),
        ("alloc_table_ptr", "<u8"),
    ],
    align=True,
)
DESCRIPTION = np.dtype([("type_id", "u1"), ("name", "u1", 16), ("arguments", "u1", 1024)], align=True)
ALLOCATION = np.dtype([("sample_id", "<u8"), ("ptr", "<u8"), ("size", "<u8")], align=True)
ARRAY_ARGUMENTS = np.dtype([("shape", "<u8", 32), ("type_length", "<u8")])
IMAGE = np.dtype([("mode", "u1"), ("width", "<u2"), ("height", "<u2"), ("data_ptr", "<u8")])
BYTES = np.dtype([("ptr", "<u8"), ("size", "<u8")])
ROW_OF = {0: np.dtype("<f8"), 1: np.dtype("<i8"), 2: IMAGE, 3: BYTES, 4: np.dtype("<u8"), 5: BYTES}
_VERSION, _JPEG, _RAW = 2, 0, 1
_KINDS = {0: "float", 1: "int", 2: "image", 3: "bytes", 4: "array", 5: "json"}
_MOST = 1 << 31


class FfcvSource(Source):
    """A field for each field. Pictures that are stored as pixels become PNG files."""

    name = "ffcv"
    endings = (".beton",)

    def open(self):
        """Reads the header and the tables."""
        self.files = files_of(self.path, self.endings)
        if len(self.files) != 1:
            raise ValueError(f"{self.path} has {len(self.files)} files: name one of them")
        self._file = open(self.files[0], "rb")
        self._size = os.fstat(self._file.fileno()).st_size
        header = self._table(0, 1, HEADER, "the header")[0]
        if header["version"] != _VERSION or not 0 < header["num_fields"] <= 1024:
            raise self._fault(f"this is not a .beton file of version {_VERSION}")
        count, fields = int(header["num_samples"]), int(header["num_fields"])
        described = self._table(HEADER.itemsize, fields, DESCRIPTION, "the descriptions of the fields")
        self._types = [int(d["type_id"]) for d in described]
        self.fields = [self._field(d) for d in described]
        row = np.dtype([("", ROW_OF[kind]) for kind in self._types], align=True)
        start = HEADER.itemsize + fields * DESCRIPTION.itemsize
        self._rows = self._table(start, count, row, "the table of samples")
        at = int(header["alloc_table_ptr"])
        allocations = self._table(at, max(0, self._size - at) // ALLOCATION.itemsize, ALLOCATION, "the allocations")
        self._bytes_at = dict(zip(allocations["ptr"].tolist(), allocations["size"].tolist()))
        self._places = list(range(fields))
        self._all = list(self.fields)

    def _fault(self, cause, sample=None):
        where = "" if sample is None else f", sample {sample}"
        return _core.DataError(f"{cause} (file: {self.files[0]}{where})")

    def _content(self, at, size, what, sample=None):
        if at < 0 or size < 0 or size > _MOST or at > self._size - size:
            raise self._fault(f"{what}: {size} bytes at {at} are not inside the file of {self._size} bytes", sample)
        content = os.pread(self._file.fileno(), size, at)
        if len(content) != size:
            raise self._fault(f"{what}: the file was cut", sample)
        return content

    def _table(self, at, rows, dtype, what):
        return np.frombuffer(self._content(at, rows * dtype.itemsize, what), dtype)

    def _field(self, described):
        kind = int(described["type_id"])
        name = described["name"].tobytes().split(b"\0")[0].decode("ascii", "replace")
        if kind not in _KINDS:
            raise self._fault(f"field {name!r} has the type {kind}, which is not read here")
        return self._array_field(name, described["arguments"]) if kind == 4 else Field(name, _KINDS[kind])

    def _array_field(self, name, arguments):
        head = arguments[: ARRAY_ARGUMENTS.itemsize].view(ARRAY_ARGUMENTS)[0]
        length = int(head["type_length"])
        text = arguments[ARRAY_ARGUMENTS.itemsize :][: min(length, 1024)].tobytes()
        try:
            said = json.loads(text.decode("ascii"))
            dtype = np.dtype(said if isinstance(said, str) else said[0][1]).name
        except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
            raise self._fault(f"field {name!r} has an unknown type: {error}") from None
        extents = [int(n) for n in head["shape"]]
        while extents and not extents[-1]:
            extents.pop()
        if dtype not in DTYPES or not extents or max(extents) > _MOST:
            raise self._fault(f"field {name!r} has the type {dtype} and the shape {extents}, which are not read here")
        return Field(name, "array", dtype, tuple(extents))

    def counted(self):
        """Returns the number of samples."""
        return len(self._rows)

    def choose(self, names):
        """Leaves out fields."""
        super().choose(names)
        self._places = [self._all.index(field) for field in self.fields]

    def identity(self):
        """Returns a number that another table of samples changes."""
        return sum_of(self._rows.tobytes(), super().identity())

    def nodes(self):
        """Calls value_of() for each field of each sample."""

        def sample(info):
            return tuple(self._stored(place, info.idx_in_epoch % len(self._rows)) for place in self._places)

        values = fn.external_source(source=sample, num_outputs=len(self._places), batch=False)
        return list(values)

    def _stored(self, place, number):
        kind, value, name = self._types[place], self._rows[number][place], self._all[place].name
        if kind in (0, 1):
            return np.array(value)
        if kind == 2:
            return self._picture(value, name, number)
        if kind == 4:
            field = self._all[place]
            size = np.dtype(field.dtype).itemsize
            for extent in field.shape:
                size *= extent
            content = self._content(int(value), size, f"field {name!r}", number)
            return np.frombuffer(content, field.dtype).reshape(field.shape)
        content = self._content(int(value["ptr"]), int(value["size"]), f"field {name!r}", number)
        return np.frombuffer(content.rstrip(b"\0") if kind == 5 else content, np.uint8)

    def _picture(self, row, name, number):
        height, width, at = int(row["height"]), int(row["width"]), int(row["data_ptr"])
        if row["mode"] == _RAW:
            content = self._content(at, 3 * height * width, f"field {name!r}", number)
            return fn.encoders.png(np.frombuffer(content, np.uint8).reshape(height, width, 3))
        if row["mode"] != _JPEG or at not in self._bytes_at:
            raise self._fault(f"field {name!r}: the picture has no allocation, or an unknown mode", number)
        return np.frombuffer(self._content(at, self._bytes_at[at], f"field {name!r}", number), np.uint8)
