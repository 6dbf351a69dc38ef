# SPDX-License-Identifier: Apache-2.0
"""A table with every kind of column that readers.arrow reads, for tests and as a first input of the fuzzer."""

import io

import numpy as np
import pyarrow as pa
from pyarrow import ipc

RNG = np.random.default_rng(5)
ROWS = 37


def columns():
    """Every kind of column that can be read."""
    texts = ["", "x" * 12, "y" * 13, *(bytes(RNG.integers(97, 122, n, np.uint8)).decode() for n in range(ROWS - 3))]
    made = {
        name: pa.array(texts, kind)
        for name, kind in {"text": pa.string(), "large text": pa.large_string(), "text view": pa.string_view()}.items()
    }
    raw = [t.encode() for t in texts]
    made["bytes"] = pa.array(raw, pa.binary())
    made["large"] = pa.array(raw, pa.large_binary())
    made["view"] = pa.array(raw, pa.binary_view())
    made["three"] = pa.array([bytes([k, 1, 2]) for k in range(ROWS)], pa.binary(3))
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        limits = np.iinfo(kind)
        made[kind] = pa.array(RNG.integers(limits.min, limits.max, ROWS, kind, endpoint=True))
    for kind in ("float16", "float32", "float64"):
        made[kind] = pa.array(RNG.normal(size=ROWS).astype(kind))
    made["bool"] = pa.array(RNG.integers(0, 2, ROWS).astype(bool))
    made["when"] = pa.array(np.arange(ROWS).astype("datetime64[us]"))
    made["list"] = pa.array([list(range(k % 5)) for k in range(ROWS)], pa.list_(pa.int16()))
    made["large list"] = pa.array([[0.5] * (k % 4) for k in range(ROWS)], pa.large_list(pa.float32()))
    made["flags"] = pa.array([[True, False, True][: k % 4] for k in range(ROWS)], pa.list_(pa.bool_()))
    made["pair"] = pa.array([[k, -k] for k in range(ROWS)], pa.list_(pa.int32(), 2))
    made["matrix"] = pa.array([[[k, 1, 2], [3, 4, k]][: k % 3] for k in range(ROWS)], pa.list_(pa.list_(pa.int64())))
    made["grid"] = pa.array([[[k, 1], [2, k]] for k in range(ROWS)], pa.list_(pa.list_(pa.uint8(), 2), 2))
    image = [{"bytes": r, "path": f"{k}.jpg"} for k, r in enumerate(raw)]
    made["image"] = pa.array(image, pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    made["nested"] = pa.array([{"a": {"b": k}} for k in range(ROWS)])
    return made


def every_type(stream, rows=5):
    """The bytes of an Arrow IPC file of the first rows."""
    file, table = io.BytesIO(), pa.table(columns()).slice(0, rows)
    with (ipc.new_stream if stream else ipc.new_file)(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return file.getvalue()
