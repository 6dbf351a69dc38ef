# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: borders of images, and windows that may reach beyond them."""

import numpy as np

from .. import fn
from .calls import Step, each, row
from .enumerations import Border
from .filters import _OF_SLICE
from .geometry import border_of, fill_of
from .normalizing import normalize
from .operands import values_of


def _bordered(call, top, left, extents, border, values):
    """The step that puts each image at (left, top) of a canvas."""
    samples = len(call.x)
    start = np.stack(np.broadcast_arrays(-top, -left), axis=-1).astype(np.int64).reshape(-1, 2)
    shape = np.asarray(extents, np.int64).reshape(-1, 2)
    border_of(call, border)
    given = {"start": each(start, samples, 2), "shape": each(shape, samples, 2), "axis_names": "HW"}
    given["out_of_bounds_policy"] = _OF_SLICE[Border(border)]
    if border == Border.CONSTANT:
        given["fill_values"] = fill_of(values, call.channels)
    return Step(fn.slice, call.x, **given)


_BORDER = "border_mode=Border.CONSTANT, border_value=(), *"


@row(
    f"T: src, {_BORDER}, top, bottom, left, right",
    f"V: src, {_BORDER}, top, left, out_heights, out_widths",
    by_dst=("bottom", "right", "out_heights", "out_widths"),
    over=("slice",),
)
def copymakeborder(call):
    """Adds a border to images."""
    top, left = values_of(call.top).reshape(-1), values_of(call.left).reshape(-1)
    if call.want is not None:
        extents = call.want.sizes()
    elif call.varies:
        extents = list(zip(np.reshape(values_of(call.out_heights), -1), np.reshape(values_of(call.out_widths), -1)))
    else:
        ((h, w),) = {*call.extents()}
        extents = [(h + int(call.top) + int(call.bottom), w + int(call.left) + int(call.right))]
    return _bordered(call, top, left, extents, call.border_mode, call.border_value)


@row(f"V: src, {_BORDER}, top, left, out_height, out_width", by_dst=("out_height", "out_width"), over=("slice",))
def copymakeborderstack(call):
    """Adds a border to images and puts them into one tensor."""
    extents = call.want.sizes() if call.want is not None else [(int(call.out_height), int(call.out_width))]
    step = _bordered(call, values_of(call.top), values_of(call.left), extents, call.border_mode, call.border_value)
    return step.gives(kind="T", with_n=True)


@row("V: src, top, left, border=Border.CONSTANT, bvalue=0.0", over=("slice",))
def padandstack(call):
    """Extends images to the extents of the largest one and puts them into one tensor."""
    top, left = values_of(call.top).reshape(-1), values_of(call.left).reshape(-1)
    if call.want is not None:
        extents = call.want.sizes()
    else:
        heights, widths = zip(*call.extents())
        extents = [(int(max(np.array(heights) + top)), int(max(np.array(widths) + left)))]
    return _bordered(call, top, left, extents, call.border, [call.bvalue]).gives(kind="T", with_n=True)


_CFNR = "base, scale, globalscale=1.0, globalshift=0.0, epsilon=0.0, flags=None, border=Border.CONSTANT, bvalue=0.0"


@row(
    f"V: src, out_shape, out_dtype, out_layout, rect, flip_code, {_CFNR}",
    by_dst=("out_shape", "out_dtype", "out_layout"),
    over=("slice", "flip", "crop_mirror_normalize"),
)
def crop_flip_normalize_reformat(call):
    """Cuts a rectangle out of each image, mirrors and normalizes it, and puts all into one tensor."""
    own = call.x.layout()
    layout = call.want.layout if call.want is not None else str(call.out_layout).lstrip("N")
    shape = call.want.shapes[0] if call.want is not None else tuple(call.out_shape)[-len(layout) :]
    height, width = shape[layout.index("H")], shape[layout.index("W")]
    rect = values_of(call.rect).reshape(-1, 4)
    samples = len(call.x)
    cut = call.step(
        fn.slice,
        call.x,
        start=each(rect[:, [1, 0]], samples, 2),
        shape=each(rect[:, [3, 2]], samples, 2),
        axis_names="HW",
    )
    code = values_of(call.flip_code).reshape(-1)
    mirrored = {"horizontal": ((code > 0) | (code == -1)), "vertical": ((code == 0) | (code == -1))}
    cut = call.step(fn.flip, cut, **{k: each(v.astype(np.int32), samples) for k, v in mirrored.items()})
    given = {"out_of_bounds_policy": _OF_SLICE[Border(call.border)]}
    if call.border == Border.CONSTANT:
        given["fill_values"] = [float(call.bvalue)]
    cut = call.step(fn.slice, cut, start=[0, 0], shape=[height, width], axis_names="HW", **given)
    return _normalized(call, cut, own, layout)


class _Inner:
    """The call of another row, for samples that this one has made."""

    def __init__(self, call, x, dtype):
        self.__dict__.update(vars(call))
        self.x, self.want, self.step, self.refuse = x, _Type(dtype), call.step, call.refuse
        self.channels = call.channels


class _Type:
    def __init__(self, dtype):
        self.dtype = dtype


def _normalized(call, cut, own, layout):
    dtype = call.want.dtype if call.want is not None else np.dtype(call.out_dtype)
    step = normalize(_Inner(call, cut, dtype))
    if layout != own:
        step = Step(fn.transpose, step.run(call.stream), perm=[own.index(letter) for letter in layout])
    return step.gives(layout=layout, kind="T", with_n=True)
