# SPDX-License-Identifier: Apache-2.0
"""TFRecord with tf.train.Example. Its numbers are int64 and float32: others are rounded."""

from __future__ import annotations

import struct

import numpy as np

from .. import _core, fn
from ..storage.files import opened
from ..tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string
from .fields import KEY, OF_BYTES, Field, flat_values, flattened, sum_of, whole_values
from .places import files_of
from .reading import Source
from .writing import Target

_JUDGED = 100  # records without a manifest whose features are taken for those of all
_MOST = 1 << 31


def varint(n):
    """Returns a number as protocol buffers write it.

    Args:
        n: A number of 64 bits.
    """
    n &= (1 << 64) - 1
    made = bytearray()
    while n >= 128:
        made.append(n & 127 | 128)
        n >>= 7
    made.append(n)
    return bytes(made)


def varints(numbers):
    """Returns numbers, each as varint() returns it.

    Args:
        numbers: An int64 array with one dimension.
    """
    left, parts = numbers.astype(np.int64).view(np.uint64), []
    more = np.ones(left.size, bool)
    keep = []
    while more.any():
        parts.append((left & np.uint64(127)).astype(np.uint8))
        keep.append(more)
        left = left >> np.uint64(7)
        following = more & (left > 0)
        parts[-1] |= np.where(following, 128, 0).astype(np.uint8)
        more = following
    return np.stack(parts, 1)[np.stack(keep, 1)].tobytes() if parts else b""


def _field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def _feature(field, value):
    if field.kind in OF_BYTES:
        return _field(1, _field(1, value))
    array = np.atleast_1d(np.asarray(value))
    if array.dtype.kind == "f":
        return _field(2, _field(1, array.astype("<f4").tobytes()))
    return _field(3, _field(1, varints(array.ravel())))


def _masked(content):
    total = sum_of(content)
    return struct.pack("<I", ((total >> 15 | total << 17) + 0xA282EAD8) & 0xFFFFFFFF)


class _Message:
    """The fields of a protocol buffer, as (number, bytes or number)."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def number(self):
        made = shift = 0
        while True:
            if self.at >= len(self.content) or shift > 63:
                raise ValueError("a number is cut")
            byte = self.content[self.at]
            self.at += 1
            made |= (byte & 127) << shift
            if byte < 128:
                return made
            shift += 7

    def __iter__(self):
        while self.at < len(self.content):
            tag = self.number()
            kind = tag & 7
            if kind == 0:
                yield tag >> 3, self.number()
                continue
            size = self.number() if kind == 2 else {1: 8, 5: 4}.get(kind, -1)
            if size < 0 or size > len(self.content) - self.at:
                raise ValueError("a field is not inside its message")
            yield tag >> 3, self.content[self.at : self.at + size]
            self.at += size


def features_of(record):
    """Returns {name: (kind, number of values)} of an Example; kind: 1 bytes, 2 float, 3 int64, 0 nothing.

    Args:
        record: Its bytes.

    Raises:
        ValueError: This is not an Example.
    """
    found = {}
    for _, features in _Message(record):
        for _, entry in _Message(features):
            name, feature = "", b""
            for number, content in _Message(entry):
                name, feature = (content.decode(), feature) if number == 1 else (name, content)
            kind = count = 0
            for kind, values in _Message(feature):
                for _, value in _Message(values):
                    if isinstance(value, int) or kind == 1:
                        count += 1
                    else:
                        count += len(value) // 4 if kind == 2 else sum(byte < 128 for byte in value)
            found[name] = (kind, count)
    return found


class TfrecordSource(Source):
    """A field for each feature: int64 and float32, one or an array; bytes."""

    name = "tfrecord"
    endings = (".tfrecord", ".tfrecords")
    has_urls = True

    def open(self):
        """Lists the files; the first records show the features."""
        self.files = files_of(self.path, self.endings)
        if self.manifest is not None:
            self.key_field = KEY if self.manifest.head.get("keys") else None
            return
        kinds, single = {}, {}
        for at, record in self._first_records():
            try:
                found = features_of(record)
            except (ValueError, TypeError) as error:
                raise _core.DataError(f"this is not a tf.train.Example: {error} (file: {self.files[0]}, byte {at})")
            for name, (kind, count) in found.items():
                kinds[name] = kind or kinds.get(name, 0)
                single[name] = single.get(name, True) and count == 1
        for name, kind in sorted(kinds.items()):
            if kind == 1 and not single[name]:
                raise _core.DataError(f"feature {name!r} has several texts in a record: only= omits it")
            dtype = "float32" if kind == 2 else "int64"
            one = {1: "bytes", 2: "float", 3: "int"}.get(kind, "bytes")
            self.fields.append(Field(name, one) if single[name] or kind == 1 else Field(name, "array", dtype, (-1,)))
        self.fields = [field for field in self.fields if field.name != KEY]
        self.key_field = KEY if KEY in kinds else None

    def _first_records(self):
        with opened(self.files[0]) as file:
            for _ in range(_JUDGED):
                at, head = file.tell(), file.read(12)
                if len(head) < 12:
                    return
                (length,) = struct.unpack("<Q", head[:8])
                if _masked(head[:8]) != head[8:] or length > _MOST:
                    raise _core.DataError(f"this is not a TFRecord file (file: {self.files[0]}, byte {at})")
                yield at, file.read(length)
                file.read(4)

    def stored_fields(self):
        """Returns features: a shape of several dimensions is one of its own."""
        return flattened(self.fields)

    def joined(self, values):
        """Gives arrays their shapes."""
        return whole_values(self.fields, values)

    def nodes(self):
        """Reads records."""
        features = {}
        for field in self.stored_fields():
            if field.kind in OF_BYTES:
                features[field.name] = FixedLenFeature((), string, "")
            else:
                is_float = field.kind == "float" or field.dtype.startswith("float")
                features[field.name] = VarLenFeature(float32 if is_float else int64)
        if self.key_field:
            features[KEY] = FixedLenFeature((), string, "")
        values = fn.readers.tfrecord(path=self.files, features=features, name="reader")
        return list(values.values())


class TfrecordTarget(Target):
    """A file for each piece; the feature __key__ has the name of the sample."""

    name = "tfrecord"
    ending = "tfrecord"

    def stored(self, values):
        """Rounds floating-point numbers to float32."""
        made = []
        for field, value in zip(self.fields, values):
            if field.kind == "float":
                value = float(np.float32(value))
            elif field.dtype == "float64":
                value = value.astype(np.float32).astype(np.float64)
            made.append(value)
        return made

    def write(self, number, samples):
        """Writes a file."""
        fields = flattened(self.fields)
        names = [_field(1, field.name.encode()) for field in fields]
        with self.new_file(self.file_of(number)) as file:
            for key, values, record in samples:
                entries = [_field(1, _field(1, KEY.encode()) + _field(2, _field(1, _field(1, key.encode()))))]
                for field, name, value in zip(fields, names, flat_values(self.fields, values)):
                    if field.dtype == "uint64" and value.size and value.max() >= 1 << 63:
                        raise _core.DataError(f"field '{field.name}': int64 cannot hold {value.max()} (file: {record})")
                    entries.append(_field(1, name + _field(2, _feature(field, value))))
                content = _field(1, b"".join(entries))
                head = struct.pack("<Q", len(content))
                file.write(b"".join((head, _masked(head), content, _masked(content))))
        return file.entry()
