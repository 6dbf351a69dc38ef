# SPDX-License-Identifier: Apache-2.0
"""MDS, the shards of MosaicML's streaming."""

from __future__ import annotations

import json
import os
import struct

import numpy as np

from .. import _core, fn
from ..annotations.records import fault, json_of
from .._pipeline import Pipeline
from .fields import KEY, OF_BYTES, Field, picture_ending
from .reading import Source
from .writing import Target

_INDEX = "index.json"
_TEXTS = ("str", "str_int", "str_float", "str_decimal")
_CODES = {"uint8": 8, "int8": 9, "uint16": 16, "int16": 17, "float16": 18, "uint32": 32, "int32": 33, "float32": 34}
_CODES |= {"uint64": 64, "int64": 65, "float64": 66}


def _remote_json(url):
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=[url])[0])
    try:
        return json.loads(pipe.run()[0][0].numpy().tobytes())
    except (ValueError, RecursionError) as error:
        raise fault(url, "", f"the file is not JSON: {error}") from None
    finally:
        pipe.close()


def field_of_encoding(name, encoding):
    """Returns the field that a column is.

    Args:
        name: The column.
        encoding: How its values are written.

    Raises:
        ValueError: Values are not read here.
    """
    kind, _, rest = encoding.partition(":")
    if kind in ("jpeg", "png"):
        return Field(name, "image")
    if kind in ("bytes", "json"):
        return Field(name, kind)
    if kind in _TEXTS:
        return Field(name, "text")
    if kind == "ndarray":
        dtype, _, shape = rest.partition(":")
        return Field(name, "array", dtype, tuple(int(n) for n in shape.split(",")) if shape else ())
    if kind == "int" or kind in _CODES:
        return Field(name, "float" if kind.startswith("float") else "int")
    raise ValueError(f"column {name!r} has the encoding {encoding}: only= omits it")


class MdsSource(Source):
    """A field for each column."""

    name = "mds"
    endings = (".mds",)
    has_urls = True

    def open(self):
        """Reads the index."""
        index = os.path.join(self.path, _INDEX)
        self.files = [index]
        root = _remote_json(f"{self.path.rstrip('/')}/{_INDEX}") if "://" in self.path else json_of(index)
        try:
            shards = root["shards"]
            columns = list(zip(shards[0]["column_names"], shards[0]["column_encodings"]))
            self._samples = sum(shard["samples"] for shard in shards)
        except (KeyError, IndexError, TypeError) as error:
            raise _core.DataError(f"this is not the index of MDS: {error!r} (file: {index})") from error
        only = self.options.get("only")
        if self.manifest is None:
            self.fields = [field_of_encoding(n, e) for n, e in columns if n != KEY and (only is None or n in only)]
        self.key_field = KEY if KEY in dict(columns) else None

    def counted(self):
        """Returns the number that the index has."""
        return self._samples

    def nodes(self):
        """Reads columns."""
        names = [field.name for field in self.fields] + ([KEY] if self.key_field else [])
        values = fn.readers.mds(path=self.path.rstrip("/") or "/", columns=names, name="reader")
        return list(values) if isinstance(values, (list, tuple)) else [values]


def _array(field, value):
    """An array as the encoding ndarray:DTYPE has it: its shape precedes it where it varies."""
    if not field.varying:
        return value.tobytes()
    log = next(k for k in range(4) if max(value.shape) < 1 << (8 << k))
    shape = np.array(value.shape, f"<u{1 << log}").tobytes()
    return bytes([value.ndim << 2 | log]) + shape + value.tobytes()


class MdsTarget(Target):
    """A shard for each piece, and index.json; the column __key__ has the name of the sample."""

    name = "mds"
    ending = "mds"

    def prepare(self):
        """Any fields can be columns."""
        self._encodings = {}

    def resume(self, entries):
        """Knows the encodings that the first piece has."""
        if entries:
            about = entries[0]["mds"]
            self._encodings = dict(zip(about["column_names"], about["column_encodings"]))

    def file_of(self, number):
        """Returns the name of a shard."""
        return f"shard.{number:05d}.mds"

    def renamed(self, entry, number):
        """Names the shard in its description too."""
        entry = super().renamed(entry, number)
        raw = {**entry["mds"]["raw_data"], "basename": entry["file"]}
        return {**entry, "mds": {**entry["mds"], "raw_data": raw}}

    def learn(self, values):
        """The encodings are those of the first sample."""
        if not self._encodings:
            self._encodings = {f.name: self._encoding(f, v) for f, v in zip(self.fields, values)} | {KEY: "str"}

    def state(self):
        """Returns the encodings."""
        return self._encodings

    def restore(self, state):
        """Takes the encodings."""
        self._encodings = dict(state)

    def _encoding(self, field, value):
        if field.kind == "image":
            return {"jpg": "jpeg", "png": "png"}.get(picture_ending(value[:16]), "bytes")
        if field.kind == "array":
            shape = "" if field.varying else ":" + ",".join(map(str, field.shape))
            return f"ndarray:{field.dtype}{shape if field.shape else ''}"
        return {"text": "str", "float": "float64"}.get(field.kind, field.kind)

    def _size(self, field):
        if field.kind == "array" and not field.varying:
            return int(np.prod(field.shape)) * np.dtype(field.dtype).itemsize
        return 8 if field.kind in ("int", "float") else None

    def _value(self, field, value):
        if field.kind in OF_BYTES:
            return value
        if field.kind == "array":
            return _array(field, value)
        return struct.pack("<q" if field.kind == "int" else "<d", value)

    def write(self, number, samples):
        """Writes a shard."""
        fields = sorted([Field(KEY, "text"), *self.fields], key=lambda f: f.name)  # as streaming does
        place = {field.name: k for k, field in enumerate(self.fields)}
        self.learn(samples[0][1])
        sizes = [self._size(field) for field in fields]
        about = {
            "column_names": [f.name for f in fields],
            "column_encodings": [self._encodings[f.name] for f in fields],
            "column_sizes": sizes,
            "compression": None,
            "format": "mds",
            "hashes": [],
            "size_limit": self.options["shard_size"],
            "version": 2,
        }
        records = []
        for key, values, record in samples:
            row = [key.encode() if f.name == KEY else self._value(f, values[place[f.name]]) for f in fields]
            head = struct.pack(f"<{sizes.count(None)}I", *(len(v) for v, size in zip(row, sizes) if size is None))
            records.append(b"".join((head, *row)))
        config = json.dumps(about, sort_keys=True).encode()
        start = 4 + 4 * (len(records) + 1) + len(config)
        places = np.cumsum([start, *map(len, records)])
        if places[-1] >= 1 << 32:
            raise _core.DataError(f"a shard of MDS has at most 4 GiB (file: {samples[-1][2]})")
        with self.new_file(self.file_of(number)) as file:
            file.write(struct.pack("<I", len(records)) + places.astype("<u4").tobytes() + config)
            for record in records:
                file.write(record)
        entry = file.entry()
        about |= {"samples": len(records), "zip_data": None}
        about["raw_data"] = {"basename": file.name, "bytes": file.bytes, "hashes": {}}
        return {**entry, "mds": about}

    def finish(self, entries):
        """Writes index.json."""
        index = {"shards": [entry["mds"] for entry in entries], "version": 2}
        with self.new_file(_INDEX) as file:
            file.write(json.dumps(index, sort_keys=True).encode())
