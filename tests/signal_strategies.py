# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators on signals; see strategies.py."""

import numpy as np
import signal_reference as ref
from hypothesis import strategies as st
from operator_calls import Case, values


def _signals(draw, low=1, high=700):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    lengths = [draw(st.sampled_from([0, 1, 2, 3]) | st.integers(low, high)) for _ in range(n)]
    return [np.random.default_rng(seed + i).uniform(-1, 1, k).astype(np.float32) for i, k in enumerate(lengths)]


def _spectra(draw, ndim=2):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    shapes = [[draw(st.sampled_from([1, 2, 3, 7, 16, 17, 33, 129])) for _ in range(ndim)] for _ in range(n)]
    return [np.random.default_rng(seed + i).uniform(0, 1, s).astype(np.float32) for i, s in enumerate(shapes)]


def _spectrogram(draw):
    length = draw(st.sampled_from([1, 2, 8, 15, 16, 25, 60, 64, 77, 100, 121, 128]))
    xs = [
        x if x.size >= length else np.resize(x if x.size else np.float32([0.5]), length)
        for x in map(np.ravel, _signals(draw))
    ]
    options = {
        "window_length": length,
        "window_step": draw(st.integers(1, 50)),
        "power": draw(st.sampled_from([1, 2])),
        "center_windows": draw(st.booleans()),
        "reflect_padding": draw(st.booleans()),
        "layout": draw(st.sampled_from(["ft", "tf"])),
    }
    if draw(st.booleans()):
        options["nfft"] = length + draw(st.integers(0, 40))
    if draw(st.booleans()):
        options["window_fn"] = [i / 64 for i in range(length)]
    # Squares of sums of up to `length` products of a window's factors.
    largest = (length * (length / 64 if "window_fn" in options else 1)) ** options["power"]
    return Case(
        [xs],
        [""],
        options,
        dtype="float32",
        largest=largest,
        error=1e-6,
        expected=lambda i: ref.spectrogram(xs[i], **options),
    )


def _power_spectrum(draw):
    xs = _spectra(draw)
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
        expected=lambda i: ref.power_spectrum(xs[i], **options),
    )


def _mel_filter_bank(draw):
    xs = [x for x in _spectra(draw)]
    layout = draw(st.sampled_from(["", "ft", "tf"]))
    axis = 1 if layout == "tf" else 0
    xs = [x if x.shape[axis] > 1 else np.concatenate([x, x], axis) for x in xs]
    options = {
        "nfilter": draw(st.integers(1, 40)),
        "sample_rate": draw(st.sampled_from([8000.0, 16000.0, 44100.0])),
        "freq_low": draw(st.sampled_from([0.0, 100.0])),
        "freq_high": draw(st.sampled_from([0.0, 3000.0])),
        "normalize": draw(st.booleans()),
        "mel_formula": draw(st.sampled_from(["slaney", "htk"])),
    }
    return Case(
        [xs],
        [layout],
        options,
        dtype="float32",
        largest=150.0,
        error=2e-6,
        expected=lambda i: ref.mel_filter_bank(xs[i], axis=axis, **options),
    )


def _mfcc(draw):
    xs, kind = _spectra(draw), draw(st.integers(1, 4))
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
        expected=lambda i: ref.mfcc(xs[i], **options),
    )


def _to_decibels(draw):
    xs = _spectra(draw)
    options = {
        "multiplier": draw(st.sampled_from([10.0, 20.0])),
        "cutoff_db": draw(st.sampled_from([-200.0, -80.0, -3.0])),
        **({"reference": draw(st.sampled_from([0.5, 4.0]))} if draw(st.booleans()) else {}),
    }
    return Case(
        [xs],
        [""],
        options,
        dtype="float32",
        largest=20.0,
        error=1e-6,
        expected=lambda i: ref.to_decibels(xs[i], **options),
    )


def _preemphasis_filter(draw):
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
        expected=lambda i: ref.preemphasis_filter(xs[i], preemph_coeff=coefficients[i], border=border),
    )


def _nonsilent_region(draw):
    middle = lambda x: np.where((np.arange(len(x)) > len(x) // 4) & (np.arange(len(x)) < len(x) * 3 // 4), x, x * 0)
    xs = [middle(x) for x in _signals(draw)]
    options = {
        "cutoff_db": draw(st.sampled_from([-60.0, -20.5, -10.5])),
        "window_length": draw(st.sampled_from([1, 5, 64, 2048])),
        "reference_power": draw(st.sampled_from([0.0, 0.7])),
    }
    return Case(
        [xs],
        [""],
        options,
        dtype="int32",
        error=0,
        expected=lambda i: np.int32(ref.nonsilent_region(xs[i], **options)[0]),
    )


def _audio_resample(draw):
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
    quality = draw(st.sampled_from([0.0, 50.0, 80.0]))
    top = 1 if dtype == "float32" else np.iinfo(dtype).max
    out = draw(st.sampled_from(["float32", dtype]))
    as_real = lambda x: x.astype(np.float64) / top if dtype[0] != "u" else x * (2 / top) - 1.0

    def expected(i):
        if not len(xs[i]) and which == "length":
            return np.zeros((per_sample["out_length"][i], *channels)) + (0 if out[0] != "u" else 0.5 * top)
        y = ref.audio_resample(as_real(xs[i]), quality=quality, **{k: v[i] for k, v in per_sample.items()})
        return y if out == "float32" else y * top if out[0] != "u" else (y + 1) * 0.5 * top

    # A table of 64 steps a lobe, with straight lines between them.
    return Case(
        [xs],
        [""],
        {"quality": quality, "dtype": out},
        per_sample,
        dtype=out,
        error=2e-3,
        largest=1.0 if out == "float32" else top,
        expected=expected,
    )


def _frame_splicing(draw):
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
        [xs], [layout], options, dtype=dtype, error=0, expected=lambda i: ref.frame_splicing(xs[i], **options, **axes)
    )


def _spec_augment(draw):
    xs = _spectra(draw, draw(st.sampled_from([2, 3])))
    options = draw(
        st.sampled_from(
            [
                {"freq_masks": 0, "time_masks": 0},
                {"freq_width": 0, "time_fraction": 0.0},
                {"freq_masks": 0, "time_width": 0},
            ]
        )
    )
    return Case([xs], [""], options, dtype="float32", error=0, expected=lambda i: ref.spec_augment(xs[i]))


CASES = {
    "frame_splicing": _frame_splicing,
    "spec_augment": _spec_augment,
    "audio_resample": _audio_resample,
    "spectrogram": _spectrogram,
    "power_spectrum": _power_spectrum,
    "mel_filter_bank": _mel_filter_bank,
    "mfcc": _mfcc,
    "to_decibels": _to_decibels,
    "preemphasis_filter": _preemphasis_filter,
    "nonsilent_region": _nonsilent_region,
}
