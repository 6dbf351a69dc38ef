# SPDX-License-Identifier: Apache-2.0
"""Speech recognition in small: recordings to features, as Jasper and RNN-T are fed, and a model that learns from them.

    python examples/speech.py [--steps N] [--features jasper|rnnt]

The "words" are digits in the tones of a telephone's keypad, written as FLAC files of two rates; a small convolutional model
with CTC loss learns to read them. The order of the features is that of the two recipes: silence cut off, dither, preemphasis,
spectrogram, mel filters, logarithm, normalization of each feature over time, SpecAugment; RNN-T then puts three frames into one.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import torch

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIGenericIterator

RATE, MELS, SPLICED = 16000, 40, 3
LOW, HIGH = (697, 770, 852, 941), (1209, 1336, 1477)
KEYS = "1234567890"


def tones(digits, rate, random):
    """0.1 s of two sines for each digit with pauses, between silences."""
    parts = [np.zeros(int(rate * random.uniform(0.1, 0.3)))]
    for digit in digits:
        row, column = (3, 1) if digit == 0 else divmod(digit - 1, 3)
        t = np.arange(int(rate * random.uniform(0.09, 0.14))) / rate
        parts += [0.3 * (np.sin(2 * np.pi * LOW[row] * t) + np.sin(2 * np.pi * HIGH[column] * t)), np.zeros(int(rate * 0.05))]
    return np.concatenate([*parts, np.zeros(int(rate * random.uniform(0.1, 0.3)))])


def record(folder, count=96):
    """count FLAC files, and what is said in each: -1 stands behind the last digit."""
    random, said = np.random.default_rng(3), np.full((count, 6), -1, np.int64)
    for i in range(count):
        digits = random.integers(0, 10, random.integers(2, 6))
        said[i, :len(digits)] = digits
        rate = (16000, 22050)[i % 2]
        sound = tones(digits, rate, random)
        soundfile.write(folder / f"{i:03}.flac", np.stack([sound, 0.8 * sound], -1), rate)
    return sorted(str(f) for f in folder.iterdir()), said


@pipeline_def(batch_size=16, num_threads=2, device_id=types.CPU_ONLY_DEVICE_ID, seed=7)
def features(files, spliced):
    recordings, number = fn.readers.file(files=files, labels=list(range(len(files))), random_shuffle=True, name="reader")
    sound, _ = fn.decoders.audio(recordings, downmix=True, sample_rate=RATE)
    begin, length = fn.nonsilent_region(sound, cutoff_db=-60)
    sound = fn.slice(sound, begin, length, axes=[0])
    sound = sound + fn.random.normal(sound) * 1e-3  # dither
    sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
    power = fn.spectrogram(sound, nfft=512, window_length=320, window_step=160)
    mel = fn.mel_filter_bank(power, sample_rate=RATE, nfilter=MELS, freq_high=RATE / 2)
    mel = fn.to_decibels(mel, multiplier=np.log(10).item(), reference=1.0, cutoff_db=-80)
    mel = fn.normalize(mel, axes=[1], epsilon=1e-5)
    # SpecAugment: one band of frequencies and one stretch of time lose what they say.
    mel = fn.erase(mel, axes=[0], anchor=fn.random.uniform(range=[0, MELS - 4]), shape=fn.random.uniform(range=[0, 4]))
    mel = fn.erase(mel, axes=[1], anchor=fn.random.uniform(range=[0, 1]), shape=0.02, normalized=True)
    if spliced:  # f x t to 3 f x t / 3
        mel = fn.pad(mel, axes=[1], align=[SPLICED])
        mel = fn.transpose(mel, perm=[1, 0])
        mel = fn.reshape(mel, shape=[-1, SPLICED * MELS])
        mel = fn.transpose(mel, perm=[1, 0])
    frames = fn.cast(mel.shape()[1], dtype=types.INT32)
    return fn.pad(mel, axes=[1]), frames, number


def model(channels, stride):
    """Jasper's kind of blocks, in small: convolutions over time, one score of stride frames for 10 digits and CTC's blank."""
    def block(inside, out, width, step):
        return [torch.nn.Conv1d(inside, out, width, step, width // 2), torch.nn.BatchNorm1d(out), torch.nn.ReLU()]
    return torch.nn.Sequential(*block(channels, 96, 5, 1), *block(96, 96, 5, stride), torch.nn.Conv1d(96, 11, 1))


def read(scores):
    """The best path: repeated symbols and blanks are left out."""
    best = scores.argmax(0).tolist()
    return [s - 1 for s, before in zip(best, [0, *best]) if s != before and s != 0]


def train(kind, steps, folder):
    torch.manual_seed(0)
    files, said = record(folder)
    pipeline = features(files, kind == "rnnt")
    batches = DALIGenericIterator(pipeline, ["mel", "frames", "number"], reader_name="reader", auto_reset=True)
    stride = 1 if kind == "rnnt" else 3
    net = model(MELS * (SPLICED if kind == "rnnt" else 1), stride)
    optimizer, loss_of = torch.optim.Adam(net.parameters(), 1e-2), torch.nn.CTCLoss(zero_infinity=True)
    said, step, losses = torch.from_numpy(said), 0, []
    while step < steps:
        for (batch,) in batches:
            numbers = batch["number"].view(-1).long()
            words, frames = said[numbers] + 1, (batch["frames"].view(-1).long() + stride - 1) // stride
            scores = net(batch["mel"]).log_softmax(1)
            loss = loss_of(scores.permute(2, 0, 1), words, frames, (words > 0).sum(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step += 1
            if step == steps:
                break
    net.eval()
    with torch.no_grad():
        scores = net(batch["mel"])
    right = sum(read(s[:, :n]) == [d - 1 for d in w.tolist() if d > 0] for s, n, w in zip(scores, frames, words))
    print(f"{kind}: loss {losses[0]:.2f} -> {losses[-1]:.2f}; {right} of {len(words)} recordings read without a fault, "
          f"the last said {''.join(str(d) for d in read(scores[-1][:, :frames[-1]]))}")
    return losses, right / len(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--features", choices=["jasper", "rnnt"])
    options = parser.parse_args()
    for kind in [options.features] if options.features else ["jasper", "rnnt"]:
        with tempfile.TemporaryDirectory() as folder:
            losses, right = train(kind, options.steps, Path(folder))
        if not losses[-1] < losses[0] / 4:
            raise SystemExit(f"{kind}: the loss went from {losses[0]} to {losses[-1]}: nothing was learned")


if __name__ == "__main__":
    main()
