# SPDX-License-Identifier: Apache-2.0
"""What the transforms of hues, tones and channels do."""

import numpy as np

from .. import fn
from .. import math as values_math
from ..augment import draws, numbers
from ..augment.samples import pixels_of
from .._base.element_types import DType
from . import drawn
from .colors import largest, rank

_SEPIA = [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131]


def hue_saturation_value(x, a):
    """The hue in steps of 2 degrees, the others in steps of 1 / 255, as OpenCV has them for bytes."""
    hue, saturation, value = (
        draws.uniform(*limit) for limit in (a.hue_shift_limit, a.sat_shift_limit, a.val_shift_limit)
    )
    return fn.shift_hsv(x, hue=hue * 2.0, saturation=saturation / 255.0, value=value / 255.0)


def gamma(x, a):
    return fn.adjust_gamma(x, gamma=draws.uniform(*a.gamma_limit) / 100.0)


def sepia(x, a):
    return fn.color_matrix(x, coefficients=_SEPIA)


def _diagonal(factors, offsets=(0.0, 0.0, 0.0)):
    return [factors[r] if c == r else offsets[r] if c == 3 else 0.0 for r in range(3) for c in range(4)]


def channel_dropout(x, a):
    least, most = a.channel_drop_range
    if not 1 <= least <= most <= 2:
        raise ValueError(f"ChannelDropout: channel_drop_range must be within 1 and 2, got {a.channel_drop_range!r}")
    chosen, one = draws.below(3), draws.below(2) == 0 if least < most else least == 1
    kept = []
    for k in range(3):
        same = chosen == k
        alone = numbers.where(same, 1.0, 0.0)  # two are dropped
        kept.append(numbers.where(one, 1.0 - alone, alone))
    return fn.color_matrix(x, coefficients=_diagonal(kept, [(1.0 - k) * float(a.fill) for k in kept]))


_ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


def channel_shuffle(x, a):
    order = draws.below(6)
    rows = [numbers.entry([float(o[r] == c) for o in _ORDERS], order) for r in range(3) for c in range(3)]
    return fn.color_matrix(x, coefficients=rows)


def _normal(mean, deviation):
    drawn = fn.random.normal(mean=0.0, stddev=1.0)
    drawn = (drawn if hasattr(drawn, "node") else drawn.item()) * float(deviation) + mean
    return numbers.greatest(numbers.least(drawn, 1.0), 0.0)


def tone_curve(x, a):
    """A cubic Bezier curve through (0, 0) and (1, 1): t (3 low + t (3 high - 6 low + t (1 + 3 low - 3 high)))."""
    if a.per_channel:
        raise ValueError("RandomToneCurve: per_channel=True is not there")
    low, high, most = _normal(0.25, a.scale), _normal(0.75, a.scale), largest(x)

    def curve(t):
        inner = t * (3.0 * low - 3.0 * high + 1.0) + (3.0 * high - 6.0 * low)
        return t * (t * inner + 3.0 * low) * most

    if not hasattr(low, "node") and pixels_of(x).dtype in (DType.UINT8, np.uint8):
        table = curve(np.arange(256) / 255.0).tolist()
        return fn.lookup_table(x, keys=list(range(256)), values=table, dtype=DType.UINT8)

    def curved(image):
        return drawn.as_type_of(curve(fn.cast(image, dtype=DType.FLOAT) * (1.0 / most)), image)

    return x.with_images(curved)


def to_rgb(x, a):
    """A channel is broadcast; images of that many channels stay."""
    return x.with_images(lambda image: _spread(image, a.num_output_channels))


def _spread(image, count):
    if rank(image) == 2:
        image = fn.expand_dims(image, axes=[2], new_axis_names="C")
    return drawn.as_type_of(image + np.zeros(count, np.uint8), image)


_TYPES = {"uint8": DType.UINT8, "uint16": DType.UINT16, "float32": DType.FLOAT, "float64": DType.FLOAT64}


def from_float(x, a):
    if a.dtype not in _TYPES:
        raise ValueError(f"FromFloat: dtype must be one of {', '.join(_TYPES)}, got {a.dtype!r}")
    most = float(a.max_value or {"uint8": 255.0, "uint16": 65535.0}.get(a.dtype, 1.0))
    return fn.brightness(x, brightness=most, dtype=_TYPES[a.dtype])


def unsharp_mask(x, a):
    """Sharpens where the image differs from the blurred one by more than a threshold, with a soft edge."""
    from .colors import odd

    size, deviation, alpha = odd(a.blur_limit), draws.uniform(*a.sigma_limit), draws.uniform(*a.alpha)
    most = largest(x)
    blur = lambda v: fn.gaussian_blur(v, window_size=[size], sigma=[deviation])  # noqa: E731

    def sharpened(image):
        own = fn.cast(image, dtype=DType.FLOAT)
        rest = own - blur(own)
        far = blur(fn.cast(values_math.abs(rest) * (255.0 / most) > float(a.threshold), dtype=DType.FLOAT))
        sharp = values_math.clamp(own + rest * alpha, 0.0, most)
        return drawn.as_type_of(own + (sharp - own) * far, image)

    return x.with_images(sharpened)
