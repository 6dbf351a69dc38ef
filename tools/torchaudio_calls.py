# SPDX-License-Identifier: Apache-2.0
"""What torchaudio's transforms and functions are here: docs/reference/torchaudio.md is made of this table, and
tests/test_torchaudio.py runs each line beside torchaudio 2.11.

SAME: (name, call there, call here, largest difference as a part of the largest magnitude). CALLED: (name, call here, what differs);
the call runs, its numbers are not compared. MISSING: name -> why, and what comes nearest.
In calls `x` is sound of 16 kHz, `noise` and `room` are others, `smooth` is sound below 3 kHz, `power` and `mel` are spectrograms,
`codes` are codes of 8 bits; HERTZ is a column of the 201 frequencies of a spectrogram; HANN is 0.5 - 0.5 cos(2 pi i / 400), the window that torchaudio takes by default.
"""

SPECTROGRAM = "fn.spectrogram(x, nfft=400, window_length=400, window_step=200, window_fn=HANN)"
MEL = 'fn.mel_filter_bank({}, sample_rate=16000, nfilter=128, mel_formula="htk", normalize=False)'


def _biquad(name, arguments, kind, more):
    call = f'fn.biquad(x, kind="{kind}", sample_rate=16000, {more}, clamp=True)'
    return (f"functional.{name}_biquad", f"F.{name}_biquad(x, 16000, {arguments})", call, 3e-5)


SAME = [
    ("Spectrogram", "T.Spectrogram()(x)", SPECTROGRAM, 2e-6),
    (
        "Spectrogram of complex numbers",
        "torch.view_as_real(T.Spectrogram(power=None)(x))",
        SPECTROGRAM.replace(", window_fn", ", power=0, window_fn"),
        2e-6,
    ),
    (
        "InverseSpectrogram",
        "T.InverseSpectrogram()(T.Spectrogram(power=None)(x))",
        f"fn.inverse_spectrogram({SPECTROGRAM.replace(', window_fn', ', power=0, window_fn')}, window_fn=HANN)",
        2e-6,
    ),
    (
        "InverseSpectrogram of a length",
        "T.InverseSpectrogram(hop_length=100)(T.Spectrogram(hop_length=100, power=None)(x), 7950)",
        "fn.inverse_spectrogram("
        + SPECTROGRAM.replace(", window_fn", ", power=0, window_fn").replace("step=200", "step=100")
        + ", window_step=100, window_fn=HANN, length=7950)",
        2e-6,
    ),
    (
        "GriffinLim without random phases",
        "T.GriffinLim(400, n_iter=2, rand_init=False)(T.Spectrogram(400)(x))",
        f"fn.griffin_lim({SPECTROGRAM}, window_fn=HANN, n_iter=2, rand_init=False)",
        2e-4,
    ),
    ("MelScale", "T.MelScale(n_stft=201)(power)", MEL.format("power"), 2e-5),
    ("MelSpectrogram", "T.MelSpectrogram()(x)", MEL.format(SPECTROGRAM), 2e-5),
    ("AmplitudeToDB", "T.AmplitudeToDB()(mel)", "fn.to_decibels(mel, reference=1.0, cutoff_db=-100.0)", 2e-6),
    (
        "MFCC",
        'T.MFCC(melkwargs={"n_mels": 64})(x)',
        "fn.mfcc(floor(fn.to_decibels("
        + MEL.format(SPECTROGRAM).replace("128", "64")
        + ", reference=1.0, cutoff_db=-100.0), 80.0), n_mfcc=40, normalize=True)",
        2e-5,
    ),
    (
        "LFCC",
        "T.LFCC()(x)",
        "fn.mfcc(floor(fn.to_decibels("
        + MEL.format(SPECTROGRAM).replace("htk", "linear")
        + ", reference=1.0, cutoff_db=-100.0), 80.0), n_mfcc=40, normalize=True)",
        2e-5,
    ),
    ("ComputeDeltas", "T.ComputeDeltas()(mel)", "augment.deltas(mel)", 1e-6),
    (
        "SpectralCentroid",
        "T.SpectralCentroid(16000)(x)",
        "fn.reductions.sum({0} * HERTZ, axes=[0]) / fn.reductions.sum({0}, axes=[0])".format(
            SPECTROGRAM.replace(", window_fn", ", power=1, window_fn")
        ),
        5e-6,
    ),
    ("Loudness", "T.Loudness(16000)(x[None])", "fn.loudness(x, sample_rate=16000)", 1e-5),
    ("Preemphasis", "T.Preemphasis(0.97)(x)", 'fn.preemphasis_filter(x, preemph_coeff=0.97, border="zero")', 2e-7),
    ("Deemphasis", "T.Deemphasis(0.97)(x)", "fn.lfilter(x, b=[1.0], a=[1.0, -0.97], clamp=True)", 1e-5),
    ("Fade", "T.Fade(100, 200)(x)", "fn.fade(x, fade_in=100, fade_out=200)", 2e-7),
    (
        "Fade of another shape",
        'T.Fade(100, 200, "half_sine")(x)',
        'fn.fade(x, fade_in=100, fade_out=200, shape="half_sine")',
        5e-7,
    ),
    ("FFTConvolve", "T.FFTConvolve()(x, room)", "fn.convolve(x, room)", 1e-6),
    ("Convolve", 'T.Convolve("same")(x, room)', 'fn.convolve(x, room, mode="same")', 1e-6),
    ("AddNoise", "T.AddNoise()(x, noise, snr)", "augment.add_noise(x, noise, 10.0)", 2e-6),
    ("Vol", "T.Vol(0.5)(x)", "math.clamp(x * 0.5, -1.0, 1.0)", 1e-7),
    ("MuLawEncoding", "T.MuLawEncoding()(x)", "fn.mu_law_encode(x)", 1.0 / 128),
    ("MuLawDecoding", "T.MuLawDecoding()(codes)", "fn.mu_law_decode(codes)", 1e-6),
    ("Resample", "T.Resample(16000, 8000)(smooth)", "augment.resample(smooth, 16000, 8000)", 5e-3),
    ("functional.gain", "F.gain(x, 6.0)", "augment.gain(x, 6.0)", 1e-6),
    ("functional.lfilter", "F.lfilter(x, A, B)", "fn.lfilter(x, b=[0.25, 0.5], a=[1.0, -0.5], clamp=True)", 2e-6),
    ("functional.dcshift", "F.dcshift(x, 0.01)", "math.clamp(x + 0.01, -1.0, 1.0)", 1e-7),
    ("functional.contrast", "F.contrast(x)", "math.sin(x * 1.5707964 + 0.1 * math.sin(x * 6.2831855))", 2e-6),
    ("functional.DB_to_amplitude", "F.DB_to_amplitude(x, 1.0, 1.0)", "math.pow(10.0, x * 0.1)", 1e-6),
    _biquad("lowpass", "3000.0", "lowpass", "frequency=3000"),
    _biquad("highpass", "300.0", "highpass", "frequency=300"),
    _biquad("bandpass", "900.0", "bandpass", "frequency=900"),
    _biquad("bandreject", "900.0", "bandreject", "frequency=900"),
    _biquad("allpass", "900.0", "allpass", "frequency=900"),
    _biquad("equalizer", "900.0, 6.0", "equalizer", "frequency=900, gain_db=6"),
    _biquad("bass", "6.0", "bass", "frequency=100, gain_db=6"),
    _biquad("treble", "6.0", "treble", "frequency=3000, gain_db=6"),
]

