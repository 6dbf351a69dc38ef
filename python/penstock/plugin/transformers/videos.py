# SPDX-License-Identifier: Apache-2.0
"""Videos for Qwen-VL: which frames, and patches of them."""

from __future__ import annotations

import math


def sample_frames(
    total_frames: int,
    frame_rate: float,
    fps: float = 2.0,
    min_frames: int = 4,
    max_frames: int = 768,
    temporal_patch_size: int = 2,
) -> list[int]:
    """Chooses frames at equal distances, as the video processor of Qwen2-VL does.

    Args:
        total_frames: The number of frames of the video.
        frame_rate: Its frames a second.
        fps: How many frames of a second are chosen.
        min_frames: The least number of frames; a video of fewer gives all it has, as whole patches.
        max_frames: The largest number of frames.
        temporal_patch_size: The number of frames is a multiple of this.

    Returns:
        Numbers of frames, for the argument `frames` of fn.decoders.video.

    Raises:
        ValueError: A number is not positive, or the video is shorter than a patch.

    Example:
        >>> penstock.plugin.transformers.sample_frames(total_frames=100, frame_rate=25.0, fps=1.0)
        [0, 25, 50, 75]
    """
    if min(total_frames, frame_rate, fps, min_frames, max_frames, temporal_patch_size) <= 0:
        raise ValueError("all numbers of sample_frames must be positive")
    most = math.floor(min(max_frames, total_frames) / temporal_patch_size) * temporal_patch_size
    count = min(max(total_frames / frame_rate * fps, min_frames), most, total_frames)
    count = math.floor(count / temporal_patch_size) * temporal_patch_size
    if count == 0:
        raise ValueError(f"{total_frames} frames are fewer than a patch of {temporal_patch_size}; repeat the last one")
    # Exact: in float32, as there, a number that is whole may lose 1, on some processors.
    return [k * total_frames // count for k in range(count)]


def pixels_of(configuration):
    """(least, most) pixels of a picture of Qwen-VL."""
    size = configuration.size()
    if set(size) != {"shortest_edge", "longest_edge"}:
        configuration.refuse("size", "Qwen-VL takes shortest_edge and longest_edge, as numbers of pixels")
    return configuration["min_pixels"] or size["shortest_edge"], configuration["max_pixels"] or size["longest_edge"]


def qwen(text, configuration):
    """Qwen2-VL and Qwen2.5-VL: patches of several frames in a row, and the grid that they come from."""
    patch, merge, frames = (configuration[f] for f in ("patch_size", "merge_size", "temporal_patch_size"))
    if configuration["do_sample_frames"]:
        configuration.refuse("do_sample_frames", "give False, and decode the frames that sample_frames chooses")
    size = "shape[1:]"
    text.needs_shape()
    if configuration["do_resize"]:
        least, most = pixels_of(configuration)
        limits = {"factor": patch * merge, "min_pixels": least, "max_pixels": most}
        text.resized(text.computed("size", size, "smart_resize", **limits))
        size = "size"
    text.line("# the last frame fills its patch")
    text.value("count", "shape", "whole_frames", frames=frames)
    text.line('images = fn.slice(images, end=count, axes=[0], out_of_bounds_policy="edge")')
    text.value("axes", size, "frame_axes", frames=frames)
    text.line("images = fn.transpose(fn.reshape(images, axes), perm=[0, 3, 1, 2])")
    text.value("axes", size, "video_patch_axes", patch=patch, merge=merge, planes=3 * frames)
    text.line("images = fn.transpose(fn.reshape(images, axes), perm=[0, 2, 5, 3, 6, 1, 4, 7])")
    text.line(f'images = fn.reshape(images, shape=[-1, 3, {frames * patch}, {patch}], layout="FCHW")')
    text.normalized("images", None, layout="FCHW")
    text.line(f"pixel_values_videos = fn.reshape(images, shape=[-1, {3 * frames * patch * patch}])")
    grid = f"partial(geometry.video_grid, patch={patch}, frames={frames})"
    text.line(f"video_grid_thw = fn.python_function(shape, {size}, function={grid})")
    text.result("pixel_values_videos", "video_grid_thw")
