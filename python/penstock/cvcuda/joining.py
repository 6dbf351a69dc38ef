# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: layouts, stacks, channels, borders, regions that are overwritten."""

import numpy as np

from .. import _core, fn
from . import operands
from .calls import Step, row
from .images import ImageBatchVarShape
from .operands import type_of, values_of
from .signatures import takes
from .tensors import Tensor
from .values import transformed


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
