# SPDX-License-Identifier: Apache-2.0
"""Sizes and patches of videos by the rules of Qwen-VL. Programs call these functions as those of `geometry`."""

import math

import numpy as np

from .geometry import patch_axes as window_axes
from .geometry import patch_grid, sides, size_of, smart_resize


def size(shape, factor, min_pixels, max_pixels, frames=None, tokens=None):
    """Qwen2-VL: the size of a frame; with `tokens`, its share of the pixels of that many tokens at most."""
    if tokens is not None:
        all_pixels = int(tokens * factor * factor * 0.9)
        max_pixels = max(min(max_pixels, all_pixels * frames // int(shape[0])), int(min_pixels * 1.05))
    return smart_resize(shape[1:], factor, min_pixels, max_pixels)


def size_of_all(shape, factor, min_pixels, max_pixels, frames, tokens=None):
    """Qwen3-VL: the size of a frame by the pixels of all frames; with `tokens`, at most so many tokens a frame."""
    count, (height, width) = int(shape[0]), sides(shape[1:])
    if count < frames:
        raise ValueError(f"{count} frames are fewer than a patch of {frames}; repeat the last one")
    if tokens is not None:
        share = min(tokens * factor * factor, max_pixels // count)
        max_pixels = max(share, int(min_pixels * 1.05)) * count
    if height < factor or width < factor:
        scale = max(factor / height, factor / width)
        height, width = int(height * scale), int(width * scale)
    if max(height, width) > 200 * min(height, width):
        raise ValueError(f"one side may be 200 times as long as the other at most, got {height} x {width} pixels")
    new = [round(side / factor) * factor for side in (height, width)]
    pixels = round(count / frames) * frames * new[0] * new[1]
    if pixels > max_pixels:
        shrink = math.sqrt((count * height * width) / max_pixels)
        new = [max(factor, math.floor(side / shrink / factor) * factor) for side in (height, width)]
    elif pixels < min_pixels:
        grow = math.sqrt(min_pixels / (count * height * width))
        new = [math.ceil(side * grow / factor) * factor for side in (height, width)]
    return size_of(*new)


def whole_frames(shape, frames):
    """The number of frames of a video, rounded up to whole patches."""
    return np.array([-(-int(shape[0]) // frames) * frames], np.int64)


def frame_axes(size, frames):
    """The shape (F, H, W, 3) with the frames of a patch apart."""
    height, width = sides(size)
    return np.array([-1, frames, height * width, 3], np.int64)


def patch_axes(size, patch, merge, planes):
    """The shape (patches in time, planes, H, W) cut into windows of merge x merge patches."""
    return np.array([-1, planes, *window_axes(size, patch, merge)[:6]], np.int64)


def grid(shape, size, patch, frames):
    """(time, height, width) of a video in patches."""
    return patch_grid(size, patch, -(-int(shape[0]) // frames))
