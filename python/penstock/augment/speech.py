# SPDX-License-Identifier: Apache-2.0
"""Augmentations of speech: of sound, float32 of shape (samples) or (samples, channels), and of its spectrograms."""

from __future__ import annotations

import functools
import math
from typing import Any, Sequence

import numpy as np

from .. import _core, fn
from .. import math as node_math
from . import draws
from .numbers import floor, greatest, least, rounded, sqrt, where
from .samples import checked_probability, checked_range, choose

TELEPHONE_RATE = 8000.0


def _of_samples(function):
    """A function of one sample as one of a value of the pipeline, an array, a Tensor or a Batch, whose samples
    draw for themselves."""

    @functools.wraps(function)
    def called(sound, *args, **kwargs):
        if isinstance(sound, (list, tuple)):
            sound = _core.batch(sound)
        if not isinstance(sound, _core.Batch):
            return function(sound, *args, **kwargs)
        of = lambda value, i: value[i] if isinstance(value, _core.Batch) else value
        made = [
            function(x, *[of(a, i) for a in args], **{k: of(v, i) for k, v in kwargs.items()})
            for i, x in enumerate(sound)
        ]
        return _core.batch(made) if made else sound

    return called


def _length(sound):
    shape = sound.shape() if callable(sound.shape) else sound.shape
    return shape[0]


def _number(value):
    """The number that a reduction gave."""
    return value.item() if hasattr(value, "item") else value


def _maybe(sound, changed, p):
    if checked_probability(p) == 1:
        return changed()
    return choose(draws.coin(1 - p), [changed, lambda: sound])


def _drawn(name, value, low=None, high=None):
    """A number, or one that is drawn from a range (low, high); or a value of the pipeline."""
    if isinstance(value, (list, tuple)):
        return draws.uniform(*checked_range(name, value, low, high))
    return value


@_of_samples
def resample(sound: Any, orig_freq: float, new_freq: float) -> Any:
    """Changes the rate of sound, as torchaudio.functional.resample does.

    Frequencies that the new rate cannot hold are removed.

    fn.audio_resample, which is DALI's, does not remove them: they fold back. The filter is a sinc of 0.95 times
    the new rate with 24
    zeros a side in a Hann window.

    Args:
        sound: float32, (samples) or (samples, channels).
        orig_freq: The rate of the sound in hertz.
        new_freq: The rate of the result in hertz.

    Returns:
        Sound of samples * new_freq / orig_freq samples, rounded up.

    Raises:
        ValueError: A rate is not positive.

    Example:
        >>> penstock.augment.resample(np.zeros(16000, np.float32), 16000, 8000).shape
        (8000,)
    """
    if not (orig_freq > 0 and new_freq > 0):
        raise ValueError(f"orig_freq and new_freq must be positive, got {orig_freq!r} and {new_freq!r}")
    if orig_freq == new_freq:
        return sound
    if new_freq < orig_freq:
        share = new_freq / orig_freq
        half = math.ceil(24 / share)
        k = np.arange(-half, half + 1)
        taps = np.sinc(0.95 * share * k) * (1 + np.cos(np.pi * k / (half + 1)))
        sound = fn.convolve(sound, (taps / taps.sum()).astype(np.float32), mode="same")
    return fn.audio_resample(sound, in_rate=float(orig_freq), out_rate=float(new_freq))


@_of_samples
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
    factor = 10.0 ** (_drawn("gain_db", gain_db) / 20.0)
    return _maybe(sound, lambda: fn.brightness(sound, brightness=factor), p)


