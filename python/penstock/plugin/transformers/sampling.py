# SPDX-License-Identifier: Apache-2.0
"""Which frames of a video the video processors of transformers take.

Programs call these functions by fn.python_function, with what fn.peek_video says of one video: frames, height, width, frames a second.
"""

from __future__ import annotations

import math

import numpy as np


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


def _spread(total, count):
    """`count` frames at equal distances, from the first one."""
    if not 0 < count <= total:
        raise ValueError(f"{count} frames of a video of {total}; give another fps or num_frames")
    return np.arange(count, dtype=np.int64) * total // count


def qwen2(video, fps, num_frames, min_frames, max_frames, temporal):
    """Qwen2-VL: a number of frames, or frames a second within limits, in whole patches."""
    total = int(video[0])
    if num_frames is not None:
        return _spread(total, round(num_frames / temporal) * temporal)
    return np.array(sample_frames(total, float(video[3]), fps, min_frames, max_frames, temporal), np.int64)


def qwen3(video, fps, num_frames, min_frames, max_frames):
    """Qwen3-VL: the first and the last frame, and others at equal distances."""
    total = int(video[0])
    count = num_frames
    if count is None:
        count = min(max(int(total / float(video[3]) * fps), min_frames), max_frames, total)
    return np.linspace(0, total - 1, count).round().astype(np.int64)


def evenly(video, fps, num_frames):
    """LLaVA: a number of frames, or frames a second."""
    total = int(video[0])
    return _spread(total, max(1, int(total / float(video[3]) * fps)) if num_frames is None else num_frames)


def shifted(video, fps, num_frames, shift):
    """InternVL: the same from frame `shift` on; True: the middles of as many parts of the video."""
    total = int(video[0])
    count = int(total / float(video[3]) * fps) if num_frames is None else num_frames
    if shift is True:
        _spread(total, count)
        return (2 * np.arange(count, dtype=np.int64) + 1) * total // (2 * count)
    return (shift + _spread(total, count) * 1.0).astype(np.int64)


def inside(video, fps, num_frames, skip_seconds=1):
    """SmolVLM: frames a second, at most `num_frames`; a long video loses a second at both ends."""
    total, rate = int(video[0]), float(video[3])
    seconds, begin, last = total / rate, 0, total - 1
    count = max(1, min(int(round(fps * seconds)), num_frames))
    if seconds - 2 * skip_seconds > num_frames * fps:
        begin, last = int(skip_seconds * rate), min(int(total - skip_seconds * rate), total - 1)
    if begin >= last:
        begin, last = 0, total - 1
    return np.unique(np.linspace(begin, last, count, dtype=np.int64))


def all_frames(video):
    """Every frame."""
    return np.arange(int(video[0]), dtype=np.int64)


def shape(video, numbers):
    """The shape (frames, height, width, channels) of the chosen frames."""
    return np.array([len(numbers), int(video[1]), int(video[2]), 3], np.int64)
