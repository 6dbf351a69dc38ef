# SPDX-License-Identifier: Apache-2.0
"""What the transforms that weight neighbors do. A kernel that is a formula of drawn numbers is computed for each sample.
Others stand in a table of kernels, made once from their distribution, of which each sample draws one."""

import functools

import numpy as np

from .. import fn
from ..augment import draws

_MANY = 256  # kernels in a table
_UNCHANGED = np.float32([[0, 0, 0], [0, 1, 0], [0, 0, 0]])


def _drawn(x, table):
    """The sample, weighted by one of the kernels of a table."""
    index = draws.below(len(table)) if len(table) > 1 else 0
    if not hasattr(index, "node"):
        return fn.correlate(x, _trimmed(table[int(index)]))
    return fn.correlate(x, fn.constant(fdata=table.ravel().tolist(), shape=list(table.shape))[index])


def _trimmed(kernel):
    """Without the zeros around it, which take time."""
    while len(kernel) > 1 and not (kernel[[0, -1]].any() or kernel[:, [0, -1]].any()):
        kernel = kernel[1:-1, 1:-1]
    return np.ascontiguousarray(kernel)


def _table(make):
    """A function of arguments as one that makes a table of kernels, once for the same arguments."""

    @functools.lru_cache(maxsize=32)
    def made(*args):
        kernels = make(*args)
        size = max(len(k) for k in kernels)
        return np.stack([np.pad(k, (size - len(k)) // 2) for k in kernels]).astype(np.float32)

    plain = lambda v: tuple(v) if isinstance(v, list) else v  # noqa: E731
    return lambda *args: made(*map(plain, args))


def _from(distribution, *ranges):
    """Kernels of a distribution: one where all ranges are single numbers."""
    generator = np.random.default_rng(0)  # a program gives the same results each time
    count = 1 if all(low == high for low, high in ranges) else _MANY
    return [distribution(generator) for _ in range(count)]


def _odd_sizes(limits):
    low, high = (max(3, int(v) + (int(v) + 1) % 2) for v in limits)
    return range(low, max(low, high) + 1, 2)


def sharpen(x, a):
    alpha = draws.uniform(*a.alpha)
    if a.method == "gaussian":
        kernel = _gaussian(a.kernel_size, a.sigma)
        middle = np.pad(np.float32([[1]]), a.kernel_size // 2)
        return fn.correlate(x, middle * (1.0 + alpha) - np.outer(kernel, kernel).astype(np.float32) * alpha)
    if a.method != "kernel":
        raise ValueError(f"Sharpen: method must be 'kernel' or 'gaussian', got {a.method!r}")
    effect = np.float32([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]) + _UNCHANGED * draws.uniform(*a.lightness)
    return fn.correlate(x, _UNCHANGED * (1.0 - alpha) + effect * alpha)


def emboss(x, a):
    alpha, strength = draws.uniform(*a.alpha), draws.uniform(*a.strength)
    effect = np.float32([[-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    slope = np.float32([[-1, -1, 0], [-1, 0, 1], [0, 1, 1]])
    return fn.correlate(x, _UNCHANGED * (1.0 - alpha) + (effect + slope * strength) * alpha)


def motion_kernel(size, angle, direction, shift):
    """A line of points through a square, `angle` degrees from the x axis; shift moves it off the middle, (x, y)."""
    middle = size // 2
    along = np.linspace(-middle, middle, 2 * size) * (1 + abs(direction))
    radians = np.deg2rad(angle)
    places = [
        np.clip(np.round(middle + part * along + by), 0, size - 1).astype(int)
        for part, by in zip((np.sin(radians), np.cos(radians)), shift[::-1])
    ]
    kernel = np.zeros((size, size))
    kernel[places[0], places[1]] = 1
    return kernel / kernel.sum()


@_table
def _motion_kernels(blur_limit, shifted, angles, directions):
    sizes = _odd_sizes(blur_limit)

    def one(generator):
        size = generator.choice(sizes)
        shift = generator.uniform(-1, 1, 2) * (size // 2) / 2 * bool(shifted)
        return motion_kernel(size, generator.uniform(*angles), generator.uniform(*directions), shift)

    return _from(one, (sizes[0], sizes[-1]), angles, directions, (0, bool(shifted)))


def motion_blur(x, a):
    return _drawn(x, _motion_kernels(a.blur_limit, a.allow_shifted, a.angle_range, a.direction_range))


@_table
def _advanced_kernels(blur_limit, across, down, rotate, betas, noise):
    sizes = _odd_sizes(blur_limit)

    def one(generator):
        size = generator.choice(sizes)
        deviations = [generator.uniform(*limit) for limit in (across, down)]
        angle = np.deg2rad(generator.uniform(*rotate))
        low, high = betas
        beta = generator.uniform(low, 1) if generator.random() < 0.5 else generator.uniform(1, high)
        y, x = np.mgrid[:size, :size] - size // 2
        turned = (np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x)
        distance = sum((part / deviation) ** 2 for part, deviation in zip(turned, deviations))
        kernel = np.exp(-0.5 * distance**beta) * generator.uniform(*noise, (size, size))
        return kernel / kernel.sum()

    return _from(one, (0, 1))


def advanced_blur(x, a):
    limits = (a.sigma_x_limit, a.sigma_y_limit, a.rotate_limit, a.beta_limit, a.noise_limit)
    return _drawn(x, _advanced_kernels(a.blur_limit, *limits))


def _gaussian(size, deviation):
    taps = np.exp(-0.5 * ((np.arange(size) - size // 2) / deviation) ** 2)
    return taps / taps.sum()


def disk(radius, blur):
    """A disk of ones whose edge is blurred."""
    reach = max(8, radius)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    kernel = (x * x + y * y <= radius * radius).astype(np.float64)
    kernel /= kernel.sum()
    taps = _gaussian(3 if radius <= 8 else 5, blur)
    for axis in (0, 1):
        padded = np.pad(kernel, [(len(taps) // 2,) * 2 if k == axis else (0, 0) for k in (0, 1)], "reflect")
        kernel = np.apply_along_axis(lambda line: np.convolve(line, taps, "valid"), axis, padded)
    return kernel


@_table
def _disks(radii, alias):
    low, high = (int(v) for v in radii)
    blurs = np.linspace(*alias, 8 if alias[0] < alias[1] else 1)
    return [disk(radius, max(blur, 1e-3)) for radius in range(low, high + 1) for blur in blurs]


def defocus(x, a):
    return _drawn(x, _disks(a.radius, a.alias_blur))


def _bessel(x):
    """J1 by its integral, which the trapezoidal rule gives to the last digit."""
    t = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    return np.cos(t - x[..., None] * np.sin(t)).mean(-1)


def low_pass(size, cutoff):
    """The circular ideal low-pass filter: it rings at edges."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    radius = np.hypot(x, y)
    radius[size // 2, size // 2] = 1
    kernel = cutoff * _bessel(cutoff * radius) / (2 * np.pi * radius)
    kernel[size // 2, size // 2] = cutoff**2 / (4 * np.pi)
    return kernel / kernel.sum()


@_table
def _low_passes(blur_limit, cutoff):
    cutoffs = np.linspace(*cutoff, 32 if cutoff[0] < cutoff[1] else 1)
    return [low_pass(size, v) for size in _odd_sizes(blur_limit) for v in cutoffs]


def ringing_overshoot(x, a):
    return _drawn(x, _low_passes(a.blur_limit, a.cutoff))
