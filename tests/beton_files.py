# SPDX-License-Identifier: Apache-2.0
"""Writes FFCV's .beton files from their layout, for tests: header, descriptions of fields, table of samples, data in pages, table of
allocations."""

import json
import struct

import numpy as np

KINDS = {"float": 0, "int": 1, "image": 2, "bytes": 3, "array": 4, "json": 5}
ROWS = {"float": "<f8", "int": "<i8", "array": "<u8", "image": None, "bytes": None, "json": None}
PAGE = 1 << 21


def described(name, kind, example):
    """1041 bytes: the kind, the name, the arguments."""
    arguments = b""
    if kind == "array":
        shape = struct.pack("<32Q", *example.shape, *[0] * (32 - example.ndim))
        text = json.dumps([["", example.dtype.str]]).encode()
        arguments = shape + struct.pack("<Q", len(text)) + text
    return struct.pack("<B16s1024s", KINDS[kind], name.encode(), arguments)


def write(path, fields, samples):
    """fields: {name: kind}; samples: dicts. A picture is bytes of JPEG, or an array (H, W, 3) that is stored as pixels."""
    descriptions = b"".join(described(n, k, samples[0][n]) for n, k in fields.items())
    image = np.dtype([("mode", "u1"), ("width", "<u2"), ("height", "<u2"), ("ptr", "<u8")])  # 13 bytes
    of = {"image": image, "bytes": np.dtype([("ptr", "<u8"), ("size", "<u8")])}
    row = np.dtype([(n, of.get("bytes" if k == "json" else k, ROWS[k])) for n, k in fields.items()], align=True)
    table, data, allocations = np.zeros(len(samples), row), bytearray(), []
    start = -(-(24 + len(descriptions) + table.nbytes) // PAGE) * PAGE

    def put(sample, content):
        allocations.append((sample, start + len(data), len(content)))
        data.extend(content)
        return allocations[-1][1]

    for k, sample in enumerate(samples):
        for name, kind in fields.items():
            value = sample[name]
            if kind in ("int", "float"):
                table[k][name] = value
            elif kind == "array":
                table[k][name] = put(k, value.tobytes())
            elif kind == "image":
                raw = isinstance(value, np.ndarray)
                height, width = value.shape[:2] if raw else sample[name + " size"]
                table[k][name] = (raw, width, height, put(k, value.tobytes() if raw else value))
            else:
                content = value if kind == "bytes" else json.dumps(value).encode() + b"\0"
                table[k][name] = (put(k, content), len(content))
    end = start + len(data)
    header = struct.pack("<HHIQQ", 2, len(fields), PAGE, len(samples), end)
    content = header + descriptions + table.tobytes()
    ends = b"".join(struct.pack("<QQQ", *a) for a in allocations)
    path.write_bytes(content.ljust(start, b"\0") + bytes(data) + ends)
