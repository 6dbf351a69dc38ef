# SPDX-License-Identifier: Apache-2.0
"""Speech recognition in small: recordings to features, as Jasper and RNN-T are fed, and two models that learn from them.

    python examples/speech.py [MANIFEST] [--model jasper|rnnt] [--steps N] [--picture FILE]

Without a manifest (one JSON object a line: audio_filepath, text, duration) the "words" are digits in the tones of a telephone's
keypad, written as FLAC files of two rates. Jasper (Li et al., 2019) is convolutions over time with CTC; RNN-T (Graves, 2012)
reads frames that are put together by three, and knows what it has said. Ends with an error where the loss does not fall.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import torch

from penstock import fn, pipeline_def
from penstock.plugin.pytorch import DALIGenericIterator

RATE, MELS, SPLICED = 16000, 40, 3
LOW, HIGH = (697, 770, 852, 941), (1209, 1336, 1477)
SYMBOLS = 11  # the blank and ten digits


@pipeline_def(batch_size=16, num_threads=2, seed=7)
def features(manifest, kind, training=True, device="cpu"):
    sound, text = fn.readers.nemo_asr(
        manifest_filepaths=[str(manifest)],
        read_sample_rate=False,
        sample_rate=RATE,
        random_shuffle=training,
        name="reader",
    )  # decodes, mixes to one channel, resamples
    if device == "gpu":
        sound = sound.gpu()
    begin, length = fn.nonsilent_region(sound, cutoff_db=-40)
    sound = fn.slice(sound, begin, length, axes=[0])
    if training:
        sound = sound + fn.random.normal(sound) * 1e-5  # dither
    sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
    power = fn.spectrogram(sound, nfft=512, window_length=320, window_step=160)  # 20 ms, each 10 ms
    mel = fn.mel_filter_bank(power, sample_rate=RATE, nfilter=MELS, freq_high=RATE / 2)
    mel = fn.to_decibels(
        mel, multiplier=np.log(10).item(), reference=1.0, cutoff_db=np.log(1e-10).item()
    )  # the natural logarithm
    mel = fn.normalize(mel, axes=[1], epsilon=1e-5)  # each feature over time
    if training:
        mel = fn.spec_augment(mel, freq_masks=2, freq_width=4, time_masks=2, time_width=3)
    if kind == "rnnt":
        mel = fn.frame_splicing(mel, stack=SPLICED)
    return mel, text


def block(inside, out, width, stride=1):
    return [torch.nn.Conv1d(inside, out, width, stride, width // 2), torch.nn.BatchNorm1d(out), torch.nn.ReLU()]


class Jasper(torch.nn.Sequential):
    """Convolutions over time; the scores of all symbols for each third frame."""

    def __init__(self):
        super().__init__(*block(MELS, 96, 5), *block(96, 96, 5, SPLICED), torch.nn.Conv1d(96, SYMBOLS, 1))

    def loss(self, mel, frames, words, lengths):
        scores = self(mel).log_softmax(1).permute(2, 0, 1)
        return torch.nn.functional.ctc_loss(
            scores, words, (frames + SPLICED - 1) // SPLICED, lengths, zero_infinity=True
        )

    def read(self, mel, frames):
        """The best path: repeated symbols and blanks are omitted."""
        best = self(mel[None, :, :frames])[0].argmax(0).tolist()
        return [s for s, before in zip(best, [0, *best]) if s not in (before, 0)]


class Transducer(torch.nn.Module):
    """An encoder of frames, a network over the output so far, and scores of each pair of their states."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(*block(SPLICED * MELS, 96, 3), *block(96, 96, 3))
        self.known, self.said = torch.nn.Embedding(SYMBOLS, 32), torch.nn.GRU(32, 96, batch_first=True)
        self.joint = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(96, SYMBOLS))

    def loss(self, mel, frames, words, lengths):
        """The probability of all alignments of the words: at each frame any number of them, then a blank (Graves, 2012)."""
        said, _ = self.said(self.known(torch.nn.functional.pad(words, (1, 0))))
        scores = self.joint(self.encoder(mel).transpose(1, 2)[:, :, None] + said[:, None]).log_softmax(
            -1
        )  # (N, T, U + 1, symbols)
        blank = scores[..., 0]
        spoken = scores[:, :, :-1].gather(3, words[:, None, :, None].expand(-1, scores.shape[1], -1, 1))[..., 0]
        spoken = torch.nn.functional.pad(spoken.cumsum(2), (1, 0))  # of the first u words at frame t
        ways = [spoken[:, 0]]
        for t in range(1, scores.shape[1]):
            ways.append(spoken[:, t] + torch.logcumsumexp(ways[-1] + blank[:, t - 1] - spoken[:, t], 1))
        each = torch.arange(len(words), device=words.device)
        return -((torch.stack(ways, 1) + blank)[each, frames - 1, lengths] / lengths).mean()

    def read(self, mel, frames):
        states = self.encoder(mel[None, :, :frames])[0].T
        words, (out, memory) = [], self.said(self.known(torch.zeros(1, 1, dtype=torch.long, device=mel.device)))
        for state in states:
            for _ in range(3):  # words at one frame
                best = self.joint(state + out[0, 0]).argmax().item()
                if best == 0:
                    break
                words.append(best)
                out, memory = self.said(self.known(torch.tensor([[best]], device=mel.device)), memory)
        return words


