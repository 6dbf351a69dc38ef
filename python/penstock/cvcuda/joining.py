# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: layouts, stacks, channels, borders, regions that are overwritten."""

import numpy as np

from .. import _core, fn
from . import operands
from .calls import Step, each, row, takes
from .enumerations import Border
from .filters import _OF_SLICE

from .geometry import border_of, fill_of
from .images import ImageBatchVarShape
from .operands import type_of, values_of
from .tensors import Tensor
from .values import normalize, transformed


@row("T: src, layout", by_dst=("layout",), over=("transpose",))
def reformat(call):
    """Gives a tensor another layout."""
    to = str(call.dst.layout if call.dst is not None else call.layout)
    own = str(call.first.layout)
    inner, wanted = own.lstrip("N"), to.lstrip("N")
    if sorted(inner) != sorted(wanted):
        call.refuse(f"the layouts {own} and {to} have other letters")
    if to[0] != "N" and own[0] == "N" and len(call.x) > 1:
        call.refuse(f"{len(call.x)} samples have no layout {to} without N")
    if inner == wanted:
        step = Step(fn.copy, call.x)
    else:
        step = Step(fn.transpose, call.x, perm=[inner.index(letter) for letter in wanted])
    return step.gives(layout=wanted, kind="T", with_n=to[0] == "N")


def _samples_of(call):
    """The samples of several containers, one after another."""
    if isinstance(call.first, ImageBatchVarShape):
        return call.x
    if not len(call.first):
        call.refuse("there is nothing to stack")
    batches = [operands.batch_of(t, call.name) for t in call.first]
    return _core.Batch([sample for b in batches for sample in b], batches[0].layout())


@row("V: src", "B: src", "L: src", over=("copy",))
def stack(call):
    """Puts images or tensors of one shape into one tensor."""
    samples = _samples_of(call)
    if len(set(samples.shape())) > 1:
        call.refuse(f"the samples differ in their shapes: {sorted(set(samples.shape()))}")
    return Step(fn.copy, samples).gives(layout=samples.layout(), kind="T", with_n=True)


def _channels(call):
    layout = call.x.layout()
    axis = layout.index("C")
    return [(k, {"start": [k], "shape": [1], "axes": [axis]}) for k in range(call.channels)]


@row("T: src", "V: src", into=["dst, src"] * 2, over=("slice",))
def split(call):
    """Gives the channels of images one by one, a tuple of tensors or of batches of one channel."""
    steps = [Step(fn.slice, call.x, **given) for _, given in _channels(call)]
    if call.dst is not None:
        if len(call.dst) != len(steps):
            call.refuse(f"dst has {len(call.dst)} entries for {len(steps)} channels")
        for to, step in zip(call.dst, steps):
            operands.fill(to, step.run(call.stream), call.stream)
        return call.dst
    batches = [s.run(call.stream) for s in steps]
    if isinstance(call.first, Tensor):
        return tuple(operands.tensor_of(b, call.first.layout[0] == "N", call.x.layout()) for b in batches)
    return tuple(operands.images_of(b, call.first.capacity, [None] * len(b)) for b in batches)


@row("L: src, *, layout=None, format=None", by_dst=("layout", "format"), over=("cat",))
def merge(call):
    """Joins images of one channel into images of several."""
    batches = [operands.batch_of(s, call.name) for s in call.first]
    own = batches[0].layout()
    step = Step(fn.cat, *batches, axis=own.index("C"))
    if isinstance(call.first[0], ImageBatchVarShape):
        return step.gives(formats=call.format)
    wanted = str(call.layout or own).lstrip("N")
    if wanted != own:
        step = Step(fn.transpose, step.run(call.stream), perm=[own.index(letter) for letter in wanted])
    return step.gives(layout=wanted, kind="T", with_n=call.first[0].layout[0] == "N")


@row(
    "T: src, order",
    "V: src, order, *, format=None",
    into=["dst, src, order", "dst, src, orders"],
    over=("coord_transform",),
)
def channelreorder(call):
    """Puts channels into another order; a negative number gives a channel of 0."""
    order = values_of(getattr(call, "order", None) if hasattr(call, "order") else call.orders)
    rows, channels = order.reshape(-1, order.shape[-1]), call.channels
    if call.want is not None:
        rows = rows[:, : call.want.channels]
    if (rows >= channels).any():
        call.refuse(f"there are {channels} channels, got the order {rows.tolist()}")
    if rows.min() >= 0 and len(rows) == 1 and takes("channel_reorder", "order"):
        step = Step(fn.channel_reorder, call.x, order=rows[0].tolist())
    else:
        matrix = np.zeros((len(rows), rows.shape[1], channels + 1), np.float32)
        for k, one in enumerate(rows):
            for out, source in enumerate(one):
                if source >= 0:
                    matrix[k, out, source] = 1
        step = transformed(call, call.x, matrix, str(type_of(call.x)))
    return step.gives(formats=getattr(call, "format", None)) if call.varies else step


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


