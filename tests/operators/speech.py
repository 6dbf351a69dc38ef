# SPDX-License-Identifier: Apache-2.0
"""Operators that change speech: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.exact import to_dtype
from scipy import signal


def convolve(x, response, *, mode="full", normalize="none"):
    signal, taps = x.astype(np.float64), response.astype(np.float64)
    if not len(signal):
        return signal
    norm = {"none": 0.0, "peak": np.abs(taps).max(), "energy": np.sqrt((taps**2).sum())}[normalize]
    taps = taps / norm if norm > 0 else taps
    columns = signal.reshape(len(signal), -1)
    each = np.broadcast_to(taps.reshape(len(taps), -1), (len(taps), columns.shape[1]))
    made = np.stack([np.convolve(c, t) for c, t in zip(columns.T, each.T)], 1)
    n, m = len(signal), len(taps)
    shorter, longer = min(n, m), max(n, m)
    begin, count = {
        "full": (0, n + m - 1),
        "same": ((m - 1) // 2, n),
        "valid": (shorter - 1, longer - shorter + 1),
        "causal": (0, n),
    }[mode]
    return made[begin : begin + count].reshape(count, *signal.shape[1:])


def lfilter(x, *, b, a, clamp=False):
    """In the terms of the definition."""
    x, out = x.astype(np.float64), np.zeros(x.shape)
    b, a = np.asarray(b, np.float64) / a[0], np.asarray(a, np.float64) / a[0]
    for t in range(len(x)):
        out[t] = sum(b[k] * x[t - k] for k in range(min(len(b), t + 1)))
        out[t] -= sum(a[k] * out[t - k] for k in range(1, min(len(a), t + 1)))
    return np.clip(out, -1, 1) if clamp else out


def biquad_numbers(kind, w, q, gain_db, constant_skirt):
    """b and a, from the gain of a filter with two poles and zeros as Bristow-Johnson gives them."""
    c, alpha, g = np.cos(w), np.sin(w) / (2 * q), 10 ** (gain_db / 40)
    plain = [1 + alpha, -2 * c, 1 - alpha]
    if kind in ("bass", "treble"):
        s, beta = (1 if kind == "bass" else -1), 2 * np.sqrt(g) * alpha
        low, high = (g + 1) - s * (g - 1) * c, (g + 1) + s * (g - 1) * c
        b = [g * (low + beta), 2 * s * g * ((g - 1) - s * (g + 1) * c), g * (low - beta)]
        return b, [high + beta, -2 * s * ((g - 1) + s * (g + 1) * c), high - beta]
    b = {
        "lowpass": [(1 - c) / 2, 1 - c, (1 - c) / 2],
        "highpass": [(1 + c) / 2, -(1 + c), (1 + c) / 2],
        "bandpass": [alpha * (q if constant_skirt else 1) * s for s in (1, 0, -1)],
        "bandreject": [1, -2 * c, 1],
        "allpass": plain[::-1],
        "equalizer": [1 + alpha * g, -2 * c, 1 - alpha * g],
    }[kind]
    return b, [1 + alpha / g, -2 * c, 1 - alpha / g] if kind == "equalizer" else plain


def biquad(x, *, kind, sample_rate, frequency, q=0.707, gain_db=0.0, constant_skirt=False, clamp=False):
    q = np.float64(np.float32(q))
    b, a = biquad_numbers(kind, 2 * np.pi * np.float64(frequency) / sample_rate, q, gain_db, constant_skirt)
    return lfilter(x, b=b, a=a, clamp=clamp)


def fade(x, *, fade_in=0, fade_out=0, shape="linear"):
    out, n = x.astype(np.float64), len(x)
    rise = {
        "linear": lambda p: p,
        "exponential": lambda p: 2 ** (p - 1) * p,
        "logarithmic": lambda p: np.clip(np.log10(0.1 + p) + 1, 0, 1),
        "quarter_sine": lambda p: np.sin(np.pi * p / 2),
        "half_sine": lambda p: np.sin(np.pi * p - np.pi / 2) / 2 + 0.5,
    }[shape]
    wide = lambda v: v.reshape(-1, *[1] * (x.ndim - 1))
    i, o = min(fade_in, n), min(fade_out, n)
    out[:i] *= wide(rise(np.linspace(0, 1, i)))
    out[n - o :] *= wide(rise(np.linspace(1, 0, o)))
    return out


def mu_law_encode(x, *, quantization_channels=256):
    mu = quantization_channels - 1.0
    y = np.sign(x) * np.log1p(mu * np.abs(x.astype(np.float64))) / np.log1p(mu)
    return np.clip(np.floor((y + 1) / 2 * mu + 0.5), 0, mu)


def mu_law_decode(x, *, quantization_channels=256):
    mu = quantization_channels - 1.0
    y = np.clip(x.astype(np.float64), 0, mu) / mu * 2 - 1
    return np.sign(y) * np.expm1(np.abs(y) * np.log1p(mu)) / mu


def as_int16(x):
    return x if x.dtype == np.int16 else np.clip(np.rint(x.astype(np.float64) * 32768), -32768, 32767).astype(np.int16)


def g711_tables():
    """law -> the value of each code, from the segments of ITU-T G.711: of twice the width of the one before."""
    code = np.arange(256)
    turned = 255 - code
    mu = (2 * (turned & 15) + 33) * 2.0 ** (turned >> 4 & 7) - 33
    flipped = code ^ 0x55
    segment, place = flipped >> 4 & 7, flipped & 15
    a = np.where(segment == 0, 2 * place + 1, (2 * place + 33) * 2.0 ** (segment - 1))
    return {"mu": np.where(turned & 128, -4 * mu, 4 * mu), "a": np.where(flipped & 128, 8 * a, -8 * a)}


def g711_decode(x, *, law="mu", dtype="float32"):
    found = g711_tables()[law][x]
    return found / 32768 if dtype == "float32" else found.astype(np.int16)


def g711_encode(x, *, law="mu"):
    """In the terms of the standard: sign, segment, place."""
    sample = as_int16(x).astype(np.int64) >> (2 if law == "mu" else 3)
    size = np.minimum(np.abs(sample) + 33, 8191) if law == "mu" else np.where(sample < 0, -sample - 1, sample)
    least = 6 if law == "mu" else 5
    segment = sum((size >> k > 0).astype(np.int64) for k in range(least, least + 7))
    place = size >> (segment + 1 if law == "mu" else np.maximum(segment, 1)) & 15
    code = segment << 4 | place
    flips = np.where(sample < 0, 127, 255) if law == "mu" else np.where(sample < 0, 0x55, 0xD5)
    return (code ^ flips).astype(np.uint8)


def time_warp(x, *, anchor, shift, frames=1):
    """Frame j is read at the place that goes there."""
    x = np.moveaxis(x.astype(np.float64), frames, -1)
    n = x.shape[-1]
    at = np.interp(np.arange(n), [0, anchor + shift, n - 1], [0, anchor, n - 1])
    low = np.minimum(np.floor(at).astype(int), n - 2)
    return np.moveaxis(x[..., low] + (at - low) * (x[..., low + 1] - x[..., low]), -1, frames)


def loudness(x, *, sample_rate):
    """BS.1770: weighted energies of blocks, those below -70 and those 10 below the mean of the others not counted."""
    rate, columns = float(sample_rate), x.astype(np.float64).reshape(len(x), -1)
    shelf = biquad_numbers("treble", 2 * np.pi * 1500 / rate, np.sqrt(0.5), 4.0, False)
    weighted = columns
    for b, a in (shelf, biquad_numbers("highpass", 2 * np.pi * 38 / rate, 0.5, 0, False)):
        weighted = signal.lfilter(b, a, weighted, axis=0)
    block = round(0.4 * rate)
    begins = range(0, len(x) - block + 1, round(block / 4))
    power = (
        np.array([(weighted[t : t + block] ** 2).mean(0) for t in begins])
        @ np.array([1, 1, 1, 1.41, 1.41])[: columns.shape[1]]
    )
    level = lambda p: 10 * np.log10(p, out=np.full(np.shape(p), -np.inf), where=np.asarray(p) > 0) - 0.691
    heard = power[level(power) > -70]
    if not len(heard):
        return np.float64(-np.inf)
    return level(heard[level(heard) > level(heard.mean()) - 10].mean())


def time_stretch(x, *, sample_rate, factor):
    """Parts of half a window; each goes over from what follows the part before to the place nearby that is most like it."""
    n, m = len(x), int(np.ceil(len(x) / np.float64(np.float32(factor))))
    half = min(int(0.02 * sample_rate), n // 2, m // 2)
    wide = x.astype(np.float64)
    if half == 0:
        return wide[np.arange(m) * n // max(m, 1)]
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(half) + 0.5) / half)).reshape(-1, *[1] * (x.ndim - 1))
    out, place = [wide[:half]], 0
    for at in range(half, m, half):
        most = n - (2 * half if at + half < m else half)
        there = min(at * (n - half) // (m - half), most)
        like = wide[place + half : place + 2 * half]
        places = range(max(there - half // 2, 0), min(there + half // 2, most) + 1)
        place = min(places, key=lambda k: ((wide[k : k + half] - like) ** 2).sum())
        out.append(like + (wide[place : place + half] - like) * ramp)
    return np.concatenate(out)[:m]


def sounds(draw, lengths, channels=((), (1,), (2,))):
    n, seed, wide = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(channels))
    return [np.random.default_rng(seed + i).uniform(-1, 1, (draw(lengths), *wide)).astype(np.float32) for i in range(n)]


LENGTHS = st.sampled_from([0, 1, 2, 3]) | st.integers(1, 700)


def draw_convolve(draw):
    xs = sounds(draw, LENGTHS | st.sampled_from([1023, 1024, 3000]))
    taps = st.sampled_from([1, 2, 47, 48, 49, 50, 128, 255, 256, 257]) | st.integers(1, 1500)
    wide = draw(st.sampled_from([(), (1,), xs[0].shape[1:] or (1,)]))
    seed = draw(st.integers(0, 999))
    hs = [
        np.random.default_rng(seed + i).normal(0, 0.1, (draw(taps), *wide)).astype(np.float32) for i in range(len(xs))
    ]
    options = {
        "mode": draw(st.sampled_from(["full", "same", "valid", "causal"])),
        "normalize": draw(st.sampled_from(["none", "peak", "energy"])),
    }
    # Euclidean norms of a response and of the signal that a transform sees.
    return Case(
        [xs, hs],
        ["", ""],
        options,
        dtype="float32",
        error=2e-6,
        largest=40.0,
        expected=lambda i: convolve(xs[i], hs[i], **options),
    )


def draw_lfilter(draw):
    xs, seed = sounds(draw, st.sampled_from([0, 1, 2, 3, 60])), draw(st.integers(0, 999))
    rng, order = np.random.default_rng(seed), draw(st.sampled_from([0, 1, 2, 3, 7]))
    poles = rng.uniform(-0.9, 0.9, order)
    options = {
        "b": [float(v) for v in rng.uniform(-1, 1, draw(st.sampled_from([1, 2, 3, 9])))],
        "a": [float(v) for v in np.poly(poles) * draw(st.sampled_from([1.0, -2.0]))] if order else [0.5],
        "clamp": draw(st.booleans()),
    }
    return Case(
        [xs], [""], options, dtype="float32", error=1e-6, largest=100.0, expected=lambda i: lfilter(xs[i], **options)
    )


def draw_biquad(draw):
    xs = sounds(draw, st.sampled_from([0, 1, 2, 3, 80]))
    kinds = ["lowpass", "highpass", "bandpass", "bandreject", "allpass", "equalizer", "bass", "treble"]
    options = {
        "kind": draw(st.sampled_from(kinds)),
        "constant_skirt": draw(st.booleans()),
        "clamp": draw(st.booleans()),
        "sample_rate": draw(st.sampled_from([8000.0, 16000.0])),
    }
    each = {
        "frequency": [float(draw(st.sampled_from([100, 1000, 3400]))) for _ in xs],
        "q": [draw(st.sampled_from([0.5, 0.707, 4.0])) for _ in xs],
        "gain_db": [draw(st.sampled_from([-12.0, 0.0, 6.0])) for _ in xs],
    }
    at = lambda i: {k: v[i] for k, v in each.items()}
    return Case(
        [xs],
        [""],
        options,
        each,
        dtype="float32",
        error=1e-6,
        largest=10.0,
        expected=lambda i: biquad(xs[i], **options, **at(i)),
    )


def draw_fade(draw):
    xs = sounds(draw, st.sampled_from([0, 1, 2, 3, 50, 501]))
    shapes = ["linear", "exponential", "logarithmic", "quarter_sine", "half_sine"]
    options = {"shape": draw(st.sampled_from(shapes))}
    lengths = st.sampled_from([0, 1, 2, 17, 400])
    each = {"fade_in": [draw(lengths) for _ in xs], "fade_out": [draw(lengths) for _ in xs]}
    at = lambda i: {k: v[i] for k, v in each.items()}
    return Case(
        [xs], [""], options, each, dtype="float32", error=2e-7, expected=lambda i: fade(xs[i], **options, **at(i))
    )


def draw_mu_law_encode(draw):
    channels = draw(st.sampled_from([2, 16, 256, 1000]))
    xs = sounds(draw, LENGTHS)

    # float32 decides between two codes: values near a border are moved to the middle of their code.
    def inside(x):
        middle = mu_law_decode(mu_law_encode(x, quantization_channels=channels), quantization_channels=channels)
        return middle.astype(np.float32)

    xs = [inside(x) for x in xs]
    return Case(
        [xs],
        [""],
        {"quantization_channels": channels},
        dtype="uint8" if channels <= 256 else "int32",
        error=0,
        expected=lambda i: mu_law_encode(xs[i], quantization_channels=channels),
    )


def draw_mu_law_decode(draw):
    channels, dtype = draw(st.sampled_from([2, 16, 256, 1000])), draw(st.sampled_from(["uint8", "int16", "int32"]))
    shape = [draw(st.sampled_from([0, 1, 7, 300])) for _ in range(draw(st.integers(1, 2)))]
    xs = [(values(dtype, shape, draw(st.integers(0, 999))).astype(np.int64) % channels).astype(dtype)]
    return Case(
        [xs],
        [""],
        {"quantization_channels": channels},
        dtype="float32",
        error=2e-6 / channels,
        largest=channels,
        expected=lambda i: mu_law_decode(xs[i], quantization_channels=channels),
    )


def draw_g711_encode(draw):
    dtype, law = draw(st.sampled_from(["int16", "float32"])), draw(st.sampled_from(["mu", "a"]))
    shape = [draw(st.sampled_from([0, 1, 7, 300])) for _ in range(draw(st.integers(1, 2)))]
    xs = [values("int16", shape, draw(st.integers(0, 999)))]
    if dtype == "float32":
        xs = [(x / np.float32(32768)) * np.float32(1.1) for x in xs]
    return Case([xs], [""], {"law": law}, dtype="uint8", error=0, expected=lambda i: g711_encode(xs[i], law=law))


def draw_g711_decode(draw):
    options = {"law": draw(st.sampled_from(["mu", "a"])), "dtype": draw(st.sampled_from(["int16", "float32"]))}
    shape = [draw(st.sampled_from([0, 1, 7, 300])) for _ in range(draw(st.integers(1, 2)))]
    xs = [values("uint8", shape, draw(st.integers(0, 999)))]
    return Case(
        [xs],
        [""],
        options,
        dtype=options["dtype"],
        error=0,
        expected=lambda i: to_dtype(g711_decode(xs[i], **options), options["dtype"]),
    )


def draw_time_warp(draw):
    layout, seed = draw(st.sampled_from(["", "ft", "tf", "Ctf"])), draw(st.integers(0, 999))
    frames = layout.find("t") if layout else 1
    count = draw(st.sampled_from([3, 4, 7, 50, 257]))
    shape = [draw(st.sampled_from([1, 3, 16])) for _ in layout or "ft"]
    shape[frames] = count
    xs = [
        np.random.default_rng(seed + i).uniform(-1, 1, shape).astype(np.float32) for i in range(draw(st.integers(1, 3)))
    ]
    from_ = [draw(st.integers(1, count - 2)) for _ in xs]
    shifts = [draw(st.integers(1, count - 2)) - f for f in from_]
    return Case(
        [xs],
        [layout],
        {},
        {"anchor": from_, "shift": shifts},
        dtype="float32",
        error=1e-6,
        expected=lambda i: time_warp(xs[i], anchor=from_[i], shift=shifts[i], frames=frames),
    )


def draw_loudness(draw):
    xs = sounds(draw, st.integers(1610, 6000), [(), (1,), (2,), (5,)])
    rates = [draw(st.sampled_from([3001.0, 3333.0, 4000.0])) for _ in xs]
    parts = [draw(st.sampled_from([0.0, 1e-5, 0.01, 0.5])) for _ in xs]  # the second half is as quiet as this
    for x, part in zip(xs, parts):
        x[len(x) // 2 :] *= np.float32(part)
    return Case(
        [xs],
        [""],
        {},
        {"sample_rate": rates},
        dtype="float32",
        error=1e-6,
        largest=100.0,
        expected=lambda i: loudness(xs[i], sample_rate=rates[i]),
    )


def draw_time_stretch(draw):
    xs = sounds(draw, LENGTHS)
    each = {
        "factor": [draw(st.sampled_from([0.25, 0.8, 1.0, 1.25, 3.0, 10.0])) for _ in xs],
        "sample_rate": [draw(st.sampled_from([100.0, 1000.0, 8000.0])) for _ in xs],
    }
    at = lambda i: {k: v[i] for k, v in each.items()}
    return Case([xs], [""], {}, each, dtype="float32", error=1e-6, expected=lambda i: time_stretch(xs[i], **at(i)))


CASES = {
    "loudness": draw_loudness,
    "time_stretch": draw_time_stretch,
    "convolve": draw_convolve,
    "lfilter": draw_lfilter,
    "biquad": draw_biquad,
    "fade": draw_fade,
    "mu_law_encode": draw_mu_law_encode,
    "mu_law_decode": draw_mu_law_decode,
    "g711_encode": draw_g711_encode,
    "g711_decode": draw_g711_decode,
    "time_warp": draw_time_warp,
}