CALLED = [
    ("GriffinLim", f"fn.griffin_lim({SPECTROGRAM}, window_fn=HANN)", "Draws other random phases."),
    (
        "TimeMasking",
        "augment.time_masking(mel, 100)",
        "Widths are whole numbers, all as likely; one mask for a sample.",
    ),
    ("FrequencyMasking", "augment.frequency_masking(mel, 27)", "As TimeMasking."),
    (
        "SpecAugment",
        "fn.spec_augment(mel, freq_masks=2, freq_width=27, time_masks=2, time_width=100)",
        "As TimeMasking. fn.time_warp(mel, max_shift=80) is the warp, which torchaudio does not have.",
    ),
    ("Speed", "augment.speed_perturbation(x, [1.1])", "The filter of Resample, below; lengths are rounded up."),
    ("SpeedPerturbation", "augment.speed_perturbation(x, [0.9, 1.0, 1.1])", "As Speed."),
    (
        "PitchShift",
        "augment.pitch_shift(x, 16000, 4.0)",
        "Stretches sound by joining what is alike, as SoX does, not by a phase vocoder; the filter of Resample, below.",
    ),
    (
        "TimeStretch",
        "augment.time_stretch(x, 16000, 1.25)",
        "Of sound, not of a complex spectrogram; joins what is alike, as SoX's tempo does.",
    ),
    (
        "Vad",
        "augment.trim_silence(x, cutoff_db=-40)",
        "Finds where sound starts and ends by its power (fn.nonsilent_region), not by the cepstral detector of SoX.",
    ),
    (
        "functional.apply_codec, MP3, Opus",
        'augment.codec(x, 16000, "opus", 16000)',
        'Or "mp3"; torchaudio has it in io.AudioEffector. augment.telephone has G.711.',
    ),
    (
        "functional.dither",
        "x + fn.random.uniform(x, range=[-1.0, 1.0]) * 2**-15",
        "White noise alone; no noise shaping.",
    ),
    (
        "functional.mask_along_axis",
        "augment.time_masking(mel, 100)",
        "Or frequency_masking; mask_value is fill_value of fn.spec_augment.",
    ),
]

_MODEL = "Belongs to a model or to its loss, not to the preparation of data."
MISSING = {
    "functional.phase_vocoder": "Not yet. augment.time_stretch stretches sound.",
    "InverseMelScale": "An optimization; nothing here needs it.",
    "SlidingWindowCmn": "Not yet. fn.normalize(mel, axes=[1]) normalizes over the whole recording.",
    "MVDR": _MODEL,
    "PSD": _MODEL,
    "RTFMVDR": _MODEL,
    "SoudenMVDR": _MODEL,
    "RNNTLoss": _MODEL,
    "functional.detect_pitch_frequency": "Not yet.",
    "functional.filtfilt": "Not yet: fn.lfilter runs forward alone.",
    "functional.overdrive, phaser, flanger": "Effects of music. augment.clip overdrives by limits.",
    "functional.band, deemph, riaa_biquad": "Give their six coefficients to fn.lfilter.",
}
