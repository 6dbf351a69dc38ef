# SPDX-License-Identifier: Apache-2.0
"""readers.dicom: pictures and series of DICOM files, which pydicom reads."""

from __future__ import annotations

import os

from .. import _graph as graph
from .file_samples import MOST_VALUES, FileSamples, matching_paths, needed_package, read_samples
from .dicom_windows import checked_window, windowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NUMBERS = ("DS", "IS", "FD", "FL", "US", "SS", "UL", "SL", "UV", "SV")  # representations of numbers
# What the order of a series needs.
PLACES = ("SeriesInstanceUID", "ImagePositionPatient", "ImageOrientationPatient", "InstanceNumber")


class DicomFiles(FileSamples):
    """The picture of a file, or of a series the volume, and tags."""

    operator = "readers.dicom"

    def __init__(self, paths, tags, series, raw, window, most_values):
        self.tags, self.raw, self.window, self.most_values = tags, raw, window, most_values
        self.series = series
        self.groups = self._series_of(paths) if series else [[p] for p in paths]
        dataset = self._dataset(self.groups[0][0], stop_before_pixels=True)
        self.color = int(dataset.get("SamplesPerPixel", 1)) > 1
        frames = int(dataset.get("NumberOfFrames") or 1)
        self.dimensions = 2 + self.color + (frames > 1 or series)
        self.dtype = self._stored_type(dataset) if raw or self.color else "float32"
        if series and (self.color or frames > 1):
            self.refuse(
                self.groups[0][0], "a slice of a series is one gray picture: read such files without series=True"
            )

    @property
    def layout(self):
        if self.color:
            return {3: "HWC", 4: "FHWC"}[self.dimensions]
        return {2: "HW", 3: "DHW" if self.series else "FHW"}[self.dimensions]

    def _dataset(self, path, **how):
        import pydicom

        try:
            return pydicom.dcmread(path, **how)
        except FileNotFoundError:
            raise FileNotFoundError(f"[{self.operator}] the file does not exist: {path}") from None
        except pydicom.errors.InvalidDicomError as error:
            self.refuse(path, "it is not a DICOM file: the prefix DICM is missing", error)
        except Exception as error:  # pydicom's own types
            self.refuse(path, f"{type(error).__name__}: {error}", error)

    def _stored_type(self, dataset):
        if "FloatPixelData" in dataset:
            return "float32"
        if "DoubleFloatPixelData" in dataset:
            return "float64"
        bits = int(dataset.get("BitsAllocated", 16))
        return f"{'int' if dataset.get('PixelRepresentation', 0) else 'uint'}{max(bits, 8)}"

    def _series_of(self, paths):
        """The paths of each series in the order of its slices; the series in the order of their first paths."""
        found = {}
        for path in paths:
            dataset = self._dataset(path, stop_before_pixels=True, specific_tags=list(PLACES))
            if not dataset.get("SeriesInstanceUID"):
                self.refuse(path, "it names no series (SeriesInstanceUID)")
            try:
                found.setdefault(str(dataset.SeriesInstanceUID), []).append((*self._along(dataset), path))
            except (TypeError, ValueError) as error:
                self.refuse(path, f"its position is damaged: {error}", error)
        for slices in found.values():
            if len({len(key) for key, _, _ in slices}) > 1:
                self.refuse(slices[0][-1], "of its series, some files have a position and others have none")
            slices.sort()
        return [[path for *_, path in slices] for slices in found.values()]

    def _along(self, dataset):
        """((place along the normal of the slices), the number of the slice)"""
        import numpy

        number = int(dataset.get("InstanceNumber") or 0)
        position, orientation = dataset.get("ImagePositionPatient"), dataset.get("ImageOrientationPatient")
        if not position or not orientation:
            return (), number
        across = numpy.asarray(orientation, numpy.float64).reshape(2, 3)
        return (float(numpy.dot(numpy.cross(*across), numpy.asarray(position, numpy.float64))),), number

    def __len__(self):
        return len(self.groups)

    def content(self):
        return [*self.tags, *(os.path.basename(path) for group in self.groups for path in group), str(len(self.groups))]

    def place(self, index):
        return self.groups[index][0]

    @property
    def blank(self):
        import numpy

        empty = [numpy.zeros(0, numpy.float64 if _is_number(tag) else numpy.uint8) for tag in self.tags]
        return (numpy.zeros((0,) * self.dimensions, self.dtype), *empty)

    def read(self, index):
        import numpy

        group = self.groups[index]
        first, picture = self._picture(group[0])
        if self.series:
            self.check_size(group[0], (len(group), *picture.shape))
            volume = numpy.empty((len(group), *picture.shape), picture.dtype)
            volume[0] = picture
            for k, path in enumerate(group[1:], 1):
                _, picture = self._picture(path)
                if picture.shape != volume.shape[1:]:
                    shown = " x ".join(map(str, picture.shape))
                    self.refuse(path, f"the slice has {shown} pixels, that of {group[0]} has another size")
                volume[k] = picture
            picture = volume
        return [picture, *(self._tag(first, tag) for tag in self.tags)]

    def _picture(self, path):
        """A file and its picture, as the reader gives it."""
        import numpy

        dataset = self._dataset(path)
        try:
            shape = [int(dataset.get(name) or 1) for name in ("NumberOfFrames", "Rows", "Columns", "SamplesPerPixel")]
            self.check_size(path, shape)
            stored = dataset.pixel_array
            picture = self._shown(dataset, stored)
        except Exception as error:
            if type(error).__name__ == "DataError":
                raise
            self.refuse(path, f"{type(error).__name__}: {error}", error)
        if picture.ndim != self.dimensions - self.series or picture.dtype != self.dtype:
            self.refuse(
                path,
                f"{picture.dtype} with {picture.ndim} dimensions, but {self.groups[0][0]} has {self.dtype} with "
                f"{self.dimensions - self.series}",
            )
        return dataset, numpy.ascontiguousarray(picture)

    def _shown(self, dataset, stored):
        import numpy
        from pydicom import pixels

        if self.raw or self.color:
            return stored
        values = pixels.apply_modality_lut(stored, dataset)
        if self.window is None:
            return values.astype(numpy.float32)
        return windowed(values, dataset, self.window)

    def _tag(self, dataset, tag):
        import numpy

        value = dataset.get(tag)
        several = isinstance(value, (list, tuple)) or type(value).__name__ == "MultiValue"
        values = [] if value is None or value == "" else list(value) if several else [value]
        if _is_number(tag):
            return numpy.asarray([float(v) for v in values], numpy.float64)
        return numpy.frombuffer("\\".join(map(str, values)).encode(), numpy.uint8)


