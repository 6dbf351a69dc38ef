# SPDX-License-Identifier: Apache-2.0
"""From a sound to its spectrogram, decibels, mel bands and MFCC, each against NumPy."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

RATE, NFFT, WINDOW, STEP, MELS = 16000, 512, 400, 160, 40
path = small_data.folder() / "tone.wav"
small_data.tone(path, hertz=1000, rate=RATE)


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def spectra():
    files, _ = fn.readers.file(files=[str(path)])
    sound, rate = fn.decoders.audio(files, dtype=types.FLOAT, downmix=True)
    power = fn.spectrogram(sound, nfft=NFFT, window_length=WINDOW, window_step=STEP, center_windows=False)
    mel = fn.mel_filter_bank(power, sample_rate=RATE, nfilter=MELS)
    mel_db = fn.to_decibels(mel, multiplier=10.0, cutoff_db=-80)
    return (
        sound,
        rate,
        power,
        fn.to_decibels(power, multiplier=10.0, reference=1.0, cutoff_db=-80),
        mel,
        fn.mfcc(mel_db, n_mfcc=13),
    )


pipe = spectra()
pipe.build()
sound, rate, power, decibels, mel, mfcc = (np.asarray(out.at(0)) for out in pipe.run())
assert rate == RATE and sound.shape == (RATE // 2,)

frames = 1 + (len(sound) - WINDOW) // STEP
hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(WINDOW) + 0.5) / WINDOW)
cut = np.stack([sound[k * STEP : k * STEP + WINDOW] * hann for k in range(frames)], axis=1)
wanted = np.abs(np.fft.rfft(cut, NFFT, axis=0)) ** 2
assert power.shape == (NFFT // 2 + 1, frames)
np.testing.assert_allclose(power, wanted, rtol=1e-3, atol=1e-3 * wanted.max() / 100)
assert (power.argmax(axis=0) == 1000 * NFFT // RATE).all()
np.testing.assert_allclose(decibels, 10 * np.log10(np.maximum(power, 1e-8)), rtol=1e-3, atol=1e-2)
assert mel.shape == (MELS, frames) and mfcc.shape == (13, frames)
mel_db = 10 * np.log10(np.maximum(mel / mel.max(), 1e-8))
n = np.arange(MELS)
cosines = np.cos(np.pi * (n + 0.5) * np.arange(13)[:, None] / MELS)
np.testing.assert_allclose(mfcc, cosines @ mel_db, rtol=1e-3, atol=0.5)
print(
    f"spectrogram: {frames} windows, the tone in bin {int(power[:, 0].argmax())}, 13 coefficients of {MELS} mel bands"
)
