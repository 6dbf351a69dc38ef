# SPDX-License-Identifier: Apache-2.0
"""Grids of tiles and windows of pictures. Programs call these functions as those of `geometry`."""

import functools
import math

import numpy as np

from .geometry import sides, size_of


@functools.lru_cache(maxsize=16)
def _grids(least, most):
    """(columns, rows) of `least` to `most` tiles, few tiles first."""
    found = [(w, h) for w in range(1, most + 1) for h in range(1, most + 1) if least <= w * h <= most]
    return sorted(found, key=lambda grid: grid[0] * grid[1])


def nearest_grid(shape, tile, least, most):
    """InternVL: the size of the tiles whose aspect ratio is nearest; of equal ones more tiles, for large pictures."""
    height, width = sides(shape)
    best, nearest = (1, 1), math.inf
    for columns, rows in _grids(least, most):
        distance = abs(width / height - columns / rows)
        large = width * height > 0.5 * tile[0] * tile[1] * columns * rows
        if distance < nearest or (distance == nearest and large):
            best, nearest = (columns, rows), distance
    return size_of(best[1] * tile[0], best[0] * tile[1])


def count(size, tile):
    """InternVL: the number of tiles and of the whole picture; a picture of one tile is not repeated."""
    height, width = sides(size)
    tiles = (height // tile[0]) * (width // tile[1])
    return np.array([tiles + (tiles > 1)], np.int64)


@functools.lru_cache(maxsize=16)
def _canvases(most):
    """(rows, columns) of at most so many tiles, in the order of their numbers."""
    return [(h, w) for h in range(1, most + 1) for w in range(1, most + 1) if h * w <= most]


def canvas(shape, tile, most):
    """Mllama: the size of the picture, and that of the canvas: one that is larger by the least, or smaller by the least."""
    height, width = sides(shape)
    scales = [min(rows * tile / height, columns * tile / width) for rows, columns in _canvases(most)]
    larger = [scale for scale in scales if scale >= 1]
    chosen = min(larger) if larger else max(scales)
    fitting = [grid for grid, scale in zip(_canvases(most), scales) if scale == chosen]
    rows, columns = min(fitting, key=lambda grid: grid[0] * grid[1])
    high, wide = (min(max(side, tile), n * tile) for side, n in ((height, rows), (width, columns)))
    if wide / width < high / height:
        new = min(math.floor(height * (wide / width)) or 1, high), wide
    else:
        new = high, min(math.floor(width * (high / height)) or 1, wide)
    return size_of(*new, rows * tile, columns * tile)


def number_of_canvas(size, tile, most):
    """Mllama: which canvas, from 1 on."""
    height, width = sides(size)
    return np.array([_canvases(most).index((height // tile, width // tile)) + 1], np.int64)


def count_of_canvas(size, tile):
    """Mllama: the number of tiles."""
    height, width = sides(size)
    return np.array([(height // tile) * (width // tile)], np.int64)


def mask_of_canvas(size, tile, most):
    """Mllama: 1 for each tile that there is."""
    return (np.arange(most) < count_of_canvas(size, tile)).astype(np.int64)[None]


def quarter(shape, index):
    """Idefics2: top, left, height and width of a quarter; quarter 4 is the whole picture."""
    height, width = sides(shape)
    if index == 4:
        return np.array([0, 0, height, width], np.int64)
    top, left = (index // 2) * (height // 2), (index % 2) * (width // 2)
    low, right = (height if index // 2 else height // 2), (width if index % 2 else width // 2)
    if low <= top or right <= left:
        raise ValueError(f"a picture of {height} x {width} pixels has no quarters; give do_image_splitting=False")
    return np.array([top, left, low - top, right - left], np.int64)


def largest(*sizes):
    """The largest height and the largest width."""
    return np.max([sides(size) for size in sizes], axis=0).astype(np.int64)


def pan_and_scan(shape, smallest, most, ratio):
    """Gemma 3: how many windows of a long picture there are; 0: none."""
    height, width = sides(shape)
    long, short = max(height, width), min(height, width)
    if long / short < ratio:
        return np.array([0], np.int64)
    windows = min(most, max(2, min(long // smallest, math.floor(long / short + 0.5))))
    if min(math.ceil(long / windows), short) < smallest:
        windows = 0
    return np.array([windows], np.int64)


def window(shape, windows, index):
    """Gemma 3: top, left, height and width of a window; of one that there is not, a pixel."""
    height, width = sides(shape)
    number = int(windows[0])
    if index >= number:
        return np.array([0, 0, 1, 1], np.int64)
    wide = width >= height
    step = math.ceil((width if wide else height) / number)
    begin, rest = step * index, (width if wide else height) - step * index
    if rest <= 0:
        raise ValueError(f"a picture of {height} x {width} pixels has no {number} windows of {step} pixels")
    return np.array([0, begin, height, min(step, rest)] if wide else [begin, 0, min(step, rest), width], np.int64)


def and_one(number):
    """A number of windows and the whole picture."""
    return np.asarray(number, np.int64) + 1
