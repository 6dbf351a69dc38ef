# SPDX-License-Identifier: Apache-2.0
"""One immediate call on an 8 x 8 x 3 array: what calling costs, all in."""

import time

from . import Target, Variant

UNIT = "calls/s"
VARIANTS = {
    "flip": Variant("one immediate call: flip, 8x8x3 uint8", Target(most_us=10)),
    "brightness": Variant("one immediate call: brightness, 8x8x3 uint8", Target(most_us=10)),
    "resize": Variant("one immediate call: resize 8x8 to 4x4, uint8", Target(most_us=10)),
}


def calls(function, count):
    def one_pass():
        begin = time.perf_counter()
        for _ in range(count):
            function()
        return count, time.perf_counter() - begin

    return one_pass


def small():
    import numpy as np

    return np.arange(192, dtype=np.uint8).reshape(8, 8, 3)


def start_penstock(context):
    import penstock.fn as fn

    x = small()
    return calls(
        {
            "flip": lambda: fn.flip(x, horizontal=1),
            "brightness": lambda: fn.brightness(x, brightness=1.1),
            "resize": lambda: fn.resize(x, size=[4, 4]),
        }[context.variant],
        5000,
    )


def start_dali(context):
    import nvidia.dali.experimental.dynamic as ndd

    x = ndd.as_tensor(small(), layout="HWC")
    return calls(
        {
            "flip": lambda: ndd.flip(x, horizontal=1).evaluate(),
            "brightness": lambda: ndd.brightness(x, brightness=1.1).evaluate(),
            "resize": lambda: ndd.resize(x, size=[4, 4]).evaluate(),
        }[context.variant],
        300,
    )


def start_opencv(context):
    import cv2

    cv2.setNumThreads(1)
    x = small()
    return calls(
        {
            "flip": lambda: cv2.flip(x, 1),
            "brightness": lambda: cv2.convertScaleAbs(x, alpha=1.1),
            "resize": lambda: cv2.resize(x, (4, 4)),
        }[context.variant],
        5000,
    )


def start_torchvision(context):
    from . import torchvision_import  # noqa: F401

    import torch
    from torchvision.transforms.v2 import functional as F

    torch.set_num_threads(1)
    x = torch.from_numpy(small()).permute(2, 0, 1).contiguous()
    return calls(
        {
            "flip": lambda: F.horizontal_flip(x),
            "brightness": lambda: F.adjust_brightness(x, 1.1),
            "resize": lambda: F.resize(x, [4, 4]),
        }[context.variant],
        2000,
    )


METHODS = {
    "Penstock": ("penstock", start_penstock),
    "DALI, dynamic mode": ("dali", start_dali),
    "OpenCV": ("opencv", start_opencv),
    "torchvision": ("torchvision", start_torchvision),
}
BASE = "DALI, dynamic mode"
