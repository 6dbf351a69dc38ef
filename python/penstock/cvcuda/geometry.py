# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: positions of pixels."""

import numpy as np

from .. import _core, fn
from .buffers import on_host
from .calls import Step, each, moved, row
from .enumerations import Border, Interp, Remap
from .operands import pixels_of, values_of
from .signatures import takes

PLACES = {
    Border.CONSTANT: "constant",
    Border.REPLICATE: "replicate",
    Border.REFLECT: "reflect",
    Border.REFLECT101: "reflect_101",
    Border.WRAP: "wrap",
}


def border_of(call, border):
    """The name of a border."""
    if border not in PLACES:
        call.refuse(
            f"the border {Border(border).name} is not there; CONSTANT, REPLICATE, REFLECT, REFLECT101 and WRAP are"
        )
    return PLACES[Border(border)]


def fill_of(values, channels):
    """The values of a constant border, one or one for each channel."""
    values = [float(v) for v in np.asarray([] if values is None else values, np.float64).reshape(-1)]
    if len(values) < 2:
        return values or [0.0]
    return (values + [0.0] * channels)[:channels]


@row("T: src, flipCode", "V: src, flipCode", over=("flip",))
def flip(call):
    """Mirrors images: code 0 about the x axis, above 0 about the y axis, below 0 about both."""
    codes = values_of(call.flipCode)
    horizontal = each((codes != 0).astype(np.int32), len(call.x))
    vertical = each((codes <= 0).astype(np.int32), len(call.x))
    return Step(fn.flip, call.x, horizontal=horizontal, vertical=vertical)


def _warp(call, matrices, interp, border, value, inverse):
    """The step for matrices of positions of pixels' centers, 9 numbers each."""
    if interp not in (Interp.NEAREST, Interp.LINEAR, Interp.CUBIC):
        call.refuse(f"the interpolation is NEAREST, LINEAR or CUBIC, got {Interp(interp).name}")
    given = {
        "matrix": each(matrices.astype(np.float64).astype(np.float32), len(call.x), 9),
        "interp_type": {0: "nearest", 1: "linear", 2: "cubic"}[int(interp)],
        "border_mode": border_of(call, border),
        "inverse_map": inverse,
        "pixel_origin": "center",
    }
    if border == Border.CONSTANT:
        given["fill_value"] = fill_of(value, call.channels)
    if call.want is not None:
        given["size"] = each(values_of(call.want.sizes()).astype(np.float32), len(call.x), 2)
    return Step(fn.warp_perspective, call.x, **given)


_WARP = "xform, flags, *, border_mode=Border.CONSTANT, border_value=0"


def _numbers(call, count):
    values = np.asarray(values_of(call.xform), np.float64)
    if values.size not in (count, count * len(call.x)):
        call.refuse(
            f"xform has {count} numbers, or {count} for each of {len(call.x)} images; got the shape {values.shape}"
        )
    return values.reshape(-1, count)


def _flags(call):
    flags = int(call.flags)
    return Interp(flags & 15), bool(flags & Interp.WARP_INVERSE_MAP)


@row(f"T: src, {_WARP}", f"V: src, {_WARP}", over=("warp_perspective",))
def warp_affine(call):
    """Moves pixels by a matrix of 2 x 3 numbers; without WARP_INVERSE_MAP it leads from the source to the result."""
    rows = _numbers(call, 6)
    matrices = np.concatenate([rows, np.tile([[0.0, 0.0, 1.0]], (len(rows), 1))], axis=1)
    interp, inverse = _flags(call)
    return _warp(call, matrices, interp, call.border_mode, call.border_value, inverse)


@row(f"T: src, {_WARP}", f"V: src, {_WARP}", over=("warp_perspective",))
def warp_perspective(call):
    """Moves pixels by a matrix of 3 x 3 numbers; without WARP_INVERSE_MAP it leads from the source to the result."""
    interp, inverse = _flags(call)
    return _warp(call, _numbers(call, 9), interp, call.border_mode, call.border_value, inverse)


