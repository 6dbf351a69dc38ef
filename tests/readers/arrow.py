# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files, the stream format and the file format in one data set; Parquet files."""

import pyarrow
from pyarrow import ipc, parquet

from penstock import fn
from readers import Kind, halves


class Arrow(Kind):
    name, checked = "readers.arrow", False

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            table = pyarrow.table({"x": [payloads[k] for k in numbers], "label": pyarrow.array(numbers, "int64")})
            with (ipc.new_file if part else ipc.new_stream)(str(folder / f"part-{part}.arrow"), table.schema) as writer:
                writer.write_table(table, max_chunksize=5)

    def read(self, folder, **arguments):
        return fn.readers.arrow(str(folder / "part-*.arrow"), columns=["x", "label"], **arguments)


class Parquet(Kind):
    """Row groups of five rows."""

    name, checked, grouped = "readers.parquet", False, True

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            table = pyarrow.table({"x": [payloads[k] for k in numbers], "label": pyarrow.array(numbers, "int64")})
            path = str(folder / f"part-{part}.parquet")
            parquet.write_table(table, path, row_group_size=5, compression="none", use_dictionary=False)

    def read(self, folder, **arguments):
        return fn.readers.parquet(str(folder / "part-*.parquet"), columns=["x", "label"], **arguments)
