# SPDX-License-Identifier: Apache-2.0
"""Writes MDS data sets, as the format's description says, for tests."""

import ctypes
import gzip
import hashlib
import json
import struct

import numpy as np

CODES = {8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 18: "float16", 32: "uint32", 33: "int32", 34: "float32"}
CODES |= {64: "uint64", 65: "int64", 66: "float64"}


def size_of(encoding):
    """Bytes of a column's values; None: they vary."""
    kind, _, rest = encoding.partition(":")
    if kind == "ndarray":
        dtype, _, shape = rest.partition(":")
        return int(np.prod([int(n) for n in shape.split(",")])) * np.dtype(dtype).itemsize if shape else None
    return 8 if kind == "int" else np.dtype(kind).itemsize if kind in CODES.values() else None


def encoded(encoding, value):
    kind, _, rest = encoding.partition(":")
    if kind == "ndarray":
        dtype, _, shape = rest.partition(":")
        parts = [] if dtype else [bytes([next(c for c, name in CODES.items() if name == value.dtype.name)])]
        if not shape:
            log = next(k for k in range(4) if max(value.shape) < 1 << (8 << k))
            parts += [bytes([value.ndim << 2 | log]), np.array(value.shape, f"<u{1 << log}").tobytes()]
        return b"".join([*parts, value.tobytes()])
    if size_of(encoding):
        return np.array(value, "int64" if kind == "int" else kind).tobytes()
    return (
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )


def zstd(raw):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(library.ZSTD_compressBound(len(raw)))
    size = library.ZSTD_compress(out, len(out), raw, len(raw), 3)
    return out.raw[:size]


def raw_frame(blocks):
    """A frame of zstd whose blocks are as they were, or of one byte where they have one alone."""
    out = [struct.pack("<IBQ", 0xFD2FB528, 0xE0, sum(map(len, blocks)))]
    for k, block in enumerate(blocks):
        same = len(set(block)) == 1
        out += [
            (len(block) << 3 | same << 1 | (k == len(blocks) - 1)).to_bytes(3, "little"),
            block[:1] if same else block,
        ]
    return b"".join(out)


def write(folder, columns, shards, compression=None, compress=None, hashes=True):
    """columns: {name: encoding}; shards: a list of lists of dicts."""
    names = sorted(columns)
    encodings, sizes = [columns[n] for n in names], [size_of(columns[n]) for n in names]
    about = {"column_names": names, "column_encodings": encodings, "column_sizes": sizes, "format": "mds"}
    entries = []
    for number, samples in enumerate(shards):
        records = []
        for sample in samples:
            values = [encoded(columns[n], sample[n]) for n in names]
            head = b"".join(struct.pack("<I", len(v)) for v, size in zip(values, sizes) if size is None)
            records.append(head + b"".join(values))
        config = json.dumps(about).encode()
        start = 4 + 4 * (len(records) + 1) + len(config)
        places = np.cumsum([start, *map(len, records)]).astype("<u4")
        raw = struct.pack("<I", len(records)) + places.tobytes() + config + b"".join(records)
        name = f"shard.{number:05d}.mds"
        files = {"raw_data": described(name, raw, hashes), "zip_data": None, "compression": compression}
        if compression:
            packed = (compress or gzip.compress)(raw)
            files["zip_data"] = described(f"{name}.{compression.partition(':')[0]}", packed, hashes)
            name, raw = files["zip_data"]["basename"], packed
        (folder / name).write_bytes(raw)
        entries.append(
            {
                **about,
                **files,
                "hashes": ["sha1"] if hashes else [],
                "samples": len(samples),
                "size_limit": 1 << 26,
                "version": 2,
            }
        )
    (folder / "index.json").write_text(json.dumps({"shards": entries, "version": 2}))


def described(name, content, hashes):
    sums = {"sha1": hashlib.sha1(content).hexdigest()} if hashes else {}
    return {"basename": name, "bytes": len(content), "hashes": sums}
