# SPDX-License-Identifier: Apache-2.0
"""Affine warps: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import images, number
from operators.exact import round_away, spatial_axes, to_dtype
from operators.picture_draws import some
from operators.pictures import _BORDERS as BORDERS
from operators.pictures import sampled


KINDS = ["nn", "linear", "cubic"]


def warp_affine(
    x,
    *,
    matrix,
    layout="HWC",
    size=None,
    inverse_map=True,
    fill_value=None,
    interp_type="linear",
    border_mode=None,
    pixel_origin="corner",
):
    """`matrix`: (d, d + 1), rows and columns in the order x, y[, z]; maps output to input when `inverse_map`."""
    if border_mode == "constant" and fill_value is None:
        fill_value = 0.0
    axes = spatial_axes(layout)[::-1]  # x, y[, z]
    if fill_value is not None:
        fill_value = float(to_dtype(fill_value, np.asarray(x).dtype))  # a sample like the others
    d, x = len(axes), np.asarray(x, np.float64)
    m = np.vstack([np.asarray(matrix, np.float64).reshape(d, d + 1), [0] * d + [1]])
    m = m if inverse_map else np.linalg.inv(m)
    if pixel_origin == "center":
        m[:d, d] += 0.5 - m[:d, :d].sum(1) / 2
    out = [x.shape[a] for a in spatial_axes(layout)] if size is None else [max(1, round_away(s)) for s in size]
    grid = np.stack(np.meshgrid(*[np.arange(n) + 0.5 for n in out], indexing="ij")[::-1])
    at = np.tensordot(m[:d, :d], grid, 1) + m[:d, d].reshape([d] + [1] * d)
    v = np.moveaxis(x, axes[::-1], range(d))  # spatial axes first
    if interp_type == "cubic" or border_mode in ("reflect", "reflect_101", "wrap"):
        border = border_mode or ("replicate" if fill_value is None else "constant")
        result = sampled(v, at[1] - 0.5, at[0] - 0.5, KINDS.index(interp_type), border, fill_value or 0.0)
        return np.moveaxis(result, range(d), axes[::-1])

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


def rotate(x, *, angle, axis=None, layout="HWC", size=None, keep_size=False, **how):
    """Counter-clockwise for 2-D samples; 3-D: about `axis` = (x, y, z) by the right-hand rule."""
    extents = [x.shape[a] for a in spatial_axes(layout)]
    out = (
        [max(1, round_away(s)) for s in size]
        if size is not None
        else extents
        if keep_size
        else rotate_size(extents, angle, axis)
    )
    r = _rotation(angle) if axis is None else _rotation(-angle, axis)  # output to input
    offset = np.array(extents[::-1]) / 2 - r @ (np.array(out[::-1]) / 2)
    return warp_affine(x, matrix=np.column_stack([r, offset]), layout=layout, size=out, **how)


def draw_warped(draw):
    xs, layout, dtype = images(draw, ["HWC", "FHWC"], empty=False)
    constants = {"interp_type": draw(st.sampled_from([1, 1, 2])), **some(draw, border_mode=st.sampled_from(BORDERS))}
    if constants.get("border_mode", "constant") == "constant" and draw(st.booleans()):
        constants["fill_value"] = float(draw(st.integers(0, 1 if dtype == "bool" else 100)))
    return xs, layout, dtype, constants


def _of_reference(constants):
    return constants | {"interp_type": KINDS[constants["interp_type"]]}


def _slope(xs):
    """Coordinates are float32: a sample is up to about 1e-4 pixels off, and neighbors differ by up to the range."""
    return 4e-4 if max(max(x.shape) for x in xs) > 100 else 5e-5


def draw_warp_affine(draw):
    xs, layout, dtype, constants = draw_warped(draw)
    matrices = [[[draw(number(-1.5, 1.5)), draw(number(-1, 1)), draw(number(-8, 20))] for _ in range(2)] for _ in xs]
    constants |= some(draw, pixel_origin=st.sampled_from(["corner", "center"]))
    return Case(
        [xs],
        [layout],
        constants,
        {"matrix": matrices},
        dtype=dtype,
        error=_slope(xs),
        expected=lambda i: warp_affine(xs[i], matrix=matrices[i], layout=layout, **_of_reference(constants)),
    )


def draw_rotate(draw):
    xs, layout, dtype, constants = draw_warped(draw)
    angles = [draw(st.integers(-180, 180).filter(lambda a: a % 45).map(float)) for _ in xs]
    constants["keep_size"] = draw(st.booleans())
    return Case(
        [xs],
        [layout],
        constants,
        {"angle": angles},
        dtype=dtype,
        error=_slope(xs),
        expected=lambda i: rotate(xs[i], angle=angles[i], layout=layout, **_of_reference(constants)),
    )


CASES = {"warp_affine": draw_warp_affine, "rotate": draw_rotate}
