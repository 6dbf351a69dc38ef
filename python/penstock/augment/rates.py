# SPDX-License-Identifier: Apache-2.0
"""Sound at another rate, at another speed, and of another pitch."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from . import draws
from .recordings import drawn, length, of_samples, perhaps
from .samples import choose


@of_samples
def resample(sound: Any, orig_freq: float, new_freq: float) -> Any:
    """Changes the rate of sound, as torchaudio.functional.resample does.

    Frequencies that the new rate cannot hold are removed.

    fn.audio_resample, which is DALI's, does not remove them by default: they fold back. The filter is a sinc of 0.95
    times a lower rate with 23 zeros a side in a Hann window.

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
    filtered = {"limit_band": True, "quality": 60.0} if new_freq < orig_freq else {}
    return fn.audio_resample(sound, in_rate=float(orig_freq), out_rate=float(new_freq), **filtered)


@of_samples
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


@of_samples
def time_stretch(sound: Any, sample_rate: float, factor: float | Sequence[float] = (0.8, 1.25), p: float = 1.0) -> Any:
    """Plays sound faster or slower without a change of its pitch, as SoX's tempo does (fn.time_stretch).

    Args:
        sound: float32, (samples) or (samples, channels).
        sample_rate: Samples in a second.
        factor: 1.25 is a quarter faster, and shorter; or a range (low, high) from which each sample draws its own.
        p: The probability of a change, for each sample.

    Returns:
        Sound of samples / factor samples, rounded up.

    Raises:
        ValueError: The range is not one within 0.1 and 10, or p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32)
        >>> penstock.augment.time_stretch(sound, 16000, 1.25).shape
        (12800,)
    """
    f = drawn("factor", factor, 0.1, 10.0)
    return perhaps(sound, lambda: fn.time_stretch(sound, sample_rate=sample_rate, factor=f), p)


@of_samples
def pitch_shift(
    sound: Any, sample_rate: float, semitones: float | Sequence[float] = (-4.0, 4.0), p: float = 1.0
) -> Any:
    """Makes the pitch of sound higher or lower, as torchaudio.functional.pitch_shift does.

    Its length stays. The sound is stretched in time (fn.time_stretch), then played faster or slower by as much.

    Args:
        sound: float32, (samples) or (samples, channels).
        sample_rate: Samples in a second.
        semitones: Twelfths of an octave upward, or a range (low, high) from which each sample draws its own.
        p: The probability of a change, for each sample.

    Returns:
        Sound of the same shapes.

    Raises:
        ValueError: The range is not one within -36 and 36, or p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32)
        >>> penstock.augment.pitch_shift(sound, 16000, 3.0).shape
        (16000,)
    """
    if isinstance(semitones, (int, float)) and not -36 <= semitones <= 36:
        raise ValueError(f"semitones must be from -36 to 36, got {semitones!r}")
    higher = 2.0 ** (drawn("semitones", semitones, -36.0, 36.0) / 12.0)

    def shifted():
        longer = fn.time_stretch(sound, sample_rate=sample_rate, factor=1.0 / higher)
        made = fn.audio_resample(longer, scale=1.0 / higher, limit_band=True, quality=60.0)
        return fn.slice(made, 0, length(sound), axes=[0], out_of_bounds_policy="pad")

    return perhaps(sound, shifted, p)
