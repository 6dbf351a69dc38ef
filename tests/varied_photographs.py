# SPDX-License-Identifier: Apache-2.0
"""Photographs of all kinds as JPEG files: usual sizes, portraits, tiny and very wide ones, gray, CMYK, progressive."""

import io
import random
import sys
from pathlib import Path


sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "demo"))
import data  # noqa: E402

KINDS = ("usual", "portrait", "tiny", "wide", "tall", "gray", "cmyk", "progressive", "small", "whole")


def _size(kind, pick):
    long, short = pick.randint(400, 900), pick.randint(300, 600)
    sizes = {
        "portrait": (short, long),
        "tiny": (pick.randint(8, 40), pick.randint(8, 40)),
        "wide": (pick.randint(600, 1600), pick.randint(28, 80)),
        "tall": (pick.randint(28, 80), pick.randint(600, 1600)),
        "small": (pick.randint(100, 300), pick.randint(100, 300)),
        "whole": (448, 336),  # needs no resize of some classes
    }
    return sizes.get(kind, (long, short))


def photographs(count, seed=0):
    """[(kind, JPEG file)]"""
    pick, sources = random.Random(seed), list(data.load_sources().values())
    made = []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        view = data.cut(pick.choice(sources), *_size(kind, pick), pick)
        view = view.convert({"gray": "L", "cmyk": "CMYK"}.get(kind, "RGB"))
        out = io.BytesIO()
        sampling = {} if kind in ("gray", "cmyk") else {"subsampling": pick.choice(["4:2:0", "4:2:2", "4:4:4"])}
        view.save(out, "JPEG", quality=pick.randint(80, 97), progressive=kind == "progressive", **sampling)
        made.append((kind, out.getvalue()))
    return made
