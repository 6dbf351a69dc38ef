# SPDX-License-Identifier: Apache-2.0
"""Packs what a machine with a GPU needs to test and measure this tree: the wheel, its run-time needs, tests, benchmarks and
photographs. There, `bash FOLDER/run.sh` does everything (benchmarks/gpu/run.sh).

    python tools/device_bundle.py WHEEL FOLDER [--photos FOLDER] [--python 3.12 ...]
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from repository import ROOT

MOST_BYTES = 25_000_000
PHOTOS = {"imagenet": 56, "coco": 20}
NEEDS = ("nanobind-backend", "nvidia-nvjpeg")
PLATFORMS = ("2_39", "2_34", "2_31", "2_28", "2_27", "2_24", "2_17", "2_12", "2_5")


def wheels_of(need, folder, pythons):
    """The wheels of one package, for each of the Pythons where they differ."""
    versions = {
        line.split("==")[0]: line.split("==")[1].strip()
        for line in (ROOT / "tools/requirements/device.txt").read_text().splitlines()
        if "==" in line
    }
    platforms = [f"--platform=manylinux_{p}_x86_64" for p in PLATFORMS] + ["--platform=manylinux2014_x86_64"]
    for python in pythons:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--disable-pip-version-check",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                f"--python-version={python}",
                "--implementation=cp",
                *platforms,
                "--dest",
                str(folder),
                f"{need}=={versions[need]}",
            ],
            check=True,
        )


def copy_photos(given, folder):
    """The first files of each set; generated (and kept) where no folder with them is given."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import photos

    for kind, count in PHOTOS.items():
        source = given / kind if given else ROOT / "benchmarks" / "data" / kind
        for file in photos.write_folder(source, kind, count):
            target = folder / kind / file.parent.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "HEAD") + (" with changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--photos", type=Path, help="folder with imagenet/ and coco/ as benchmarks/photos.py makes them"
    )
    parser.add_argument("--python", nargs="+", default=["3.10", "3.11", "3.12", "3.13"])
    a = parser.parse_args()
    shutil.rmtree(a.folder, ignore_errors=True)
    (a.folder / "wheels").mkdir(parents=True)
    shutil.copy(a.wheel, a.folder / "wheels")
    for need in NEEDS:
        wheels_of(need, a.folder / "wheels", a.python)
    ignore = shutil.ignore_patterns("__pycache__", "fuzz", "emulated_gpu", "*.log")
    shutil.copytree(ROOT / "tests", a.folder / "tests", ignore=ignore)
    shutil.copytree(ROOT / "benchmarks" / "gpu", a.folder / "benchmarks" / "gpu", ignore=ignore)
    shutil.copytree(
        ROOT / "examples",
        a.folder / "examples",
        ignore=shutil.ignore_patterns("__pycache__", "pictures", "*.png", "*.jpg"),
    )
    shutil.copy(ROOT / "pyproject.toml", a.folder)
    (a.folder / "run.sh").write_text('#!/usr/bin/env bash\nexec bash "$(dirname "$0")/benchmarks/gpu/run.sh" "$@"\n')
    (a.folder / "commit").write_text(commit() + "\n")
    copy_photos(a.photos, a.folder / "photos")
    size = sum(f.stat().st_size for f in a.folder.rglob("*") if f.is_file())
    print(f"{a.folder}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        sys.exit(f"the bundle is larger than {MOST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
