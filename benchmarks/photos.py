# SPDX-License-Identifier: Apache-2.0
"""Makes folders of JPEG files with the sizes and weights of photo data sets, from real photographs.

    python benchmarks/photos.py FOLDER [imagenet|coco|hd] [COUNT] [SEED]

The photographs are those of examples/demo/data.py. They are few and small, so each file is a random view of one
of them. Views that were enlarged are too smooth, so sensor-like noise is added until the file has as many bits
a pixel as such a data set has: entropy decoding is most of the work of a JPEG decoder, and it costs by the bit.
"""

import argparse
import io
import random
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "demo"))
import data  # noqa: E402

KINDS = {  # width, height, range of JPEG quality, bits a pixel: least, most, most frequent
    "imagenet": (500, 375, (94, 98), (2.8, 5.4, 4.0)),
    "coco": (640, 480, (92, 97), (2.4, 4.6, 3.4)),
    "hd": (1920, 1080, (85, 93), (1.6, 3.2, 2.4)),
}
DEFAULT_COUNT = {"imagenet": 520, "coco": 200, "hd": 40}
MAX_NOISE = 12.0


def encode(pixels, quality):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality, subsampling="4:2:0")
    return out.getvalue()


def with_noise(pixels, noise, sigma):
    return np.clip(np.rint(pixels + sigma * noise), 0, 255).astype(np.uint8)


def encode_to_weight(picture, quality, bits, generator):
    """Returns the JPEG whose bits a pixel come nearest `bits` from below noise of MAX_NOISE, by bisection."""
    pixels = np.asarray(picture, np.float32)
    shape = pixels.shape[:2]
    # mostly the same in the three channels, as noise in a developed photograph is
    noise = generator.standard_normal((*shape, 1), np.float32)
    noise = noise + 0.3 * generator.standard_normal(pixels.shape, np.float32)
    wanted = bits * shape[0] * shape[1] / 8
    best = encode(np.asarray(picture), quality)
    low, high = 0.0, MAX_NOISE
    for _ in range(6):
        if len(best) >= wanted and low == 0.0 and high == MAX_NOISE:
            break  # heavy enough as it is
        sigma = (low + high) / 2
        best = encode(with_noise(pixels, noise, sigma), quality)
        low, high = (sigma, high) if len(best) < wanted else (low, sigma)
    return best


def view(sources, width, height, rng):
    """One view, or for frames larger than any source a wall of views, so that detail is real and not enlarged."""
    across, down = -(-width // 800), -(-height // 600)
    if across == down == 1:
        return data.cut(rng.choice(sources), width, height, rng)
    wall = Image.new("RGB", (width, height))
    for i in range(across):
        for j in range(down):
            left, top = i * width // across, j * height // down
            w, h = (i + 1) * width // across - left, (j + 1) * height // down - top
            wall.paste(data.cut(rng.choice(sources), w, h, rng), (left, top))
    return wall


def write_folder(folder, kind="imagenet", count=None, seed=7, classes=16):
    """Writes the files of one data set into `classes` subfolders and returns their paths. A complete folder is kept."""
    count = count or DEFAULT_COUNT[kind]
    folder = Path(folder)
    paths = [folder / f"class{i % classes:02d}" / f"{i:06d}.jpg" for i in range(count)]
    if all(p.exists() for p in paths):
        return paths
    width, height, quality, bits = KINDS[kind]
    rng, sources = random.Random(f"{seed} {kind}"), list(data.load_sources().values())
    for i, path in enumerate(paths):
        picture = view(sources, *data.random_size(width, height, rng), rng)
        blob = encode_to_weight(picture, rng.randint(*quality), rng.triangular(*bits), np.random.default_rng([seed, i]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind", nargs="?", default="imagenet", choices=KINDS)
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("seed", nargs="?", type=int, default=7)
    a = parser.parse_args()
    paths = write_folder(a.folder, a.kind, a.count, a.seed)
    sizes = [p.stat().st_size for p in paths]
    pixels = [np.prod(Image.open(p).size) for p in paths]
    print(
        f"{len(paths)} files, mean {np.mean(sizes) / 1000:.1f} kB, {8 * sum(sizes) / sum(pixels):.2f} bits a pixel, "
        f"mean {np.mean(pixels) / 1000:.0f} kilopixels in {a.folder}"
    )


if __name__ == "__main__":
    main()