def _is_number(tag):
    from pydicom.datadict import dictionary_VR

    return dictionary_VR(tag).split(" ")[0] in NUMBERS


def _checked_tags(tags):
    from pydicom.datadict import tag_for_keyword

    tags = [tags] if isinstance(tags, str) else list(tags)
    for tag in tags:
        if tag_for_keyword(tag) is None:
            raise ValueError(f"[readers.dicom] DICOM has no tag with the keyword {tag!r}\n  at {graph.user_line()}")
    return tags


def dicom(
    path: Any,
    *,
    tags: str | Sequence[str] = (),
    series: bool = False,
    raw: bool = False,
    window: Any = None,
    max_values: int = MOST_VALUES,
    num_workers: int | None = None,
    processes: bool = False,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads pictures of DICOM files, or series of them as volumes, with pydicom.

    A file is a sample; with series=True a series is. Gray pictures are float32 (H, W), of several frames (F, H, W):
    the stored values after the rescale slope and intercept or the modality table, such as Hounsfield units. Color
    pictures are RGB of the stored type, (H, W, 3). pydicom decompresses with the packages that it finds (pylibjpeg,
    GDCM, Pillow): its error names those that a file needs.

    Args:
        path: One path or several; patterns with * or ? become the files that match, sorted; a folder stands for the
            files in it, also in its folders.
        tags: Keywords of tags ("PixelSpacing", "PatientAge"), each an output more: numbers as float64, 1-D; text as
            uint8, 1-D, several values with a backslash between them. An absent tag is empty. A series has the tags of
            its first slice.
        series: A sample is the volume (D, H, W) of all files of one SeriesInstanceUID, in the order of their positions
            along the normal of the slices, or where files have no position in the order of InstanceNumber.
        raw: The stored values with their type, the same in all files.
        window: (center, width), or "file" for the first one of the file: values from 0 to 1 by the window function of
            the file (LINEAR, LINEAR_EXACT, SIGMOID); MONOCHROME1 is inverted, so that 1 is white. None: no window, and
            no inversion.
        max_values: A picture or volume with more values is a DataError, before there is memory for it.
        num_workers: Threads that read, with processes=True processes; None: as many as the pipeline has threads.
        processes: Reads in processes, which start as the py_start_method of the pipeline says.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        A value of the pipeline, or with tags a list of the picture and a value for each tag.

    Raises:
        ImportError: pydicom is not installed.
        FileNotFoundError: A file does not exist.
        ValueError: DICOM has no such tag, or the window is not one.
        DataError: A file is not DICOM, is damaged, needs a package for its compression, or has another type or other
            dimensions than the first.

    Source: window functions: DICOM PS3.3, C.11.2.1.2 and C.11.2.1.3.

    Example:
        >>> import pydicom
        >>> file = pydicom.Dataset()
        >>> file.Rows, file.Columns, file.SamplesPerPixel, file.PhotometricInterpretation = 2, 2, 1, "MONOCHROME2"
        >>> file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 16, 12, 11, 0
        >>> file.RescaleSlope, file.RescaleIntercept, file.PixelSpacing = 1, -1024, [0.5, 0.5]
        >>> file.PixelData = np.uint16([[0, 1024], [1100, 2048]]).tobytes()
        >>> file.SOPClassUID, file.SOPInstanceUID = pydicom.uid.CTImageStorage, pydicom.uid.generate_uid()
        >>> file.file_meta = pydicom.dataset.FileMetaDataset()
        >>> file.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
        >>> file.save_as("slice.dcm", enforce_file_format=True)
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def slices():
        ...     picture, spacing = fn.readers.dicom("slice.dcm", tags=["PixelSpacing"])
        ...     return picture, spacing
        >>> picture, spacing = slices().run()
        >>> picture[0].numpy().tolist(), spacing[0].numpy().tolist()
        ([[-1024.0, 0.0], [76.0, 1024.0]], [0.5, 0.5])
    """
    graph.required("fn.readers.dicom(...)")
    needed_package("readers.dicom", "pydicom")
    tags = _checked_tags(tags)
    window = checked_window(window)
    if raw and window is not None:
        raise ValueError(f"[readers.dicom] raw=True and window are mutually exclusive\n  at {graph.user_line()}")
    paths = matching_paths("readers.dicom", path, ())
    files = DicomFiles(paths, tags, bool(series), bool(raw), window, int(max_values))
    layouts = (files.layout, *("" for _ in tags))
    return read_samples(files, 1 + len(tags), layouts, num_workers, processes, name, arguments)
