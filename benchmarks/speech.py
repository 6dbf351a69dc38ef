# SPDX-License-Identifier: Apache-2.0
"""Augmentations of 10 s of speech at 16 kHz on one thread: Penstock's immediate calls beside SciPy and torchaudio.

    python benchmarks/speech.py [--rounds 30] [--json FILE]

Needs SciPy, torch and torchaudio, as the tests do. Both take turns in one process; the time is the processor's, the least of all
rounds; the ratio is the peer's time by Penstock's.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))


def pairs():
    """(name, call of Penstock, peer, call of the peer)."""
    import torch
    from scipy import signal
    from torchaudio_oracle import F, T

    from penstock import augment, fn

    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    x, noise = rng.normal(0, 0.1, (2, 160000)).astype(np.float32)
    tx, tn = torch.from_numpy(x), torch.from_numpy(noise)
    for taps in (32, 300, 8000, 32000):
        h = (rng.normal(size=taps) * np.exp(-np.arange(taps) * 5 / taps)).astype(np.float32)
        th = torch.from_numpy(h)
        yield f"convolve {taps}", lambda: fn.convolve(x, h), "scipy", lambda: signal.oaconvolve(x, h)
        yield f"convolve {taps}", lambda: fn.convolve(x, h), "torchaudio", lambda: F.fftconvolve(tx, th)
    for order in (2, 6):
        b, a = (v.astype(np.float32) for v in signal.butter(order, 0.3))
        lists = {"b": [float(v) for v in b], "a": [float(v) for v in a]}
        yield f"lfilter {order}", lambda: fn.lfilter(x, **lists), "scipy", lambda: signal.lfilter(b, a, x)
    ten = torch.tensor(10.0)
    encoder, decoder, fade = T.MuLawEncoding(), T.MuLawDecoding(), T.Fade(1600, 1600)
    codes = np.asarray(fn.mu_law_encode(x))
    tc = torch.from_numpy(codes)
    yield "mu_law_encode", lambda: fn.mu_law_encode(x), "torchaudio", lambda: encoder(tx)
    yield "mu_law_decode", lambda: fn.mu_law_decode(codes), "torchaudio", lambda: decoder(tc)
    yield "fade", lambda: fn.fade(x, fade_in=1600, fade_out=1600), "torchaudio", lambda: fade(tx)
    yield "add_noise", lambda: augment.add_noise(x, noise, 10.0), "torchaudio", lambda: F.add_noise(tx, tn, ten)
    resample = T.Resample(16000, 8000)
    yield "resample to 8000", lambda: augment.resample(x, 16000, 8000), "torchaudio", lambda: resample(tx)
    speed = T.Speed(16000, 1.1)
    yield "speed 1.1", lambda: augment.speed_perturbation(x, [1.1]), "torchaudio", lambda: speed(tx)


def least(calls, rounds):
    """Seconds of each call."""
    found = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            found[k] = min(found[k], time.process_time() - begin)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = {}
    for name, ours, peer, theirs in pairs():
        here, there = least([ours, theirs], options.rounds)
        rows[f"{name}, {peer}"] = there / here
        print(f"{name:18} {here * 1e3:8.3f} ms   {peer:10} {there * 1e3:8.3f} ms   ratio {there / here:6.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
