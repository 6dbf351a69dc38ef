# SPDX-License-Identifier: Apache-2.0
"""readers.zarr: rows of Zarr arrays, which the package zarr reads."""

from __future__ import annotations

from .. import _graph as graph
from .file_samples import MOST_VALUES, matching_paths, needed_package, read_samples
from .rows import FileRows, element_type, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class ZarrRows(FileRows):
    """Rows of arrays."""

    operator = "readers.zarr"

    def __init__(self, paths, names, options, most_values):
        self.options = options
        super().__init__(paths, names, most_values)

    def open_file(self, path):
        import zarr

        if path.endswith(".zip") and "://" not in path:
            return zarr.open(store=zarr.storage.ZipStore(path, mode="r"), mode="r")
        return zarr.open(store=path, mode="r", **({"storage_options": self.options} if self.options else {}))

    def close_file(self, file):
        file.store.close()

    def is_array(self, file):
        return hasattr(file, "shape")

    def names_in(self, file):
        if self.is_array(file):
            return [""]
        return sorted(name for name, array in _members(file) if len(array.shape))

    def array(self, file, name):
        if self.is_array(file):
            if name:
                raise KeyError(name)
            return file
        array = file[name]
        if not hasattr(array, "shape"):
            raise KeyError(name)
        return array

    def kind_of(self, array):
        import numpy

        dtype = array.dtype
        if dtype.kind in "OTSU":  # text or bytes; other objects need a codec that the package refuses
            return numpy.dtype(numpy.uint8), "bytes"
        dtype = element_type(dtype)
        return dtype and (dtype, "")


def _members(group, before=""):
    """(path, array) of all arrays of a group and of the groups in it."""
    for name, member in group.members():
        if hasattr(member, "shape"):
            yield before + name, member
        else:
            yield from _members(member, f"{before}{name}/")


def zarr(
    path: Any,
    *,
    arrays: str | Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    max_values: int = MOST_VALUES,
    num_workers: int | None = None,
    processes: bool = False,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads rows of Zarr arrays of version 2 or 3, with the package zarr (3 or later).

    Sample k is the element k of each array along its first axis; several stores follow one another. An array of shape
    (N, H, W, 3) gives arrays of (H, W, 3). Text and bytes are uint8, 1-D.

    A chunk is read and decompressed as a whole for each row: for a shuffled order write chunks (or, within shards,
    inner chunks) of one row or few. Chunks that a store lacks have the fill value, as Zarr says.

    Args:
        path: One path or several of folders or .zip files; patterns with * or ? become those that match, sorted. URLs
            (s3://, gs://, https://) are read by fsspec, with its own settings.
        arrays: Names of arrays in a group, "group/name" in a group of it. None: all that have rows, as a dict; if the
            path is that of an array, this array.
        storage_options: Options for fsspec.
        max_values: A row with more values is a DataError, before there is memory for it.
        num_workers: Threads that read, with processes=True processes; None: as many as the pipeline has threads.
        processes: Reads in processes, which start as the py_start_method of the pipeline says.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        A value of the pipeline, a list with one for each array, or a dict of them.

    Raises:
        ImportError: zarr is not installed.
        FileNotFoundError: A store does not exist.
        DataError: A store is not Zarr, is damaged, has no such array, or one of another type than the first store.

    Example:
        >>> import zarr
        >>> group = zarr.open_group("cells.zarr", mode="w")
        >>> group["image"] = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
        >>> group["label"] = np.int64([5, 6, 7, 8])
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def cells():
        ...     image, label = fn.readers.zarr("cells.zarr", arrays=["image", "label"])
        ...     return image, label
        >>> image, label = cells().run()
        >>> image[1].numpy().tolist(), label.as_array().tolist()
        ([[6, 7, 8], [9, 10, 11]], [5, 6])
    """
    graph.required("fn.readers.zarr(...)")
    package = needed_package("readers.zarr", "zarr")
    if int(package.__version__.partition(".")[0]) < 3:
        raise ImportError(f"fn.readers.zarr needs zarr 3 or later, found {package.__version__}: pip install -U zarr")
    paths = matching_paths("readers.zarr", path)
    names = [arrays] if isinstance(arrays, str) else arrays
    rows = ZarrRows(paths, names, dict(storage_options or {}), int(max_values))
    made = read_samples(rows, len(rows.names), (), num_workers, processes, name, arguments)
    return values_of(rows, arrays, made)
