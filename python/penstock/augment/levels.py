# SPDX-License-Identifier: Apache-2.0
"""How loud sound is, and what is heard beside it."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from .. import math as node_math
from . import draws
from .numbers import floor, greatest, least, rounded, sqrt, where
from .recordings import drawn, is_value, length, like, number, of_samples, peak, perhaps


@of_samples
def gain(sound: Any, gain_db: float | Sequence[float] = (-6.0, 6.0), p: float = 1.0) -> Any:
    """Makes sound louder or quieter, as torchaudio.functional.gain does.

    Nothing is clipped.

    Args:
        sound: float32 of any shape.
        gain_db: The gain in decibels, or a range (low, high) from which each sample draws its own.
        p: The probability of a change, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: The range is not one, or p is not from 0 to 1.

    Example:
        >>> sound = np.ones(16000, np.float32)
        >>> float(penstock.augment.gain(sound, 20.0)[0])
        10.0
    """
    factor = 10.0 ** (drawn("gain_db", gain_db) / 20.0)
    return perhaps(sound, lambda: fn.brightness(sound, brightness=factor), p)


def _part(noise, n, place):
    """n samples of noise, from a place between 0, the first that there is, and 1, the last."""
    available = length(noise)
    if not is_value(n) and not is_value(available) and n == available:
        return noise
    more = greatest(available - n, 0)
    begin = rounded(least(floor(place * (more + 1)), more))  # the product may be rounded up
    return fn.slice(noise, begin, n, axes=[0], out_of_bounds_policy="pad")


@of_samples
def add_noise(sound: Any, noise: Any, snr: float | Sequence[float] = (5.0, 20.0), p: float = 1.0) -> Any:
    """Adds noise at a signal-to-noise ratio, as torchaudio.functional.add_noise does.

    The ratio is that of mean squares over the whole sound and over the part of the noise that is added. Noise
    that is longer than the sound is cut at a random place; after shorter noise comes silence. Silent sound or noise
    adds nothing.

    Args:
        sound: float32, (samples) or (samples, channels).
        noise: As sound, with as many channels.
        snr: The ratio in decibels, or a range (low, high) from which each sample draws its own.
        p: The probability of noise, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: The range is not one, or p is not from 0 to 1.

    Example:
        >>> sound, noise = np.random.rand(2, 16000).astype(np.float32)
        >>> result = penstock.augment.add_noise(sound, noise, snr=(0.0, 15.0))
    """
    ratio = drawn("snr", snr)
    begin = draws.uniform(0.0, 1.0)

    def noisy():
        part = _part(noise, length(sound), begin)
        loud, other = (number(fn.reductions.mean_square(x)) for x in (sound, part))
        factor = sqrt(loud / greatest(other, 1e-30)) * 10.0 ** (ratio * -0.05)
        factor = where(other > 0, factor, 0.0)
        return like(sound + part * factor, sound)

    return perhaps(sound, noisy, p)


@of_samples
def clip(sound: Any, level: float | Sequence[float] = (0.3, 1.0), p: float = 1.0) -> Any:
    """Overdrives a microphone: limits sound to a part of its largest magnitude.

    Args:
        sound: float32 of any shape, not empty.
        level: The part, or a range (low, high) within 0 and 1 from which each sample draws its own.
        p: The probability of a change, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: The range is not one, or p is not from 0 to 1.

    Example:
        >>> penstock.augment.clip(np.float32([-1.0, 0.1, 0.8]), 0.5).tolist()
        [-0.5, 0.10000000149011612, 0.5]
    """
    limit = drawn("level", level, 0.0, 1.0)

    def limited():
        most = peak(sound) * limit
        return like(node_math.clamp(sound, -most, most), sound)

    return perhaps(sound, limited, p)


@of_samples
def normalize_loudness(sound: Any, sample_rate: float, target: float | Sequence[float] = -23.0, p: float = 1.0) -> Any:
    """Makes all sound equally loud by ITU-R BS.1770-4 (fn.loudness).

    Nothing is clipped. Silence stays silence.

    Args:
        sound: float32, (samples) or (samples, channels), at least 400 ms.
        sample_rate: Samples in a second.
        target: The loudness in LKFS, or a range (low, high) from which each sample draws its own.
        p: The probability of a change, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: The sound is too short, the range is not one, or p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32) - 0.5
        >>> made = penstock.augment.normalize_loudness(sound, 16000, target=-23.0)
        >>> round(float(penstock.fn.loudness(made, sample_rate=16000)), 2)
        -23.0
    """
    wanted = drawn("target", target)

    def changed():
        now = number(fn.loudness(sound, sample_rate=sample_rate))
        more = where(now > -200.0, wanted - greatest(now, -200.0), 0.0)
        return fn.brightness(sound, brightness=10.0 ** (more * 0.05))

    return perhaps(sound, changed, p)


@of_samples
def trim_silence(sound: Any, cutoff_db: float = -60.0, window_length: int = 2048) -> Any:
    """Removes what is quiet before and after the sound (fn.nonsilent_region).

    Args:
        sound: float32, (samples).
        cutoff_db: Quiet is what is below the loudest part by so many decibels.
        window_length: Samples over which powers are means.

    Returns:
        Sound of fewer samples, of none where all are quiet.

    Example:
        >>> sound = np.concatenate([np.zeros(4000), np.ones(8000), np.zeros(4000)]).astype(np.float32)
        >>> penstock.augment.trim_silence(sound, window_length=1).shape
        (8000,)
    """
    begin, count = fn.nonsilent_region(sound, cutoff_db=cutoff_db, window_length=window_length)
    return fn.slice(sound, begin, count, axes=[0])
