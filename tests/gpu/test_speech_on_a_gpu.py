# SPDX-License-Identifier: Apache-2.0
"""Operators on speech on a GPU: the CPU's bytes, from kernels."""

import sys
from pathlib import Path

import numpy as np
import pytest
from test_signals_on_a_gpu import check, piped

from penstock import _core, augment, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

pytest.importorskip("soundfile", reason="machine: soundfile is not installed")
sys.path.append(str(Path(__file__).resolve().parents[1]))
import test_speech_page  # noqa: E402

RNG = np.random.default_rng(9)
SOUNDS = [RNG.uniform(-1, 1, n).astype(np.float32) for n in (0, 1, 2, 300, 3000)]
STEREO = [RNG.uniform(-1, 1, (n, 2)).astype(np.float32) for n in (1, 301, 3000)]
SPECTRA = [RNG.uniform(0, 1, (16, n)).astype(np.float32) for n in (1, 5, 40, 333)]


@pytest.mark.parametrize("taps", [1, 20, 48, 49, 130, 700])
@pytest.mark.parametrize(
    "mode, normalize", [("full", "none"), ("same", "peak"), ("valid", "energy"), ("causal", "none")]
)
def test_convolve(taps, mode, normalize):
    response = RNG.normal(0, 0.1, taps).astype(np.float32)
    check(lambda x: fn.convolve(x, response, mode=mode, normalize=normalize), SOUNDS)


@pytest.mark.parametrize("taps", [20, 130])
def test_convolve_each_channel(taps):
    response = RNG.normal(0, 0.1, (taps, 2)).astype(np.float32)
    for h in (response, response[:, 0]):
        check(lambda x: fn.convolve(x, h, normalize="energy"), STEREO)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.lfilter(x, b=[0.5, 0.25], a=[1.0, -0.5]),
        lambda x: fn.lfilter(x, b=[0.1] * 6, a=[2.0, 0.5, 0.1, 0.1]),
        lambda x: fn.lfilter(x, b=[0.1] * 12, a=[1.0]),
        lambda x: fn.biquad(x, kind="bass", sample_rate=8000, frequency=100, gain_db=12, clamp=True),
        lambda x: fn.fade(x, fade_in=10, fade_out=200, shape="half_sine"),
        lambda x: fn.mu_law_decode(fn.mu_law_encode(x)),
        lambda x: fn.mu_law_encode(x, quantization_channels=1000),
        lambda x: fn.g711_decode(fn.g711_encode(x, law="a"), law="a"),
        lambda x: fn.g711_decode(fn.g711_encode(x), dtype="int16"),
    ],
)
def test_sounds(call):
    check(call, SOUNDS)
    check(call, STEREO)


@pytest.mark.parametrize(
    "call", [lambda x: fn.time_warp(x, max_shift=30), lambda x: fn.time_warp(x[np.newaxis], max_shift=3)]
)
def test_spectrograms(call):
    check(call, SPECTRA)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.spectrogram(x, window_length=60, window_step=25, power=0, layout="tf"),
        lambda x: fn.inverse_spectrogram(
            fn.spectrogram(x, window_length=77, window_step=20, power=0), nfft=77, window_step=20
        ),
        lambda x: fn.griffin_lim(fn.spectrogram(x, window_length=60, window_step=15), window_step=15, n_iter=3),
    ],
)
def test_complex_spectrograms(call):
    check(call, SOUNDS[1:])


ROOM = RNG.normal(0, 0.1, 200).astype(np.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: augment.gain(x, p=0.5),
        lambda x: augment.add_noise(x, fn.random.normal(x)),
        lambda x: augment.speed_perturbation(x),
        lambda x: augment.reverberate(x, ROOM),
        lambda x: augment.telephone(x, 16000.0, p=0.5),
        lambda x: augment.clip(x, (0.2, 0.5)),
    ],
)
def test_augmentations(call):
    check(call, [x for x in SOUNDS if x.size] * 2)


def test_both_devices_draw_the_same():
    assert not np.array_equal(piped(augment.gain, SOUNDS[-1:], "gpu")[0], SOUNDS[-1])


def test_the_program_of_the_page_gives_the_same_on_both(tmp_path):
    manifest = test_speech_page.recordings(tmp_path, 4)
    made = []
    for device in ("cpu", "gpu"):
        pipe = test_speech_page.program()(
            manifest, test_speech_page.NOISES, test_speech_page.ROOMS, device, batch_size=4, device_id=0
        )
        made.append([np.array(mel) for mel in pipe.run()[0].cpu()])
        pipe.close()
    for here, there in zip(*made, strict=True):
        np.testing.assert_array_equal(here, there)
