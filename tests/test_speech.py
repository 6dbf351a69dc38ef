# SPDX-License-Identifier: Apache-2.0
"""Augmentations of speech: what they do to sound, beside torchaudio, SciPy and the tables of G.711."""

import numpy as np
import pytest
import torch
from operators import speech
from scipy import signal
from torchaudio_oracle import F, T

import penstock
from penstock import augment, fn, pipeline_def

RNG = np.random.default_rng(8)
SOUNDS = [(RNG.normal(0, 0.2, n)).astype(np.float32) for n in (4000, 4001, 9000, 350)]
ROOM = (RNG.normal(size=1500) * np.exp(-np.arange(1500) / 250)).astype(np.float32)


def piped(function, arrays=SOUNDS, seed=3):
    """The samples of one batch of a pipeline."""

    @pipeline_def(batch_size=len(arrays), num_threads=2, seed=seed)
    def pipe():
        return function(fn.external_source(lambda: arrays))

    return [np.array(x) for x in pipe().run()[0]]


def tensor(x):
    return torch.from_numpy(np.asarray(x).copy())


@pytest.mark.parametrize("n, m", [(1, 1), (1, 500), (500, 1), (1000, 48), (1000, 49), (30000, 3000), (3000, 30000)])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolve_is_what_scipy_and_torchaudio_give(n, m, mode):
    x, h = RNG.normal(size=n).astype(np.float32), RNG.normal(size=m).astype(np.float32)
    got, want = fn.convolve(x, h, mode=mode), signal.fftconvolve(x.astype(np.float64), h.astype(np.float64), mode)
    if mode == "valid" or n >= m or mode == "full":
        bound = 1e-6 * np.linalg.norm(h) * np.linalg.norm(x)
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= bound
    there = F.fftconvolve(tensor(x).double(), tensor(h).double(), mode).numpy()
    assert got.shape == there.shape
    np.testing.assert_allclose(got, there, atol=1e-6 * np.linalg.norm(h) * np.linalg.norm(x))


def test_convolve_takes_inputs_that_are_not_contiguous():
    wide, h = RNG.normal(size=(700, 4)).astype(np.float32), RNG.normal(size=(90, 2)).astype(np.float32)
    got = fn.convolve(wide[::2, ::2], h[:, ::-1])
    np.testing.assert_array_equal(got, fn.convolve(wide[::2, ::2].copy(), h[:, ::-1].copy()))


def test_a_response_of_zeros_gives_silence():
    for norm in ("none", "peak", "energy"):
        assert not np.any(fn.convolve(SOUNDS[0], np.zeros(100, np.float32), normalize=norm))


@pytest.mark.parametrize("order", [1, 2, 4, 7, 20])
def test_lfilter_is_what_scipy_gives(order):
    b, a = signal.butter(order, 0.5)
    want = signal.lfilter(b, a, SOUNDS[0].astype(np.float64))
    got = fn.lfilter(SOUNDS[0], b=list(b), a=list(a))
    np.testing.assert_array_equal(got, want.astype(np.float32))


@pytest.mark.parametrize(
    "options, there",
    [
        ({"kind": "lowpass", "frequency": 3000.0}, lambda x: F.lowpass_biquad(x, 16000, 3000.0)),
        ({"kind": "highpass", "frequency": 300.0}, lambda x: F.highpass_biquad(x, 16000, 300.0)),
        ({"kind": "bandpass", "frequency": 900.0}, lambda x: F.bandpass_biquad(x, 16000, 900.0)),
        (
            {"kind": "bandpass", "frequency": 900.0, "constant_skirt": True},
            lambda x: F.bandpass_biquad(x, 16000, 900.0, const_skirt_gain=True),
        ),
        ({"kind": "bandreject", "frequency": 900.0}, lambda x: F.bandreject_biquad(x, 16000, 900.0)),
        ({"kind": "allpass", "frequency": 900.0}, lambda x: F.allpass_biquad(x, 16000, 900.0)),
        ({"kind": "equalizer", "frequency": 900.0, "gain_db": 6.0}, lambda x: F.equalizer_biquad(x, 16000, 900.0, 6.0)),
        ({"kind": "bass", "frequency": 100.0, "gain_db": 6.0}, lambda x: F.bass_biquad(x, 16000, 6.0)),
        ({"kind": "treble", "frequency": 3000.0, "gain_db": -6.0}, lambda x: F.treble_biquad(x, 16000, -6.0)),
    ],
)
def test_biquad_is_what_torchaudio_gives(options, there):
    x = SOUNDS[3]
    got = fn.biquad(x, sample_rate=16000, clamp=True, **options)
    np.testing.assert_allclose(got, there(tensor(x).double()).numpy(), atol=2e-7)


