# SPDX-License-Identifier: Apache-2.0
"""readers.hdf5: rows of the datasets of HDF5 files, which h5py reads."""

from __future__ import annotations

from .. import _graph as graph
from .file_samples import MOST_VALUES, matching_paths, needed_package, read_samples
from .rows import FileRows, element_type, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Hdf5Rows(FileRows):
    """Rows of datasets. h5py takes one lock for all of its calls, so reads take turns here."""

    operator, parallel = "readers.hdf5", False

    def __init__(self, paths, names, chunk_cache, most_values):
        self.chunk_cache = chunk_cache
        super().__init__(paths, names, most_values)

    def open_file(self, path):
        import h5py

        return h5py.File(path, "r", rdcc_nbytes=self.chunk_cache, locking="best-effort")

    def close_file(self, file):
        file.close()

    def is_array(self, file):
        return False

    def names_in(self, file):
        import h5py

        found = []
        file.visititems(
            lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and item.shape else None
        )
        return sorted(found)

    def array(self, file, name):
        import h5py

        array = file[name]
        if not isinstance(array, h5py.Dataset) or array.shape is None:
            raise KeyError(name)
        return array

    def kind_of(self, array):
        import h5py
        import numpy

        if h5py.check_string_dtype(array.dtype):
            return numpy.dtype(numpy.uint8), "bytes"
        if base := h5py.check_vlen_dtype(array.dtype):
            dtype = element_type(numpy.dtype(base))
            return dtype and (dtype, "list")
        dtype = element_type(array.dtype)
        return dtype and (dtype, "")

    def lengths_in(self, array):
        import h5py

        if (text := h5py.check_string_dtype(array.dtype)) and text.length is not None:
            return None
        return ReferredLengths(array)


class ReferredLengths:
    """Lengths of the texts or lists of a dataset, which its references to the heap of the file begin with.

    HDF5 fills memory of the length that a reference has before it looks for the values, so a damaged one must not
    reach it. A heap is not compressed: nothing in it is longer than the file.
    """

    def __init__(self, array):
        import h5py

        self.id, self.made_with = array.id, array.id.get_create_plist()
        self.file = h5py.h5i.get_file_id(array.id)
        self.bytes = 4 + self.file.get_create_plist().get_sizes()[0] + 4  # length, address of the heap, place in it
        kind = array.id.get_type()
        self.element = kind.get_super().get_size() if isinstance(kind, h5py.h5t.TypeVlenID) else 1
        self.chunk = array.chunks and array.chunks[0]
        self.first, self.references = -1, b""  # of the chunk that was read last

    def of(self, row):
        """The length of a row.

        Raises:
            ValueError: The file is shorter.
        """
        length = int.from_bytes(self._reference(row)[:4], "little")
        size = self.file.get_filesize()
        if length * self.element > size:
            raise ValueError(f"{length} elements of {self.element} bytes are more than the file's {size} bytes")
        return length

    def _reference(self, row):
        import os

        if not self.chunk:  # no address: nothing is written, or it is in the header, or other files have it
            at = self.id.get_offset()
            return b"" if at is None else os.pread(self.file.get_vfd_handle(), 4, at + row * self.bytes)
        first = row - row % self.chunk
        if first != self.first:
            there = self.id.get_chunk_info_by_coord((first,)).byte_offset is not None
            self.first, self.references = first, self._decoded(first) if there else b""
        return self.references[(row - first) * self.bytes :]

    def _decoded(self, first):
        """The references in a chunk. HDF5 reverses its filters when it reads the chunk from a file in memory as plain bytes."""
        import h5py
        import numpy

        mask, stored = self.id.read_direct_chunk((first,))
        filters = [self.made_with.get_filter(k)[:3] for k in range(self.made_with.get_nfilters())]
        if not filters:
            return stored
        same, element, left_out, kept = h5py.h5p.create(h5py.h5p.DATASET_CREATE), self.bytes, 0, 0
        for k, (code, flags, values) in enumerate(filters):
            if code == h5py.h5z.FILTER_SHUFFLE:
                if not values:  # does nothing: today's HDF5 gives filters of references no size of an element
                    continue
                element = values[0]
            same.set_filter(code, flags, values)
            left_out |= (mask >> k & 1) << kept  # bit k: the chunk did not go through filter k
            kept += 1
        found = numpy.empty(self.chunk * self.bytes // element, f"V{element}")
        same.set_chunk(found.shape)
        with h5py.File("references", "w", driver="core", backing_store=False) as memory:
            space, kind = h5py.h5s.create_simple(found.shape), h5py.h5t.py_create(found.dtype)
            copy = h5py.h5d.create(memory.id, b"x", kind, space, same)
            copy.write_direct_chunk((0,), stored, left_out)
            copy.read(h5py.h5s.ALL, h5py.h5s.ALL, found)
        return found.tobytes()


def hdf5(
    path: Any,
    *,
    datasets: str | Sequence[str] | None = None,
    chunk_cache: int = 1 << 24,
    max_values: int = MOST_VALUES,
    num_workers: int = 1,
    processes: bool = False,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads rows of datasets in HDF5 files, with h5py.

    Sample k is the element k of each dataset along its first axis; several files follow one another. A dataset of shape
    (N, H, W, 3) gives arrays of (H, W, 3). Text and bytes are uint8, 1-D; a list of variable length is 1-D.

    HDF5 decompresses a whole chunk for each row that it reads, and keeps the last ones in memory. For a shuffled order
    write chunks of one row or few: `chunks=(1, H, W, 3)`. h5py has one lock for a process, so more threads do not
    read faster; `processes=True` with `num_workers` processes does.

    Args:
        path: One path or several; patterns with * or ? become the files that match, sorted.
        datasets: Names of the datasets, "group/name" in a group. None: all that have rows, as a dict.
        chunk_cache: Bytes of decompressed chunks that each open file keeps for each dataset.
        max_values: A row with more values is a DataError, before there is memory for it.
        num_workers: Processes that read, with processes=True; else threads, of which one reads at a time.
        processes: Reads in processes, which start as the py_start_method of the pipeline says.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        A value of the pipeline, a list with one for each dataset, or a dict of them.

    Raises:
        ImportError: h5py is not installed.
        FileNotFoundError: A file does not exist.
        DataError: A file is not HDF5, is damaged, has no such dataset, or one of another type than the first file.

    Example:
        >>> import h5py
        >>> with h5py.File("cells.h5", "w") as file:
        ...     file["image"] = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
        ...     file["label"] = np.int64([5, 6, 7, 8])
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def cells():
        ...     image, label = fn.readers.hdf5("cells.h5", datasets=["image", "label"])
        ...     return image, label
        >>> image, label = cells().run()
        >>> image[1].numpy().tolist(), label.as_array().tolist()
        ([[6, 7, 8], [9, 10, 11]], [5, 6])
    """
    graph.required("fn.readers.hdf5(...)")
    needed_package("readers.hdf5", "h5py")
    paths = matching_paths("readers.hdf5", path)
    names = [datasets] if isinstance(datasets, str) else datasets
    rows = Hdf5Rows(paths, names, int(chunk_cache), int(max_values))
    made = read_samples(rows, len(rows.names), (), num_workers, processes, name, arguments)
    return values_of(rows, datasets, made)
