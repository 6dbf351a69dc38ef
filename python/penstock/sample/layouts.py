# SPDX-License-Identifier: Apache-2.0
"""Parts of pixels with the layouts that operators need: arrays have none."""

import numpy as np

from .. import _core
from .._graph import DataNode
from .parts import OF_OBJECTS, PIXELS, Boxes, Image, Instances, Mask, Volume, label_names

_OF_VOLUMES = {3: "DHW", 4: "DHWC"}


def known(value):
    """(layout, number of dimensions or None) of a part, as far as they are known."""
    if isinstance(value, (_core.Batch, _core.Tensor)):
        return value.layout(), value.ndim()
    if isinstance(value, DataNode):
        return value.layout, value.ndim
    return "", getattr(value, "ndim", None)


def _has_channels(shape):
    return len(shape) == 3 and 1 <= shape[2] <= 4


def wanted(sample, name, value):
    """The layout that a part must be given; "": it has one, or an operator finds it by itself."""
    kind = sample.kinds[name]
    if isinstance(kind, Instances):
        return "FHW"
    if not any(isinstance(k, Volume) for k in sample.kinds.values()):
        # Filters work along all axes of an array without a layout: they would mix the channels. Axes have no names there.
        if not isinstance(value, np.ndarray):
            return ""
        return "HWC" if _has_channels(value.shape) else "HW" if value.ndim == 2 and isinstance(kind, Mask) else ""
    layout, ndim = known(value)
    if layout and "D" not in layout:
        raise TypeError(
            f"'{name}' has the layout {layout}: a part of a Sample with a volume needs D, as DHW and DHWC have"
        )
    made = layout or getattr(kind, "layout", "") or _OF_VOLUMES.get(ndim)
    if made is None or (ndim is not None and len(made) != ndim):
        have = (
            "an unknown number of dimensions"
            if ndim is None
            else f"{ndim} dimensions" + (f" and the layout {made}" if made else "")
        )
        how = "Volume(value, layout='DHW')" if isinstance(kind, Volume) else "fn.reshape(value, layout='DHW')"
        raise TypeError(f"'{name}' has {have}: a volume is (D, H, W) or (D, H, W, C); {how} says what it is")
    return "" if layout else made


def with_layout(value, layout, calls):
    """(a part as operators take it, what makes of their result what the part was)"""
    if not layout:
        return value, lambda made: made
    if calls.in_pipeline or isinstance(value, (_core.Batch, _core.Tensor)):
        return calls("reshape", (value,), {"layout": layout}), lambda made: made
    made_of = (lambda made: made.torch()) if type(value).__module__.startswith("torch") else lambda made: made.numpy()
    return _core.tensor(value, layout=layout), made_of


def as_volume(sample, name):
    """A volume of a Sample as an array with a layout; a batch as it is."""
    value = sample[name]
    layout = wanted(sample, name, value)
    return _core.tensor(value, layout=layout) if layout and not isinstance(value, _core.Batch) else value


def pixel_parts(sample):
    """The names of the images and volumes, which decide, and then of the masks."""
    names = [name for name, kind in sample.kinds.items() if isinstance(kind, PIXELS)]
    return sorted(names, key=lambda name: PIXELS.index(type(sample.kinds[name])))


def images_of(sample):
    return [name for name, kind in sample.kinds.items() if isinstance(kind, Image)]


def rows_of(sample, boxes):
    """The names of the parts that have a row for each box of the part `boxes`."""
    kinds = sample.kinds
    first = next(name for name, kind in kinds.items() if isinstance(kind, Boxes))
    stacks = [name for name, kind in kinds.items() if isinstance(kind, OF_OBJECTS) and boxes == first]
    return [*(name for name in label_names(kinds[boxes]) if name in kinds), *stacks]