def test_g711_has_the_codes_of_the_standard():
    every, codes = np.arange(-32768, 32768).astype(np.int16), np.arange(256).astype(np.uint8)
    for law, values in speech.g711_tables().items():
        np.testing.assert_array_equal(fn.g711_decode(codes, law=law, dtype="int16"), values.astype(np.int16))
        np.testing.assert_array_equal(fn.g711_encode(every, law=law), speech.g711_encode(every, law=law))
        np.testing.assert_array_equal(fn.g711_decode(codes, law=law), (values / 32768).astype(np.float32))
        # A value that a code means is encoded as this code; the mu-law has two zeros.
        back = np.asarray(fn.g711_encode(values.astype(np.int16), law=law))
        assert (back == codes).all() or (law == "mu" and (back != codes).nonzero()[0].tolist() == [127])


def test_a_random_warp_keeps_the_ends_and_the_order():
    ramp = np.broadcast_to(np.arange(200, dtype=np.float32), (3, 200)).copy()
    made = piped(lambda x: fn.time_warp(x, max_shift=30), [ramp] * 32)
    shifts = []
    for x in made:
        assert (x[0] == x[1]).all() and x[0, 0] == 0 and x[0, -1] == 199
        steps = np.diff(x[0])
        assert (steps > 0).all()
        assert len(np.unique(np.round(steps, 3))) <= 3  # two slopes, and the step over the anchor
        shifts.append(np.abs(x[0] - np.arange(200)).max())
    assert max(shifts) <= 30 and len(set(np.round(shifts, 2))) > 10


def test_noise_has_the_ratio_that_was_asked_for():
    x = RNG.normal(size=(2, 5000)).astype(np.float32)
    for snr in (-5.0, 0.0, 20.0):
        want = F.add_noise(tensor(x[:1]), tensor(x[1:]), torch.tensor([snr])).numpy()[0]
        np.testing.assert_allclose(augment.add_noise(x[0], x[1], snr), want, rtol=2e-5, atol=1e-6)
    np.testing.assert_array_equal(augment.add_noise(x[0], 0 * x[1], 5.0), x[0])
    made = piped(lambda s: augment.add_noise(s, fn.external_source(lambda: [ROOM] * 4), (3.0, 12.0)))
    for sound, got in zip(SOUNDS, made):
        other = got - sound
        ratio = 10 * np.log10(np.mean(sound.astype(np.float64) ** 2) / np.mean(other.astype(np.float64) ** 2))
        assert got.shape == sound.shape and 2.99 < ratio < 12.01


def test_gain_is_in_decibels():
    np.testing.assert_allclose(augment.gain(SOUNDS[0], -6.0), F.gain(tensor(SOUNDS[0]), -6.0).numpy(), rtol=1e-6)
    factors = [np.linalg.norm(g) / np.linalg.norm(x) for g, x in zip(piped(augment.gain), SOUNDS)]
    assert all(10**-0.3 <= f <= 10**0.3 for f in factors) and len(set(factors)) == 4


def test_speed_changes_length_and_pitch():
    tone = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000).astype(np.float32)
    fast = np.asarray(augment.speed_perturbation(tone, [1.25]))
    assert fast.shape == (12800,)
    assert np.abs(np.fft.rfft(fast)).argmax() == 440  # 550 Hz of 0.8 seconds
    lengths = {x.shape[0] for x in piped(augment.speed_perturbation, [tone] * 24)}
    assert lengths == {17778, 16000, 14546}


