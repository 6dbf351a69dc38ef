# SPDX-License-Identifier: Apache-2.0
"""What each operator means, as NumPy code: the reference that Penstock's tests compare with.

Every function takes one sample `x` and the operator's arguments and returns the exact result in float64 (or, where the
result is an integer by nature, in an integer type), before the conversion to the output type that `to_dtype` does.
The meaning is that of DALI 2.4 (docs/explanation/operator_semantics.md); `tests/check_reference_against_dali.py`
compares the two. Angles are in degrees, coordinates in pixels with pixel k covering [k, k + 1).
"""

import math

import numpy as np
from box_reference import bb_flip, bbox_paste, bbox_rotate, box_encoder, coord_transform, one_hot, random_bbox_crop  # noqa: F401
from mask_reference import grid_mask, object_boxes, random_mask_pixel, random_object_bbox, select_masks  # noqa: F401
from picture_reference import *  # noqa: F401, F403
from signal_reference import (
    audio_resample,
    frame_splicing,
    mel_filter_bank,
    mfcc,
    nonsilent_region,
    power_spectrum,  # noqa: F401
    preemphasis_filter,
    spec_augment,
    spectrogram,
    to_decibels,
)
from tensor_reference import (
    coord_flip,
    full,
    full_like,
    lookup_table,
    mean,
    mean_square,
    reduce_max,
    reduce_min,  # noqa: F401
    reduce_sum,
    reinterpret,
    rms,
    std_dev,
    variance,
)
from transform_reference import (
    combine,
    transform_crop,
    transform_rotation,
    transform_scale,
    transform_shear,  # noqa: F401
    transform_translation,
)

KNOWN_DIFFERENCES = {
    "rounding": "Integers are rounded half to even and saturated; DALI rounds half away from zero in scalar code and "
    "half to even in its SSE paths.",
    "crop.dtype": "crop and slice with a dtype round; DALI truncates there, and saturates to float16.",
    "slice.empty": "A relative slice of no extent is empty; DALI's roundings can make it an error.",
    "fill_values": "Fill values are rounded and saturated like every value; DALI's crop, slice, pad and erase convert "
    "them with a C cast.",
    "resize.tables": "Gaussian, cubic and Lanczos kernels are the closed forms; DALI interpolates tables of 65, 129 "
    "and 193 entries, which differ by up to 2e-3 of the value range.",
    "resize.gaussian": "The kernel is 0 at its radius, so a resize to the same size is the identity; DALI has a tap "
    "of weight 0.018 there, on one side.",
    "resize.filter": "At scale 1 (within 1e-6) the mag filter is meant; in DALI float32 noise decides.",
    "resize.nearest": "Source indices are clamped to the image; DALI reads past the row's end when a ROI reaches over "
    "the right edge, its row coordinate drifts because it is a running float32 sum, and when only "
    "one axis is nearest it applies the other axis' ROI twice.",
    "resize.outside": "A ROI that lies outside the image gives the edge pixel; DALI's process dies of it.",
    "warp.coordinates": "Coordinates are exact; DALI adds a float32 step along each row, so samples near a pixel "
    "border can take the neighbor (nearest) or differ by about 1e-4 of a pixel (linear).",
    "crop_mirror_normalize.fill": "A scalar mean and std hold for every channel, also with fill values per channel, "
    "where DALI reads past its arrays.",
    "color_space_conversion.same": "From a type to itself is a copy; DALI refuses it.",
    "color.channels": "The color operators take 3 channels; DALI reads other counts as triples.",
    "reductions.mean.integer": "With an integer dtype the mean is exact and rounded; DALI accumulates in that type, "
    "wrapping, and truncates.",
    "reductions.types": "Reductions take all types; DALI has none for bool, float16 and float64. The means of variance and std_dev "
    "may be float64.",
    "reductions.sum.integer": "Sums of integers saturate when they become another type; DALI adds in that type, wrapping.",
    "reductions.extreme": "The least and largest of no numbers, and of NaN alone, are infinite; DALI's are the float32 limits.",
    "grid_mask": "Coordinates are float64; DALI's float32 decides otherwise at edges of squares.",
    "segmentation.select_masks": "All polygons of a mask are taken; DALI takes the last one of each mask.",
    "transforms.rotation": "Multiples of 90 degrees are exact, and an axis of length 0 is an error; DALI gives NaN.",
    "squeeze.negative": "Negative axes count from the back; DALI ignores them.",
    "subscript": "None inserts an axis and ... fills up, as in NumPy; in DALI None is a full slice and ... an error.",
    "arithmetic.float16": "float16 takes part in arithmetic here and not in DALI.",
    "arithmetic.comparisons": "Integers and floating point compare in the promoted type; DALI orders negative integers "
    "wrongly there: int16 -6 < float32 -10.",
    "arithmetic.remainder": "Operands of % are converted to the result's type first, as for every other operator; "
    "DALI computes integer % float in double.",
    "constant.float64": "float64 constants keep their type; DALI reduces them to float32.",
    "bbox_rotate.45": "At 45 degrees a box keeps its width and height in the modes fixed and halfway; in DALI float32 noise "
    "decides for each box whether they change places.",
    "coord_transform.MT": "A scalar MT is a diagonal also where each sample has its own; DALI takes that for n + 1 rows.",
    "random_bbox_crop": "Without total_num_attempts a search that finds nothing ends in an error; DALI's goes on forever.",
    "clahe.bins": "bins is the number of bins; DALI's CPU takes 256 whatever it says.",
    "mask": "A mask of 0 leaves the sample alone in sphere, water and jitter; DALI hears only masks that are one a sample.",
    "warp_perspective.coordinates": "Coordinates are float64; OpenCV's, which DALI's CPU calls, are float32.",
    "debayer.default": "The default is bilinear_ocv on every device; DALI's GPU has an algorithm of NPP's instead.",
    "jitter": "Channels move together, by trunc(nDegree / 2) at most to both sides; DALI moves each channel by itself.",
    "decoders.inflate": "The size is always checked: a block that holds another number of bytes is an error.",
    "nan": "NaN converted to an integer gives 0 everywhere; in DALI only some operators do.",
}


