# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that move pixels by points, by a mesh, and by tiles."""

import numpy as np

from .. import fn
from ..augment import draws, numbers
from ..augment.samples import choose, extents
from . import drawn
from .geometry import interpolation, with_fill


def _unit_grid(rows, columns):
    """x and y of rows * columns points from 0 to 1, row by row."""
    y, x = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij")
    return np.float32(x.ravel()), np.float32(y.ravel())


def _chosen(limits, function):
    """function(n) for a number that is drawn."""
    low, high = (int(v) for v in limits)
    return choose(draws.below(high - low + 1), [lambda n=n: function(n) for n in range(low, high + 1)])


def piecewise_affine(x, a):
    for name in ("nb_rows", "nb_cols"):
        if getattr(a, name)[0] < 2:
            raise ValueError(f"PiecewiseAffine: {name} must be at least 2, got {getattr(a, name)[0]}")
    if a.scale[1] <= 0:
        return x
    return _chosen(a.nb_rows, lambda rows: _chosen(a.nb_cols, lambda columns: _jittered(x, a, rows, columns)))


def _jittered(x, a, rows, columns):
    height, width = extents(x)
    far = draws.uniform(*a.scale) * (1.0 if a.absolute_scale else numbers.least(height, width) * 1.0) / 3.0
    across, down = _unit_grid(rows, columns)
    across, down, count = across * (width - 1.0), down * (height - 1.0), rows * columns
    moved = [
        drawn.clipped(place + drawn.normal(count) * far, 0.0, extent - 1.0)
        for place, extent in ((across, width), (down, height))
    ]
    return fn.warp_by_points(
        with_fill(x, 0),
        points=drawn.given(drawn.rows(across, down)),
        targets=drawn.given(drawn.rows(*moved)),
        between="inverse_distance",
        pixel_origin="center",
        interp_type=interpolation(a),
        fill_value=0,
    )


def thin_plate_spline(x, a):
    if a.num_control_points < 2:
        raise ValueError(f"ThinPlateSpline: num_control_points must be at least 2, got {a.num_control_points}")
    scale, places = draws.uniform(*a.scale_range) / 10.0, _unit_grid(a.num_control_points, a.num_control_points)
    moved = [place + drawn.normal(len(place)) * scale for place in places]
    return fn.warp_by_points(
        with_fill(x, 0),
        points=drawn.given(drawn.rows(*places)),
        targets=drawn.given(drawn.rows(*moved)),
        normalized=True,
        pixel_origin="center",
        interp_type=interpolation(a),
        fill_value=0,
    )


class _Lines:
    """Borders of intervals that divide an extent: almost equal ones, of which the larger ones are drawn."""

    def __init__(self, extent, count):
        self.count, least = count, numbers.floor(extent / count + 1e-6)
        self.larger = drawn.as_float(drawn.ranks(drawn.uniform(count), count) < extent - least * count)
        before = np.tril(np.ones((count + 1, count), np.float32), -1)
        self.at = drawn.total(drawn.shaped(self.larger + least, 1, count) * before, 1)


def grid_elastic(x, a):
    columns, rows = (int(n) for n in a.num_grid_xy)
    if columns < 1 or rows < 1 or a.magnitude <= 0:
        raise ValueError("GridElasticDeform: num_grid_xy must be two numbers from 1 on, and magnitude positive")
    height, width = extents(x)
    across, down = _Lines(width, columns).at, _Lines(height, rows).at
    inner = np.zeros((rows + 1, columns + 1, 2), np.float32)
    inner[1:-1, 1:-1] = 1
    far = drawn.within(drawn.uniform(inner.size), -float(a.magnitude), float(a.magnitude))
    return fn.warp_by_mesh(
        with_fill(x, 0),
        columns=drawn.given(across),
        rows=drawn.given(down),
        moves=drawn.given(far * inner.ravel()),
        pixel_origin="center",
        interp_type=interpolation(a),
        fill_value=0,
    )


def _shuffled(down, across):
    """The place of each tile, of those of its size."""
    rows, columns = down.count, across.count
    size = drawn.shaped(drawn.shaped(down.larger, rows, 1) * 2.0 + drawn.shaped(across.larger, 1, columns), -1)
    count = rows * columns
    one, other = (lambda v: drawn.shaped(v, count, 1)), (lambda v: drawn.shaped(v, 1, count))
    same = drawn.as_float(one(size) == other(size))
    index = np.arange(count, dtype=np.float32)
    key = drawn.uniform(count)
    new = drawn.total(same * drawn.as_float(other(key) < one(key)), 1)  # the rank of its key among them
    old = drawn.total(same * drawn.as_float(other(index) < one(index)), 1)
    found = same * drawn.as_float(other(old) == one(new))
    return drawn.total(found * other(index), 1)


def grid_shuffle(x, a):
    rows, columns = (int(n) for n in a.grid)
    if rows < 1 or columns < 1:
        raise ValueError(f"RandomGridShuffle: grid must be two numbers from 1 on, got {a.grid!r}")
    height, width = extents(x)
    down, across = _Lines(height, rows), _Lines(width, columns)
    return fn.shuffle_tiles(
        x,
        rows=drawn.given(drawn.as_integer(down.at)),
        columns=drawn.given(drawn.as_integer(across.at)),
        order=drawn.given(drawn.as_integer(_shuffled(down, across))),
    )
