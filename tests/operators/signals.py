# SPDX-License-Identifier: Apache-2.0
"""Operators on signals: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values


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
    out = np.fft.rfft(part * window, nfft or window_length, axis=1)
    out = np.stack([out.real, out.imag], -1) if power == 0 else np.abs(out) ** power
    return out if layout == "tf" else np.swapaxes(out, 0, 1)


def overlapping(parts, window, step, begin, count):
    """The weighted mean of windows that begin at `begin` + k * step: samples [0, count)."""
    reach = max(len(parts) - 1, 0) * step + len(window)
    total, weight = np.zeros(reach), np.zeros(reach)
    for k, part in enumerate(parts):
        total[k * step :][: len(window)] += part * window
        weight[k * step :][: len(window)] += window**2
    mean = np.divide(total, weight, out=np.zeros(reach), where=weight > 1e-11)
    return np.pad(mean[-begin:], (0, max(0, count - reach - begin)))[:count]


def inverse_spectrogram(
    x, *, nfft=None, window_length=None, window_step=None, center_windows=True, window_fn=None, length=None, layout="ft"
):
    x = (x if layout == "tf" else np.swapaxes(x, 0, 1)).astype(np.float64)
    nfft = nfft or max(1, 2 * x.shape[1] - 2)
    wide = window_length or nfft
    step = window_step or max(1, wide // 2)
    window = hann(wide) if window_fn is None else np.asarray(window_fn, np.float64)
    begin = -(wide // 2) if center_windows else 0
    count = (len(x) - 1) * step + wide + 2 * begin if length is None else length
    parts = np.fft.irfft(x[..., 0] + 1j * x[..., 1], nfft, axis=1)[:, :wide] if nfft > 1 else x[..., 0]
    return overlapping(parts, window, step, begin, count)


def griffin_lim(
    x,
    *,
    nfft=None,
    window_length=None,
    window_step=None,
    window_fn=None,
    power=2,
    n_iter=32,
    momentum=0.99,
    length=None,
    rand_init=False,
):
    assert not rand_init
    nfft = nfft or max(1, 2 * x.shape[0] - 2)
    wide = window_length or nfft
    step = window_step or max(1, wide // 2)
    window, left = np.zeros(nfft), (nfft - wide) // 2
    window[left : left + wide] = hann(wide) if window_fn is None else window_fn
    size = x.T.astype(np.float64) ** (1 / power)
    count = (len(size) - 1) * step + nfft % 2 if length is None else length
    phases, before = np.ones(size.shape, complex), 0
    for i in range(n_iter + 1):
        parts = np.fft.irfft(size * phases, nfft, axis=1) if nfft > 1 else (size * phases).real
        signal = overlapping(parts, window, step, -(nfft // 2), count)
        if i == n_iter or not count:
            return signal
        now = np.fft.rfft(windows(signal, nfft, step)[: len(size)] * window, axis=1)
        phases = now - before * (momentum / (1 + momentum)) if momentum else now
        phases, before = phases / (np.abs(phases) + 1e-16), now


def power_spectrum(x, *, axis=-1, nfft=None, power=2):
    return np.abs(np.fft.rfft(x.astype(np.float64), nfft or x.shape[axis], axis=axis)) ** power


def mel_triangles(
    bins, *, nfilter=128, sample_rate=44100.0, freq_low=0.0, freq_high=0.0, normalize=True, mel_formula="slaney"
):
    """(nfilter, bins), after Slaney's "Auditory Toolbox" and O'Shaughnessy's formula."""
    if mel_formula == "htk":
        mel, hertz = lambda f: 2595 * np.log10(1 + f / 700), lambda m: 700 * (10 ** (m / 2595) - 1)
    elif mel_formula == "linear":
        mel = hertz = lambda f: f
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


def audio_resample(x, *, in_rate=None, out_rate=None, scale=None, out_length=None, quality=50.0, limit_band=False):
    """x in -1..1; each output is a sum under a sinc in Hann's window."""
    n = len(x)
    ratio = scale or (out_rate / in_rate if in_rate else out_length / max(n, 1))
    length = out_length if out_length is not None else int(np.ceil(n * ratio))
    lobes = round(0.007 * quality**2 - 0.09 * quality + 3)
    out = np.zeros((length,) + x.shape[1:])
    band = 0.95 * ratio if limit_band and ratio < 1 else 1.0
    for k in range(length):
        at = k / ratio
        i = np.arange(max(int(np.ceil(at - lobes / band)), 0), min(int(np.floor(at + lobes / band)), n - 1) + 1)
        w = band * np.sinc(band * (i - at)) * 0.5 * (1 + np.cos(np.pi * np.clip(band * (i - at) / lobes, -1, 1)))
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


