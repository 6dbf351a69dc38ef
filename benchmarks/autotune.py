# SPDX-License-Identifier: Apache-2.0
"""What "auto" chooses beside the best setting of a sweep: ten pipelines on an idle machine.

    python benchmarks/autotune.py [--seconds 0.4] [--rounds 3] [--pairs 9] [--only NAME ...]

Each pipeline is made with each number of threads and each depth of the sweep, and once with num_threads="auto" and
prefetch_queue_depth="auto", which runs until it has chosen. All take turns. The best setting is then measured again,
in turns with "auto": the largest of many medians is too large by chance. Prints a table; a ratio is auto / best.
"""

import argparse
import datetime
import io
import os
import random
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from penstock import fn, pipeline_def, types

CORES = len(os.sched_getaffinity(0))
THREADS = sorted({1, max(1, CORES // 2), CORES, CORES + CORES // 2, 2 * CORES})
DEPTHS = [1, 2, 4, 8]
MOST_TUNING = 120.0  # seconds


def picture(width, height, seed):
    """A JPEG file with the detail of a photograph."""
    noise = np.random.default_rng(seed).integers(0, 256, (height // 8, width // 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).resize((width, height), Image.BICUBIC).save(file, "JPEG", quality=92)
    return file.getvalue()


def folder_of(place, name, width, height, count):
    """Writes a folder of JPEG files of one class and returns its path."""
    folder = Path(place) / name
    (folder / "class").mkdir(parents=True)
    for k in range(count):
        (folder / "class" / f"{k:04d}.jpg").write_bytes(picture(width, height, k))
    return str(folder)


def decoded(folder):
    """Training as for ImageNet."""
    files, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    images = fn.random_resized_crop(fn.decoders.image(files), size=[224, 224])
    return fn.crop_mirror_normalize(
        images, mirror=fn.random.coin_flip(), dtype=types.FLOAT, mean=[120.0], std=[60.0]
    ), labels


def large(folder):
    """Pictures of 2 megapixels, decoded whole."""
    files, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    return fn.resize(fn.decoders.image(files), size=[640, 640]), labels


def blurred(folder):
    """An expensive operator after the decoder."""
    files, _ = fn.readers.file(file_root=folder)
    return fn.gaussian_blur(fn.resize(fn.decoders.image(files), size=[256, 256]), sigma=3.0)


def bright():
    """Little work on much memory."""
    return fn.brightness_contrast(
        fn.random.uniform(range=[0.0, 255.0], shape=[224, 224, 3]), brightness=1.1, contrast=0.9
    )


def tiny():
    """Almost no work."""
    return fn.random.uniform(range=[0.0, 1.0], shape=[16])


def speech():
    """Features of five seconds of sound."""
    sound = fn.random.uniform(range=[-1.0, 1.0], shape=[80000])
    return fn.to_decibels(fn.mel_filter_bank(fn.spectrogram(sound, nfft=512, window_step=160), sample_rate=16000.0))


def source(seconds_of):
    """What a Python program gives, after a wait."""

    def give(iteration):
        time.sleep(seconds_of(iteration))
        return [np.full((64, 64, 3), k, np.uint8) for k in range(16)]

    return lambda: fn.resize(fn.external_source(give, batch=True, layout="HWC"), size=[224, 224])


def function(folder):
    """A Python function that takes some time for each sample."""
    files, _ = fn.readers.file(file_root=folder)
    images = fn.resize(fn.decoders.image(files), size=[128, 128])
    return fn.python_function(images, function=lambda x: x[::-1].copy())


def pipelines(place):
    """{name: (what it is, the pipeline's function, its arguments, batch size, seconds of a training step)}."""
    small = folder_of(place, "small", 500, 375, 256)
    hd = folder_of(place, "hd", 1920, 1080, 32)
    return {
        "training": ("decode, random crop 224, normalize", decoded, (small,), 64, 0.0),
        "large": ("decode 1920 x 1080, resize 640", large, (hd,), 8, 0.0),
        "blurred": ("decode, resize 256, gaussian_blur", blurred, (small,), 32, 0.0),
        "bright": ("random values, brightness_contrast, float32", bright, (), 32, 0.0),
        "tiny": ("16 random numbers a sample", tiny, (), 64, 0.0),
        "speech": ("spectrogram, mel, decibels of 5 s", speech, (), 16, 0.0),
        "slow source": ("a source that waits 10 ms a batch", source(lambda _: 0.01), (), 16, 0.0),
        "uneven source": (
            "1 ms a batch, each tenth 40 ms; steps of 6 ms",
            source(lambda i: 0.04 if i % 10 == 9 else 0.001),
            (),
            16,
            0.006,
        ),
        "function": ("decode, resize 128, a Python function", function, (small,), 32, 0.0),
        "slow step": ("decode, random crop 224, normalize; steps of 50 ms", decoded, (small,), 32, 0.05),
    }


class Runner:
    """A pipeline that is run for a while, again and again."""

    def __init__(self, definition, arguments, batch_size, step, threads, depth):
        made = pipeline_def(definition, batch_size=batch_size, seed=7, num_threads=threads, prefetch_queue_depth=depth)
        self.pipe, self.batch_size, self.step = made(*arguments), batch_size, step
        self.settles = 2 + (depth if isinstance(depth, int) else max(DEPTHS))

    def run(self):
        """Takes one batch and trains on it."""
        try:
            self.pipe.run()
        except StopIteration:
            self.pipe.reset()
        if self.step:
            time.sleep(self.step)

    def rate(self, seconds):
        """Samples a second, after what was made ahead is used."""
        for _ in range(self.settles):
            self.run()
        batches, begin = 0, time.perf_counter()
        while (passed := time.perf_counter() - begin) < seconds or batches < 10:
            self.run()
            batches += 1
        return batches * self.batch_size / passed


def measure(what, seconds, rounds, pairs):
    """Returns a row of the table, without its name."""
    text, definition, arguments, batch_size, step = what
    auto = Runner(definition, arguments, batch_size, step, "auto", "auto")
    begin = time.perf_counter()
    while not auto.pipe.tuned()["done"] and time.perf_counter() - begin < MOST_TUNING:
        auto.run()
    tuning, chosen = time.perf_counter() - begin, auto.pipe.tuned()
    sweep = {(t, d): Runner(definition, arguments, batch_size, step, t, d) for t in THREADS for d in DEPTHS}
    rates = {setting: [] for setting in sweep}
    for _ in range(rounds):
        for setting in random.Random(len(rates)).sample(list(sweep), len(sweep)):
            rates[setting].append(sweep[setting].rate(seconds))
    best = max(rates, key=lambda setting: statistics.median(rates[setting]))
    ratios, both = [], ([], [])
    for pair in range(pairs):
        order = (auto, sweep[best]) if pair % 2 else (sweep[best], auto)
        found = {runner: runner.rate(seconds) for runner in order}
        both[0].append(found[auto])
        both[1].append(found[sweep[best]])
        ratios.append(found[auto] / found[sweep[best]])
    worst = min(statistics.median(r) for r in rates.values())
    state = "" if chosen["done"] else " (not done)"
    return (
        f"{text} | {chosen['threads']}, {chosen['depth']}{state} | {tuning:.1f} s | {statistics.median(both[0]):,.0f} | "
        f"{best[0]}, {best[1]} | {statistics.median(both[1]):,.0f} | **{statistics.median(ratios):.3f}** | {worst:,.0f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--only", nargs="*")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{CORES} cores, {datetime.datetime.now():%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.1f}\n")
    print(
        "| pipeline | what | auto: threads, depth | to choose | auto, samples/s | best of the sweep | samples/s | auto / best | worst of the sweep |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for name, what in pipelines(place).items():
            if not chosen.only or name in chosen.only:
                print(f"| {name} | {measure(what, chosen.seconds, chosen.rounds, chosen.pairs)} |", flush=True)


if __name__ == "__main__":
    main()