@pytest.mark.parametrize(
    "rates", [(16000, 8000), (1100, 1000), (44100, 16000), (48000, 44100), (16000, 15331.75), (9.0, 1.0)]
)
def test_long_sound_is_resampled_as_the_definition_says(rates):
    """Long enough for many periods of phases, and for none where the rates have no small ratio."""
    x = RNG.uniform(-1, 1, (9001, 2)).astype(np.float32)
    ratio, lobes = rates[1] / rates[0], 23
    band = 0.95 * ratio
    at = np.arange(int(np.ceil(9001 * ratio)))[:, None] / np.float64(ratio)
    i = np.floor(at).astype(int) + np.arange(-int(lobes / band) - 1, int(lobes / band) + 3)
    far = band * (i - at)
    weights = band * np.sinc(far) * (0.5 + 0.5 * np.cos(np.pi * np.clip(far / lobes, -1, 1)))
    known = np.where(((i >= 0) & (i < 9001))[..., None], x[np.clip(i, 0, 9000)].astype(np.float64), 0)
    want = (weights[..., None] * known).sum(1)
    got = np.asarray(augment.resample(x, *map(float, rates)))
    assert got.shape == want.shape
    assert np.abs(got - want).max() < 2e-5
    np.testing.assert_array_equal(got[:, 1], augment.resample(x[:, 1], *map(float, rates)))


def test_speed_folds_no_frequency_back():
    """A tone that the shorter sound cannot hold is silent; one that it can keeps its level."""
    for hertz, level in ((7500, 0.0), (5500, 1.0)):
        tone = np.sin(2 * np.pi * hertz * np.arange(16000) / 16000).astype(np.float32)
        got = np.asarray(augment.speed_perturbation(tone, [1.25]))[500:-500]
        assert np.isclose(got.std() / tone.std(), level, atol=0.01)


def test_a_room_keeps_length_and_level():
    for sound, got in zip(SOUNDS, piped(lambda x: augment.reverberate(x, ROOM))):
        assert got.shape == sound.shape
        assert np.isclose(np.abs(got).max(), np.abs(sound).max(), rtol=1e-6)
        want = signal.fftconvolve(sound.astype(np.float64), ROOM.astype(np.float64))[: len(sound)]
        assert np.corrcoef(got, want)[0, 1] > 1 - 1e-9


def test_a_telephone_has_a_band_and_few_levels():
    noise = RNG.normal(0, 0.1, 32000).astype(np.float32)
    power = lambda x, low, high: np.abs(np.fft.rfft(x))[2 * low : 2 * high].std()
    for rate in (8000, 16000, 22050):
        assert augment.telephone(noise, rate).shape == noise.shape
    got = np.asarray(augment.telephone(noise, 16000))
    assert power(got, 4200, 7900) < 0.02 * power(noise, 4200, 7900)
    assert power(got, 10, 60) < 0.1 * power(noise, 10, 60)
    assert 0.8 < power(got, 800, 2000) / power(noise, 800, 2000) < 1.2
    assert len(np.unique(augment.telephone(noise, 8000))) <= 256
    assert len(np.unique(augment.telephone(noise, 8000, law=None))) > 10000


def test_clip_limits_to_a_part_of_the_peak():
    for sound, got in zip(SOUNDS, piped(lambda x: augment.clip(x, (0.2, 0.5)))):
        most = np.abs(got).max() / np.abs(sound).max()
        assert 0.2 <= most <= 0.5001
        np.testing.assert_array_equal(got, np.clip(sound, -np.abs(got).max(), np.abs(got).max()))


def test_masks_are_one_and_no_wider_than_asked():
    flat = [np.ones((40, 100), np.float32)] * 30
    stretches = [(x == 0).all(0).sum() for x in piped(lambda x: augment.time_masking(x, 30), flat)]
    bands = [(x == 0).all(1).sum() for x in piped(lambda x: augment.frequency_masking(x, 12), flat)]
    assert max(stretches) <= 30 and max(bands) <= 12 and len(set(stretches)) > 8 and len(set(bands)) > 5
    torch.manual_seed(0)
    there = [(T.TimeMasking(30)(torch.ones(1, 40, 100))[0] == 0).all(0).sum().item() for _ in range(30)]
    assert max(there) <= 30


def test_loudness_is_what_torchaudio_and_the_recommendation_give():
    """A tone of 997 Hz of full range in one channel has -3.01 LKFS (EBU Tech 3341); torchaudio counts with float64 here."""
    tone = np.sin(2 * np.pi * 997 * np.arange(48000) / 48000).astype(np.float32)
    assert abs(float(fn.loudness(tone, sample_rate=48000)) + 3.01) < 0.05
    for channels in (1, 5):
        x = RNG.normal(0, 0.05, (4500, channels)) * np.sin(np.linspace(0, 9, 4500))[:, None] ** 4
        x = x.astype(np.float32)
        want = F.loudness(tensor(x.T).double(), 8000).item()
        assert abs(float(fn.loudness(x, sample_rate=8000)) - want) < 1e-5


