# SPDX-License-Identifier: Apache-2.0
"""Colors of light by their temperature in kelvin, and the transform that changes it."""

from .. import fn
from ..augment import draws, numbers
from .checks import check_colors

_WHITE, _MOST, _COOL = (
    6000.0,
    15000.0,
    0.6,
)  # the temperature between warm and cool, the highest, the part of cool draws
_LEAST = {"blackbody": 3000.0, "cied": 4000.0}
# From XYZ to linear sRGB (IEC 61966-2-1): light of D65 has three equal parts.
_SRGB = ((3.2404542, -1.5371385, -0.4985314), (-0.9692660, 1.8760108, 0.0415560), (0.0556434, -0.2040259, 1.0572252))


def _planck(t):
    """(x, y) of a black body, 1000 K to 15000 K (Krystek, 1985)."""
    k = t * 1e-3  # of its polynomials float32 has enough digits then
    u = (k * k * 0.128641212 + k * 0.154118254 + 0.860117757) / (k * k * 0.708145163 + k * 0.842420235 + 1.0)
    v = (k * k * 0.0420481691 + k * 0.0422806245 + 0.317398726) / (k * k * 0.161456053 - k * 0.0289741816 + 1.0)
    rest = u * 2.0 - v * 8.0 + 4.0
    return u * 3.0 / rest, v * 2.0 / rest


def _daylight(t):
    """(x, y) of the D illuminants, 4000 K to 25000 K (CIE 15)."""
    k = 1000.0 / t
    warm = ((k * -4.6070 + 2.9678) * k + 0.09911) * k + 0.244063
    cool = ((k * -2.0064 + 1.9018) * k + 0.24748) * k + 0.237040
    x = numbers.where(t <= 7000.0, warm, cool)
    return x, (x * -3.0 + 2.870) * x - 0.275


_PLACES = {"blackbody": _planck, "cied": _daylight}


def gains(mode, temperature):
    """What red and blue are multiplied with under this light, where green stays."""
    x, y = _PLACES[mode](temperature)
    light = (x / y, 1.0, (1.0 - x - y) / y)
    red, green, blue = (sum((v * w for v, w in zip(light, row)), 0.0) for row in _SRGB)
    return red / green, numbers.greatest(blue / green, 0.0)


def _temperature(low, high, method):
    """Cool light less often than its range is wide."""
    cool = draws.coin(_COOL) > 0.5
    if method == "uniform":
        part = draws.uniform(0.0, 1.0)
        return numbers.where(cool, part * (high - _WHITE) + _WHITE, part * (_WHITE - low) + low)
    far = draws.normal()
    far = far * numbers.where(far < 0, -1.0, 1.0) / 3.0
    made = numbers.where(cool, far * (high - _WHITE) + _WHITE, far * (low - _WHITE) + _WHITE)
    return numbers.greatest(numbers.least(made, high), low)


def planckian_jitter(x, a):
    name = "PlanckianJitter"
    check_colors(name, x)
    if a.mode not in _LEAST:
        raise ValueError(f"{name}: mode must be 'blackbody' or 'cied', got {a.mode!r}")
    if a.sampling_method not in ("uniform", "gaussian"):
        raise ValueError(f"{name}: sampling_method must be 'uniform' or 'gaussian', got {a.sampling_method!r}")
    low, high = (float(v) for v in (a.temperature_limit or (_LEAST[a.mode], _MOST)))
    if not _LEAST[a.mode] <= low <= _WHITE <= high <= _MOST:
        raise ValueError(
            f"{name}: temperature_limit of {a.mode!r} must be within {_LEAST[a.mode]:.0f} and {_MOST:.0f} and hold "
            f"{_WHITE:.0f}, got {a.temperature_limit!r}"
        )
    red, blue = gains(a.mode, _temperature(low, high, a.sampling_method))
    rows = [red, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, blue, 0.0]
    return fn.color_matrix(x, coefficients=rows)
