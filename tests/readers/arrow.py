# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files: the stream format and the file format in one data set."""

import pyarrow
from pyarrow import ipc

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
