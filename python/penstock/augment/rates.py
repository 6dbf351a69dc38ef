# SPDX-License-Identifier: Apache-2.0
"""Sound at another rate, and at another speed."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from . import draws
from .recordings import of_samples
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
