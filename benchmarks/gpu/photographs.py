# SPDX-License-Identifier: Apache-2.0
"""Copies a few photographs to as many files as a data set of a benchmark needs: photographs.py FROM TO"""

import shutil
import sys
from pathlib import Path

COUNT = {"imagenet": 4096, "coco": 1024}


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for kind, count in COUNT.items():
        files = sorted((source / kind).rglob("*.jpg"))
        for i in range(count if files else 0):
            file = files[i % len(files)]
            copy = target / kind / file.parent.name / f"{file.stem}_{i // len(files)}.jpg"
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


if __name__ == "__main__":
    main()
