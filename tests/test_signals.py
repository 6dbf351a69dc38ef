# SPDX-License-Identifier: Apache-2.0
"""Operators on signals against DALI, and what they refuse."""

import os
import subprocess
import sys

import audio_files
import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def

RANDOM = np.random.default_rng(0)
SIGNAL = RANDOM.normal(size=3001).astype(np.float32)
SPECTRUM = np.abs(RANDOM.normal(size=(257, 40))).astype(np.float32)
QUIET = np.concatenate([np.zeros(5000), RANDOM.normal(size=9000), np.zeros(7000)]).astype(np.float32) / 10


@pytest.mark.parametrize(
    "name, x, options",
    [
        *[
            ("spectrogram", SIGNAL, o)
            for o in (
                {},
                {"nfft": 1024, "power": 1},
                {"window_length": 400, "window_step": 160, "nfft": 512},
                {"center_windows": False},
                {"reflect_padding": False},
                {"window_length": 300, "nfft": 300},
                {"window_length": 255, "nfft": 255},
            )
        ],
        ("spectrogram", SIGNAL[:100], {"window_length": 256, "window_step": 64}),
        ("power_spectrum", SIGNAL[:2048], {}),
        ("power_spectrum", SPECTRUM, {"axis": 0, "nfft": 512}),
        *[
            ("mel_filter_bank", SPECTRUM, o)
            for o in (
                {},
                {"nfilter": 64, "sample_rate": 16000.0},
                {"mel_formula": "htk", "normalize": False, "nfilter": 40, "freq_low": 100.0, "freq_high": 8000.0},
            )
        ],
        *[
            ("to_decibels", SPECTRUM * s, o)
            for s, o in ((1, {}), (1, {"multiplier": 20.0, "reference": 1.0, "cutoff_db": -20.0}), (0, {}))
        ],
        *[("mfcc", SPECTRUM, {"dct_type": d, "lifter": 22.0}) for d in (1, 2, 3, 4)],
        *[("mfcc", SPECTRUM, {"dct_type": d, "normalize": True, "n_mfcc": 13, "axis": 1}) for d in (2, 3, 4)],
        *[("preemphasis_filter", SIGNAL, {"border": b, "preemph_coeff": 0.9}) for b in ("zero", "clamp", "reflect")],
        ("nonsilent_region", QUIET, {}),
        ("nonsilent_region", QUIET, {"window_length": 512, "cutoff_db": -10.0}),
        ("nonsilent_region", (QUIET * 3000).astype(np.int16), {}),
        ("nonsilent_region", SIGNAL[:100], {}),
        ("nonsilent_region", SIGNAL, {"reference_power": 100.0, "cutoff_db": -20.0}),
    ],
)
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


@pytest.mark.parametrize("stack, subsample, frames", [(3, 3, 40), (3, 3, 38), (2, 4, 41), (4, 1, 3), (1, 2, 40)])
def test_frame_splicing_is_what_rnnt_is_trained_with(stack, subsample, frames):
    """Shifted copies followed by zeros, stacked, of which every `subsample`-th frame stays."""
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(SPECTRUM[None, :80, :frames].copy())
    shifted = [torch.nn.functional.pad(x[:, :, k:], (0, min(k, frames))) for k in range(stack)]
    want = torch.cat(shifted, 1)[0, :, ::subsample].numpy()
    np.testing.assert_array_equal(fn.frame_splicing(SPECTRUM[:80, :frames], stack=stack, subsample=subsample), want)
    by_time = penstock.tensor(np.ascontiguousarray(SPECTRUM[:80, :frames].T), layout="tf")
    got = fn.frame_splicing(by_time, stack=stack, subsample=subsample)
    assert got.layout() == "tf"
    np.testing.assert_array_equal(np.asarray(got), want.T)


def masked(x, **options):
    """Which rows and columns spec_augment has masked in many drawings: (n, features), (n, frames)."""

    @pipeline_def(batch_size=100, num_threads=2, device_id=None, seed=3)
    def pipe():
        return fn.spec_augment(fn.external_source(lambda: [x] * 100), **options)

    p = pipe()
    samples = [np.array(t) for _ in range(8) for t in p.run()[0]]
    p.close()
    rows = np.array([(s == 9).all(1) for s in samples])
    columns = np.array([(s == 9).all(0) for s in samples])
    for s, r, c in zip(samples, rows, columns):
        np.testing.assert_array_equal(s, np.where(r[:, None] | c, np.float32(9), x))
    return rows, columns


def test_spec_augment_draws_as_the_paper_says():
    rows, columns = masked(
        SPECTRUM[:50], freq_masks=1, freq_width=9, time_masks=1, time_width=100, time_fraction=0.25, fill_value=9
    )
    for masks, widest, extent in ((rows, 9, 50), (columns, 10, 40)):
        widths = masks.sum(1)
        np.testing.assert_allclose(np.bincount(widths, minlength=widest + 1) / len(widths), 1 / (widest + 1), atol=0.05)
        assert (
            (np.diff(np.pad(masks, ((0, 0), (1, 1))).astype(int), axis=1) == 1).sum(1) == (widths > 0)
        ).all()  # one stretch
        begins = masks.argmax(1)[widths == widest]
        assert begins.min() < 8 and begins.max() > extent - widest - 8 and begins.max() <= extent - widest
    assert abs(np.corrcoef(rows.sum(1), columns.sum(1))[0, 1]) < 0.15


