# SPDX-License-Identifier: Apache-2.0
"""What CV-CUDA does in place of a row of operator_rows.py, for a batch of torch's images on the GPU.

`call_of(name, images, ragged)` returns a function, or None where CV-CUDA has no such operator. Uniform images are one tensor, ragged
ones an ImageBatchVarShape. CV-CUDA 0.19's sift is left out: 32 images of 1080p end its context with an illegal access to memory.
"""

import numpy as np
import operator_data
import torch

import cvcuda as cv

TURNED = np.array([[0.97, 0.26, -58.6], [-0.26, 0.97, 74.9]], np.float32)
TILTED = np.array([[1, 0.1, -10], [0.05, 1, 5], [1e-4, 2e-4, 1]], np.float32)
ZEROS = np.zeros(4, np.float32)
INVERSE = int(cv.Interp.WARP_INVERSE_MAP)
NOTES = {
    "resize 224 cubic": "another cubic",
    "resize 640 cubic": "another cubic",
    "resize 224 antialiased": "pillowresize",
    "hue": "in HSV",
    "saturation": "a blend with gray",
    "contrast": "about the mean gray",
    "noise.gaussian": "another generator",
    "reductions.max": "finds the place too, one channel of three in a call",
    "reductions.min": "finds the place too, one channel of three in a call",
    "clahe": "",
    "inpaint": "pixel by pixel",
}


def on_gpu(values, layout=None):
    return cv.as_tensor(torch.as_tensor(np.asarray(values)).cuda(), layout)


def pixels_of(images, ragged):
    """CV-CUDA's view of the images."""
    if not ragged:
        return cv.as_tensor(images, "NHWC")
    kind = {torch.uint8: "8", torch.float32: "f32"}[images[0].dtype]
    channels = {1: {"8": "U8", "f32": "F32"}[kind], 3: "RGB" + kind}[images[0].shape[-1]]
    return cv.as_images(list(images), getattr(cv.Format, channels))


def uniform(name, x, images):
    n, height, width, channels = images.shape
    kinds = {"linear": cv.Interp.LINEAR, "cubic": cv.Interp.CUBIC, "nearest": cv.Interp.NEAREST}
    first, _, last = name.partition(" ")
    if first == "resize" and last.split()[-1] in kinds:
        side, kind = last.split()
        return lambda: cv.resize(x, (n, int(side), int(side), channels), kinds[kind])
    if first in ("warp_affine", "rotate") or name == "warp_perspective" or first == "remap":
        return warps(name, x, (height, width), kinds.get(last, cv.Interp.LINEAR))
    calls = {
        "resize 224 antialiased": lambda: cv.hq_resize(x, (224, 224), antialias=True, interpolation=cv.Interp.LINEAR),
        "random_resized_crop": lambda: cv.random_resized_crop(x, (n, 224, 224, channels)),
        "flip": lambda: cv.flip(x, 1),
        "flip vertical": lambda: cv.flip(x, 0),
        "transpose CHW": lambda: cv.reformat(x, "NCHW"),
        "crop": lambda: cv.center_crop(x, (224, 224)),
        "slice": lambda: cv.customcrop(x, cv.RectI(60, 50, 300, 300)),
        "cast": lambda: cv.convertto(x, np.float32),
        "cast to uint8": lambda: cv.convertto(x, np.uint8),
        "normalize": None,
        "histogram float32": None,
        "paste": lambda: cv.copymakeborder(
            x, border_mode=cv.Border.CONSTANT, border_value=[0.0] * 3, **borders(height, width)
        ),
        "equalize": lambda: cv.histogrameq(x, np.uint8),
        "gaussian_blur 5": lambda: cv.gaussian(x, (5, 5), (1.1, 1.1), cv.Border.REFLECT101),
        "gaussian_blur 31": lambda: cv.gaussian(x, (31, 31), (5, 5), cv.Border.REFLECT101),
        "laplacian 3": lambda: cv.laplacian(x, 3, 1.0, cv.Border.REFLECT101),
        **{f"median_blur {k}": lambda k=k: cv.median_blur(x, (k, k)) for k in (3, 5, 15)},
        "noise.gaussian": lambda: cv.gaussiannoise(x, 0.0, 10.0, True, seed=1),
    }
    if name == "inpaint":
        masks = on_gpu(np.stack([operator_data.holes(np.random.default_rng(height), height, width)] * n), "NHWC")
        return lambda: cv.inpaint(x, masks, 3.0)
    if first in ("dilate", "erode"):
        return morphology(x, first, int(last), cv.as_tensor(torch.empty_like(images), "NHWC"))
    return calls.get(name) or alike(name, x)


