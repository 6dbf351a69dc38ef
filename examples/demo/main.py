# SPDX-License-Identifier: Apache-2.0
"""The main job: a folder of JPEG photographs becomes shuffled, augmented, normalized batches for a ResNet-50.

    python examples/demo/main.py [FOLDER]

FOLDER has one subfolder a class; without it, a few hundred photographs are cut from those in scikit-image's wheel. Prints the time
of each stage, writes demo.png, a contact sheet of one augmented batch, and ends with three lines: the picture's path,
images a second, what to type next.
"""

import sys
import time
from pathlib import Path

from tqdm import tqdm

import data
from penstock import Batch, DataNode, Pipeline, fn, pipeline_def, types

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
SIZE, LARGEST_BATCH, SECONDS = 224, 128, 6
JPEG_SUFFIXES = {".jpg", ".jpeg"}


@pipeline_def(prefetch_queue_depth=2, seed=1)
def resnet50_training(folder: str) -> tuple[DataNode, DataNode]:
    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="reader")
    images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
    images = fn.random_resized_crop(images, size=[SIZE, SIZE])
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, mirror=fn.random.coin_flip(probability=0.5)
    )
    return images, labels


def count_photographs(folder: Path) -> int:
    return sum(path.suffix.lower() in JPEG_SUFFIXES for path in Path(folder).glob("*/*"))


def run_for(pipeline: Pipeline, batch_size: int, seconds: float) -> tuple[int, float]:
    """Takes batches for a while, after one that warms up; returns how many images came and in how many seconds."""
    pipeline.run()
    images, start = 0, time.perf_counter()
    with tqdm(total=seconds, bar_format="{l_bar}{bar}| {n:.0f}/{total:.0f} s {postfix}") as bar:
        while (passed := time.perf_counter() - start) < seconds:
            pipeline.run()
            images += batch_size
            bar.set_postfix_str(f"{images / (time.perf_counter() - start):.0f} img/s", refresh=False)
            bar.update(min(seconds, time.perf_counter() - start) - bar.n)
    return images, passed


def write_contact_sheet(images: Batch, path: str) -> None:
    """One picture of a batch. The normalization is undone by its own inverse, called at once."""
    pictures = fn.crop_mirror_normalize(
        images,
        dtype=types.UINT8,
        output_layout="HWC",
        mean=[-m / s for m, s in zip(MEAN, STD)],
        std=[1 / s for s in STD],
    )
    pictures.show(columns=16, size=112, path=path)


def main() -> None:
    if len(sys.argv) > 2:
        raise SystemExit(__doc__)
    here = Path(__file__).resolve().parent
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else data.write_folder(here / "data")
    count = count_photographs(folder)
    if count == 0:
        raise SystemExit(f"{folder} has no subfolder with JPEG files: there must be one subfolder a class")
    batch_size = min(LARGEST_BATCH, count)
    pipeline = resnet50_training(str(folder), batch_size=batch_size)
    pipeline.build()
    print(f"{count} photographs in {folder}, batches of {batch_size} x 3 x {SIZE} x {SIZE} float32")
    images, seconds = run_for(pipeline, batch_size, SECONDS)
    print(f"\n{pipeline.stats()}\n")
    augmented, _ = pipeline.run()
    write_contact_sheet(augmented, "demo.png")
    print(f"picture: {Path('demo.png').resolve()}")
    print(f"speed: {images / seconds:.0f} images a second")
    own = "make demo DATA=folder (one subfolder of photographs for each class)"
    print(
        f"next: {own}, or docs/tutorial/first_pipeline.md"
        if len(sys.argv) < 2
        else "next: docs/tutorial/first_pipeline.md"
    )


if __name__ == "__main__":
    main()
