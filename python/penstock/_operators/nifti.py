# SPDX-License-Identifier: Apache-2.0
"""readers.nifti: volumes of NIfTI files, which nibabel reads."""

from __future__ import annotations

import os

from .. import _graph as graph
from .file_samples import MOST_VALUES, FileSamples, matching_paths, needed_package, read_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDINGS = (".nii", ".nii.gz", ".hdr", ".hdr.gz")


class Volumes(FileSamples):
    """A volume and its affine for each file."""

    operator = "readers.nifti"

    def __init__(self, paths, raw, axes, most_values):
        self.paths, self.raw, self.axes, self.most_values = paths, raw, axes, most_values
        try:
            first = self._opened(paths[0])
        except FileNotFoundError:
            raise FileNotFoundError(f"[{self.operator}] the file does not exist: {paths[0]}") from None
        except Exception as error:  # nibabel's own types
            self.refuse(paths[0], f"{type(error).__name__}: {error}", error)
        self.dimensions = len(first.shape)
        self.dtype = self._type(first) if raw else "float32"
        if self.dtype is None:
            self.refuse(paths[0], f"its values have the type {first.get_data_dtype()}, which is not a number")

    def _opened(self, path):
        import nibabel

        image = nibabel.load(path, mmap=False)  # a mapped file that is cut ends the process
        if not isinstance(image, (nibabel.Nifti1Pair, nibabel.Nifti2Pair)):
            raise ValueError(f"it is {type(image).__name__}, not NIfTI")
        return image

    def _type(self, image):
        dtype = image.get_data_dtype().newbyteorder("=")
        return dtype.name if dtype.kind in "biuf" and dtype.itemsize <= 8 else None

    def __len__(self):
        return len(self.paths)

    def content(self):
        return map(os.path.basename, self.paths)

    def place(self, index):
        return self.paths[index]

    @property
    def blank(self):
        import numpy

        return numpy.zeros((0,) * self.dimensions, self.dtype), numpy.zeros((4, 4))

    def read(self, index):
        import numpy

        path = self.paths[index]
        image = self._opened(path)
        self.check_size(path, image.shape)
        if len(image.shape) != self.dimensions:
            self.refuse(path, f"it has {len(image.shape)} dimensions, {self.paths[0]} has {self.dimensions}")
        if not self.raw:
            volume = image.get_fdata(caching="unchanged", dtype=numpy.float32)
        elif self._type(image) != self.dtype:
            self.refuse(
                path, f"its values have the type {image.get_data_dtype()}, those of {self.paths[0]} {self.dtype}"
            )
        else:
            volume = numpy.asarray(image.dataobj.get_unscaled())
        if self.axes == "zyx":
            volume = volume.T
        return numpy.array(volume, self.dtype, order="C"), numpy.array(image.affine, numpy.float64)


def nifti(
    path: Any,
    *,
    raw: bool = False,
    axes: str = "xyz",
    max_values: int = MOST_VALUES,
    num_workers: int | None = None,
    processes: bool = False,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads volumes of NIfTI files (.nii, .nii.gz, .hdr with .img), with nibabel.

    A file is a sample. All files of a reader have as many dimensions as the first.

    Args:
        path: One path or several; patterns with * or ? become the files that match, sorted; a folder stands for the
            files in it, also in its folders.
        raw: The stored values with their type, the same in all files. Else values are scaled as the header says (slope
            and intercept), as float32.
        axes: "xyz": the order of nibabel and of the affine, (X, Y, Z) or (X, Y, Z, T), without a layout. "zyx": the
            reverse, (Z, Y, X) with the layout DHW or (T, Z, Y, X) with FDHW, which is the order in the file.
        max_values: A volume with more values is a DataError, before there is memory for it.
        num_workers: Threads that read, with processes=True processes; None: as many as the pipeline has threads.
        processes: Reads in processes, which start as the py_start_method of the pipeline says.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        The volume, and the affine: float64 of shape (4, 4), from the voxel (x, y, z, 1) to millimeters.

    Raises:
        ImportError: nibabel is not installed.
        FileNotFoundError: A file does not exist.
        DataError: A file is not NIfTI, is damaged, or has other dimensions than the first.

    Example:
        >>> import nibabel
        >>> volume = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
        >>> nibabel.save(nibabel.Nifti1Image(volume, np.diag([2.0, 2.0, 3.0, 1.0])), "head.nii.gz")
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def heads():
        ...     volume, affine = fn.readers.nifti("head.nii.gz", axes="zyx")
        ...     return volume, affine
        >>> volume, affine = heads().run()
        >>> volume[0].numpy().shape, affine[0].numpy().diagonal().tolist()
        ((4, 3, 2), [2.0, 2.0, 3.0, 1.0])
    """
    graph.required("fn.readers.nifti(...)")
    if axes not in ("xyz", "zyx"):
        raise ValueError(f"[readers.nifti] axes must be 'xyz' or 'zyx', got {axes!r}\n  at {graph.user_line()}")
    needed_package("readers.nifti", "nibabel")
    volumes = Volumes(matching_paths("readers.nifti", path, ENDINGS), bool(raw), axes, int(max_values))
    layout = {3: "DHW", 4: "FDHW"}.get(volumes.dimensions, "") if axes == "zyx" else ""
    return read_samples(volumes, 2, (layout, ""), num_workers, processes, name, arguments)
