# SPDX-License-Identifier: Apache-2.0
"""What is between a speaker and a recording: a room, a telephone, an encoder."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from .numbers import greatest, integer, where
from .rates import resample
from .recordings import drawn, length, of_samples, peak, perhaps
from .samples import checked_range

TELEPHONE_RATE = 8000.0
CODEC_RATES = {
    "opus": (8000, 12000, 16000, 24000, 48000),
    "mp3": (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000),
}


@of_samples
def reverberate(sound: Any, response: Any, keep_level: bool = True, p: float = 1.0) -> Any:
    """Puts sound into a room: convolves it with the room's impulse response, and keeps its length.

    Args:
        sound: float32, (samples) or (samples, channels).
        response: float32, (samples), or with as many channels as the sound. Cut the silence before its first
            peak, or the sound comes later by it.
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
        before, now = (peak(x) for x in (sound, made))
        return fn.brightness(made, brightness=where(now > 0, before / greatest(now, 1e-30), 1.0))

    return perhaps(sound, inside, p)


@of_samples
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
        return fn.slice(back, 0, length(sound), axes=[0], out_of_bounds_policy="pad")

    return perhaps(sound, called, p)


@of_samples
def codec(
    sound: Any,
    sample_rate: float,
    format: str = "opus",
    bitrate: float | Sequence[float] = (8000, 32000),
    p: float = 1.0,
) -> Any:
    """Encodes sound as Opus or MP3 and decodes it (fn.audio_codec), as torchaudio.io.AudioEffector does.

    Sound of a rate that the format does not have is resampled to the next higher one, and back. MP3 needs libmp3lame
    and libmpg123.

    Args:
        sound: float32 from -1 to 1, (samples) or (samples, channels) with one or two channels; on the CPU.
        sample_rate: Samples in a second.
        format: "opus" or "mp3".
        bitrate: Bits in a second, or a range (low, high) from which each sample draws its own.
        p: The probability of an encoder, for each sample.

    Returns:
        Sound of the same shapes and rate.

    Raises:
        ValueError: The format is unknown, the bitrate is not one of it, a library is missing, or p is not from 0 to 1.

    Example:
        >>> sound = np.random.rand(16000).astype(np.float32) - 0.5
        >>> result = penstock.augment.codec(sound, 16000, "opus", bitrate=12000)
    """
    if format not in CODEC_RATES:
        raise ValueError(f'format must be "opus" or "mp3", got {format!r}')
    rates = CODEC_RATES[format]
    rate = float(next((r for r in rates if r >= sample_rate), rates[-1]))
    bits = integer(drawn("bitrate", bitrate, 6000, 510000))

    def coded():
        there = resample(sound, float(sample_rate), rate)
        there = fn.audio_codec(there, sample_rate=rate, format=format, bitrate=bits)
        if rate == sample_rate:
            return there
        back = resample(there, rate, float(sample_rate))
        return fn.slice(back, 0, length(sound), axes=[0], out_of_bounds_policy="pad")

    return perhaps(sound, coded, p)
