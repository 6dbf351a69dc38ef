# SPDX-License-Identifier: Apache-2.0
"""Recordings a second of decoding and of features, beside DALI and torch, in one run; one thread each.

    python benchmarks/audio.py [--rounds 7] [--seconds 1.0]

Tasks: WAV and FLAC files of 16 s at 16 kHz decoded; their spectrogram; their mel spectrogram. Penstock and DALI run them in
pipelines; torch.stft and a product with the matrix of mel filters stand for torchaudio. Writes benchmarks/results/audio.json.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import race  # noqa: E402
from environments import python_of  # noqa: E402

TASKS = ["wav", "flac", "spectrogram", "mel"]
RATE, BATCH, COUNT = 16000, 16, 64
STFT = {"nfft": 512, "window_length": 320, "window_step": 160}


def write_data(folder):
    import soundfile

    t = np.arange(16 * RATE) / RATE
    for i in range(COUNT):
        random = np.random.default_rng(i)
        sound = (0.3 * np.sin(2 * np.pi * (100 + i + 20 * np.sin(t)) * t) + 0.02 * random.normal(size=len(t))).astype(
            np.float32
        )
        np.save(folder / f"{i}.npy", sound)
        for kind in ("wav", "flac"):
            file = io.BytesIO()
            soundfile.write(file, sound, RATE, format=kind.upper(), subtype="PCM_16")
            (folder / f"{i}.{kind}").write_bytes(file.getvalue())


def read_data(task, folder):
    kind = task if task in ("wav", "flac") else "npy"
    paths = [folder / f"{i}.{kind}" for i in range(COUNT)]
    return [np.load(p) if kind == "npy" else np.fromfile(p, np.uint8) for p in paths]


def pipeline_pass(library, task, samples, seconds):
    if library == "dali":
        from nvidia.dali import fn, pipeline_def
    else:
        from penstock import fn, pipeline_def
    batches = [samples[i : i + BATCH] for i in range(0, len(samples), BATCH)]

    @pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def work():
        x = fn.external_source(source=lambda: batches[0], batch=True)
        if task in ("wav", "flac"):
            return fn.decoders.audio(x, downmix=True)[0]
        power = fn.spectrogram(x, **STFT)
        return power if task == "spectrogram" else fn.mel_filter_bank(power, sample_rate=float(RATE), nfilter=80)

    pipe = work()
    pipe.build()

    def one_pass():
        start, items = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            pipe.run()
            items += BATCH
        return items, time.perf_counter() - start

    return one_pass


def torch_pass(task, samples, seconds):
    import torch

    torch.set_num_threads(1)
    batch, window = torch.from_numpy(np.stack(samples[:BATCH])), torch.hann_window(STFT["window_length"])
    filters = torch.rand(80, STFT["nfft"] // 2 + 1)  # as many numbers as mel filters, dense

    def one_pass():
        start, items = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            spectrum = torch.stft(
                batch, STFT["nfft"], STFT["window_step"], STFT["window_length"], window, return_complex=True
            )
            power = spectrum.abs().square()
            if task == "mel":
                torch.matmul(filters, power)
            items += BATCH
        return items, time.perf_counter() - start

    return one_pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--serve", nargs=3, metavar=("LIBRARY", "TASK", "FOLDER"))
    options = parser.parse_args()
    if options.serve:
        library, task, folder = options.serve
        samples = read_data(task, Path(folder))
        one_pass = (
            torch_pass(task, samples, options.seconds)
            if library == "torch"
            else pipeline_pass(library, task, samples, options.seconds)
        )
        race.serve(one_pass, {"task": task})
    results = {"machine": race.machine_facts(), "tasks": {}}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        for task in TASKS:
            interpreters = {
                "penstock": sys.executable,
                "dali": python_of("dali"),
                "torch": sys.executable if task in ("spectrogram", "mel") else None,
            }
            commands = {
                name: ([python, __file__, "--seconds", str(options.seconds), "--serve", name, task, folder], None)
                for name, python in interpreters.items()
                if python
            }
            rows, failed = race.race(commands, Path(folder) / "logs", options.rounds)
            results["tasks"][task] = {"rows": rows, "failed": failed}
            print(task, json.dumps(rows))
    (ROOT / "benchmarks" / "results" / "audio.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