@_of_samples
def add_noise(sound: Any, noise: Any, snr: float | Sequence[float] = (5.0, 20.0), p: float = 1.0) -> Any:
    """Adds noise at a signal-to-noise ratio, as torchaudio.functional.add_noise does.

    The ratio is that of mean squares over the whole sound and over the part of the noise that is added. Noise
    that is longer
    than the sound is cut at a random place; after shorter noise comes silence. Silent sound or noise adds nothing.

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
    ratio = _drawn("snr", snr)
    n, available = _length(sound), _length(noise)
    begin = floor(draws.uniform(0.0, 1.0) * (greatest(available - n, 0) + 1))
    begin = rounded(least(begin, greatest(available - n, 0)))  # the product may be rounded up

    def noisy():
        part = fn.slice(noise, begin, n, axes=[0], out_of_bounds_policy="pad")
        loud, other = (_number(fn.reductions.mean_square(x)) for x in (sound, part))
        factor = sqrt(loud / greatest(other, 1e-30)) * 10.0 ** (ratio * -0.05)
        factor = where(other > 0, factor, 0.0)
        return fn.cast_like(sound + part * factor, sound)

    return _maybe(sound, noisy, p)


@_of_samples
def speed_perturbation(sound: Any, factors: Sequence[float] = (0.9, 1.0, 1.1)) -> Any:
    """Plays sound faster or slower, as torchaudio.transforms.SpeedPerturbation does.

    The pitch changes too.

    Args:
        sound: float32, (samples) or (samples, channels).
        factors: Each sample draws one of them: 1.1 is 10 percent faster, and shorter.

    Returns:
        Sound of samples / factor samples, rounded up.

    Raises:
        ValueError: A factor is not positive.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32)
        >>> penstock.augment.speed_perturbation(sound, [2.0]).shape
        (8000,)
    """
    factors = [float(f) for f in factors]
    if not factors or min(factors) <= 0:
        raise ValueError(f"factors must be positive numbers, got {factors!r}")
    calls = [lambda f=f: resample(sound, 1000.0 * f, 1000.0) for f in factors]
    return choose(draws.below(len(calls)) if len(calls) > 1 else 0, calls)


@_of_samples
def reverberate(sound: Any, response: Any, keep_level: bool = True, p: float = 1.0) -> Any:
    """Puts sound into a room: convolves it with the room's impulse response, and keeps its length.

    Args:
        sound: float32, (samples) or (samples, channels).
        response: float32, (samples), or with as many channels as the sound. Cut the silence before its first
            peak, or the sound
            comes later by it.
        keep_level: The largest magnitude becomes again that of the sound. Otherwise the response is divided by
            its Euclidean norm.
        p: The probability of a room, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32)
        >>> room = np.exp(-np.arange(4000) / 800).astype(np.float32)
        >>> result = penstock.augment.reverberate(sound, room)
    """

    def inside():
        made = fn.convolve(sound, response, mode="causal", normalize="energy")
        if not keep_level:
            return made
        before, now = (_peak(x) for x in (sound, made))
        return fn.brightness(made, brightness=where(now > 0, before / greatest(now, 1e-30), 1.0))

    return _maybe(sound, inside, p)


def _peak(sound):
    return greatest(_number(fn.reductions.max(sound)), -_number(fn.reductions.min(sound)))


@_of_samples
def telephone(
    sound: Any, sample_rate: float, band: Sequence[float] = (300.0, 3400.0), law: str | None = "mu", p: float = 1.0
) -> Any:
    """Leaves of sound what a narrowband telephone does.

    These are 8000 samples a second, a band of frequencies, and the 8 bits of ITU-T G.711.

    Args:
        sound: float32 from -1 to 1, (samples) or (samples, channels). Values outside are clipped by the law.
        sample_rate: Samples in a second.
        band: The lowest and the highest frequency in hertz; each edge is a filter of two poles (fn.biquad).
        law: "mu" or "a" (fn.g711_encode); None: no quantization.
        p: The probability of a telephone, for each sample.

    Returns:
        Sound of the same shapes and rate.

    Raises:
        ValueError: The band is not within 0 and 4000 hertz, or p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32) - 0.5
        >>> result = penstock.augment.telephone(sound, 16000)
    """
    low, high = checked_range("band", band, 1e-3, TELEPHONE_RATE / 2 - 1e-3)

    def called():
        there = resample(sound, float(sample_rate), TELEPHONE_RATE)
        there = fn.biquad(there, kind="highpass", sample_rate=TELEPHONE_RATE, frequency=low)
        there = fn.biquad(there, kind="lowpass", sample_rate=TELEPHONE_RATE, frequency=high)
        if law is not None:
            there = fn.g711_decode(fn.g711_encode(there, law=law), law=law)
        back = resample(there, TELEPHONE_RATE, float(sample_rate))
        return fn.slice(back, 0, _length(sound), axes=[0], out_of_bounds_policy="pad")

    return _maybe(sound, called, p)


@_of_samples
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
    limit = _drawn("level", level, 0.0, 1.0)

    def limited():
        most = _peak(sound) * limit
        return fn.cast_like(node_math.clamp(sound, -most, most), sound)

    return _maybe(sound, limited, p)


@_of_samples
def time_masking(spectrograms: Any, time_mask_param: int, p: float = 1.0) -> Any:
    """Masks one random stretch of time with zeros, as torchaudio.transforms.TimeMasking does.

    Args:
        spectrograms: (..., features, frames), or with a layout that has f and t; any type.
        time_mask_param: The largest width of the mask in frames; smaller ones are as likely.
        p: The largest part of the frames that may be masked.

    Returns:
        Spectrograms of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> result = penstock.augment.time_masking(np.ones((80, 300), np.float32), 100)
    """
    p = float(checked_probability(p))
    return fn.spec_augment(spectrograms, freq_masks=0, time_masks=1, time_width=time_mask_param, time_fraction=p)


@_of_samples
def frequency_masking(spectrograms: Any, freq_mask_param: int) -> Any:
    """Masks one random band of frequencies with zeros, as torchaudio.transforms.FrequencyMasking does.

    Args:
        spectrograms: (..., features, frames), or with a layout that has f and t; any type.
        freq_mask_param: The largest width of the mask in features; smaller ones are as likely.

    Returns:
        Spectrograms of the same shapes and type.

    Raises:
        ValueError: freq_mask_param is negative.

    Example:
        >>> result = penstock.augment.frequency_masking(np.ones((80, 300), np.float32), 27)
    """
    return fn.spec_augment(spectrograms, freq_masks=1, freq_width=freq_mask_param, time_masks=0)