def entries_of(batch, device):
    """Features, frames of each, words as symbols, how many of each."""
    words = (batch["text"].to(device).long() - ord("0") + 1).clamp(0, SYMBOLS - 1)
    return batch["mel"].to(device), batch["mel_lengths"][:, 1].to(device), words, batch["text_lengths"].to(device)


def batches_of(manifest, kind, training, device):
    pipeline = features(
        manifest, kind, training, "gpu" if device == "cuda" else "cpu", device_id=0 if device == "cuda" else None
    )
    return DALIGenericIterator(pipeline, ["mel", "text"], reader_name="reader", auto_reset=True, ragged="pad")


def train(kind, manifest, others, steps, device):
    torch.manual_seed(0)
    net = {"jasper": Jasper, "rnnt": Transducer}[kind]().to(device)
    optimizer, losses = torch.optim.Adam(net.parameters(), 1e-2 if kind == "jasper" else 5e-3), []
    batches = batches_of(manifest, kind, True, device)
    while len(losses) < steps:
        for (batch,) in batches:
            loss = net.loss(*entries_of(batch, device))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == steps:
                break
    net.eval()
    right, all_read = 0, []
    with torch.no_grad():
        for (batch,) in batches_of(others, kind, False, device):
            for mel, frames, words, length in zip(*entries_of(batch, device)):
                all_read.append(net.read(mel, int(frames)))
                right += all_read[-1] == words[:length].tolist()
    print(
        f"{kind}: loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last; {right} of {len(all_read)} other recordings are read "
        "without a fault"
    )
    if not losses[-1] < losses[0] / 3:
        raise SystemExit(f"{kind}: the loss did not fall: {losses}")
    return all_read


def tones(digits, rate, random):
    """0.1 s of two sines for each digit with pauses, between silences; on noise."""
    parts = [np.zeros(int(rate * random.uniform(0.1, 0.3)))]
    for digit in digits:
        row, column = (3, 1) if digit == 0 else divmod(digit - 1, 3)
        t = np.arange(int(rate * random.uniform(0.09, 0.14))) / rate
        parts += [
            0.3 * (np.sin(2 * np.pi * LOW[row] * t) + np.sin(2 * np.pi * HIGH[column] * t)),
            np.zeros(int(rate * 0.05)),
        ]
    sound = np.concatenate([*parts, np.zeros(int(rate * random.uniform(0.1, 0.3)))])
    return sound + random.normal(0, 1e-3, len(sound))


def record(folder, name, count, seed):
    """FLAC files in stereo, and the manifest of what is said in each."""
    random, path = np.random.default_rng(seed), Path(folder) / f"{name}.json"
    with open(path, "w") as manifest:
        for i in range(count):
            digits, rate = random.integers(0, 10, random.integers(2, 6)), (16000, 22050)[i % 2]
            sound = tones(digits, rate, random)
            soundfile.write(path.with_name(f"{name}{i:03}.flac"), np.stack([sound, 0.8 * sound], -1), rate)
            line = {
                "audio_filepath": f"{name}{i:03}.flac",
                "text": "".join(map(str, digits)),
                "duration": len(sound) / rate,
            }
            manifest.write(json.dumps(line) + "\n")
    return path


def draw(manifest, read, target):
    """The features of one recording: as they are, as Jasper's training sees them, as RNN-T's does."""
    from PIL import Image, ImageDraw

    ramp = np.array(
        [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float
    )  # dark to bright
    rows = [
        ("log mel, each feature normalized over time", "jasper", False),
        ("Jasper: SpecAugment", "jasper", True),
        (f"RNN-T: SpecAugment, {SPLICED} frames in one", "rnnt", True),
    ]
    sheet = Image.new("RGB", (760, 4 + 160 * len(rows)), "white")
    pen = ImageDraw.Draw(sheet)
    for k, (title, kind, training) in enumerate(rows):
        mel, text = features(manifest, kind, training, batch_size=32).run()
        said = [bytes(t.numpy()).decode() for t in text]
        which = said.index(max(sorted(said), key=len))
        values = np.interp(np.clip(mel[which].numpy()[::-1], -1, 2.5), np.linspace(-1, 2.5, 5), np.arange(5))
        colors = np.stack([np.interp(values, np.arange(5), ramp[:, c]) for c in range(3)], -1).astype(np.uint8)
        sheet.paste(Image.fromarray(colors).resize((752, 136), Image.Resampling.NEAREST), (4, 22 + 160 * k))
        answers = (
            ""
            if training
            else f'; said "{said[which]}"'
            + "".join(
                f', {name} reads "{"".join(str(s - 1) for s in all_read[which])}"' for name, all_read in read.items()
            )
        )
        pen.text((6, 6 + 160 * k), title + answers, fill="black")
    sheet.save(target, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", nargs="?")
    parser.add_argument("--model", choices=["jasper", "rnnt"])
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    device, read = "cuda" if torch.cuda.is_available() else "cpu", {}
    with tempfile.TemporaryDirectory() as folder:
        manifest = options.manifest or record(folder, "training", 256, 3)
        others = options.manifest or record(folder, "others", 32, 4)
        for kind in [options.model] if options.model else ["jasper", "rnnt"]:
            read[kind] = train(kind, manifest, others, options.steps, device)
        if options.picture:
            draw(others, read, options.picture)


if __name__ == "__main__":
    main()
