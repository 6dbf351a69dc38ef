# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that lay random patterns over images, or move pixels at random."""

import numpy as np

from .. import fn
from ..augment import draws, numbers
from ..augment.samples import choose, extents
from .._base.element_types import DType
from ..sample import Image, Mask
from . import drawn
from .checks import check_colors
from .colors import largest, rank
from .geometry import integer, values

_FLOAT = DType.FLOAT


def _float(image):
    return fn.cast(image, dtype=_FLOAT)


def _extreme(name, array):
    return getattr(fn.reductions, name)(array)


def _raised(layer, x):
    """An array (H, W, 1) as one that images are multiplied with: without the last axis for those without channels."""
    return fn.squeeze(layer, axes=[2]) if rank(x.pixels) == 2 else layer


def _noise(side):
    return drawn.with_channels(fn.random.uniform(range=[-0.5, 0.5], shape=[side, side, 1]))


def plasma(x, a):
    """Noise of squares, each time half as large and weaker, from 0 to 1 (Fournier et al., 1982)."""
    if a.plasma_size < 1 or a.roughness <= 0:
        raise ValueError("plasma_size and roughness must be positive")
    height, width = extents(x)
    made, side = _noise(2), 2
    for level in range(max(int(np.ceil(np.log2(a.plasma_size))), 1)):
        side = 2 * side - 1
        made = fn.resize(made, size=[side, side]) + _noise(side) * float(0.5 ** (level * a.roughness / 2))
        made = drawn.with_channels(made)
    made = fn.resize(made, size=[height, width])
    low, high = (_extreme(name, made) for name in ("min", "max"))
    return _raised(drawn.with_channels((made - low) / drawn.clipped_values(high - low, 1e-6, 1e6)), x)


def plasma_brightness_contrast(x, a):
    brightness, contrast = draws.uniform(*a.brightness_range), draws.uniform(*a.contrast_range)
    pattern, most = plasma(x, a), largest(x)

    def changed(image):
        made = drawn.clipped_values(_float(image) + pattern * (brightness * most), 0.0, most)
        mean = fn.reductions.mean(made)
        return drawn.as_type_of(
            drawn.clipped_values((made - mean) * (pattern * contrast + 1.0) + mean, 0.0, most), image
        )

    return x.with_images(changed)


def plasma_shadow(x, a):
    light = plasma(x, a) * (draws.uniform(*a.shadow_intensity_range) * -1.0) + 1.0
    return x.with_images(lambda image: drawn.as_type_of(_float(image) * light, image))


_LIQUIDS = {"rain": (238, 238, 175), "mud": (20, 42, 63)}


def _liquid(x, a, blur):
    """(smooth noise (H, W, 1), where it is above the threshold, the threshold)"""
    noise = fn.random.normal(x.pixels[:, :, 0:1], mean=0.0, stddev=1.0)
    layer = blur(drawn.with_channels(noise * draws.uniform(*a.std) + draws.uniform(*a.mean)))
    threshold = draws.uniform(*a.cutout_threshold)
    return layer, drawn.with_channels(_float(layer > threshold)), threshold


def _mud(x, a, color, blur):
    _, wet, threshold = _liquid(x, a, blur)
    part = blur(wet)
    part = part * _float(part >= threshold * 1.2)
    return lambda own, most: own + (np.float32(color) * (most / 255.0) - own) * part


# Lit from one side, over a base that keeps the dark side of a drop visible.
_LIT = np.float32([[-2, -1, 0], [-1, 3, 1], [0, 1, 2]]) / 3


def _drops(x, a, color, blur):
    """Drops are lit from one side: their depth, in steps of an erosion, is embossed."""
    layer, wet, _ = _liquid(x, a, blur)
    depth, inner = wet, wet
    for _ in range(7):
        inner = fn.erode(inner, mask_size=[3, 3])
        depth = depth + inner
    shine = fn.box_blur(fn.correlate(drawn.with_channels(depth), _LIT), window_size=[3])
    part = drawn.clipped_values(shine, 0.0, 1e6) * layer * wet
    part = part * (1.0 / drawn.clipped_values(_extreme("max", part), 1e-6, 1e6)) * draws.uniform(*a.intensity)
    return lambda own, most: own + part * (np.float32(color) * (most / 255.0))


def spatter(x, a):
    check_colors("Spatter", x)
    modes = [a.mode] if isinstance(a.mode, str) else list(a.mode)
    kinds = {"rain": _drops, "mud": _mud}
    for mode in modes:
        if mode not in kinds:
            raise ValueError(f"Spatter: mode must be 'rain' or 'mud', or a list of them, got {a.mode!r}")
    colors = a.color if isinstance(a.color, dict) else dict.fromkeys(modes, a.color) if a.color else _LIQUIDS
    deviation, most = draws.uniform(*a.gauss_sigma), largest(x)
    blur = lambda v: fn.gaussian_blur(v, sigma=[deviation])  # noqa: E731

    def spattered(mode):
        lay = kinds[mode](x, a, colors[mode], blur)
        return x.with_images(lambda image: drawn.as_type_of(lay(_float(image), most), image))

    return choose(draws.below(len(modes)), [lambda m=m: spattered(m) for m in modes])


