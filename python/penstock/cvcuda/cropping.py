# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: windows that are cut out, some of them resized."""

from .. import _core, fn
from .calls import Step, row
from .enumerations import ChannelManip
from .formats import scalar_of
from .resizing import filter_of, size_of
from .signatures import takes


def window(call, top, left, height, width):
    """The step that cuts a window."""
    for h, w in call.extents():
        if top < 0 or left < 0 or height < 1 or width < 1 or top + height > h or left + width > w:
            call.refuse(f"the window of {height} x {width} at ({left}, {top}) is not inside an image of {h} x {w}")
    return Step(fn.slice, call.x, start=[top, left], shape=[height, width], axis_names="HW")


@row("T: src, crop_size", over=("slice",))
def center_crop(call):
    """Cuts a window out of the middle."""
    width, height = (int(n) for n in call.crop_size)
    h, w = call.extents()[0]
    return window(call, (h - height) // 2, (w - width) // 2, height, width)


@row("T: src, rect", over=("slice",))
def customcrop(call):
    """Cuts a window."""
    r = call.rect
    return window(call, r.y, r.x, r.height, r.width)


@row(
    "T: src, shape, min_scale=0.08, max_scale=1.0, min_ratio=0.75, max_ratio=1.3333333333333333, interp=Interp.LINEAR, seed=0",
    "V: src, sizes, min_scale=0.08, max_scale=1.0, min_ratio=0.75, max_ratio=1.3333333333333333, interp=Interp.LINEAR, seed=0",
    by_dst=("shape", "sizes"),
    over=("random_resized_crop",),
)
def random_resized_crop(call):
    """Draws a window of random area and aspect ratio for each image, and resizes it."""
    size = size_of(call)
    if not isinstance(size, list):
        rows = [list(map(int, r)) for r in size.tensors]
        size = rows[0] if all(r == rows[0] for r in rows) else rows
    given = {"random_area": [call.min_scale, call.max_scale], "random_aspect_ratio": [call.min_ratio, call.max_ratio]}
    given |= {"interp_type": filter_of(call, call.interp), "seed": call.seed, "antialias": False}
    if not isinstance(size[0], list):
        return Step(fn.random_resized_crop, call.x, size=size, **given)
    layout, seed, parts = call.x.layout(), given.pop("seed"), []
    for k, (image, one) in enumerate(zip(call.x, size)):  # the operator has one size for a batch
        cut = call.step(fn.random_resized_crop, _core.Batch([image], layout), size=one, seed=seed + k, **given)
        parts.append(cut[0])
    return Step(fn.copy, _core.Batch(parts, layout))


def _finished(call, x, crop, layout, dtype):
    top, left, height, width = crop
    cut = call.step(fn.slice, x, start=[top, left], shape=[height, width], axis_names="HW")
    if call.manip == ChannelManip.REVERSE:
        cut = reversed_channels(call, cut)
    given = {"scale": float(call.scale), "shift": float(call.offset), "dtype": str(scalar_of(dtype)[0])}
    return Step(fn.crop_mirror_normalize, cut, output_layout=layout, **given).gives(
        layout=layout, kind="T", with_n=True
    )


def reversed_channels(call, x):
    """The channels in the other order."""
    layout, shape = x.layout(), x.shape()[0]
    axis, count = layout.index("C"), shape[layout.index("C")]
    if takes("channel_reorder", "order"):
        return call.step(fn.channel_reorder, x, order=list(range(count))[::-1])
    parts = [call.step(fn.slice, x, start=[k], shape=[1], axes=[axis]) for k in reversed(range(count))]
    return call.step(fn.cat, *parts, axis=axis)


_REFORMAT = "*, layout='', data_type=0, manip=ChannelManip.NO_OP, scale=1.0, offset=0.0, srcCast=True"


@row(
    *(f"{kind}: src, resize_dim, interp, crop_rect, {_REFORMAT}" for kind in "TV"),
    into=["dst, src, resize_dim, interp, cropPos, *, manip=ChannelManip.NO_OP, scale=1.0, offset=0.0, srcCast=True"]
    * 2,
    over=("resize", "slice", "crop_mirror_normalize"),
)
def resize_crop_convert_reformat(call):
    """Resizes, cuts a window, and scales its values, for a network."""
    width, height = (int(n) for n in call.resize_dim)
    if call.want is not None:
        h, w = call.want.sizes()[0]
        crop, layout, dtype = (int(call.cropPos[1]), int(call.cropPos[0]), h, w), call.want.layout, call.want.dtype
    else:
        r = call.crop_rect
        crop, layout = (r.y, r.x, r.height, r.width), str(call.layout or "").lstrip("N") or call.x.layout()
        dtype = call.data_type or ("uint8" if call.varies else call.first.dtype)
    top, left, h, w = crop
    if top < 0 or left < 0 or top + h > height or left + w > width:
        call.refuse(f"the window of {h} x {w} at ({left}, {top}) is not inside the resized image of {height} x {width}")
    given = {} if call.srcCast else {"dtype": "float32"}
    filters = {"interp_type": filter_of(call, call.interp), "antialias": False}
    return _finished(call, call.step(fn.resize, call.x, size=[height, width], **filters, **given), crop, layout, dtype)
