# SPDX-License-Identifier: Apache-2.0
"""docs/how_to/augment_speech.md: its program runs, and its calls give sound."""

import json
import re
from pathlib import Path

import numpy as np
import soundfile

from penstock import augment, fn

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how_to" / "augment_speech.md"
RNG = np.random.default_rng(6)
NOISES = [RNG.normal(0, 0.1, n).astype(np.float32) for n in (4000, 40000)]
ROOMS = [(RNG.normal(size=n) * np.exp(-np.arange(n) * 8 / n)).astype(np.float32) for n in (30, 2000)]


def program():
    names = {}
    exec(re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1], names)
    return names["train"]


def recordings(folder, count=12):
    lines = []
    for i in range(count):
        sound = RNG.normal(0, 0.1, 8000 + 531 * i)
        soundfile.write(folder / f"{i}.wav", sound, (16000, 22050)[i % 2])
        lines.append({"audio_filepath": f"{i}.wav", "text": str(i), "duration": len(sound) / 16000})
    (folder / "manifest.json").write_text("\n".join(map(json.dumps, lines)))
    return str(folder / "manifest.json")


def test_the_program_gives_features(tmp_path):
    manifest = recordings(tmp_path)
    first, second = (program()(manifest, NOISES, ROOMS, batch_size=6).run() for _ in range(2))
    for mel, same in zip(first[0], second[0], strict=True):
        mel = np.array(mel)
        assert mel.shape[0] == 80 and 30 < mel.shape[1] < 120
        assert np.isfinite(mel).all() and mel.std() > 0.1
        np.testing.assert_array_equal(mel, np.array(same))


def test_every_call_of_the_table_runs():
    text = PAGE.read_text()
    calls = [
        c for row in re.findall(r"^\|.*\|$", text, re.MULTILINE) for c in re.findall(r"`((?:fn|augment)\.[^`]*)`", row)
    ]
    x, mel = RNG.normal(0, 0.1, 20000).astype(np.float32), RNG.uniform(size=(80, 200)).astype(np.float32)
    values = {"x": x, "mel": mel, "noise": NOISES[1], "room": ROOMS[1], "fn": fn, "augment": augment}
    assert len(calls) > 12
    for call in calls:
        made = np.asarray(eval(call.replace("b=, a=", "b=[1.0], a=[1.0, -0.5]"), values))
        assert made.size and np.isfinite(made).all()