@row("T: src, angle_deg, shift, interpolation", "V: src, angle_deg, shift, interpolation", over=("warp_perspective",))
def rotate(call):
    """Rotates images counter-clockwise about the corner (0, 0), and shifts them; outside is 0."""
    angles = np.radians(np.asarray(values_of(call.angle_deg), np.float64).reshape(-1))
    shifts = np.asarray(values_of(call.shift), np.float64).reshape(-1, 2)
    count = max(len(angles), len(shifts))
    angles, shifts = np.broadcast_to(angles, count), np.broadcast_to(shifts, (count, 2))
    matrices = np.zeros((count, 9))
    cos, sin = np.cos(angles), np.sin(angles)
    matrices[:, 0], matrices[:, 1], matrices[:, 3], matrices[:, 4], matrices[:, 8] = cos, -sin, sin, cos, 1
    matrices[:, 2] = -(cos * shifts[:, 0] - sin * shifts[:, 1])
    matrices[:, 5] = -(sin * shifts[:, 0] + cos * shifts[:, 1])
    return _warp(call, matrices, call.interpolation, Border.CONSTANT, 0, True)


def _resampled(call, map, extents):
    """A map in other extents."""
    if map.shape[:2] == tuple(extents):
        return map
    names = {Interp.NEAREST: "nearest", Interp.LINEAR: "linear", Interp.CUBIC: "cubic"}
    if call.map_interp not in names:
        call.refuse(f"map_interp is NEAREST, LINEAR or CUBIC, got {Interp(call.map_interp).name}")
    sized = fn.resize(_core.Tensor(map, "HWC"), size=list(extents), interp_type=names[call.map_interp], antialias=False)
    return np.asarray(sized)


def _maps(call, host):
    """The maps of x and y for each sample, in pixels."""
    maps = host[None] if host.ndim == 3 else host
    if maps.ndim != 4 or maps.shape[-1] != 2:
        call.refuse(f"the map has the extents (N, H, W, 2) or (H, W, 2), got {host.shape}")
    if len(maps) not in (1, len(call.x)):
        call.refuse(f"there are {len(maps)} maps for {len(call.x)} images")
    relative, corners = call.map_type == Remap.RELATIVE_NORMALIZED, 0 if call.align_corners else 1
    found = []
    for k, own in enumerate(call.extents()):
        wanted = call.want.sizes()[k] if call.want is not None else own if relative else maps.shape[1:3]
        map = np.ascontiguousarray(maps[k if len(maps) > 1 else 0], np.float32)
        xy = _resampled(call, map, wanted).astype(np.float64)
        extents = np.array(own[::-1], np.float64)
        if call.map_type == Remap.ABSOLUTE_NORMALIZED:
            xy = (xy + 1) * (extents - 1 + corners) / 2 - corners / 2
        elif relative:
            y, x = np.mgrid[0 : xy.shape[0], 0 : xy.shape[1]]
            places = np.stack([x, y], axis=-1)
            if tuple(wanted) != tuple(own):
                places = (places + 0.5) * (extents / np.array(xy.shape[1::-1])) - 0.5
            xy = places + xy * (extents - 1)
        found.append(xy.astype(np.float32))
    return [np.ascontiguousarray(m[..., 0]) for m in found], [np.ascontiguousarray(m[..., 1]) for m in found]


_REMAP = (
    "map, src_interp=Interp.NEAREST, map_interp=Interp.NEAREST, map_type=Remap.ABSOLUTE, align_corners=False, "
    "border=Border.CONSTANT, border_value=()"
)


@row(f"T: src, {_REMAP}", f"V: src, {_REMAP}", over=("remap",))
def remap(call):
    """Moves pixels by a map of positions; the result has the extents of the map."""
    x, y = _maps(call, on_host(pixels_of(call.map)[0]))
    if call.src_interp not in (Interp.NEAREST, Interp.LINEAR, Interp.CUBIC):
        call.refuse(f"the interpolation is NEAREST, LINEAR or CUBIC, got {Interp(call.src_interp).name}")
    fill = fill_of(call.border_value, call.channels)
    if call.border == Border.CONSTANT and len(set(fill)) > 1 and not takes("remap", "fill_values"):
        call.refuse(f"a constant border has one value here, got {fill}")
    given = {"border_mode": border_of(call, call.border), "pixel_origin": "center", "interp": int(call.src_interp)}
    if call.border == Border.CONSTANT:
        given["fill_value"] = fill[0]
    x, y = _core.Batch(x), _core.Batch(y)
    return moved(call, lambda images: Step(fn.remap, images, x, y, **given))
