# SPDX-License-Identifier: Apache-2.0
"""fn.audio_codec and augment.codec: sound comes back in its place, worse by as much as bits are few."""

import os
import subprocess
import sys

import numpy as np
import pytest

import penstock
from penstock import augment, fn, pipeline_def

RNG = np.random.default_rng(12)


def speech(n, *channels):
    """Noise whose power falls with frequency, as that of speech does."""
    x = np.cumsum(RNG.normal(size=(n, *channels)), 0)
    x -= np.apply_along_axis(lambda c: np.convolve(c, np.ones(200) / 200, "same"), 0, x)
    return (0.1 * x / x.std()).astype(np.float32)


def lag(got, want):
    n = 2 * len(want)
    found = np.fft.irfft(np.fft.rfft(got, n) * np.conj(np.fft.rfft(want, n))).argmax()
    return found if found < n // 2 else found - n


@pytest.mark.parametrize(
    "format, rate, bitrate, channels, likeness",
    [
        ("opus", 8000, 8000, (), 0.9),
        ("opus", 16000, 12000, (), 0.88),
        ("opus", 48000, 64000, (2,), 0.95),
        ("mp3", 8000, 8000, (), 0.95),
        ("mp3", 16000, 8000, (), 0.9),  # frames of so few bits do not state the encoder's delay
        ("mp3", 16000, 24000, (1,), 0.97),
        ("mp3", 44100, 128000, (2,), 0.99),
    ],
)
def test_sound_comes_back_in_its_place(format, rate, bitrate, channels, likeness):
    x = speech(rate, *channels)
    got = np.asarray(fn.audio_codec(x, sample_rate=rate, format=format, bitrate=bitrate))
    assert got.shape == x.shape and got.dtype == np.float32
    for a, b in zip(got.reshape(rate, -1).T, x.reshape(rate, -1).T):
        assert abs(lag(a, b)) <= 1
        assert np.corrcoef(a, b)[0, 1] > likeness
    np.testing.assert_array_equal(fn.audio_codec(x, sample_rate=rate, format=format, bitrate=bitrate), got)


@pytest.mark.parametrize("format", ["opus", "mp3"])
def test_more_bits_are_nearer(format):
    x = speech(16000)
    error = [np.std(fn.audio_codec(x, sample_rate=16000, format=format, bitrate=b) - x) for b in (8000, 24000, 64000)]
    assert error[0] > error[1] > error[2]


@pytest.mark.parametrize("format", ["opus", "mp3"])
def test_sound_of_any_length_and_strides(format):
    x = speech(3000, 2)
    for n in (0, 1, 2, 319, 321, 1153):
        for part in (x[:n], x[:n, 0], x[: 2 * n : 2, ::-1]):
            got = np.asarray(fn.audio_codec(part, sample_rate=16000, format=format))
            assert got.shape == part.shape and np.isfinite(got).all()
            np.testing.assert_array_equal(got, fn.audio_codec(part.copy(), sample_rate=16000, format=format))


def test_codec_resamples_to_a_rate_of_the_format():
    x = [speech(n) for n in (22050, 9001)]

    @pipeline_def(batch_size=2, num_threads=2, seed=1)
    def pipe():
        sound = fn.external_source(lambda: x)
        return augment.codec(sound, 22050, "opus", (16000, 32000)), augment.codec(sound, 22050, "mp3", 64000, p=0.5)

    opus, mp3 = ([np.array(s) for s in out] for out in pipe().run())
    for got, want in zip(opus + mp3, x + x):
        assert got.shape == want.shape and abs(lag(got, want)) <= 1 and np.corrcoef(got, want)[0, 1] > 0.9


@pytest.mark.parametrize(
    "options, words",
    [
        ({"sample_rate": 44100}, "Opus has rates of 8000, 12000, 16000, 24000 and 48000 hertz, got 44100"),
        ({"sample_rate": 16000, "bitrate": 100}, "Opus has from 6000 to 510000 bits a second, got 100"),
        ({"sample_rate": 17000, "format": "mp3"}, "MP3 has rates of 8000, 11025"),
        ({"sample_rate": 16000, "format": "mp3", "bitrate": 1}, "MP3 has from 8000 to 320000 bits a second, got 1"),
        ({"sample_rate": 16000, "format": "aac"}, 'format must be "opus" or "mp3", got "aac"'),
        ({"sample_rate": 0}, "sample_rate must be from 1 to a million, got 0"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(ValueError) as said:
        fn.audio_codec(np.zeros(999, np.float32), **options)
    assert words in str(said.value)


def test_more_than_two_channels_are_refused():
    with pytest.raises(ValueError, match="expected 1 or 2 channels, got 3"):
        fn.audio_codec(np.zeros((99, 3), np.float32), sample_rate=16000)
    with pytest.raises(ValueError, match='format must be "opus" or "mp3", got \'gsm\''):
        augment.codec(np.zeros(99, np.float32), 16000, "gsm")


@pytest.mark.parametrize("setting, words", [("off", "PENSTOCK_LAME is off"), ("/no/such.so", "/no/such.so")])
def test_a_library_that_is_missing_is_named(setting, words):
    program = "import numpy, penstock; penstock.fn.audio_codec(numpy.zeros(99, 'f4'), sample_rate=8000, format='mp3')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PENSTOCK_LAME": setting},
        capture_output=True,
        text=True,
        cwd=os.path.dirname(os.path.dirname(penstock.__file__)),
    )
    assert done.returncode and "MP3 needs libmp3lame (Debian: libmp3lame0)" in done.stderr and words in done.stderr