def borders(height, width):
    top, left = height // 8, width // 8
    return {"top": top, "bottom": height // 4 - top, "left": left, "right": width // 4 - left}


def border_of(name):
    """The border that operator_rows.py gives the row: a fifth of a turned image is outside, where a constant costs nothing."""
    return cv.Border.REFLECT101 if name == "warp_affine cubic" else cv.Border.CONSTANT


def shift_of(height, width):
    """CV-CUDA turns images about their corner and moves them after that: by as much that the center stays where it is."""
    angle = np.radians(15.0)
    x, y = (width - 1) / 2, (height - 1) / 2
    return (1 - np.cos(angle)) * x - np.sin(angle) * y, np.sin(angle) * x + (1 - np.cos(angle)) * y


def warps(name, x, size, how):
    border = {"border_mode": border_of(name), "border_value": ZEROS}
    if name.startswith("warp_affine"):
        return lambda: cv.warp_affine(x, TURNED, int(how) | INVERSE, **border)
    if name == "rotate":
        return lambda: cv.rotate(x, 15.0, shift_of(*size), cv.Interp.LINEAR)
    if name == "warp_perspective":
        return lambda: cv.warp_perspective(x, TILTED, int(how) | INVERSE, **border)
    y, x_of = np.mgrid[: size[0], : size[1]].astype(np.float32)
    maps = np.stack([x_of + 6 * np.sin(y / 20), y + 6 * np.cos(x_of / 20)], -1, dtype=np.float32)[None]
    maps = on_gpu(maps, "NHWC")
    return lambda: cv.remap(x, maps, src_interp=how, map_type=cv.Remap.ABSOLUTE, align_corners=True)


def morphology(x, name, side, space):
    kind = cv.MorphologyType.DILATE if name == "dilate" else cv.MorphologyType.ERODE
    more = {"workspace": space, "iteration": 1, "border": cv.Border.CONSTANT}
    return lambda: cv.morphology(x, kind, (side, side), (-1, -1), **more)


def alike(name, x):
    """Calls that uniform and ragged images share."""
    return {
        "brightness": lambda: cv.brightness_contrast(x, 1.2, 1.0, 0.0, 127.5),
        "brightness_contrast": lambda: cv.brightness_contrast(x, 1.2, 0.9, 0.0, 127.5),
        "contrast": lambda: cv.adjust_contrast(x, 0.9),
        "hue": lambda: cv.adjust_hue(x, 0.03),
        "saturation": lambda: cv.adjust_saturation(x, 1.3),
        "color_twist": lambda: cv.color_twist(x, TWIST()),
        "color_space_conversion gray": lambda: cv.cvtcolor(x, cv.ColorConversion.RGB2GRAY),
        "color_space_conversion bgr": lambda: cv.cvtcolor(x, cv.ColorConversion.RGB2BGR),
        "color_space_conversion NV12 to RGB": lambda: cv.cvtcolor(x, cv.ColorConversion.YUV2RGB_NV12),
        "color_space_conversion YUYV to RGB": lambda: cv.cvtcolor(x, cv.ColorConversion.YUV2RGB_YUYV),
        "color_space_conversion RGB to HSV": lambda: cv.cvtcolor(x, cv.ColorConversion.RGB2HSV),
        "color_space_conversion HSV to RGB": lambda: cv.cvtcolor(x, cv.ColorConversion.HSV2RGB),
        "color_space_conversion RGBA to RGB": lambda: cv.cvtcolor(x, cv.ColorConversion.RGBA2RGB),
        "clahe": lambda: cv.clahe(x, 2.0, (8, 8)),
        "jpeg_compression_distortion": lambda: cv.jpeg_compression_distortion(x, 60),
    }.get(name)


def TWIST(kept=[]):
    if not kept:
        rows = np.array([[1.1, -0.05, 0.02, 3], [-0.03, 1.1, 0.01, 3], [0.02, -0.02, 1.15, 3]], np.float32)
        kept.append(on_gpu(rows, "HW"))
    return kept[0]


def varied(name, x, images):
    n = len(images)
    each = lambda row, dtype=np.int32: np.tile(np.array(row, dtype), (n, 1))
    first, _, last = name.partition(" ")
    kinds = {"linear": cv.Interp.LINEAR, "cubic": cv.Interp.CUBIC, "nearest": cv.Interp.NEAREST}
    if first == "resize" and last.split()[-1] in kinds:
        side, kind = last.split()
        return lambda: cv.resize(x, [(int(side), int(side))] * n, kinds[kind])
    if name in ("resize 224 antialiased", "random_resized_crop"):
        sizes = [(224, 224)] * n
        if name == "random_resized_crop":
            return lambda: cv.random_resized_crop(x, sizes)
        return lambda: cv.hq_resize(x, sizes, antialias=True, interpolation=cv.Interp.LINEAR)
    if name in ("flip", "flip vertical"):
        code = on_gpu(np.full(n, int(name == "flip"), np.int32), "N")
        return lambda: cv.flip(x, code)
    if first == "median_blur":
        sides = on_gpu(each([int(last)] * 2), "NW")
        return lambda: cv.median_blur(x, sides)
    if first == "gaussian_blur":
        side = int(last)
        sides, sigmas = on_gpu(each([side] * 2), "NW"), on_gpu(each([side / 6 + 0.3] * 2, np.float64), "NW")
        return lambda: cv.gaussian(x, (side, side), sides, sigmas, cv.Border.REFLECT101)
    if name == "laplacian 3":
        sides, scales = on_gpu(np.full(n, 3, np.int32), "N"), on_gpu(np.ones(n, np.float32), "N")
        return lambda: cv.laplacian(x, sides, scales, cv.Border.REFLECT101)
    if first in ("dilate", "erode"):
        kind = cv.MorphologyType.DILATE if first == "dilate" else cv.MorphologyType.ERODE
        masks, anchors = on_gpu(each([int(last)] * 2), "NW"), on_gpu(each([-1, -1]), "NW")
        space = pixels_of([torch.empty_like(image) for image in images], True)
        more = {"workspace": space, "iteration": 1, "border": cv.Border.CONSTANT}
        return lambda: cv.morphology(x, kind, masks, anchors, **more)
    if first in ("warp_affine", "warp_perspective"):
        matrix = TURNED if first == "warp_affine" else TILTED
        matrices = on_gpu(np.tile(matrix.reshape(1, -1), (n, 1)), "NW")
        how = int(kinds.get(last, cv.Interp.LINEAR)) | INVERSE
        call = getattr(cv, first)
        return lambda: call(x, matrices, how, border_mode=border_of(name), border_value=ZEROS)
    if name == "rotate":
        shifts = on_gpu(np.array([shift_of(*image.shape[:2]) for image in images]), "NW")
        angles = on_gpu(np.full(n, 15.0), "N")
        return lambda: cv.rotate(x, angles, shifts, cv.Interp.LINEAR)
    if name == "equalize":
        return lambda: cv.histogrameq(x)
    if name == "noise.gaussian":
        mean, sigma = on_gpu(np.zeros(n, np.float32), "N"), on_gpu(np.full(n, 10.0, np.float32), "N")
        return lambda: cv.gaussiannoise(x, mean, sigma, True, 1)
    return alike(name, x)


def call_of(name, images, ragged):
    x = pixels_of(images, ragged)
    return varied(name, x, images) if ragged else uniform(name, x, images)


def stream_of(stream):
    return cv.as_stream(stream)