_AREAS = "anchor, erasing, values, imgIdx, *, random=False, seed=0"


@row("T: src, i, j, h, w, v", f"T: src, {_AREAS}", f"V: src, {_AREAS}", over=("erase",))
def erase(call):
    """Overwrites rectangles."""
    if hasattr(call, "i"):
        value = np.asarray(values_of(call.v), np.float64).reshape(-1)
        anchor, shape = [float(call.i), float(call.j)], [float(call.h), float(call.w)]
        if value.size not in (1, call.channels):
            call.refuse(f"v has one value or one for each of {call.channels} channels, got {value.size}")
        return Step(fn.erase, call.x, anchor=anchor, shape=shape, axis_names="HW", fill_value=value.tolist())
    if call.random:
        call.refuse("areas of random values (random=True) are not there")
    x = call.x
    return _erased(call, x, *(values_of(v) for v in (call.anchor, call.erasing, call.values, call.imgIdx)))


def _erased(call, x, anchors, areas, values, images):
    anchors, areas, images = anchors.reshape(-1, 2), areas.reshape(-1, 3), images.reshape(-1)
    values = values.reshape(len(areas), -1)
    values = np.broadcast_to(values, (len(areas), 4)) if values.shape[1] == 1 else values
    if not len(anchors) == len(areas) == len(images) or values.shape[1] != 4:
        call.refuse("anchor, erasing, values and imgIdx have entries for as many areas, values 4 for each or one")
    if len(images) and not 0 <= images.min() <= images.max() < len(x):
        call.refuse(f"imgIdx has numbers from 0 to {len(x) - 1}, got {images.tolist()}")
    axis, step = x.layout().index("C"), None
    for (left, top), (width, height, mask), value, image in zip(anchors, areas, values, images):
        for c in (c for c in range(call.channels) if int(mask) >> c & 1):
            x = step.run(call.stream) if step else x
            axes = [x.layout().index("H"), x.layout().index("W"), axis]
            anchor = np.zeros((len(x), 3), np.float32)
            shape = np.zeros((len(x), 3), np.float32)
            anchor[int(image)], shape[int(image)] = (top, left, c), (height, width, 1)
            given = {"anchor": each(anchor, len(x), 3), "shape": each(shape, len(x), 3), "axes": axes}
            step = Step(fn.erase, x, fill_value=[float(value[c])], **given)
    return step or Step(fn.copy, x)


@row(
    "T: src, mu, sigma, per_channel, seed=None, *, clip=True",
    "V: src, mu, sigma, per_channel, seed=0",
    over=("noise.gaussian",),
)
def gaussiannoise(call):
    """Adds normally distributed noise."""
    given = {"mean": call.mu, "stddev": call.sigma}
    given = {k: each(np.asarray(values_of(v), np.float32), len(call.x)) for k, v in given.items()}
    if takes("noise.gaussian", "per_channel"):
        given["per_channel"] = bool(call.per_channel)
    elif not call.per_channel and call.channels > 1:
        call.refuse("the same noise for all channels (per_channel=False) is not there")
    if getattr(call, "clip", True) is False and type_of(call.x).kind != "f":
        call.refuse("clip=False is for floating point here: integers are limited to their range")
    return Step(fn.noise.gaussian, call.x, seed=-1 if call.seed is None else int(call.seed) & 0x7FFFFFFF, **given)


@row("T: src, mask=None", into=["histogram, src, mask=None"], over=("histogram",))
def histogram(call):
    """Counts the values of images of one channel, 256 for each."""
    if call.channels != 1:
        call.refuse(f"images have one channel, got {call.channels}")
    x, given = call.x, {}
    if call.mask is not None:  # what is masked is put below the first bin
        x = call.step(fn.where, call.batch(call.mask) != 0, call.step(fn.cast, x, dtype="int16"), np.int16(-1))
        given = {"range": [0.0, 256.0]}
    counted = call.step(fn.histogram, x, **given)
    count = len(call.x)
    rows = fn.reshape(fn.reshape(counted, shape=[256, 1]).as_tensor(), shape=[count, 256, 1], layout="HWC")
    batch = _core.Batch([rows], "HWC")
    if not hasattr(call, "histogram"):
        return operands.tensor_of(batch, False, "HWC")
    operands.fill(call.histogram, batch, call.stream)
    return call.histogram