def test_loudness_becomes_the_target():
    loud = [np.resize(x, 9000) for x in SOUNDS]
    for got in piped(lambda x: augment.normalize_loudness(x, 16000, -30.0), loud):
        assert abs(float(fn.loudness(got, sample_rate=16000)) + 30) < 1e-3
    silence = np.zeros(9000, np.float32)
    assert float(fn.loudness(silence, sample_rate=16000)) == -np.inf
    np.testing.assert_array_equal(augment.normalize_loudness(silence, 16000), silence)


def test_a_spectrogram_becomes_sound_again():
    tone = (0.5 * np.sin(np.arange(8000) / 9)).astype(np.float32)
    windows = {"window_length": 400, "window_step": 100}
    pairs = np.array(fn.spectrogram(tone, power=0, **windows))
    np.testing.assert_allclose(
        np.hypot(pairs[..., 0], pairs[..., 1]), fn.spectrogram(tone, power=1, **windows), atol=1e-4
    )
    np.testing.assert_allclose(fn.inverse_spectrogram(pairs, window_step=100), tone, atol=1e-6)
    power = np.array(fn.spectrogram(tone, **windows))
    made = [np.array(fn.griffin_lim(power, window_step=100, seed=seed)) for seed in (1, 1, 2)]
    assert np.array_equal(made[0], made[1]) and not np.array_equal(made[0], made[2])
    again = np.array(fn.spectrogram(made[0], power=1, **windows))
    assert np.linalg.norm(again - np.sqrt(power)) < 0.2 * np.linalg.norm(np.sqrt(power))


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.0, 1.25, 3.0])
def test_time_stretch_keeps_pitch_and_level(factor):
    """A tone stays one: no gap and no step where parts are joined."""
    t = np.arange(16000) / 16000
    tone = (0.3 * np.sin(2 * np.pi * 220 * t) + 0.1 * np.sin(2 * np.pi * 660 * t)).astype(np.float32)
    got = np.asarray(fn.time_stretch(tone, sample_rate=16000, factor=factor))
    assert len(got) == np.ceil(16000 / factor)
    assert abs(np.abs(np.fft.rfft(got * np.hanning(len(got)))).argmax() * 16000 / len(got) - 220) < 3
    assert abs(got.std() / tone.std() - 1) < 0.01
    assert np.abs(np.diff(got)).max() < 1.05 * np.abs(np.diff(tone)).max()
    if factor == 1:
        np.testing.assert_array_equal(got, tone)


@pytest.mark.parametrize("semitones", [-7.0, -1.0, 4.0, 12.0])
def test_pitch_shift_moves_the_pitch_alone(semitones):
    t = np.arange(16000) / 16000
    tone = np.sin(2 * np.pi * 220 * t).astype(np.float32)
    got = np.asarray(augment.pitch_shift(np.stack([tone, -tone], 1), 16000, semitones))
    assert got.shape == (16000, 2)
    np.testing.assert_array_equal(got[:, 0], -got[:, 1])
    peak = np.abs(np.fft.rfft(got[:, 0] * np.hanning(16000))).argmax()
    assert abs(peak - 220 * 2 ** (semitones / 12)) <= 1
    assert abs(got[1000:-1000, 0].std() / tone.std() - 1) < 0.02


def test_silence_at_the_ends_is_trimmed():
    x = np.concatenate([np.zeros(3000), np.ones(2000), np.zeros(999)]).astype(np.float32)
    trimmed = piped(lambda s: augment.trim_silence(s, window_length=1), [x, x[:4000], x[:3000]])
    assert [len(t) for t in trimmed] == [2000, 1000, 0]


@pytest.mark.parametrize("width", [3, 5, 9])
def test_deltas_are_torchaudios(width):
    mel = RNG.normal(size=(40, 77)).astype(np.float32)
    want = F.compute_deltas(tensor(mel), width).numpy()
    for got in (augment.deltas(mel, width), piped(lambda m: augment.deltas(m, width), [mel])[0]):
        np.testing.assert_allclose(got, want, atol=1e-6)


