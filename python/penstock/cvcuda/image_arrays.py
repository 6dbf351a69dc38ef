# SPDX-License-Identifier: Apache-2.0
"""Arrays as pixels of images: which dimension is which, and what is refused."""

from . import buffers
from .formats import Format, scalar_of


def check_format(format):
    """Refuses what is not a format of rows of pixels."""
    if not isinstance(format, Format):
        raise TypeError(f"a cvcuda.Format is needed, got {format!r}")
    if format.block_linear:
        raise ValueError(f"{format!r} is block-linear: images are row by row here")


def as_pixels(array):
    """(a view as HWC or CHW, whether it is CHW)"""
    shape, lanes = array.shape, scalar_of(array.dtype)[1]
    if lanes > 1 or array.dtype.hasobject:
        raise ValueError(f"an array of {array.dtype} is not an image")
    if len(shape) == 4 and shape[0] != 1:
        raise ValueError(f"an image of 4 dimensions has 1 as its first extent, not {shape[0]}")
    if not 1 <= len(shape) <= 4 or 0 in shape:
        raise ValueError(f"an image has 1 to 4 dimensions and at least one pixel, got the shape {shape}")
    order = list(range(len(shape)))[1 if len(shape) == 4 else 0 :]
    if len(order) == 1:
        order = [None, *order]
    if len(order) == 2:
        order = [*order, None]
    view = buffers.transposed(array, order)
    if len(shape) == 3 and shape[0] == 1 and shape[2] > 4:
        return buffers.transposed(view, [1, 2, 0]), False
    if view.shape[2] <= 4:
        return view, False
    if view.shape[0] <= 4:
        return view, True
    raise ValueError(f"an array of the shape {shape} cannot be an image: it has 1 to 4 channels, first or last")


def check_strides(view, planar):
    """Refuses pixels that do not follow each other in a row."""
    width = 2 if planar else 1
    step = view.dtype.itemsize * (1 if planar else view.shape[2])
    if any(s < 0 for s in view.strides) or (view.shape[width] > 1 and view.strides[width] != step):
        raise ValueError(f"the pixels of a row must follow each other without gaps, but the strides are {view.strides}")
    if not planar and view.shape[2] > 1 and view.strides[2] != view.dtype.itemsize:
        raise ValueError(f"the channels of a pixel must follow each other, but the strides are {view.strides}")
    if view.shape[0 if not planar else 1] > 1 and 0 in view.strides[:2]:
        raise ValueError("a row must not lie on another one, but a stride is 0")
