# SPDX-License-Identifier: Apache-2.0
"""What the transforms that add noise do."""

from .. import fn
from .. import math as values_math
from ..augment import draws
from .._base.element_types import DType
from . import drawn
from .colors import largest, rank


def _float(image):
    return fn.cast(image, dtype=DType.FLOAT)


def multiplicative_noise(x, a):
    low, high = a.multiplier if isinstance(a.multiplier, (list, tuple)) else (a.multiplier, a.multiplier)
    if not a.elementwise:
        factors = [draws.uniform(low, high) for _ in range(3)] if a.per_channel else None
        if factors is None:
            return fn.brightness(x, brightness=draws.uniform(low, high))
        rows = [factors[r] if r == c else 0.0 for r in range(3) for c in range(3)]
        return fn.color_matrix(x, coefficients=rows)

    def noisy(image):
        shape = image if a.per_channel or rank(image) == 2 else image[:, :, 0:1]
        return drawn.as_type_of(_float(image) * fn.random.uniform(shape, range=[float(low), float(high)]), image)

    return x.with_images(noisy)


def shot_noise(x, a):
    """Photons are counted in linear light, which is the value to the power of 2.2."""
    scale, most = draws.uniform(*a.scale_range), largest(x)

    def noisy(image):
        light = fn.adjust_gamma(fn.brightness(image, brightness=1.0 / most, dtype=DType.FLOAT), gamma=2.2)
        counted = fn.noise.shot(light + scale * 1e-6, factor=scale)
        return drawn.as_type_of(fn.adjust_gamma(counted, gamma=1.0 / 2.2) * most, image)

    return x.with_images(noisy)


def with_lightness(image, most, function):
    """Colors of another lightness L, from 0 to 1, with the hue and the saturation that they have in HLS."""
    own = _float(image) * (1.0 / most)
    high, low = (reduce(own, axes=[2], keep_dims=True) for reduce in (fn.reductions.max, fn.reductions.min))
    lightness = (high + low) * 0.5
    made = function(lightness)
    # The chroma is the saturation times the distance from black or white, the nearer one.
    room = lambda v: 1.0 - values_math.abs(v * 2.0 - 1.0)  # noqa: E731
    share = room(made) / values_math.max(room(lightness), 1e-6)
    return drawn.as_type_of(values_math.clamp(made + (own - lightness) * share, 0.0, 1.0) * most, image)


def iso_noise(x, a):
    intensity, most = draws.uniform(*a.intensity), largest(x)

    def noisy(lightness):
        mean = fn.reductions.std_dev(lightness, fn.reductions.mean(lightness)) * intensity
        counted = fn.noise.shot(lightness * 0.0 + mean, factor=1.0)
        return values_math.clamp(lightness + counted * intensity * (1.0 - lightness), 0.0, 1.0)

    return x.with_images(lambda image: with_lightness(image, most, noisy))


def snow(x, a):
    if a.method != "bleach":
        raise ValueError(f"RandomSnow: method must be 'bleach', got {a.method!r}")
    point, most = draws.uniform(*a.snow_point_range) * 127.5 + 85.0, largest(x)

    def bleached(lightness):
        bright = values_math.min(lightness * float(a.brightness_coeff), 1.0)
        return fn.where(fn.cast(lightness * 255.0, dtype=DType.UINT8) < point, bright, lightness)

    return x.with_images(lambda image: with_lightness(image, most, bleached))


_DEFAULTS = {
    "uniform": {"ranges": [(-0.1, 0.1)]},
    "gaussian": {"mean_range": (0.0, 0.0), "std_range": (0.05, 0.15)},
    "laplace": {"mean_range": (0.0, 0.0), "scale_range": (0.05, 0.15)},
    "beta": {"alpha_range": (0.5, 1.5), "beta_range": (0.5, 1.5), "scale_range": (0.1, 0.3)},
}


def _uniform(settings):
    ranges = [tuple(map(float, pair)) for pair in settings["ranges"]]

    def draw(shape, k):
        low, high = ranges[k % len(ranges)]
        if not shape:
            return draws.uniform(low, high)
        return fn.random.uniform(*shape, range=[0.0, 1.0]) * (high - low) + low

    return draw


def _gaussian(settings):
    mean, deviation = draws.uniform(*settings["mean_range"]), draws.uniform(*settings["std_range"])
    return lambda shape, k: fn.random.normal(*shape, mean=0.0, stddev=1.0) * deviation + mean


def _laplace(settings):
    mean, scale = draws.uniform(*settings["mean_range"]), draws.uniform(*settings["scale_range"])

    def draw(shape, k):
        part = fn.random.uniform(*shape, range=[-1.0, 1.0])
        size = values_math.log(values_math.max(1.0 - values_math.abs(part), 1e-7))
        return fn.where(part < 0, size, -size) * scale + mean

    return draw


def _beta(settings):
    alpha, other = (draws.uniform(*settings[n]) for n in ("alpha_range", "beta_range"))
    scale = draws.uniform(*settings["scale_range"])
    return lambda shape, k: (fn.random.beta(*shape, alpha=alpha, beta=other) * 2.0 - 1.0) * scale


_KINDS = {"uniform": _uniform, "gaussian": _gaussian, "laplace": _laplace, "beta": _beta}


def additive_noise(x, a):
    if a.noise_type not in _KINDS:
        raise ValueError(f"AdditiveNoise: noise_type must be one of {', '.join(_KINDS)}, got {a.noise_type!r}")
    if a.approximation != 1.0:
        raise ValueError("AdditiveNoise: approximation must be 1.0")
    settings = a.noise_params or _DEFAULTS[a.noise_type]
    several = len(settings.get("ranges", [0])) > 1
    draw, most = _KINDS[a.noise_type](settings), largest(x)
    if a.spatial_mode == "constant":
        offsets = [_number(draw((), k)) * most for k in range(3)]
        rows = [offsets[r] if c == 3 else float(r == c) for r in range(3) for c in range(4)]
        return fn.color_matrix(x, coefficients=rows)
    if a.spatial_mode not in ("per_pixel", "shared") or several:
        raise ValueError("AdditiveNoise: spatial_mode is 'constant', or with one range 'per_pixel' or 'shared'")

    def noisy(image):
        shape = image if a.spatial_mode == "per_pixel" or rank(image) == 2 else image[:, :, 0:1]
        return drawn.as_type_of(_float(image) + draw((shape,), 0) * most, image)

    return x.with_images(noisy)


def _number(drawn):
    return drawn if hasattr(drawn, "node") else float(drawn)


def pixel_dropout(x, a):
    if a.drop_value is None or a.mask_drop_value is not None:
        raise ValueError("PixelDropout: drop_value is a number, and mask_drop_value is None")
    if isinstance(a.drop_value, (list, tuple)):
        raise ValueError("PixelDropout: drop_value is one number for all channels")
    value = {"salt_val": float(a.drop_value), "pepper_val": float(a.drop_value)}
    return fn.noise.salt_and_pepper(x, prob=float(a.dropout_prob), per_channel=bool(a.per_channel), **value)