def draw_signals(draw, low=1, high=700):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    lengths = [draw(st.sampled_from([0, 1, 2, 3]) | st.integers(low, high)) for _ in range(n)]
    return [np.random.default_rng(seed + i).uniform(-1, 1, k).astype(np.float32) for i, k in enumerate(lengths)]


def draw_spectra(draw, ndim=2):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    shapes = [[draw(st.sampled_from([1, 2, 3, 7, 16, 17, 33, 129])) for _ in range(ndim)] for _ in range(n)]
    return [np.random.default_rng(seed + i).uniform(0, 1, s).astype(np.float32) for i, s in enumerate(shapes)]


def draw_spectrogram(draw):
    length = draw(st.sampled_from([1, 2, 8, 15, 16, 25, 60, 64, 77, 100, 121, 128]))
    xs = [
        x if x.size >= length else np.resize(x if x.size else np.float32([0.5]), length)
        for x in map(np.ravel, draw_signals(draw))
    ]
    options = {
        "window_length": length,
        "window_step": draw(st.integers(1, 50)),
        "power": draw(st.sampled_from([0, 1, 2])),
        "center_windows": draw(st.booleans()),
        "reflect_padding": draw(st.booleans()),
        "layout": draw(st.sampled_from(["ft", "tf"])),
    }
    if draw(st.booleans()):
        options["nfft"] = length + draw(st.integers(0, 40))
    if draw(st.booleans()):
        options["window_fn"] = [i / 64 for i in range(length)]
    # Squares of sums of up to `length` products of a window's factors.
    largest = (length * (length / 64 if "window_fn" in options else 1)) ** max(1, options["power"])
    return Case(
        [xs],
        [""],
        options,
        dtype="float32",
        largest=largest,
        error=1e-6,
        expected=lambda i: spectrogram(xs[i], **options),
    )


