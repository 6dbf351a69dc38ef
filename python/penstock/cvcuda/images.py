# SPDX-License-Identifier: Apache-2.0
"""Image and ImageBatchVarShape: pictures with a format and planes."""

from __future__ import annotations

import numpy as np

from .._base.limits import integer
from . import buffers
from .formats import Format, format_of, layout_of
from .image_arrays import as_pixels, check_format, check_strides
from .tensor_batches import Collection
from .tensors import Container, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Image(Container):
    """A picture with a format.

    Image(size, format, rowalign=0) makes new memory, on the GPU, or on the host of a machine without one; size is (width,
    height). Image(buffer, format=None, rowalign=0) copies arrays of the host, one or a list of planes.

    Example:
        >>> import penstock.cvcuda as cvcuda
        >>> cvcuda.Image((64, 48), cvcuda.Format.NV12).size
        (64, 48)
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        first = args[0] if args else named.get("size", named.get("buffer"))
        if isinstance(first, np.ndarray) and first.shape == (2,) and first.dtype.kind in "ui":
            first, args = tuple(first), (tuple(first), *args[1:])
        size = (
            isinstance(first, (tuple, list))
            and len(first) == 2
            and all(isinstance(n, (int, float, np.number)) for n in first)
        )
        names = ("size" if size else "buffer", "format", "rowalign")
        if len(args) > 3 or set(named) - set(names) or first is None:
            raise TypeError("Image takes size, format and rowalign, or buffer, format and rowalign")
        given = {"format": None, "rowalign": 0, **dict(zip(names, args)), **named}
        if size:
            self._create(tuple(given["size"]), given["format"], given["rowalign"])
        else:
            self._copy(given["buffer"], given["format"], given["rowalign"])

    def _create(self, size, format, rowalign):
        width, height = (integer("size", n) for n in size)
        check_format(format)
        if width < 1 or height < 1:
            raise ValueError(f"the size of an image is positive, got {size}")
        if format.planar:
            planes = [buffers.allocate((format.channels, height, width), format.dtype, 1, rowalign)]
        else:
            shapes = [format.plane_shape(k, width, height) for k in range(format.planes)]
            planes = [buffers.allocate(s, format.dtype, 2, rowalign) for s in shapes]
        self._set(planes, format, (width, height))

    def _copy(self, buffer, format, rowalign):
        wrapped = as_image(buffer, format)
        self._create(wrapped.size, wrapped.format, rowalign)
        for to, values in zip(self._planes, wrapped._planes):
            if isinstance(to, np.ndarray):
                np.copyto(to, buffers.on_host(values))
            else:
                dense = np.ascontiguousarray(buffers.on_host(values))
                to.source = type(to.source)(dense).gpu(0)
                to.strides, to.offset = buffers.dense_strides(to.shape, to.dtype.itemsize), 0

    def _set(self, planes, format, size):
        self._planes, self._format, self._size = planes, format, size

    @classmethod
    def _over(cls, planes, format, size):
        self = cls.__new__(cls)
        self._set(planes, format, size)
        return self

    @staticmethod
    def zeros(size: Sequence[int], format: Format, rowalign: int = 0) -> Image:
        """A new image whose bytes are 0.

        Args:
            size: (width, height).
            format: A Format.
            rowalign: Rows begin at multiples of so many bytes.

        Returns:
            An Image.
        """
        image = Image.__new__(Image)
        image._create(size, format, rowalign)
        return image

    @property
    def size(self) -> tuple[int, int]:
        """(width, height)"""
        return self._size

    @property
    def width(self) -> int:
        """Pixels of a row."""
        return self._size[0]

    @property
    def height(self) -> int:
        """Rows."""
        return self._size[1]

    @property
    def format(self) -> Format:
        """The Format."""
        return self._format

    def _views(self, layout):
        planar = self._format.planar and len(self._planes) == 1
        if layout is None and len(self._planes) > 1:
            layout = "HWC"
        views = [_with_layout(p, layout, planar) for p in self._planes]
        return views if len(views) > 1 else views[0]

    def cuda(self, layout: str | None = None) -> Any:
        """The memory for other libraries: on a machine without a GPU arrays of NumPy over the same memory.

        Args:
            layout: The letters of the dimensions, in any order: H, W, C, and others, which have the extent 1. None: HWC, for
                planes CHW, and HW for one channel.

        Returns:
            A buffer, or a list with one for each plane if these differ in their extents.
        """
        views = self._views(layout)
        return [buffers.exported(v) for v in views] if isinstance(views, list) else buffers.exported(views)

    def cpu(self, layout: str | None = None) -> Any:
        """The values as an array of NumPy.

        Args:
            layout: As in cuda().

        Returns:
            An array, or a list of them.
        """
        views = self._views(layout)
        return (
            [np.array(buffers.on_host(v)) for v in views]
            if isinstance(views, list)
            else np.array(buffers.on_host(views))
        )

    def _as_tensor(self):
        if len(self._planes) > 1:
            raise ValueError(f"the planes of {self._format!r} differ in their extents: they do not make a tensor")
        memory = self._planes[0]
        layout = "NCHW" if self._format.planar else "NHWC"
        strides = (memory.strides[0] * memory.shape[0], *memory.strides)
        return Tensor._over(buffers.strided(memory, (1, *memory.shape), strides), layout)

    def __repr__(self):
        return f"<cvcuda.Image size={self._size} format={self._format!r}>"


def _with_layout(memory, layout, planar):
    own = "CHW" if planar else "HWC"
    if layout is None:
        layout = "HW" if memory.shape[own.index("C")] == 1 and not planar else own
    letters = layout_of(layout)
    return buffers.transposed(memory, [own.index(letter) if letter in own else None for letter in letters])


def as_image(buffer: Any, format: Format | None = None) -> Image:
    """An Image over an array of torch, CuPy, NumPy or another library, or over a list of planes; nothing is copied.

    Args:
        buffer: An array of 1 to 4 dimensions, H and W and maybe C, or a list of them.
        format: The Format; None: it follows from the type and the number of channels.

    Returns:
        An Image, which keeps the array alive.

    Example:
        >>> import numpy as np
        >>> import penstock.cvcuda as cvcuda
        >>> cvcuda.as_image(np.zeros((48, 64, 3), np.uint8)).format
        cvcuda.Format.RGB8
    """
    several = isinstance(buffer, (list, tuple))
    if several and not buffer:
        raise RuntimeError("as_image: there is no plane in the list")
    try:
        arrays = [buffers.wrapped(b) for b in (buffer if several else [buffer])]
    except (KeyError, TypeError) as error:
        raise RuntimeError(f"as_image: this is not an image: {error}") from error
    pixels = [as_pixels(a) for a in arrays]
    for view, planar in pixels:
        check_strides(view, planar)
    if format is not None and format is not Format.NONE:
        check_format(format)
    if len(pixels) > 1:
        return _of_planes([view for view, _ in pixels], format)
    view, planar = pixels[0]
    height, width, channels = (view.shape[d] for d in ((1, 2, 0) if planar else (0, 1, 2)))
    if format is None or format is Format.NONE:
        format = format_of(view.dtype, channels, planar)
    elif (format.planes if planar else format.plane_channels[0]) != channels or (format.planes > 1) != planar:
        raise ValueError(f"an array of the shape {arrays[0].shape} does not fit {format!r}")
    if format.dtype != view.dtype:
        raise ValueError(f"an array of {view.dtype} does not fit {format!r}, whose elements are {format.dtype}")
    return Image._over([view], format, (width, height))


def _of_planes(planes, format):
    height, width, _ = planes[0].shape
    if format is None or format is Format.NONE:
        shapes = [p.shape for p in planes]
        candidates = [Format.NV12_ER, Format.NV24_ER, Format.YUV8p_ER]
        format = next(
            (f for f in candidates if [f.plane_shape(k, width, height) for k in range(f.planes)] == shapes), None
        )
        if format is None:
            raise ValueError(f"planes of the shapes {shapes} fit none of the known formats: give format=")
    expected = [format.plane_shape(k, width, height) for k in range(format.planes)]
    if [p.shape for p in planes] != expected or any(p.dtype != format.dtype for p in planes):
        raise ValueError(
            f"{format!r} of {width} x {height} has planes of the shapes {expected}, got {[p.shape for p in planes]}"
        )
    return Image._over(planes, format, (width, height))


class ImageBatchVarShape(Collection):
    """Images, each of its own size and format."""

    def _check(self, entry):
        if not isinstance(entry, Image):
            raise TypeError(f"an ImageBatchVarShape holds images, got {type(entry).__name__}")

    @property
    def uniqueformat(self) -> Format | None:
        """The format of all images; None if they differ or there are none."""
        formats = {id(i.format): i.format for i in self._entries}
        return next(iter(formats.values())) if len(formats) == 1 else None

    @property
    def maxsize(self) -> tuple[int, int]:
        """The largest (width, height)."""
        return max((i.width for i in self._entries), default=0), max((i.height for i in self._entries), default=0)


def as_images(buffers: Sequence[Any] = (), format: Format | None = None) -> ImageBatchVarShape:
    """An ImageBatchVarShape over arrays of other libraries.

    Args:
        buffers: The arrays.
        format: The Format of all; None: as in as_image().

    Returns:
        A batch whose capacity is the number of arrays.
    """
    batch = ImageBatchVarShape(len(buffers))
    batch.pushback([as_image(b, format) for b in buffers])
    return batch