def mask_dropout(x, a):
    """Objects are dropped one after the other; each is what the mask has in the box around a connected region."""
    name = next((n for n, kind in x.kinds.items() if isinstance(kind, Mask)), None)
    if name is None:
        raise ValueError("MaskDropout needs a mask: mask=")
    if isinstance(a.fill, str):
        raise ValueError("MaskDropout: fill is a number")
    left, (low, high) = x[name], (int(n) for n in a.max_objects)
    count, fills = integer((low, high)), {Image: values(a.fill)[0], Mask: float(a.fill_mask)}
    made = {n: x[n] for n, kind in x.kinds.items() if type(kind) in fills}
    for k in range(high):
        anchor, shape = fn.segmentation.random_object_bbox(left, ignore_class=True, background=0)
        begin, size = ([numbers.integer(v[axis]) for axis in (0, 1)] for v in (anchor, shape))
        if k >= low:
            used = numbers.where(k < count, 1, 0)
            size = [numbers.integer(n * used) for n in size]
        end = [first + n for first, n in zip(begin, size)]
        box = {"start": begin, "end": end, "axes": [0, 1]}
        dropped = fn.slice(left, **box) != 0
        for n, image in made.items():
            part = _filled(fn.slice(image, **box), dropped, fills[type(x.kinds[n])])
            made[n] = drawn.replaced(image, part, *(slice(*ends) for ends in zip(begin, end)))
        left = fn.erase(left, anchor=begin, shape=size, axes=[0, 1], fill_value=0.0)
    return x.mixed({**x, **made})


def _filled(image, dropped, fill):
    if rank(image) == 3 and rank(dropped) == 2:
        dropped = fn.expand_dims(dropped, axes=[2], new_axis_names="C")
    if rank(image) == 2 and rank(dropped) == 3:
        dropped = fn.squeeze(dropped, axes=[2])
    return drawn.as_type_of(fn.where(dropped, drawn.as_type_of(np.float32(fill), image), image), image)


def _eigen(c):
    """Eigenvalues of a symmetric matrix of 3 x 3 numbers, the largest first, and their vectors (Smith, 1961)."""
    middle = (c[0][0] + c[1][1] + c[2][2]) / 3.0
    apart = [[c[i][j] - (middle if i == j else 0.0) for j in range(3)] for i in range(3)]
    square = sum((apart[i][j] * apart[i][j] for i in range(3) for j in range(3)), 0.0)
    size = numbers.greatest(numbers.sqrt(square / 6.0), 1e-12)
    b = [[v / size for v in row] for row in apart]
    half = _product(_cross(b[0], b[1]), b[2]) * 0.5
    turn = numbers.acos(numbers.least(numbers.greatest(half, -1.0), 1.0)) / 3.0
    first = middle + size * 2.0 * numbers.cos(turn)
    last = middle + size * 2.0 * numbers.cos(turn + 2.0943951023931953)
    found = [first, middle * 3.0 - first - last, last]
    return found, [_vector(c, value) for value in found]


def _cross(p, q):
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def _product(p, q):
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _vector(c, value):
    """The longest product of two rows, of length 1."""
    rows = [[c[i][j] - (value if i == j else 0.0) for j in range(3)] for i in range(3)]
    best, length = None, None
    for p, q in ((0, 1), (0, 2), (1, 2)):
        made = _cross(rows[p], rows[q])
        square = _product(made, made)
        if best is None:
            best, length = made, square
        else:
            longer = square > length
            best = [numbers.where(longer, new, old) for new, old in zip(made, best)]
            length = numbers.where(longer, square, length)
    return [v / numbers.sqrt(length + 1e-30) for v in best]


def fancy_pca(x, a):
    """Column j of the change is vector j times its eigenvalue and a normal number, as Albumentations has it."""
    check_colors("FancyPCA", x)
    if not drawn.is_node(x.pixels) and 0 in extents(x):
        return x
    most, alphas = largest(x), [draws.normal() * float(a.alpha) for _ in range(3)]

    def changed(image):
        own = _float(image) * (1.0 / most)
        channels = [own[:, :, k : k + 1] for k in range(3)]
        means = [drawn.number(fn.reductions.mean(channel)) for channel in channels]
        apart = [channel - mean for channel, mean in zip(channels, means)]
        covers = {(i, j): drawn.number(fn.reductions.mean(apart[i] * apart[j])) for i in range(3) for j in range(i, 3)}
        found, vectors = _eigen([[covers[min(i, j), max(i, j)] for j in range(3)] for i in range(3)])
        change = [[vectors[j][i] * found[j] * alphas[j] for j in range(3)] for i in range(3)]
        rows = []
        for i in range(3):
            rows += [change[i][j] + (1.0 if i == j else 0.0) for j in range(3)]
            rows.append(sum((change[i][j] * means[j] for j in range(3)), 0.0) * -most)
        return fn.color_matrix(image, coefficients=rows)

    return x.with_images(changed)