def to_dtype(x, dtype):
    """Converts exact values to `dtype`: integers by rounding half to even and saturating, NaN gives 0."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype == bool:
        return x != 0
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if x.dtype.kind in "iub":
        return np.asarray(np.clip(x.astype(object), low, high)).astype(dtype)
    x = np.rint(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    out = np.where((x < high) & (x > low), x, 0).astype(dtype)  # float(high) may be high + 1: compare first
    return np.where(x >= high, high, np.where(x <= low, low, out)).astype(dtype)


def _round_away(v):
    return math.floor(abs(v) + 0.5) * (1 if v >= 0 else -1)


def _spatial(layout):
    return [i for i, letter in enumerate(layout) if letter in "DHW"]


def _listed(value, n):
    value = np.atleast_1d(np.asarray(value, np.float64))
    return [float(value[0])] * n if len(value) == 1 else [float(v) for v in value]


def _along(x, axis, function):
    return np.moveaxis(function(np.moveaxis(x, axis, 0)), 0, axis)


# ---------------------------------------------------------------------------------------------------------- resampling
_KERNEL = {
    "linear": (1, lambda t: np.maximum(0, 1 - np.abs(t))),
    "triangular": (1, lambda t: np.maximum(0, 1 - np.abs(t))),
    "gaussian": (1, lambda t: np.where(np.abs(t) < 1, np.exp(-4 * t * t), 0)),
    "cubic": (
        2,
        lambda t: np.where(
            np.abs(t) <= 1,
            1.5 * np.abs(t) ** 3 - 2.5 * t * t + 1,
            np.where(np.abs(t) < 2, -0.5 * np.abs(t) ** 3 + 2.5 * t * t - 4 * np.abs(t) + 2, 0),
        ),
    ),
    "lanczos3": (3, lambda t: np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)),
}


def resample_axis(x, low, high, n, min_filter="linear", mag_filter="linear", antialias=True):
    """Resamples axis 0 so that [low, high) of the input becomes n pixels; taps outside the image are clamped."""
    scale, shrinks = (high - low) / n, n < abs(high - low) * (1 - 1e-6)  # equal within float32: enlarging
    center = low + (np.arange(n) + 0.5) * scale
    name = min_filter if shrinks else mag_filter
    if name == "nn":
        return x[np.clip(np.floor(center).astype(int), 0, len(x) - 1)]
    base, kernel = _KERNEL[name]
    stretch = abs(scale) if shrinks and antialias else 1.0
    radius = base * stretch
    first = np.ceil(center - 0.5 - radius).astype(int)
    taps = first[:, None] + np.arange(math.ceil(2 * radius))
    weights = kernel((taps - (center[:, None] - 0.5)) / stretch)
    weights = weights / weights.sum(1, keepdims=True)
    return np.einsum("ot,ot...->o...", weights, x[np.clip(taps, 0, len(x) - 1)])


def resize_geometry(
    extents,
    *,
    size=None,
    resize_x=0,
    resize_y=0,
    resize_z=0,
    resize_shorter=0,
    resize_longer=0,
    mode="default",
    max_size=None,
    roi_start=None,
    roi_end=None,
    roi_relative=False,
    subpixel_scale=True,
):
    """Returns per spatial axis (low, high, n): the input interval, reversed for a flip, and the output extent.

    ROI, extents, requested sizes and their ratios are float32, so that sizes that fall on a half round as DALI's do.
    """
    d, single = len(extents), lambda values: [float(np.float32(v)) for v in values]
    if resize_shorter or resize_longer:
        mode, wanted = ("not_smaller", [resize_shorter] * d) if resize_shorter else ("not_larger", [resize_longer] * d)
    else:
        wanted = _listed(size, d) if size is not None else [resize_z, resize_y, resize_x][3 - d :]
    wanted = single(wanted)
    low, high = [0.0] * d, [float(e) for e in extents]
    if roi_start is not None:
        factor = extents if roi_relative else [1] * d
        low = [v * f for v, f in zip(_listed(roi_start, d), factor)]
        high = [v * f for v, f in zip(_listed(roi_end, d), factor)]
        for i in range(d):
            if abs(high[i] - low[i]) < 1e-3:
                grow = 0.5e-3 if low[i] <= high[i] else -0.5e-3
                low[i], high[i] = low[i] - grow, high[i] + grow
    low, high = single(low), single(high)
    wanted = [-w if h < l else w for w, l, h in zip(wanted, low, high)]
    low, high = [min(p) for p in zip(low, high)], [max(p) for p in zip(low, high)]
    extent = single(h - l for l, h in zip(low, high))
    limit = single(_listed(max_size, d)) if max_size is not None else [math.inf] * d
    given = [w != 0 and e != 0 for w, e in zip(wanted, extent)]
    ratio = single(abs(w / e) if g else 0 for w, e, g in zip(wanted, extent, given))
    scales = [r for r, g in zip(ratio, given) if g]
    if not scales:
        wanted = list(extent)
    elif mode in ("default", "stretch"):
        fill = math.prod(scales) ** (1 / len(scales)) if mode == "default" else 1.0
        wanted = [w if g else e * fill for w, e, g in zip(wanted, extent, given)]
        wanted = [math.copysign(min(abs(w), m if m > 0 else math.inf), w) for w, m in zip(wanted, limit)]
    else:
        scale = max(scales) if mode == "not_smaller" else min(scales)
        scale = min([scale] + [m / e for m, e in zip(limit, extent) if m > 0])
        wanted = [
            w if g and r == scale else math.copysign(e * scale, w)  # -0.0: missing but flipped
            for w, e, g, r in zip(wanted, extent, given, ratio)
        ]
    result = []
    for l, h, w in zip(low, high, single(wanted)):
        n = max(1, _round_away(abs(w)))
        l, h = (h, l) if w < 0 else (l, h)
        if subpixel_scale and n != abs(w):
            grow, center = min(n / abs(w), 10.0), (l + h) / 2
            l, h = center + (l - center) * grow, center + (h - center) * grow
        result.append((l, h, n))
    return result


def _filters(interp_type, min_filter, mag_filter, antialias):
    low, high = min_filter or interp_type or "linear", mag_filter or interp_type or "linear"
    return dict(min_filter=low, mag_filter=high, antialias=antialias)


def _resample(x, layout, geometry, filters):
    x = np.asarray(x, np.float64)
    for axis, (low, high, n) in zip(_spatial(layout), geometry):
        x = _along(x, axis, lambda v, a=(low, high, n): resample_axis(v, *a, **filters))
    return x


def resize(x, *, layout="HWC", interp_type=None, min_filter=None, mag_filter=None, antialias=True, **size):
    geometry = resize_geometry([x.shape[a] for a in _spatial(layout)], **size)
    return _resample(x, layout, geometry, _filters(interp_type, min_filter, mag_filter, antialias))


def random_resized_crop(
    x, *, window, size, layout="HWC", interp_type=None, min_filter=None, mag_filter=None, antialias=True
):
    """`window` = (y, x, h, w), the crop that was drawn."""
    start, shape = window[:2], window[2:]
    geometry = [(s, s + e, n) for s, e, n in zip(start, shape, size)]
    return _resample(x, layout, geometry, _filters(interp_type, min_filter, mag_filter, antialias))


def resize_crop_mirror(x, *, layout="HWC", crop=None, crop_pos=None, rounding="round", mirror=0, **arguments):
    x = resize(x, layout=layout, **arguments)
    x = _crop(x, layout=layout, crop=crop, crop_pos=crop_pos, rounding=rounding)
    return flip(x, layout=layout, horizontal=mirror & 1, vertical=mirror & 2, depthwise=mirror & 4)


# ------------------------------------------------------------------------------------------------------- integer maps
def _window(x, start, shape, policy="error", fill_values=0.0, channel=None):
    mode = {"pad": "constant", "clamp": "edge", "reflect_1001": "reflect"}.get(policy, policy)
    stop = [s + n for s, n in zip(start, shape)]
    if mode == "error" and any(s < 0 or e > n or s > n for s, e, n in zip(start, stop, x.shape)):
        raise IndexError("the window reaches outside the input")
    if mode == "trim_to_shape":
        start = [min(max(s, 0), n) for s, n in zip(start, x.shape)]
        stop = [min(max(e, 0), n) for e, n in zip(stop, x.shape)]
    inside, out = np.ones([e - s for s, e in zip(start, stop)], bool), x
    for axis, (s, e, n) in enumerate(zip(start, stop, x.shape)):
        i = np.arange(s, e)
        keep = ((i >= 0) & (i < n)).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        inside &= keep if mode == "constant" else True
        out = out.take(border_index(i, n, "edge" if mode in ("constant", "error", "trim_to_shape") else mode), axis)
    fill = np.atleast_1d(np.asarray(fill_values))
    fill = fill if len(fill) == 1 else fill.reshape([-1 if a == channel else 1 for a in range(x.ndim)])
    return np.where(inside, out, fill)


def border_index(i, n, border):
    """Maps indices outside [0, n) into it: edge, reflect (edge repeated), reflect_101 (edge not repeated), wrap."""
    if border == "edge" or n == 1:
        return np.clip(i, 0, n - 1)
    if border == "wrap":
        return i % n
    if border == "reflect":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    i = i % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def crop(x, *, layout="HWC", crop=None, crop_pos=None, rounding="round", out_of_bounds_policy="error", fill_values=0.0):
    """`crop` and `crop_pos` in the order of the layout's spatial axes; an extent of 0 takes the whole axis."""
    start, shape, axes = [0] * x.ndim, list(x.shape), _spatial(layout)
    pos = [0.5] * len(axes) if crop_pos is None else list(crop_pos)
    for a, p, n in zip(axes, pos, crop if crop is not None else [0] * len(axes)):
        shape[a] = int(n) or x.shape[a]
        at = float(np.float32(p)) * (x.shape[a] - shape[a])
        start[a] = _round_away(at) if rounding == "round" else math.trunc(at)
    return _window(np.asarray(x), start, shape, out_of_bounds_policy, fill_values, layout.find("C"))


