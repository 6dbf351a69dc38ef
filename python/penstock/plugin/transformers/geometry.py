# SPDX-License-Identifier: Apache-2.0
"""Sizes of pictures, tiles and patches by the rules of the image processors of transformers.

Programs call these functions by fn.python_function, with the shape (height, width, ...) of one picture. They compute in Python's integers
and float64, as the image processors do: a size that differs by one pixel moves every pixel of the result. Sizes are float32, because
fn.resize takes floating point numbers; shapes are int64.
"""

import math

import numpy as np


def sides(shape):
    """(height, width) as integers."""
    return int(shape[0]), int(shape[1])


def size_of(*numbers):
    """Numbers as fn.resize takes them."""
    return np.array(numbers, np.float32)


def shortest_edge(shape, edge):
    """The shortest side becomes `edge`; the other one is rounded down."""
    height, width = sides(shape)
    return size_of(edge, int(edge * width / height)) if height <= width else size_of(int(edge * height / width), edge)


def largest_of_batch(sizes):
    """The largest height and the largest width of all pictures, for each of them."""
    most = np.max([size[:2] for size in sizes], axis=0).astype(np.float32)
    return [most.copy() for _ in sizes]


def edges(shape, shortest, longest):
    """The shortest side becomes `shortest`, or less where the longest one would be more than `longest`."""
    height, width = sides(shape)
    small, large = min(height, width), max(height, width)
    exact = None
    if large / small * shortest > longest:
        exact = longest * small / large
        shortest = round(exact)
    if small == shortest:
        return size_of(height, width)
    other = int((shortest if exact is None else exact) * large / small)
    return size_of(other, shortest) if width < height else size_of(shortest, other)


def within(shape, max_height, max_width):
    """The largest size of the same aspect ratio within two limits."""
    height, width = sides(shape)
    scale = min(max_height / height, max_width / width)
    return size_of(int(height * scale), int(width * scale))


def square(shape):
    """The side of the square around a picture."""
    return size_of(max(sides(shape)), max(sides(shape)))


def smart_resize(shape, factor, min_pixels, max_pixels):
    """Qwen-VL: sides that are multiples of `factor`, with a number of pixels within limits."""
    height, width = sides(shape)
    if max(height, width) > 200 * min(height, width):
        raise ValueError(f"one side may be 200 times as long as the other at most, got {height} x {width} pixels")
    new = [round(side / factor) * factor for side in (height, width)]
    if new[0] * new[1] > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        new = [max(factor, math.floor(side / shrink / factor) * factor) for side in (height, width)]
    elif new[0] * new[1] < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        new = [math.ceil(side * grow / factor) * factor for side in (height, width)]
    return size_of(*new)


def patch_grid(size, patch, frames=1):
    """(time, height, width) in patches."""
    height, width = sides(size)
    return np.array([frames, height // patch, width // patch], np.int64)


def patch_axes(size, patch, merge):
    """The shape (H, W, 3) cut into windows of merge x merge patches."""
    height, width = sides(size)
    window = patch * merge
    if height % window or width % window:
        raise ValueError(f"without do_resize, height and width must be multiples of {window}, got {height} x {width}")
    return np.array([height // window, merge, patch, width // window, merge, patch, 3], np.int64)


def best_grid(shape, pinpoints):
    """LLaVA-NeXT: the size of `pinpoints` that keeps the most pixels of a picture, and wastes the fewest of its own."""
    height, width = sides(shape)
    best, best_kept, best_wasted = None, 0, math.inf
    for high, wide in pinpoints:
        scale = min(wide / width, high / height)
        kept = min(int(width * scale) * int(height * scale), width * height)
        if kept > best_kept or (kept == best_kept and high * wide - kept < best_wasted):
            best, best_kept, best_wasted = (high, wide), kept, high * wide - kept
    return best


def tiles(shape, pinpoints):
    """LLaVA-NeXT: the size of the picture in its grid of tiles, and the size of the grid, 4 numbers."""
    height, width = sides(shape)
    grid_height, grid_width = best_grid(shape, pinpoints)
    if grid_width / width < grid_height / height:
        new = min(math.ceil(height * (grid_width / width)), grid_height), grid_width
    else:
        new = grid_height, min(math.ceil(width * (grid_height / height)), grid_width)
    return size_of(*new, grid_height, grid_width)


def tile_axes(size, tile, tile_width=None):
    """The shape (H, W, 3) cut into tiles."""
    height, width = sides(size)
    across = tile_width or tile
    return np.array([height // tile, tile, width // across, across, 3], np.int64)


def longest_edge(shape, edge, limit=4096):
    """Idefics3: the longest side becomes `edge`, at most `limit`, the other one even."""
    height, width = sides(shape)
    ratio = width / height
    if width >= height:
        height, width = int(edge / ratio), edge
        height += height % 2
    else:
        height, width = edge, int(edge * ratio)
        width += width % 2
    height, width = max(height, 1), max(width, 1)
    ratio = width / height
    if width >= height and width > limit:
        height, width = int(limit / ratio), limit
    elif height > width and height > limit:
        height, width = limit, int(limit * ratio)
    return size_of(max(height, 1), max(width, 1))


def whole_tiles(size, tile):
    """Idefics3: sides that are multiples of `tile`."""
    height, width = sides(size)
    ratio = width / height
    if width >= height:
        width = math.ceil(width / tile) * tile
        height = math.ceil(int(width / ratio) / tile) * tile
    else:
        height = math.ceil(height / tile) * tile
        width = math.ceil(int(height * ratio) / tile) * tile
    return size_of(height, width)


def tile_count(size, tile):
    """Idefics3: the number of tiles and of the whole picture; a picture of one tile is not repeated."""
    height, width = sides(size)
    count = (height // tile) * (width // tile)
    return np.array([count + (count > 1)], np.int64)


def mask_extents(size, tile):
    """Idefics3: (number, height, width) of the tiles."""
    return np.array([*tile_count(size, tile), tile, tile], np.int64)


def tile_rows(size, tile):
    """Idefics3: the rows and columns of tiles, (0, 0) for a picture of one tile."""
    height, width = sides(size)
    rows, columns = height // tile, width // tile
    return np.array([rows, columns] if rows * columns > 1 else [0, 0], np.int64)


def between(shape, shortest, longest):
    """Idefics2: the longest side is at most `longest`, the shortest one at least `shortest`."""
    height, width = sides(shape)
    ratio = width / height
    if width >= height and width > longest:
        height, width = int(longest / ratio), longest
    elif height > width and height > longest:
        height, width = longest, int(longest * ratio)
    return size_of(max(height, shortest), max(width, shortest))


def whole_patches(shape, max_height, max_width, patch_height, patch_width):
    """Pixtral: within limits, each side rounded up to whole patches."""
    height, width = sides(shape)
    ratio = max(height / max_height, width / max_width)
    if ratio > 1:
        height, width = math.floor(height / ratio), math.floor(width / ratio)
    return size_of(-(-height // patch_height) * patch_height, -(-width // patch_width) * patch_width)
