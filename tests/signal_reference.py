# SPDX-License-Identifier: Apache-2.0
"""What the operators on signals mean, in float64; see reference.py."""

import numpy as np


def windows(x, length, step, centered=True, reflect=True):
    """(windows, length): the parts of a signal that are transformed."""
    n = len(x)
    count = 0 if n == 0 else n // step + 1 if centered else max(0, (n - length) // step + 1)
    at = np.arange(count)[:, None] * step + np.arange(length) - (length // 2 if centered else 0)
    period = max(2 * (n - 1), 1)
    mirrored = np.minimum(at % period, period - at % period) if n > 1 else np.zeros_like(at)
    inside = (at >= 0) & (at < n)
    return np.where(inside | reflect, x[np.where(inside, at, mirrored)] if n else 0.0, 0.0)


def hann(length):
    return 0.5 * (1 - np.cos(2 * np.pi * (np.arange(length) + 0.5) / length))


def spectrogram(
    x,
    *,
    nfft=None,
    window_length=512,
    window_step=256,
    power=2,
    center_windows=True,
    reflect_padding=True,
    layout="ft",
    window_fn=None,
):
    part = windows(x.astype(np.float64).ravel(), window_length, window_step, center_windows, reflect_padding)
    window = hann(window_length) if window_fn is None else np.asarray(window_fn, np.float64)
    out = np.abs(np.fft.rfft(part * window, nfft or window_length, axis=1)) ** power
    return out if layout == "tf" else out.T


def power_spectrum(x, *, axis=-1, nfft=None, power=2):
    return np.abs(np.fft.rfft(x.astype(np.float64), nfft or x.shape[axis], axis=axis)) ** power


def mel_triangles(
    bins, *, nfilter=128, sample_rate=44100.0, freq_low=0.0, freq_high=0.0, normalize=True, mel_formula="slaney"
):
    """(nfilter, bins), after Slaney's "Auditory Toolbox" and O'Shaughnessy's formula."""
    if mel_formula == "htk":
        mel, hertz = lambda f: 2595 * np.log10(1 + f / 700), lambda m: 700 * (10 ** (m / 2595) - 1)
    else:
        mel = lambda f: np.where(f < 1000, f * 3 / 200, 15 + 27 * np.log(np.maximum(f, 1e-9) / 1000) / np.log(6.4))
        hertz = lambda m: np.where(m < 15, m * 200 / 3, 1000 * 6.4 ** ((m - 15) / 27))
    low, high = mel(np.float64(freq_low)), mel(np.float64(freq_high or sample_rate / 2))
    corners = hertz(np.linspace(low, high, nfilter + 2))
    f = np.arange(bins) * sample_rate / (2 * (bins - 1))
    up = (f - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    down = (corners[2:, None] - f) / (corners[2:] - corners[1:-1])[:, None]
    return np.maximum(0, np.minimum(up, down)) * (2 / (corners[2:] - corners[:-2])[:, None] if normalize else 1)


def mel_filter_bank(x, *, axis=0, **options):
    return np.moveaxis(np.tensordot(mel_triangles(x.shape[axis], **options), x.astype(np.float64), (1, axis)), 0, axis)


def mfcc(x, *, axis=0, dct_type=2, n_mfcc=20, lifter=0.0, normalize=False):
    n = x.shape[axis]
    k, i = np.arange(min(n_mfcc, n))[:, None], np.arange(n)
    if dct_type == 1:
        m = np.cos(np.pi * i * k / (n - 1))
        m[:, [0, -1]] *= 0.5
    elif dct_type == 2:
        m = np.cos(np.pi / n * (i + 0.5) * k)
        m *= np.where(k == 0, np.sqrt(1 / n), np.sqrt(2 / n)) if normalize else 1
    elif dct_type == 3:
        m = np.cos(np.pi / n * i * (k + 0.5)) * (np.sqrt(2 / n) if normalize else 1)
        m[:, 0] = np.sqrt(1 / n) if normalize else 0.5
    else:
        m = np.cos(np.pi / n * (i + 0.5) * (k + 0.5)) * (np.sqrt(2 / n) if normalize else 1)
    lift = 1 + lifter / 2 * np.sin(np.pi * (k + 1) / lifter) if lifter else 1
    return np.moveaxis(np.tensordot(lift * m, x.astype(np.float64), (1, axis)), 0, axis)


def to_decibels(x, *, multiplier=10.0, cutoff_db=-200.0, reference=0.0):
    x = x.astype(np.float64)
    top = reference or (x.max() if x.size else 1.0)
    return multiplier * np.log10(np.maximum(10.0 ** (cutoff_db / multiplier), x / (top if top > 0 else 1.0)))


def preemphasis_filter(x, *, preemph_coeff=0.97, border="clamp"):
    flat = x.astype(np.float64).ravel()
    if not flat.size:
        return flat.reshape(x.shape)
    before = {"zero": 0.0, "clamp": flat[0], "reflect": flat[min(1, flat.size - 1)]}[border]
    return (flat - preemph_coeff * np.concatenate([[before], flat[:-1]])).reshape(x.shape)


def nonsilent_region(x, *, cutoff_db=-60.0, reference_power=0.0, window_length=2048):
    """(begin, length)"""
    n = len(x)
    if n == 0:
        return 0, 0
    window = min(window_length, n)
    sums = np.concatenate([np.zeros(window), np.cumsum(x.astype(np.float64) ** 2)])
    power = (sums[window:] - sums[:-window]) / window
    reference = reference_power or power.max()
    heard = np.flatnonzero(power >= reference * 10 ** (cutoff_db / 10)) if reference > 0 else []
    if not len(heard):
        return 0, 0
    begin = max(int(heard[0]) - window + 1, 0)
    return begin, int(heard[-1]) - begin + 1


def audio_resample(x, *, in_rate=None, out_rate=None, scale=None, out_length=None, quality=50.0):
    """x in -1..1; each output is a sum under a sinc in Hann's window."""
    n = len(x)
    ratio = scale or (out_rate / in_rate if in_rate else out_length / max(n, 1))
    length = out_length if out_length is not None else int(np.ceil(n * ratio))
    lobes = round(0.007 * quality**2 - 0.09 * quality + 3)
    out = np.zeros((length,) + x.shape[1:])
    for k in range(length):
        at = k / ratio
        i = np.arange(max(int(np.ceil(at)) - lobes, 0), min(int(np.floor(at)) + lobes, n - 1) + 1)
        w = np.sinc(i - at) * 0.5 * (1 + np.cos(np.pi * np.clip((i - at) / lobes, -1, 1)))
        out[k] = np.tensordot(w, x[i].astype(np.float64), (0, 0))
    return out


def frame_splicing(x, *, stack=3, subsample=None, fill_value=0.0, features=0, frames=1):
    x, step = np.moveaxis(x, (features, frames), (-2, -1)), subsample or stack
    count = -(-x.shape[-1] // step)
    longer = np.full((*x.shape[:-1], count * step + stack), fill_value, np.float64)
    longer[..., : x.shape[-1]] = x
    out = np.concatenate([longer[..., k : k + count * step : step][..., :count] for k in range(stack)], -2)
    return np.moveaxis(out, (-2, -1), (features, frames))


def spec_augment(x):
    """Without masks; what is drawn has tests of its own."""
    return x