@pytest.mark.parametrize("p, share", [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_p_is_the_part_of_the_samples_that_change(p, share):
    arrays = [SOUNDS[3]] * 64
    for function in (
        lambda x: augment.gain(x, 3.0, p=p),
        lambda x: augment.reverberate(x, ROOM, p=p),
        lambda x: augment.telephone(x, 16000, p=p),
        lambda x: augment.add_noise(x, fn.external_source(lambda: [ROOM] * 64), p=p),
    ):
        changed = np.mean([not np.array_equal(x, SOUNDS[3]) for x in piped(function, arrays)])
        assert abs(changed - share) < 0.2


def test_a_batch_at_once_draws_for_each_sample():
    made = augment.gain(penstock.batch(SOUNDS))
    factors = {round(float(np.linalg.norm(np.asarray(g)) / np.linalg.norm(x)), 4) for g, x in zip(made, SOUNDS)}
    assert len(factors) == len(SOUNDS)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: fn.convolve(SOUNDS[0], np.zeros(0, np.float32)), "the response has no samples"),
        (lambda: fn.convolve(SOUNDS[0], np.zeros((9, 2), np.float32)), "the response has 2 channels, but the signal 1"),
        (lambda: fn.convolve(SOUNDS[0].astype(np.float64), ROOM), "the signal must be float32, got float64"),
        (lambda: fn.convolve(SOUNDS[0], ROOM, mode="center"), 'mode must be "full"'),
        (lambda: fn.biquad(SOUNDS[0], kind="notch", sample_rate=8000, frequency=100), 'kind must be "lowpass"'),
        (
            lambda: fn.biquad(SOUNDS[0], kind="lowpass", sample_rate=8000, frequency=4000),
            "frequency must be between 0 and half the sample rate of 8000, got 4000",
        ),
        (lambda: fn.lfilter(SOUNDS[0], b=[1.0], a=[0.0, 1.0]), "a[0] must not be 0"),
        (
            lambda: fn.loudness(SOUNDS[3], sample_rate=16000),
            "a block of 400 ms has 6400 samples at 16000 hertz, but the sound has 350",
        ),
        (lambda: fn.loudness(SOUNDS[0], sample_rate=3000), "sample_rate must be more than 3000, got 3000"),
        (
            lambda: fn.loudness(np.zeros((9000, 6), np.float32), sample_rate=8000),
            "at most 5 channels have a weight, got 6",
        ),
        (lambda: fn.time_stretch(SOUNDS[0], sample_rate=16000, factor=0.05), "factor must be from 0.1 to 10, got 0.05"),
        (lambda: augment.pitch_shift(SOUNDS[0], 16000, 40), "semitones must be from -36 to 36, got 40"),
        (lambda: augment.deltas(np.zeros((4, 9), np.float32), 4), "win_length must be odd and at least 3, got 4"),
        (lambda: fn.lfilter(SOUNDS[0], b=[1.0] * 34, a=[1.0]), "b must have 1 to 33 numbers, got 34"),
        (lambda: fn.g711_encode(SOUNDS[0], law="u"), 'law must be "mu" or "a", got "u"'),
        (lambda: fn.time_warp(np.ones((4, 9), np.float32), anchor=3), "anchor and shift must be given together"),
        (lambda: fn.time_warp(np.ones((4, 9), np.float32), anchor=3, shift=6), "of 9 frames"),
        (lambda: fn.inverse_spectrogram(np.ones((9, 7), np.float32)), "fn.spectrogram(power=0) makes one"),
        (lambda: fn.inverse_spectrogram(np.ones((9, 7, 3), np.float32)), "must be (real, imaginary), got 3 numbers"),
        (lambda: fn.inverse_spectrogram(np.ones((9, 7, 2), np.float32), nfft=20), "nfft 20 has 11 frequencies, but"),
        (lambda: fn.inverse_spectrogram(np.ones((9, 7, 2), np.float32), window_step=17), "take a smaller window_step"),
        (lambda: fn.griffin_lim(np.ones((9, 7), np.float32), momentum=1.0), "momentum must be less than 1, got 1"),
        (lambda: fn.griffin_lim(np.ones((9, 7), np.float32), length=40), "are of 48 to 55 samples, got length 40"),
        (lambda: augment.telephone(SOUNDS[0], 16000, band=(300, 5000)), "band must be within"),
        (lambda: augment.speed_perturbation(SOUNDS[0], [0.0]), "factors must be positive numbers"),
        (lambda: augment.add_noise(SOUNDS[0], ROOM, snr=(20.0, 5.0)), "snr must be a range"),
    ],
)
def test_what_is_wrong_is_said(call, words):
    with pytest.raises((ValueError, TypeError), match=__import__("re").escape(words)):
        call()
