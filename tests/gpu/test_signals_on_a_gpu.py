# SPDX-License-Identifier: Apache-2.0
"""Operators on signals on a GPU: the CPU's bytes, from kernels."""

import warnings

import numpy as np
import pytest

import penstock
from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

RANDOM = np.random.default_rng(5)
SPECTRA = [RANDOM.uniform(0, 1, (64, n)).astype(np.float32) for n in (1, 40, 333)]


def piped(call, arrays, device):
    """All outputs of two iterations."""

    @pipeline_def(batch_size=len(arrays), num_threads=2, device_id=0, seed=11)
    def pipe():
        x = fn.external_source(lambda: arrays)
        return call(x.gpu() if device == "gpu" else x)

    with warnings.catch_warnings():
        warnings.simplefilter("error", penstock.DeviceWarning)
        p = pipe()
        out = [np.array(t.cpu() if device == "gpu" else t) for _ in range(2) for batch in p.run() for t in batch]
    p.close()
    return out


def check(call, arrays):
    for got, want in zip(piped(call, arrays, "gpu"), piped(call, arrays, "cpu"), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.spec_augment(x, freq_masks=3, freq_width=20, time_masks=4, time_width=60, fill_value=-1),
        lambda x: fn.frame_splicing(x, stack=3),
        lambda x: fn.frame_splicing(x, stack=2, subsample=4, fill_value=5),
    ],
)
def test_features(call):
    check(call, SPECTRA)


SIGNALS = [RANDOM.uniform(-1, 1, n).astype(np.float32) for n in (0, 1, 2, 300, 5000, 40001)]
WHOLE = [x for x in SIGNALS if x.size >= 60]  # as long as a window


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nfft": 512, "window_length": 320, "window_step": 160},
        {"layout": "tf", "power": 1},
        {"window_length": 15, "nfft": 15},
        {"window_length": 77, "nfft": 121, "reflect_padding": False},
        {"center_windows": False, "window_length": 60, "nfft": 60},
        {"window_length": 20000, "window_step": 5000},
        {"window_length": 8192, "window_step": 90},
        {"nfft": 1024, "window_length": 700},
        {"window_length": 34, "window_step": 7, "window_fn": [i / 8 for i in range(34)]},
    ],
)
def test_spectrogram(options):
    check(lambda x: fn.spectrogram(x, **options), WHOLE)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 0, "nfft": 120, "power": 1}])
def test_power_spectrum(options):
    check(lambda x: fn.power_spectrum(x, **options), SPECTRA)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.mel_filter_bank(x, nfilter=20, sample_rate=16000.0),
        lambda x: fn.mfcc(x, dct_type=2, n_mfcc=13),
        lambda x: fn.mfcc(x, axis=1, dct_type=3, n_mfcc=9, lifter=22.0),
        lambda x: fn.to_decibels(x),
        lambda x: fn.to_decibels(x, reference=0.5, multiplier=20.0, cutoff_db=-20.0),
        lambda x: fn.to_decibels(x * 0),
        lambda x: fn.preemphasis_filter(x, preemph_coeff=0.9, border="reflect"),
    ],
)
def test_functions_of_features(call):
    check(call, SPECTRA)


@pytest.mark.parametrize("border", ["zero", "clamp", "reflect"])
def test_preemphasis_of_integers(border):
    check(
        lambda x: fn.preemphasis_filter(x, border=border, dtype=types.INT16),
        [(x * 30000).astype(np.int16) for x in SIGNALS],
    )


@pytest.mark.parametrize(
    "dtype, options",
    [
        (np.float32, {"in_rate": 44100.0, "out_rate": 16000.0}),
        (np.int16, {"scale": 1.3, "quality": 90.0}),
        (np.uint8, {"scale": 0.5, "dtype": types.FLOAT}),
        (np.float32, {"out_length": 777, "dtype": types.INT16}),
        (np.float32, {"in_rate": 44100.0, "out_rate": 16000.0, "limit_band": True, "quality": 60.0}),
    ],
)
def test_audio_resample(dtype, options):
    """Of one channel and of two."""
    scale = {np.float32: 1, np.int16: 30000, np.uint8: 127}[dtype]
    check(
        lambda x: fn.audio_resample(x, **options),
        [(np.stack([x, x[::-1]], -1) * scale).astype(dtype) for x in SIGNALS[1:5]],
    )
    check(lambda x: fn.audio_resample(x, **options), [(x * scale).astype(dtype) for x in SIGNALS[1:5]])


QUIET = [np.concatenate([x * 0, x, x * 1e-4]) for x in SIGNALS]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window_length": 5, "cutoff_db": -10.5},
        {"window_length": 9000, "reference_power": 0.7},
        {"window_length": 1, "cutoff_db": -200.0},
        {"reference_power": 1e9},
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8])
def test_nonsilent_region(options, dtype):
    """Both outputs are on the GPU; a stage of the GPU reads one of them there."""
    scale = {np.float32: 1, np.float64: 1, np.int16: 30000, np.uint8: 127}[dtype]
    check(lambda x: tuple(fn.nonsilent_region(x, **options)), [(x * scale).astype(dtype) for x in QUIET])
    check(lambda x: fn.nonsilent_region(x, **options)[1] * 3 + 1, [(x * scale).astype(dtype) for x in QUIET])


def test_nonsilent_region_at_once():
    for x in QUIET[3:5]:
        there, here = fn.nonsilent_region(x, device="gpu"), fn.nonsilent_region(x)
        assert [int(np.asarray(v.cpu())) for v in there] == [int(np.asarray(v)) for v in here]


def test_speech_stays_on_the_gpu():
    """Sound to normalized features: no step of it falls back to the CPU, which would warn."""

    def features(sound):
        begin, length = fn.nonsilent_region(sound, cutoff_db=-40)
        sound = fn.slice(sound, begin.cpu(), length.cpu(), axes=[0])
        power = fn.spectrogram(fn.preemphasis_filter(sound), nfft=512, window_length=320, window_step=160)
        mel = fn.to_decibels(fn.mel_filter_bank(power, sample_rate=16000.0, nfilter=64), cutoff_db=-80.0)
        return fn.frame_splicing(fn.spec_augment(fn.normalize(mel, axes=[1]), freq_width=10, time_width=9), stack=3)

    check(features, SIGNALS[3:])
