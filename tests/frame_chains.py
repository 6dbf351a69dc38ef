# SPDX-License-Identifier: Apache-2.0
"""Frames of luma and chroma, and what may follow their conversion in one stage, for tests of both devices."""

import numpy as np

import penstock
from penstock import fn, types

FRAMES = ["NV12", "NV21", "I420", "YV12", "NV16", "NV24", "YUYV", "UYVY", "YVYU", "BGR565", "BGR555"]
TARGETS = ["RGB", "BGR", "GRAY", "RGBA", "BGRA"]
SIZES = [(2, 2), (6, 4), (34, 18), (70, 130), (16, 300), (150, 62)]
TURN = [0.8, 0.3, -4.0, -0.3, 0.9, 7.5]


def normalized(x, channels, lead="", **arguments):
    numbers = {"mean": [120.0, 110.0, 100.0, 90.0][:channels], "std": [60.0, 50.0, 40.0, 30.0][:channels]}
    return fn.crop_mirror_normalize(x, dtype=types.FLOAT16, output_layout=lead + "CHW", **numbers, **arguments)


CHAINS = {
    "small": lambda x, *c: normalized(fn.resize(x, size=[20, 31], antialias=False), *c),
    "antialiased": lambda x, *c: normalized(fn.resize(x, size=[9, 7], antialias=True), *c),
    "large": lambda x, *c: fn.resize(x, size=[90, 71], interp_type=types.INTERP_CUBIC),
    "nearest": lambda x, *c: fn.resize(x, size=[33, 41], interp_type=types.INTERP_NN),
    "mirrored": lambda x, *c: normalized(fn.resize(fn.flip(x, horizontal=1), size=[24, 24]), *c, mirror=1),
    "window": lambda x, *c: normalized(x, *c, crop=[13, 15], fill_values=3.0, out_of_bounds_policy="pad"),
    "padded": lambda x, *c: fn.crop(x, crop=[40, 41], crop_pos_x=0.7, fill_values=3.0, out_of_bounds_policy="pad"),
    "pixels": lambda x, *c: fn.brightness_contrast(x, brightness=1.2, contrast=0.8),
    "bytes": lambda x, *c: fn.resize(fn.slice(x, [0.1, 0.2], [0.7, 0.5], axis_names="HW"), size=[16, 24]),
    "blurred": lambda x, *c: fn.gaussian_blur(x, window_size=5),
    "warped": lambda x, *c: fn.warp_affine(x, matrix=TURN, fill_value=42.0),
    "turned": lambda x, *c: normalized(fn.rotate(x, angle=30.0, keep_size=True, fill_value=7.0), *c),
}


def shape_of(frame, h, w):
    rows, of, channels = {
        "NV16": (2, 1, 1), "NV24": (3, 1, 1), "NV12": (3, 2, 1), "NV21": (3, 2, 1), "I420": (3, 2, 1), "YV12": (3, 2, 1)
    }.get(frame, (1, 1, 2))  # fmt: skip
    return h * rows // of, w, channels


def frames_of(name, seed, sizes=SIZES, sequence=0):
    random = np.random.default_rng(seed)
    lead = (sequence,) if sequence else ()
    return [random.integers(0, 256, lead + shape_of(name, *size), np.uint8) for size in sizes]


def channels_of(target):
    return {"GRAY": 1, "RGBA": 4, "BGRA": 4}.get(target, 3)


def program(data, frame, target, chain, device="cpu", layout="HWC", **arguments):
    with penstock.Pipeline(batch_size=len(data), num_threads=2, device_id=0 if device == "gpu" else None) as pipe:
        x = fn.external_source(lambda: data, layout=layout, device=device)
        x = fn.color_space_conversion(x, image_type=frame, output_type=target, **arguments)
        pipe.set_outputs(CHAINS[chain](x, channels_of(target), layout[:-3]))
    return pipe


def is_source(pipe):
    """Whether the plan has no step for the conversion alone."""
    (line,) = (line for line in pipe.plan().splitlines() if "color_space_conversion" in line)
    return "stage" in line and line.count("%") > 1


def outputs(pipe, device="cpu"):
    (out,) = pipe.run()
    return [np.array(out[i].cpu() if device == "gpu" else out[i]) for i in range(len(out))]


def one_by_one(data, frame, target, chain, layout="HWC", **arguments):
    """The same by immediate calls: RGB of the whole frame, in memory, then the rest."""
    pixels = [
        fn.color_space_conversion(penstock.tensor(x, layout=layout), image_type=frame, output_type=target, **arguments)
        for x in data
    ]
    return [np.array(CHAINS[chain](x, channels_of(target), layout[:-3])) for x in pixels]