def draw_inverse(draw, most_frames, last):
    """Spectra of float32, and arguments that they have been made with."""
    nfft = draw(st.sampled_from([1, 2, 3, 8, 15, 25, 60, 64, 77, 128]))
    count, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    shapes = [(nfft // 2 + 1, draw(st.integers(1, most_frames)), *last) for _ in range(count)]
    xs = [np.random.default_rng(seed + i).uniform(0, 1, s).astype(np.float32) for i, s in enumerate(shapes)]
    wide = draw(st.integers(max(1, nfft // 2), nfft))
    options = {"nfft": nfft, "window_length": wide, "window_step": draw(st.integers(1, wide))}
    if draw(st.booleans()):
        options["window_fn"] = [1 + i % 7 / 8 for i in range(wide)]
    return xs, options


def draw_inverse_spectrogram(draw):
    xs, options = draw_inverse(draw, 40, (2,))
    options["center_windows"] = draw(st.booleans())
    layout = draw(st.sampled_from(["ft", "tf"]))
    xs = xs if layout == "ft" else [np.ascontiguousarray(np.swapaxes(x, 0, 1)) for x in xs]
    each = {"length": [draw(st.integers(0, 300)) for _ in xs]} if draw(st.booleans()) else {}
    at = lambda i: {k: v[i] for k, v in each.items()}
    # A sample at the end of a window is divided by its factor, which is small in Hann's window.
    window = np.float64(options.get("window_fn", hann(options["window_length"])))
    return Case(
        [xs],
        [layout + "c" if layout == "tf" or draw(st.booleans()) else ""],
        options,
        each,
        dtype="float32",
        largest=1 / window.min(),
        error=1e-6,
        expected=lambda i: inverse_spectrogram(xs[i], **options, **at(i), layout=layout),
    )


def draw_griffin_lim(draw):
    # Few steps and full windows: phases of small numbers are those of their rounding.
    xs, options = draw_inverse(draw, 12, ())
    options["window_fn"] = [1 + i % 7 / 8 for i in range(options["window_length"])]
    options |= {"power": draw(st.sampled_from([1, 2])), "n_iter": draw(st.integers(0, 1)), "rand_init": False}
    options["momentum"] = draw(st.sampled_from([0.0, 0.5]))
    return Case(
        [xs], [""], options, dtype="float32", largest=3.0, error=1e-4, expected=lambda i: griffin_lim(xs[i], **options)
    )


def draw_power_spectrum(draw):
    xs = draw_spectra(draw)
    axis, power = draw(st.integers(-2, 1)), draw(st.sampled_from([1, 2]))
    options = {"axis": axis, "power": power}
    if draw(st.booleans()):
        options["nfft"] = max(x.shape[axis] for x in xs) + draw(st.integers(0, 20))
    return Case(
        [xs],
        [""],
        options,
        dtype="float32",
        largest=max(x.shape[axis] for x in xs) ** power,
        error=1e-6,
        expected=lambda i: power_spectrum(xs[i], **options),
    )


def draw_mel_filter_bank(draw):
    xs = [x for x in draw_spectra(draw)]
    layout = draw(st.sampled_from(["", "ft", "tf"]))
    axis = 1 if layout == "tf" else 0
    xs = [x if x.shape[axis] > 1 else np.concatenate([x, x], axis) for x in xs]
    options = {
        "nfilter": draw(st.integers(1, 40)),
        "sample_rate": draw(st.sampled_from([8000.0, 16000.0, 44100.0])),
        "freq_low": draw(st.sampled_from([0.0, 100.0])),
        "freq_high": draw(st.sampled_from([0.0, 3000.0])),
        "normalize": draw(st.booleans()),
        "mel_formula": draw(st.sampled_from(["slaney", "htk", "linear"])),
    }
    return Case(
        [xs],
        [layout],
        options,
        dtype="float32",
        largest=150.0,
        error=2e-6,
        expected=lambda i: mel_filter_bank(xs[i], axis=axis, **options),
    )


def draw_mfcc(draw):
    xs, kind = draw_spectra(draw), draw(st.integers(1, 4))
    options = {
        "axis": draw(st.integers(-2, 1)),
        "dct_type": kind,
        "n_mfcc": draw(st.integers(1, 40)),
        "lifter": draw(st.sampled_from([0.0, 22.0])),
        "normalize": kind > 1 and draw(st.booleans()),
    }
    xs = [x if x.shape[options["axis"]] > 1 else np.concatenate([x, x], options["axis"]) for x in xs]
    return Case(
        [xs],
        [""],
        options,
        dtype="float32",
        largest=12.0 * max(x.shape[options["axis"]] for x in xs),
        error=1e-6,
        expected=lambda i: mfcc(xs[i], **options),
    )


def draw_to_decibels(draw):
    xs = draw_spectra(draw)
    options = {
        "multiplier": draw(st.sampled_from([10.0, 20.0])),
        "cutoff_db": draw(st.sampled_from([-200.0, -80.0, -3.0])),
        **({"reference": draw(st.sampled_from([0.5, 4.0]))} if draw(st.booleans()) else {}),
    }
    return Case(
        [xs], [""], options, dtype="float32", largest=20.0, error=1e-6, expected=lambda i: to_decibels(xs[i], **options)
    )


def draw_preemphasis_filter(draw):
    dtype, out, seed = (
        draw(st.sampled_from(["float32", "int16", "uint8", "float16"])),
        draw(st.sampled_from(["float32", "int16"])),
        draw(st.integers(0, 999)),
    )
    xs = [values(dtype, [draw(st.sampled_from([0, 1, 2, 3, 1000]))], seed + i) for i in range(draw(st.integers(1, 3)))]
    border = draw(st.sampled_from(["zero", "clamp", "reflect"]))
    coefficients = [draw(st.integers(-64, 64)) / 64 for _ in xs]
    return Case(
        [xs],
        [""],
        {"border": border, "dtype": out},
        {"preemph_coeff": coefficients},
        dtype=out,
        error=2e-7,
        largest=70000.0,
        expected=lambda i: preemphasis_filter(xs[i], preemph_coeff=coefficients[i], border=border),
    )


def draw_nonsilent_region(draw):
    middle = lambda x: np.where((np.arange(len(x)) > len(x) // 4) & (np.arange(len(x)) < len(x) * 3 // 4), x, x * 0)
    xs = [middle(x) for x in draw_signals(draw)]
    options = {
        "cutoff_db": draw(st.sampled_from([-60.0, -20.5, -10.5])),
        "window_length": draw(st.sampled_from([1, 5, 64, 2048])),
        "reference_power": draw(st.sampled_from([0.0, 0.7])),
    }
    return Case(
        [xs], [""], options, dtype="int32", error=0, expected=lambda i: np.int32(nonsilent_region(xs[i], **options)[0])
    )


def draw_audio_resample(draw):
    dtype, seed, channels = (
        draw(st.sampled_from(["float32", "int16", "uint8", "int32"])),
        draw(st.integers(0, 999)),
        draw(st.sampled_from([(), (1,), (2,)])),
    )
    xs = [
        values(dtype, (draw(st.sampled_from([0, 1, 2, 3, 50, 131])), *channels), seed + i)
        for i in range(draw(st.integers(1, 3)))
    ]
    xs = [x / max(1, np.abs(x).max(initial=0)) if dtype == "float32" else x for x in xs]
    which = draw(st.sampled_from(["scale", "rates", "length"]))
    per_sample = {
        "scale": {"scale": [draw(st.sampled_from([0.25, 0.5, 1.0, 1.75, 3.0])) for _ in xs]},
        "rates": {"in_rate": [draw(st.sampled_from([8000.0, 44100.0])) for _ in xs], "out_rate": [16000.0 for _ in xs]},
        "length": {"out_length": [draw(st.integers(0, 200)) for _ in xs]},
    }[which]
    quality, limit = draw(st.sampled_from([0.0, 50.0, 80.0])), draw(st.booleans())
    top = 1 if dtype == "float32" else np.iinfo(dtype).max
    out = draw(st.sampled_from(["float32", dtype]))
    as_real = lambda x: x.astype(np.float64) / top if dtype[0] != "u" else x * (2 / top) - 1.0

    def expected(i):
        if not len(xs[i]) and which == "length":
            return np.zeros((per_sample["out_length"][i], *channels)) + (0 if out[0] != "u" else 0.5 * top)
        y = audio_resample(
            as_real(xs[i]), quality=quality, limit_band=limit, **{k: v[i] for k, v in per_sample.items()}
        )
        return y if out == "float32" else y * top if out[0] != "u" else (y + 1) * 0.5 * top

    # A table of 64 steps a lobe, with straight lines between them.
    return Case(
        [xs],
        [""],
        {"quality": quality, "limit_band": limit, "dtype": out},
        per_sample,
        dtype=out,
        error=2e-3,
        largest=1.0 if out == "float32" else top,
        expected=expected,
    )


def draw_frame_splicing(draw):
    layout, seed, dtype = (
        draw(st.sampled_from(["", "ft", "tf", "Ctf", "fCt"])),
        draw(st.integers(0, 999)),
        draw(st.sampled_from(["float32", "int16", "uint8", "float16"])),
    )
    axes = {"features": layout.find("f"), "frames": layout.find("t")} if layout else {}
    xs = [
        values(dtype, [draw(st.sampled_from([1, 2, 3, 7, 16, 40])) for _ in layout or "ft"], seed + i)
        for i in range(draw(st.integers(1, 3)))
    ]
    options = {"stack": draw(st.integers(1, 4)), "fill_value": draw(st.sampled_from([0.0, 7.0]))}
    if draw(st.booleans()):
        options["subsample"] = draw(st.integers(1, 5))
    return Case(
        [xs], [layout], options, dtype=dtype, error=0, expected=lambda i: frame_splicing(xs[i], **options, **axes)
    )


def draw_spec_augment(draw):
    xs = draw_spectra(draw, draw(st.sampled_from([2, 3])))
    options = draw(
        st.sampled_from(
            [
                {"freq_masks": 0, "time_masks": 0},
                {"freq_width": 0, "time_fraction": 0.0},
                {"freq_masks": 0, "time_width": 0},
            ]
        )
    )
    return Case([xs], [""], options, dtype="float32", error=0, expected=lambda i: spec_augment(xs[i]))


CASES = {
    "frame_splicing": draw_frame_splicing,
    "spec_augment": draw_spec_augment,
    "audio_resample": draw_audio_resample,
    "spectrogram": draw_spectrogram,
    "inverse_spectrogram": draw_inverse_spectrogram,
    "griffin_lim": draw_griffin_lim,
    "power_spectrum": draw_power_spectrum,
    "mel_filter_bank": draw_mel_filter_bank,
    "mfcc": draw_mfcc,
    "to_decibels": draw_to_decibels,
    "preemphasis_filter": draw_preemphasis_filter,
    "nonsilent_region": draw_nonsilent_region,
}
