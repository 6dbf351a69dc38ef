# SPDX-License-Identifier: Apache-2.0
"""What a sample consists of, whatever the format of its data set: named fields of a few kinds."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np

from .. import _core

KINDS = ("image", "bytes", "text", "json", "int", "float", "array")
OF_BYTES = frozenset(("image", "bytes", "text", "json"))  # their values are bytes
DTYPES = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) + (
    "float16",
    "float32",
    "float64",
)
KEY = "__key__"  # the column with the names of samples, in formats that have no names of their own
_STARTS = {
    b"\xff\xd8\xff": "jpg",
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF8": "gif",
    b"BM": "bmp",
    b"II*\0": "tif",
    b"MM\0*": "tif",
    b"\0\0\0\x0cjP  ": "jp2",
    b"\xff\x4f\xff\x51": "j2k",
}
PICTURES = (
    "jpg",
    "jpeg",
    "png",
    "gif",
    "bmp",
    "tif",
    "tiff",
    "jp2",
    "j2k",
    "webp",
    "avif",
    "heic",
    "ppm",
    "pgm",
    "pnm",
)


def picture_ending(content):
    """Returns the ending of the name that a picture gets; "": this is not a picture that is known here.

    Args:
        content: The bytes of the file.
    """
    for start, ending in _STARTS.items():
        if content.startswith(start):
            return ending
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    if content[4:8] == b"ftyp":
        return "avif" if content[8:11] == b"avi" else "heic"
    return {b"P5": "pgm", b"P6": "ppm"}.get(bytes(content[:2]), "")


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of every sample of a data set.

    Args:
        name: Its name.
        kind: "image" (an encoded picture), "bytes", "text", "json", "int" (64 bits), "float" (64 bits), "array".
        dtype: NumPy's name of the type of an array.
        shape: The extents of an array; -1: it varies.
    """

    name: str
    kind: str
    dtype: str = ""
    shape: tuple = ()

    def __str__(self):
        return ":".join((self.kind, self.dtype, ",".join(map(str, self.shape)))) if self.kind == "array" else self.kind

    @property
    def varying(self):
        """How many extents vary."""
        return sum(extent < 0 for extent in self.shape)


def field_of(name, text):
    """Returns the field that a text describes, such as "image" or "array:float32:-1,4".

    Args:
        name: Its name.
        text: What str() of a field gives.

    Raises:
        ValueError: There is no such kind.
    """
    kind, _, rest = str(text).partition(":")
    dtype, _, shape = rest.partition(":")
    good = kind in KINDS and (kind != "array" or dtype in DTYPES) and (kind == "array" or not rest)
    try:
        extents = tuple(int(extent) for extent in shape.split(",")) if shape else ()
    except ValueError:
        good = False
    if not good or any(extent < -1 for extent in extents):
        raise ValueError(f"field {name!r}: {text!r} is not one of {', '.join(KINDS[:-1])} or array:DTYPE:EXTENTS")
    return Field(name, kind, dtype, extents)


def array_of(field, value):
    """Returns an array in the type and the shape of its field.

    Args:
        field: The field.
        value: Numbers.

    Raises:
        DataError: They do not have that shape.
    """
    value = np.ascontiguousarray(value, field.dtype)
    if len(field.shape) == value.ndim and all(e in (-1, n) for e, n in zip(field.shape, value.shape)):
        return value
    try:
        return value.reshape(field.shape)
    except ValueError:
        raise _core.DataError(
            f"field '{field.name}': an array of shape {value.shape} does not fit into {field.shape}"
        ) from None


def flattened(fields):
    """Returns the fields for formats whose arrays have one dimension that varies: the shape of others becomes a field.

    Args:
        fields: The fields.
    """
    made = []
    for field in fields:
        made.append(field)
        if field.varying > 1:
            made[-1] = Field(field.name, "array", field.dtype, (-1,))
            made.append(Field(field.name + "/shape", "array", "int64", (len(field.shape),)))
    return made


def flat_values(fields, values):
    """Returns the values of flattened(fields).

    Args:
        fields: The fields.
        values: A value for each.
    """
    made = []
    for field, value in zip(fields, values):
        made += [value.ravel(), np.array(value.shape, np.int64)] if field.varying > 1 else [value]
    return made


def whole_values(fields, values):
    """Returns the values of the fields from those of flattened(fields).

    Args:
        fields: The fields.
        values: A value for each of flattened(fields).

    Raises:
        DataError: A shape does not fit its array.
    """
    made, rest = [], iter(values)
    for field in fields:
        value = next(rest)
        if field.varying > 1:
            shape = tuple(int(n) for n in next(rest))
            value = array_of(Field(field.name, "array", field.dtype, shape), value)
        made.append(value)
    return made


def sum_of(content, before=0):
    """Returns the CRC-32C of bytes or of a contiguous array.

    Args:
        content: The bytes.
        before: The sum of what precedes them.
    """
    array = np.frombuffer(content, np.uint8) if not isinstance(content, np.ndarray) else content
    return _core.crc32c(array.__array_interface__["data"][0], array.nbytes, before) if array.nbytes else before


def sum_of_sample(fields, values):
    """Returns the CRC-32C of the values of a sample.

    Args:
        fields: The fields.
        values: A value for each.
    """
    made = 0
    for field, value in zip(fields, values):
        if field.kind == "int":
            value = struct.pack("<q", value)
        elif field.kind == "float":
            value = struct.pack("<d", value)
        elif field.kind == "array":
            made = sum_of(np.array(value.shape, np.int64), made)
        else:
            made = sum_of(struct.pack("<q", len(value)), made)
        made = sum_of(value, made)
    return made


def bytes_of(fields, values):
    """Returns about how many bytes a sample takes in a file.

    Args:
        fields: The fields.
        values: A value for each.
    """
    return sum(
        len(value) if field.kind in OF_BYTES else value.nbytes if field.kind == "array" else 8
        for field, value in zip(fields, values)
    )


def the_one(fields, kind, name, asked=None):
    """Returns the field that stands for the picture or the label of a sample; None: there is none.

    Args:
        fields: The fields.
        kind: Its kind.
        name: The name that it has where there are several.
        asked: The name that the program gave.

    Raises:
        ValueError: The field that the program names does not exist, or is of another kind.
    """
    of_kind = [field for field in fields if field.kind == kind]
    if asked is not None:
        found = [field for field in of_kind if field.name == asked]
        if not found:
            there = ", ".join(f"{field.name} ({field})" for field in fields)
            raise ValueError(f"there is no field {asked!r} of the kind {kind}; there are {there}")
        return found[0]
    named = [field for field in of_kind if field.name == name]
    return named[0] if named else of_kind[0] if len(of_kind) == 1 else None
