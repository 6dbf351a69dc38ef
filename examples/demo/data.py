# SPDX-License-Identifier: Apache-2.0
"""Cuts a small folder of JPEG photographs from the public-domain pictures in scikit-image's wheel.

    python examples/demo/data.py FOLDER [COUNT]

Needs Pillow and the files of the scikit-image wheel (it is not imported, and nothing is downloaded).
One subfolder a picture, so that labels mean something. The same count always gives the same pixels.
Where each picture comes from, and its license: docs/data_licenses.md.
"""

import importlib.util
import random
import sys
from pathlib import Path

from PIL import Image, ImageEnhance

SOURCES = {  # only CC0 and public-domain color photographs that are in the wheel itself
    "astronaut": "astronaut.png",
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "galaxies": "hubble_deep_field.jpg",
    "retina": "retina.jpg",
    "rocket": "rocket.jpg",
}


def load_sources() -> dict[str, Image.Image]:
    """Returns {name: RGB picture}."""
    package = Path(sys.prefix) / "photographs" / "skimage"  # where `make demo` unpacks the wheel
    if not package.exists():
        spec = importlib.util.find_spec("skimage")
        if spec is None or spec.submodule_search_locations is None:
            raise SystemExit("the photographs come from scikit-image's wheel: pip install --no-deps scikit-image")
        package = Path(spec.submodule_search_locations[0])
    folder = package / "data"
    return {name: Image.open(folder / file).convert("RGB") for name, file in SOURCES.items()}


def cut(source: Image.Image, width: int, height: int, rng: random.Random) -> Image.Image:
    """Returns a random `width` x `height` view of `source`: cropped, scaled, mirrored, its exposure varied a little."""
    scale = min(source.width / width, source.height / height) * rng.uniform(0.6, 1.0)
    w, h = round(width * scale), round(height * scale)
    x, y = rng.randint(0, source.width - w), rng.randint(0, source.height - h)
    view = source.resize((width, height), Image.Resampling.LANCZOS, box=(x, y, x + w, y + h))
    if rng.random() < 0.5:
        view = view.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    view = ImageEnhance.Brightness(view).enhance(rng.uniform(0.85, 1.1))
    return ImageEnhance.Color(view).enhance(rng.uniform(0.8, 1.2))


def random_size(width: int, height: int, rng: random.Random) -> tuple[int, int]:
    """Sizes vary by a fifth around the given one, and a quarter of the pictures are in portrait format."""
    if rng.random() < 0.25:
        width, height = height, width
    return int(width * rng.uniform(0.8, 1.15)), int(height * rng.uniform(0.8, 1.15))


def write_folder(folder: Path | str, count: int = 384, seed: int = 7) -> Path:
    """Writes `count` photographs of about 500 x 375 pixels; returns the folder. Complete folders are kept."""
    folder = Path(folder)
    if len(list(folder.glob("*/*.jpg"))) == count:
        return folder
    rng, sources = random.Random(seed), load_sources()
    for i in range(count):
        name = list(sources)[i % len(sources)]
        path = folder / name / f"{i:04d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = cut(sources[name], *random_size(500, 375, rng), rng)
        picture.save(path, quality=rng.randint(92, 96), subsampling="4:2:0")
    return folder


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    out = write_folder(sys.argv[1], *map(int, sys.argv[2:]))
    print(len(list(out.glob("*/*.jpg"))), "photographs in", out)
