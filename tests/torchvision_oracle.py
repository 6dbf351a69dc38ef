# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms, beside any build of torch. Its compiled operators, which transforms do not use, load only beside the
build of torch for the same CUDA; without them the import misses two names."""

import importlib.util
import sys
from pathlib import Path

import torch

FOLDER = str(Path(sys.prefix) / "torchvision")  # tools/requirements/torchvision.txt
sys.path.append(FOLDER)


def _declare_missing():
    folder = Path(importlib.util.find_spec("torchvision").origin).parent
    try:
        torch.ops.load_library(next(folder.glob("_C*.so")))
    except (OSError, RuntimeError, StopIteration):
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library
    return None


_library = _declare_missing()

from torchvision import transforms  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

sys.path.remove(FOLDER)
__all__ = ["F", "chw", "hwc", "transforms", "v2"]
F = v2.functional


def chw(image):
    """An HWC array as a tensor of torchvision."""
    return torch.from_numpy(image.transpose(2, 0, 1).copy())


def hwc(tensor):
    return tensor.numpy().transpose(1, 2, 0)