def test_spec_augment_draws_several_masks_and_by_sample():
    rows, columns = masked(SPECTRUM[:50], freq_masks=3, freq_width=5, time_masks=0, fill_value=9)
    stretches = (np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(int), axis=1) == 1).sum(1)
    assert stretches.max() == 3 and rows.sum(1).max() > 8 and not columns.any()
    x = penstock.batch([SPECTRUM] * 4)
    many = penstock.per_sample([0, 4, 0, 4])  # one mask alone may draw a width of 0
    got = fn.spec_augment(x, freq_masks=many, freq_width=200, time_masks=0, fill_value=-1)
    assert [bool((np.asarray(t) == -1).any()) for t in got] == [False, True, False, True]


@pytest.mark.parametrize(
    "axes, batch, ddof", [([1], False, 0), ([1], False, 1), ([0], True, 0), ([1], True, 1), ([0, 1], False, 1)]
)
def test_normalized_features_are_dalis(oracle, axes, batch, ddof):
    """Each feature over the frames, as Jasper does; or over the whole batch."""
    frames = (40,) * 3 if batch and axes == [0] else (17, 40, 23)
    spectra = [SPECTRUM[:64, :n].copy() for n in frames]
    options = {"axes": axes, "batch": batch, "ddof": ddof, "epsilon": 1e-5}
    want = oracle.call("normalize", spectra, **options)
    got = fn.normalize(penstock.batch(spectra), **options)
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    "name, x, options, error, message",
    [
        ("frame_splicing", SIGNAL, {}, ValueError, "features and frames, got 1 dimensions"),
        ("frame_splicing", penstock.tensor(SPECTRUM, layout="HW"), {}, ValueError, "no dimensions 'f' and 't'"),
        ("frame_splicing", SPECTRUM, {"stack": 0}, ValueError, "stack"),
        ("spec_augment", SIGNAL, {}, ValueError, "features and frames, got 1 dimensions"),
        ("spec_augment", SPECTRUM, {"freq_masks": -1}, ValueError, "freq_masks"),
        ("spec_augment", SPECTRUM, {"time_fraction": 1.5}, ValueError, "time_fraction"),
        ("spectrogram", SIGNAL, {"nfft": 100}, ValueError, "nfft 100 is shorter than window_length 512"),
        ("spectrogram", SIGNAL, {"layout": "xy"}, ValueError, 'layout must be "ft" or "tf"'),
        ("spectrogram", SIGNAL, {"window_fn": [1.0]}, ValueError, "window_fn has 1 values"),
        ("spectrogram", SPECTRUM, {}, ValueError, "a signal of one channel"),
        ("spectrogram", SIGNAL.astype(np.int16), {}, TypeError, "float32, got int16"),
        ("power_spectrum", SIGNAL, {"nfft": 5}, ValueError, "nfft 5 is shorter"),
        ("mel_filter_bank", SPECTRUM, {"freq_high": 1e6}, ValueError, "half of sample_rate"),
        ("mel_filter_bank", SPECTRUM, {"mel_formula": "bark"}, ValueError, "mel_formula must be"),
        ("mfcc", SPECTRUM, {"dct_type": 1, "normalize": True}, ValueError, "cannot be combined with dct_type 1"),
        ("mfcc", SPECTRUM[:1], {"dct_type": 1}, ValueError, "at least 2 elements"),
        ("preemphasis_filter", SIGNAL, {"border": "wrap"}, ValueError, "border must be"),
    ],
)
def test_wrong_arguments_are_named(name, x, options, error, message):
    with pytest.raises(error, match=message):
        getattr(fn, name)(x, **options)


def test_bytes_do_not_depend_on_the_processor():
    """Vectors of 16, 8 and 4 lanes: one process for each."""
    program = (
        "import sys, numpy as np; from penstock import fn; x = np.random.default_rng(4).normal(size=20011).astype(np.float32)\n"
        "out = [fn.spectrogram(x, nfft=n, window_length=n - 3, window_step=37, layout=l) for n in (64, 200, 255, 512, 1024) for l in ('ft', 'tf')]\n"
        "out += [fn.power_spectrum(x[:20000].reshape(400, 50), axis=a) for a in (0, 1)] + [fn.mel_filter_bank(out[6])]\n"
        "wav = np.frombuffer(sys.stdin.buffer.read(), np.uint8)\n"
        "out += [fn.decoders.audio(wav, dtype=d, downmix=m)[0] for d in ('int16', 'int32', 'float32') for m in (False, True)]\n"
        "with open(1, 'wb', closefd=False) as to:  # Python's unbuffered standard output loses what a pipe does not take\n"
        "    to.write(b''.join(np.asarray(o).tobytes() for o in out))\n"
    )
    file = audio_files.recorded(audio_files.STEREO, "WAV", "PCM_16")
    got = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=file,
            capture_output=True,
            check=True,
            env={**os.environ, "PENSTOCK_TARGET": target},
        ).stdout
        for target in ("scalar", "avx2", "avx512")
    ]
    assert len(got[0]) > 1 << 20 and got[0] == got[1] == got[2]