_crop = crop  # where an argument has the name


def slice(
    x,
    *,
    axes,
    start=None,
    end=None,
    shape=None,
    rel_start=None,
    rel_end=None,
    rel_shape=None,
    out_of_bounds_policy="error",
    fill_values=0.0,
    channel=None,
):
    first, count = [0] * x.ndim, list(x.shape)
    part = lambda relative, n: float(np.float32(relative) * np.float32(n))  # float32 decides at halves
    for i, a in enumerate(axes):
        n = x.shape[a]
        low = start[i] if start is not None else part(rel_start[i], n) if rel_start is not None else 0
        if end is not None or rel_end is not None:
            high = end[i] if end is not None else part(rel_end[i], n)
        elif shape is not None:
            high = low + shape[i]
        elif rel_shape is not None and rel_start is not None:
            high = max(low, (rel_start[i] + rel_shape[i]) * n)
        else:
            high = low + part(rel_shape[i], n) if rel_shape is not None else n
        first[a] = _round_away(low)
        count[a] = _round_away(high) - first[a]
        if high < low:
            raise IndexError("the slice ends before it starts")
    return _window(np.asarray(x), first, count, out_of_bounds_policy, fill_values, channel)


def pad(x, *, largest, axes=None, shape=None, align=1, fill_value=0):
    """`largest` = the largest extent of each axis in the batch."""
    out, axes = list(x.shape), range(x.ndim) if axes is None else axes
    for i, a in enumerate(axes):
        wanted = shape[i] if shape is not None and shape[i] > 0 else largest[a]
        step = align if np.isscalar(align) else align[i if len(align) > 1 else 0]
        out[a] = -(-max(out[a], wanted) // step) * step
    return np.pad(x, [(0, o - n) for o, n in zip(out, x.shape)], constant_values=fill_value)


def flip(x, *, layout="HWC", horizontal=1, vertical=0, depthwise=0):
    return np.flip(x, [layout.index(c) for c, on in (("W", horizontal), ("H", vertical), ("D", depthwise)) if on])


def transpose(x, *, perm=None):
    return np.transpose(x, perm)


def erase(
    x,
    *,
    axes,
    anchor=None,
    shape=(),
    fill_value=0,
    centered_anchor=False,
    normalized_anchor=False,
    normalized_shape=False,
    channel=None,
):
    x, k, f = np.array(x), len(axes), np.float32
    anchor = [0] * len(shape) if anchor is None or len(anchor) == 0 else anchor
    for region in range(len(shape) // k):
        box = [np.s_[:]] * x.ndim
        for j, a in enumerate(axes):
            low, n = f(anchor[region * k + j]), f(shape[region * k + j])
            n = n * f(x.shape[a]) if normalized_shape else n
            low = (low * f(x.shape[a]) if normalized_anchor else low) - (n / f(2) if centered_anchor else f(0))
            box[a] = np.s_[max(int(low), 0) : max(int(low + n), 0)]
        fill = np.atleast_1d(fill_value)
        fill = fill if len(fill) == 1 else fill.reshape([-1 if a == channel else 1 for a in range(x.ndim)])
        x[tuple(box)] = np.broadcast_to(fill, x.shape)[tuple(box)]
    return x


def cat(*xs, axis=0):
    return np.concatenate(xs, axis)


def stack(*xs, axis=0):
    return np.stack(xs, axis)


def reshape(x, *, shape=None, rel_shape=None, src_dims=None):
    source = list(x.shape) if src_dims is None else [1 if s == -1 else x.shape[s] for s in src_dims]
    if rel_shape is not None:
        source += [1] * (len(rel_shape) - len(source))
        shape = [-1 if r < 0 else _round_away(r * n) for r, n in zip(rel_shape, source)]
    return np.reshape(x, source if shape is None else shape)


def squeeze(x, *, axes):
    return np.squeeze(x, tuple(axes))


def expand_dims(x, *, axes):
    return np.expand_dims(x, tuple(axes))


def per_frame(x):
    return x


def copy(x):
    return np.array(x)


# --------------------------------------------------------------------------------------------------------------- warps
def warp_affine(x, *, matrix, layout="HWC", size=None, inverse_map=True, fill_value=None, interp_type="linear"):
    """`matrix`: (d, d + 1), rows and columns in the order x, y[, z]; maps output to input when `inverse_map`."""
    axes = _spatial(layout)[::-1]  # x, y[, z]
    if fill_value is not None:
        fill_value = float(to_dtype(fill_value, np.asarray(x).dtype))  # a sample like the others
    d, x = len(axes), np.asarray(x, np.float64)
    m = np.vstack([np.asarray(matrix, np.float64).reshape(d, d + 1), [0] * d + [1]])
    m = m if inverse_map else np.linalg.inv(m)
    out = [x.shape[a] for a in _spatial(layout)] if size is None else [max(1, _round_away(s)) for s in size]
    grid = np.stack(np.meshgrid(*[np.arange(n) + 0.5 for n in out], indexing="ij")[::-1])
    at = np.tensordot(m[:d, :d], grid, 1) + m[:d, d].reshape([d] + [1] * d)
    v = np.moveaxis(x, axes[::-1], range(d))  # spatial axes first

    def tap(index):  # index: x, y[, z]
        inside = np.all([(i >= 0) & (i < x.shape[a]) for i, a in zip(index, axes)], 0)
        clamped = [np.clip(i, 0, x.shape[a] - 1) for i, a in zip(index, axes)]
        got = v[tuple(clamped[::-1])]
        return (
            got if fill_value is None else np.where(inside.reshape(inside.shape + (1,) * (v.ndim - d)), got, fill_value)
        )

    if interp_type == "nn":
        result = tap(list(np.floor(at).astype(int)))
    else:
        base = np.floor(at - 0.5).astype(int)
        result = 0.0
        for corner in np.ndindex(*[2] * d):
            weight = np.prod([np.abs(1 - c - (p - 0.5 - b)) for c, p, b in zip(corner, at, base)], 0)
            got = tap([b + c for b, c in zip(base, corner)])
            result = result + weight.reshape(weight.shape + (1,) * (v.ndim - d)) * got
    return np.moveaxis(result, range(d), axes[::-1])


def _rotation(angle, axis=None):
    c, s = round(math.cos(math.radians(angle)), 15), round(math.sin(math.radians(angle)), 15)  # 90 degrees: 0 and 1
    if axis is None:
        return np.array([[c, -s], [s, c]])
    u = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(u, u)


def rotate_size(extents, angle, axis=None):
    """The canvas that holds the rotated sample; `extents` (D,) H, W. Keeps the parity of the extent that dominates.

    The angle is taken in radians as float32, which decides at 45 degrees.
    """
    r = np.abs(_rotation(math.degrees(np.float32(math.radians(angle))), axis))
    r = r if axis is None else r.astype(np.float32).astype(np.float64)
    n = np.array(extents[::-1])
    own = np.diagonal(r) >= r.max(1)
    dominant = n[np.where(own, np.arange(len(n)), r.argmax(1))]
    out = np.ceil(r @ n - 1e-2).astype(int)
    return [int(v) for v in (out + (out % 2 != dominant % 2))[::-1]]


def rotate(x, *, angle, axis=None, layout="HWC", size=None, keep_size=False, fill_value=None, interp_type="linear"):
    """Counter-clockwise for 2-D samples; 3-D: about `axis` = (x, y, z) by the right-hand rule."""
    extents = [x.shape[a] for a in _spatial(layout)]
    out = (
        [max(1, _round_away(s)) for s in size]
        if size is not None
        else extents
        if keep_size
        else rotate_size(extents, angle, axis)
    )
    r = _rotation(angle) if axis is None else _rotation(-angle, axis)  # output to input
    offset = np.array(extents[::-1]) / 2 - r @ (np.array(out[::-1]) / 2)
    return warp_affine(
        x, matrix=np.column_stack([r, offset]), layout=layout, size=out, fill_value=fill_value, interp_type=interp_type
    )


# --------------------------------------------------------------------------------------------------------------- pixels
def _range_of(dtype):
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)


def brightness_contrast(x, *, brightness=1.0, brightness_shift=0.0, contrast=1.0, contrast_center=None, dtype=None):
    kind = np.dtype(x.dtype)
    half = 0.5 if kind.kind == "f" else 2.0 ** (8 * kind.itemsize - (2 if kind.kind == "i" else 1))
    center = half if contrast_center is None else contrast_center
    shift = brightness_shift * _range_of(dtype or x.dtype)
    # Not center + contrast * (x - center): of 64-bit integers x - 2^63 keeps multiples of 1024 alone.
    return shift + brightness * (contrast * x.astype(np.float64) + (center - contrast * center))


def brightness(x, *, brightness=1.0, brightness_shift=0.0, dtype=None):
    return brightness_contrast(x, brightness=brightness, brightness_shift=brightness_shift, dtype=dtype)


def contrast(x, *, contrast=1.0, contrast_center=None, dtype=None):
    return brightness_contrast(x, contrast=contrast, contrast_center=contrast_center, dtype=dtype)


RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def color_twist(x, *, brightness=1.0, contrast=1.0, hue=0.0, saturation=1.0, value=1.0):
    """Channel last. The contrast's center is 128 for every integer type and 0.5 for floats."""
    c, s = saturation * math.cos(math.radians(hue)), saturation * math.sin(math.radians(hue))
    turn = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    m = brightness * contrast * value * np.linalg.inv(RGB_TO_YIQ) @ turn @ RGB_TO_YIQ
    half = 0.5 if x.dtype.kind == "f" else 128.0
    return x.astype(np.float64) @ m.T + half * (1 - contrast) * brightness


def hsv(x, *, hue=0.0, saturation=1.0, value=1.0):
    return color_twist(x, hue=hue, saturation=saturation, value=value)


def hue(x, *, hue=0.0):
    return color_twist(x, hue=hue)


def saturation(x, *, saturation=1.0):
    return color_twist(x, saturation=saturation)


LUMA = np.array([0.299, 0.587, 0.114])
RGB_TO_YCBCR = np.array(
    [
        [0.25678823529, 0.50412941176, 0.09790588235],
        [-0.14822289945, -0.29099278682, 0.43921568627],
        [0.43921568627, -0.36778831435, -0.07142737192],
    ]
)


def color_space_conversion(x, *, image_type, output_type):
    """uint8, channel last; RGB, BGR, GRAY, YCbCr (ITU-R BT.601, Y in 16 to 235)."""
    x, k = x.astype(np.float64), 255 / 219
    if image_type == output_type:
        return x
    rgb = x[..., ::-1] if image_type == "BGR" else x
    if image_type == "YCbCr":
        y, b, r = k * (x[..., :1] - 16), x[..., 1:2] - 128, x[..., 2:] - 128
        if output_type == "GRAY":
            return y
        rgb = np.concatenate(
            [y + 1.5960267848 * r, y - 0.39176228842 * b - 0.81296764538 * r, y + 2.0172321417 * b], -1
        )
    if image_type == "GRAY":
        if output_type == "YCbCr":
            return np.concatenate([x / k + 16, np.full_like(x, 128), np.full_like(x, 128)], -1)
        return np.repeat(x, 3, -1)
    if output_type == "GRAY":
        return (rgb @ LUMA)[..., None]
    if output_type == "YCbCr":
        return rgb @ RGB_TO_YCBCR.T + [16, 128, 128]
    return rgb[..., ::-1] if output_type == "BGR" else rgb


def normalize(x, *, axes=None, mean=None, stddev=None, ddof=0, epsilon=0.0, scale=1.0, shift=0.0):
    """Statistics of one sample (for batch=True, give those of the batch)."""
    x, axes = x.astype(np.float64), tuple(range(x.ndim)) if axes is None else tuple(axes)
    mean = x.mean(axes, keepdims=True) if mean is None else np.asarray(mean, np.float64)
    if stddev is None:
        free = math.prod(x.shape[a] for a in axes) - ddof
        variance = ((x - mean) ** 2).sum(axes, keepdims=True) / free if free > 0 else np.zeros(1)
        deviation = np.sqrt(variance + epsilon)
        return scale * np.divide(x - mean, deviation, out=np.zeros_like(x), where=deviation != 0) + shift
    deviation = np.sqrt(np.square(stddev, dtype=np.float64) + epsilon) if epsilon else np.asarray(stddev, np.float64)
    return scale * (x - mean) / deviation + shift


def crop_mirror_normalize(
    x,
    *,
    layout="HWC",
    output_layout="CHW",
    crop=None,
    crop_pos=None,
    rounding="round",
    out_of_bounds_policy="error",
    fill_values=0.0,
    mirror=0,
    mean=0.0,
    std=1.0,
    scale=1.0,
    shift=0.0,
    pad_output=False,
):
    c = layout.index("C")
    per_channel = lambda v: np.reshape(np.asarray(v, np.float64), [-1 if a == c else 1 for a in range(x.ndim)])
    y = _crop(
        x.astype(np.float64),
        layout=layout,
        crop=crop,
        crop_pos=crop_pos,
        rounding=rounding,
        out_of_bounds_policy=out_of_bounds_policy,
        fill_values=np.nan,
    )
    y = scale * (y - per_channel(mean)) / per_channel(std) + shift
    channels = 1 << (x.shape[c] - 1).bit_length() if pad_output else x.shape[c]
    fill = np.atleast_1d(np.asarray(fill_values if out_of_bounds_policy in ("constant", "pad") else 0.0, np.float64))
    fill = np.resize(fill, channels) if len(fill) == 1 else np.append(fill, np.zeros(max(0, channels - len(fill))))
    y = np.pad(y, [(0, channels - x.shape[c] if a == c else 0) for a in range(x.ndim)], constant_values=np.nan)
    y = np.where(np.isnan(y), fill[:channels].reshape([-1 if a == c else 1 for a in range(x.ndim)]), y)
    y = np.flip(y, layout.index("W")) if mirror else y
    return np.transpose(y, [layout.index(k) for k in output_layout or layout])


def gaussian_window(sigma=0.0, window_size=0):
    window_size = int(window_size) or 2 * math.ceil(np.float32(3) * np.float32(sigma)) + 1
    window_size |= 1
    radius = (window_size - 1) // 2
    sigma = sigma or (radius - 1) * 0.3 + 0.8
    w = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return w / w.sum()


def gaussian_blur(x, *, layout="HWC", sigma=0.0, window_size=0):
    axes = [i for i, c in enumerate(layout) if c not in "FC"]
    x = x.astype(np.float64)
    for a, s, n in zip(axes, _listed(sigma, len(axes)), _listed(window_size, len(axes))):
        w = gaussian_window(s, n)
        taps = np.arange(x.shape[a])[:, None] + np.arange(len(w)) - len(w) // 2
        taps = border_index(taps, x.shape[a], "reflect_101")
        x = _along(x, a, lambda v, t=taps, k=w: np.einsum("t,ot...->o...", k, v[t]))
    return x


def cast(x, *, dtype):
    return to_dtype(x, dtype)


# ----------------------------------------------------------------------------------------------------------- arithmetic
def promote(a, b):
    """The type of an arithmetic result. Python constants count as int32, float32 and bool."""
    a, b = np.dtype(a), np.dtype(b)
    if a == b or a == bool or b == bool:
        return b if a == bool else a
    if "f" in (a.kind, b.kind):
        return np.dtype(max((t for t in (a, b) if t.kind == "f"), key=lambda t: t.itemsize))
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.itemsize)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    return np.dtype("i%d" % min(8, max(signed.itemsize, 2 * unsigned.itemsize)))


