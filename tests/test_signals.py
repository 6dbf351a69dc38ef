# SPDX-License-Identifier: Apache-2.0
"""Operators on signals against DALI, and what they refuse."""
import numpy as np
import pytest

from penstock import fn

RANDOM = np.random.default_rng(0)
SIGNAL = RANDOM.normal(size=3001).astype(np.float32)
SPECTRUM = np.abs(RANDOM.normal(size=(257, 40))).astype(np.float32)
QUIET = np.concatenate([np.zeros(5000), RANDOM.normal(size=9000), np.zeros(7000)]).astype(np.float32) / 10


@pytest.mark.parametrize("name, x, options", [
    *[("spectrogram", SIGNAL, o) for o in (
        {}, {"nfft": 1024, "power": 1}, {"window_length": 400, "window_step": 160, "nfft": 512}, {"center_windows": False},
        {"reflect_padding": False}, {"window_length": 300, "nfft": 300}, {"window_length": 255, "nfft": 255})],
    ("spectrogram", SIGNAL[:100], {"window_length": 256, "window_step": 64}),
    ("power_spectrum", SIGNAL[:2048], {}), ("power_spectrum", SPECTRUM, {"axis": 0, "nfft": 512}),
    *[("mel_filter_bank", SPECTRUM, o) for o in (
        {}, {"nfilter": 64, "sample_rate": 16000.0},
        {"mel_formula": "htk", "normalize": False, "nfilter": 40, "freq_low": 100.0, "freq_high": 8000.0})],
    *[("to_decibels", SPECTRUM * s, o) for s, o in ((1, {}), (1, {"multiplier": 20.0, "reference": 1.0, "cutoff_db": -20.0}), (0, {}))],
    *[("mfcc", SPECTRUM, {"dct_type": d, "lifter": 22.0}) for d in (1, 2, 3, 4)],
    *[("mfcc", SPECTRUM, {"dct_type": d, "normalize": True, "n_mfcc": 13, "axis": 1}) for d in (2, 3, 4)],
    *[("preemphasis_filter", SIGNAL, {"border": b, "preemph_coeff": 0.9}) for b in ("zero", "clamp", "reflect")],
    ("nonsilent_region", QUIET, {}), ("nonsilent_region", QUIET, {"window_length": 512, "cutoff_db": -10.0}),
    ("nonsilent_region", (QUIET * 3000).astype(np.int16), {}), ("nonsilent_region", SIGNAL[:100], {}),
    ("nonsilent_region", SIGNAL, {"reference_power": 100.0, "cutoff_db": -20.0}),
])
def test_dali_gives_the_same(oracle, name, x, options):
    want = oracle.call(name, [x], **options)
    want = [w[0] for w in want] if name == "nonsilent_region" else want
    got = getattr(fn, name)(x, **options)
    for w, g in zip(want, got if isinstance(got, (tuple, list)) else (got,), strict=True):
        w, g = np.asarray(w), np.asarray(g)
        assert w.dtype == g.dtype and w.shape == g.shape
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=2e-6 * float(np.abs(w).max()))


def test_silence_has_no_region():
    begin, length = fn.nonsilent_region(QUIET * 0)
    assert (int(begin), int(length)) == (0, 0)


@pytest.mark.parametrize("name, x, options, error, message", [
    ("spectrogram", SIGNAL, {"nfft": 100}, ValueError, "nfft 100 is shorter than window_length 512"),
    ("spectrogram", SIGNAL, {"layout": "xy"}, ValueError, 'layout must be "ft" or "tf"'),
    ("spectrogram", SIGNAL, {"window_fn": [1.0]}, ValueError, "window_fn has 1 values"),
    ("spectrogram", SPECTRUM, {}, ValueError, "a signal of one channel"),
    ("spectrogram", SIGNAL.astype(np.int16), {}, TypeError, "float32, got int16"),
    ("power_spectrum", SIGNAL, {"nfft": 5}, ValueError, "nfft 5 is shorter"),
    ("mel_filter_bank", SPECTRUM, {"freq_high": 1e6}, ValueError, "half of sample_rate"),
    ("mel_filter_bank", SPECTRUM, {"mel_formula": "bark"}, ValueError, "mel_formula must be"),
    ("mfcc", SPECTRUM, {"dct_type": 1, "normalize": True}, ValueError, "no meaning for dct_type 1"),
    ("mfcc", SPECTRUM[:1], {"dct_type": 1}, ValueError, "at least 2 elements"),
    ("preemphasis_filter", SIGNAL, {"border": "wrap"}, ValueError, "border must be"),
])
def test_wrong_arguments_are_named(name, x, options, error, message):
    with pytest.raises(error, match=message):
        getattr(fn, name)(x, **options)
