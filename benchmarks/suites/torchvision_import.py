# SPDX-License-Identifier: Apache-2.0
"""Imports torchvision beside a CPU build of torch.

PyPI's torchvision is built for CUDA, so its compiled part does not load there and its import fails on operators that
it would register. Nothing that is measured here uses them: transforms are written on torch, files are decoded by
Pillow. Declaring the operators is enough.
"""

import torch

_declared = torch.library.Library("torchvision", "DEF")
if torch.version.cuda is None:
    for _name in ("nms", "qnms"):
        _declared.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import torchvision  # noqa: E402, F401