def where(condition, a, b):
    kind = promote(a.dtype, b.dtype)
    return np.where(condition != 0, to_dtype(a, kind), to_dtype(b, kind))


def arithmetic(op, a, b=None):
    """The result of `a op b` (unary when b is None), in its own type: integers wrap, // and % truncate toward zero."""
    constant = {bool: bool, int: np.int32, float: np.float32}
    a, b = [np.asarray(v, constant.get(type(v))) if v is not None else None for v in (a, b)]
    if b is None:
        return {"+": lambda v: v, "-": np.negative, "~": np.invert}[op](a)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        exact = (lambda v: v.astype(object)) if a.dtype.kind != "f" and b.dtype.kind != "f" else (lambda v: v)
        return {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "==": np.equal,
            "!=": np.not_equal,
        }[op](exact(a), exact(b)).astype(bool)
    kind = promote(a.dtype, b.dtype)
    if op == "/" and kind.kind != "f":
        kind = np.dtype(np.float32)
    if kind == np.float16:  # computed in float32, rounded once
        return arithmetic(op, a.astype(np.float32), b.astype(np.float32)).astype(kind)
    a, b = a.astype(kind), b.astype(kind)
    with np.errstate(all="ignore"):
        if kind.kind == "f":
            simple = {
                "+": np.add,
                "-": np.subtract,
                "*": np.multiply,
                "/": np.divide,
                "//": np.divide,
                "%": np.fmod,
                "**": np.power,
            }
            return simple[op](a, b)
        if op in ("//", "%"):
            if (b == 0).any():
                raise ValueError("Integer division by zero.")
            rest = np.fmod(a, b)
            return rest if op == "%" else np.floor_divide(a - rest, b)
        if op == "**":
            return np.where(b < 0, 0, np.power(a, np.maximum(b, 0))).astype(kind)
        return {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "&": np.bitwise_and,
            "|": np.bitwise_or,
            "^": np.bitwise_xor,
            "<<": np.left_shift,
            ">>": np.right_shift,
        }[op](a, b).astype(kind)
