# SPDX-License-Identifier: Apache-2.0
"""Sounds decoded, mixed down, resampled, and trimmed at their quiet ends."""

import wave

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

root = small_data.folder()
mono = small_data.tone(root / "mono.wav", hertz=440, rate=16000)
left, right = small_data.tone(root / "left.wav", 300, rate=8000), small_data.tone(root / "right.wav", 700, rate=8000)
with wave.open(str(root / "stereo.wav"), "wb") as file:
    file.setnchannels(2)
    file.setsampwidth(2)
    file.setframerate(8000)
    file.writeframes(np.stack([left, right], 1).tobytes())
quiet = np.zeros(4000, np.float32)
padded = np.concatenate([quiet, mono / np.float32(32768), quiet])


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def sounds():
    files, labels = fn.readers.file(files=[str(root / "mono.wav"), str(root / "stereo.wav")])
    whole, rate = fn.decoders.audio(files, dtype=types.INT16)
    mixed, _ = fn.decoders.audio(files, dtype=types.FLOAT, downmix=True)
    resampled, new_rate = fn.decoders.audio(files, sample_rate=12000, dtype=types.FLOAT, downmix=True)
    begin, length = fn.nonsilent_region(
        fn.external_source(source=lambda: [padded] * 2), cutoff_db=-40, window_length=128
    )
    return whole, rate, mixed, resampled, new_rate, begin, length


pipe = sounds()
pipe.build()
whole, rate, mixed, resampled, new_rate, begin, length = pipe.run()
assert rate.as_array().tolist() == [16000, 8000]
assert (whole.at(0).ravel() == mono).all() and (whole.at(1) == np.stack([left, right], 1)).all()
assert np.abs(mixed.at(1) - (left.astype(np.float32) + right) / 65536).max() < 1e-4
for i, hertz in enumerate(([440], [300, 700])):
    assert len(resampled.at(i)) == 6000
    spectrum = np.abs(np.fft.rfft(resampled.at(i)))
    assert sorted(np.argsort(spectrum)[-len(hertz) :] * 2) == hertz  # bins of 2 Hz
assert abs(int(begin.at(0)) - 4000) <= 128 and abs(int(length.at(0)) - len(mono)) <= 256
print("audio decoder: a sound of one channel and one of two, resampled, and its silent ends found")
