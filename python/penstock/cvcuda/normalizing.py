# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: normalize."""

import numpy as np

from .. import _core, fn
from .calls import Step, each, row
from .enumerations import NormalizeFlags
from .operands import values_of
from .values import both, own_type

_NORMALIZE = "flags=None, *, globalscale=1.0, globalshift=0.0, epsilon=0.0"


@row(*both(f"src, base, scale, {_NORMALIZE}"), over=("crop_mirror_normalize", "normalize"))
def normalize(call):
    """Subtracts the base, and multiplies by the scale or divides by the standard deviation."""
    base, scale = (_by_axes(call, v) for v in (call.base, call.scale))
    deviations = bool(int(call.flags or 0) & NormalizeFlags.SCALE_IS_STDDEV)
    factor = 1 / np.sqrt(scale * scale + np.float32(call.epsilon)) if deviations else scale
    layout, samples, channels = call.x.layout(), len(call.x), call.channels
    dtype = str(own_type(call))
    shift = {"scale": float(call.globalscale), "shift": float(call.globalshift), "dtype": dtype}
    per_channel = [_per_channel(call, v, samples, channels) for v in (base, factor)]
    if layout in ("HWC", "CHW") and all(v is not None for v in per_channel) and (per_channel[1] != 0).all():
        mean, std = each(per_channel[0], samples, channels), each(1 / per_channel[1], samples, channels)
        return Step(fn.crop_mirror_normalize, call.x, mean=mean, std=std, output_layout=layout, **shift)
    base, factor = (_core.Batch(_rows(call, v, samples), layout) for v in (base, factor))
    return Step(fn.cast, (call.x - base) * factor * shift["scale"] + shift["shift"], dtype=dtype)


def _by_axes(call, argument):
    """A base or a scale with the axes N, H, W and C; channels that images do not have are left out."""
    values = np.asarray(values_of(argument), np.float32)
    letters = str(getattr(argument, "layout", None) or "NHWC"[4 - values.ndim :])
    if values.ndim > 4 or len(letters) != values.ndim or set(letters) - set("NHWC"):
        call.refuse(f"base and scale have axes of NHWC, got the shape {values.shape} and the layout {letters}")
    values = values.transpose([letters.index(a) for a in "NHWC" if a in letters])
    values = values.reshape(
        [values.shape["".join(a for a in "NHWC" if a in letters).index(a)] if a in letters else 1 for a in "NHWC"]
    )
    return values[..., : max(call.channels, 1)]


def _per_channel(call, values, samples, channels):
    """A row of one number a channel for all samples or for each; None for values that vary over a picture."""
    if values.shape[1:3] != (1, 1):
        return None
    return np.ascontiguousarray(np.broadcast_to(values[:, 0, 0], (len(values), channels)))


def _rows(call, values, samples):
    """The values of each sample, with the axes of the sample."""
    if len(values) not in (1, samples):
        call.refuse(f"base and scale are for {len(values)} of {samples} samples")
    order = {"HWC": (0, 1, 2), "CHW": (2, 0, 1)}.get(call.x.layout())
    rows = [values[i if len(values) > 1 else 0] for i in range(samples)]
    return [np.ascontiguousarray(r.transpose(order) if order else r[..., 0]) for r in rows]
