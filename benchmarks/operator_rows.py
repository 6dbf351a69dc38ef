# SPDX-License-Identifier: Apache-2.0
"""The rows of the tables of operators: how each operator of the registry is called.

A row's call gets `f`, with the modules `f.fn`, `f.types` and `f.math` of Penstock or of DALI, and `f.size`, the arguments of an
operator without inputs; then a batch for each of the row's kinds (operator_data.py). The first word of a row's name is the operator's
name in the registry. `WITHOUT` says why an operator has no row; `check_registry` refuses one that has neither.
"""

import dataclasses
import os
from collections.abc import Callable
from types import SimpleNamespace

ALL, BYTES, REAL, TWO = ("uint8", "float32", "uint16"), ("uint8",), ("float32",), ("uint8", "float32")
INTEGERS = ("uint8", "uint16")


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    kinds: tuple
    dtypes: tuple
    call: Callable
    shapes: tuple = (False, True)  # uniform, ragged
    pipeline: bool = False  # only a pipeline has the operator

    @property
    def operator(self):
        return self.name.split()[0]


ROWS = {}


def row(name, kinds, dtypes, call, **more):
    assert name not in ROWS, name
    ROWS[name] = Row(name, tuple(kinds.split()), dtypes, call, **more)


def signs():
    pairs = {"_add": TWO, "_sub": TWO, "_mul": TWO, "_div": TWO, "_fdiv": TWO, "_mod": TWO}
    pairs |= dict.fromkeys(("_lt", "_le", "_gt", "_ge", "_eq", "_ne"), TWO)
    pairs |= dict.fromkeys(("_and", "_or", "_xor"), INTEGERS)
    for name, dtypes in pairs.items():
        divides = name in ("_fdiv", "_mod") and "few'" or "image'"
        row(name, f"image {divides}", dtypes, BINARY[name])
    row("_shl", "image few", BYTES, BINARY["_shl"])
    row("_shr", "image few", BYTES, BINARY["_shr"])
    row("_pow", "unit unit'", REAL, BINARY["_pow"])
    row("_add constant", "image", TWO, lambda f, x: x + 3)
    row("_mul constant", "image", TWO, lambda f, x: x * 1.5)
    row("_neg", "image", REAL, lambda f, x: -x)
    row("_pos", "image", REAL, lambda f, x: +x)
    row("_not", "image", INTEGERS, lambda f, x: ~x)


BINARY = {
    "_add": lambda f, a, b: a + b,
    "_sub": lambda f, a, b: a - b,
    "_mul": lambda f, a, b: a * b,
    "_div": lambda f, a, b: a / b,
    "_fdiv": lambda f, a, b: a // (b + 1),
    "_mod": lambda f, a, b: a % (b + 1),
    "_lt": lambda f, a, b: a < b,
    "_le": lambda f, a, b: a <= b,
    "_gt": lambda f, a, b: a > b,
    "_ge": lambda f, a, b: a >= b,
    "_eq": lambda f, a, b: a == b,
    "_ne": lambda f, a, b: a != b,
    "_and": lambda f, a, b: a & b,
    "_or": lambda f, a, b: a | b,
    "_xor": lambda f, a, b: a ^ b,
    "_shl": lambda f, a, b: a << b,
    "_shr": lambda f, a, b: a >> b,
    "_pow": lambda f, a, b: a**b,
}


def functions():
    """penstock.math."""
    one = lambda name: lambda f, x: getattr(f.math, name)(x)
    two = lambda name: lambda f, a, b: getattr(f.math, name)(a, b)
    for name in "sqrt rsqrt cbrt exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh atanh".split():
        row(f"_math.{name}", "unit", REAL, one(name))
    row("_math.acosh", "more", REAL, one("acosh"))
    for name in ("fabs", "floor", "ceil"):
        row(f"_math.{name}", "image", REAL, one(name))
    row("_math.abs", "image", REAL, one("abs"))
    for name in ("min", "max"):
        row(f"_math.{name}", "image image'", TWO, two(name))
    for name in ("pow", "fpow", "atan2"):
        row(f"_math.{name}", "unit unit'", REAL, two(name))


def resampling():
    kinds = {"linear": "INTERP_LINEAR", "cubic": "INTERP_CUBIC", "lanczos": "INTERP_LANCZOS3", "nearest": "INTERP_NN"}

    def resize(name, side, kind, dtypes, **more):
        call = lambda f, x: f.fn.resize(x, size=[side, side], interp_type=getattr(f.types, kinds[kind]), **more)
        row(name, "image", dtypes, call)

    for kind in kinds:
        resize(f"resize 224 {kind}", 224, kind, ALL if kind == "linear" else TWO, antialias=False)
    resize("resize 224 antialiased", 224, "linear", ALL)
    row("resize 224 area", "image", TWO, lambda f, x: f.fn.resize(x, size=[224, 224], interp_type="area"))
    row("resize half area", "image", TWO, lambda f, x: f.fn.resize(x, size=[192, 256], interp_type="area"))
    row(
        "tensor_resize",
        "image",
        TWO,
        lambda f, x: f.fn.tensor_resize(x, sizes=[224, 224], axes=[0, 1], antialias=False),
    )
    for kind in ("linear", "cubic"):
        resize(f"resize 640 {kind}", 640, kind, TWO, antialias=False)
    for kind in ("linear", "cubic", "lanczos"):
        resize(f"resize 224 {kind} as OpenCV", 224, kind, BYTES, compat="opencv")
    for kind in ("area", "linear_exact"):
        how = {"interp_type": kind, "compat": "opencv"}
        call = lambda f, x, how=how: f.fn.resize(x, size=[224, 224], **how)
        row(f"resize 224 {kind} as OpenCV", "image", BYTES, call)
    row(
        "resize_crop_mirror",
        "image",
        TWO,
        lambda f, x: f.fn.resize_crop_mirror(x, resize_shorter=256, crop=(224, 224), mirror=1, antialias=False),
    )
    import numpy as np

    row("letterbox", "image", TWO, lambda f, x: f.fn.letterbox(x, size=[416, 640]))
    row("letterbox_placement", "size", REAL, lambda f, x: f.fn.letterbox_placement(x, size=640))
    placed = np.float32([1.25, 0, 80, 512, 384])
    row("unletterbox_boxes", "boxes", REAL, lambda f, x: f.fn.unletterbox_boxes(x, placed))
    regions = {"spatial_scale": 384.0, "sampling_ratio": 2}
    row("roi_align", "image boxes", REAL, lambda f, x, b: f.fn.roi_align(x, b, **regions))
    row("random_resized_crop", "image", TWO, lambda f, x: f.fn.random_resized_crop(x, size=[224, 224], antialias=False))
    turned = [0.97, 0.26, -58.6, -0.26, 0.97, 74.9]
    for kind in ("linear", "nearest"):
        at = kinds[kind]
        row(
            f"warp_affine {kind}",
            "image",
            ALL if kind == "linear" else TWO,
            lambda f, x, at=at: f.fn.warp_affine(x, matrix=turned, fill_value=0, interp_type=getattr(f.types, at)),
        )
    reflected = {"interp_type": "cubic", "border_mode": "reflect_101", "pixel_origin": "center"}
    row("warp_affine cubic", "image", TWO, lambda f, x: f.fn.warp_affine(x, matrix=turned, **reflected))
    row("rotate", "image", TWO, lambda f, x: f.fn.rotate(x, angle=15, keep_size=True, fill_value=0))
    tilted = [1, 0.1, -10, 0.05, 1, 5, 1e-4, 2e-4, 1]
    row("warp_perspective", "image", TWO, lambda f, x: f.fn.warp_perspective(x, matrix=tilted, pixel_origin="center"))
    for kind in ("linear", "nearest"):
        at = kinds[kind]
        call = lambda f, x, a, b, at=at: f.fn.remap(x, a, b, interp=getattr(f.types, at), pixel_origin="center")
        row(f"remap {kind}", "image map_x map_y", TWO, call)


def with_item(x, key, value):
    from penstock._graph.item_assignment import assign

    return assign(x, key, value)


def moves():
    row("crop", "image", TWO, lambda f, x: f.fn.crop(x, crop=(224, 224)))
    row("slice", "image", TWO, lambda f, x: f.fn.slice(x, start=[50, 60], shape=[300, 300], axes=[0, 1]))
    row("_subscript", "image", TWO, lambda f, x: x[50:350, 60:360], pipeline=True)
    row("_subscript step", "image", TWO, lambda f, x: x[::2, ::2], pipeline=True)
    row("_take", "image indices", TWO, lambda f, x, at: x[at], pipeline=True)
    row("_select_where", "image chosen", TWO, lambda f, x, mask: x[mask], pipeline=True)
    row("_assign", "image", TWO, lambda f, x: with_item(x, (slice(50, 350), slice(60, 360)), 7), pipeline=True)
    row("_assign_at", "image indices", TWO, lambda f, x, at: with_item(x, at, 7), pipeline=True)
    row("_assign_where", "image chosen", TWO, lambda f, x, mask: with_item(x, mask, 7), pipeline=True)
    row("flip", "image", ALL, lambda f, x: f.fn.flip(x, horizontal=1))
    row("flip vertical", "image", TWO, lambda f, x: f.fn.flip(x, horizontal=0, vertical=1))
    row("transpose", "image", ALL, lambda f, x: f.fn.transpose(x, perm=[1, 0, 2]))
    row("transpose CHW", "image", ALL, lambda f, x: f.fn.transpose(x, perm=[2, 0, 1]))
    row("cat", "image image'", TWO, lambda f, a, b: f.fn.cat(a, b, axis=0))
    row("cat channels", "image image'", TWO, lambda f, a, b: f.fn.cat(a, b, axis=2))
    row("stack", "image image'", TWO, lambda f, a, b: f.fn.stack(a, b))
    row("pad", "image", TWO, lambda f, x: f.fn.pad(x, axes=[0, 1], shape=f.canvas))
    row("paste", "image", BYTES, lambda f, x: f.fn.paste(x, ratio=1.25, fill_value=0))
    row("erase", "image", TWO, lambda f, x: f.fn.erase(x, anchor=[100, 100], shape=[80, 80], axes=[0, 1]))
    row(
        "multi_paste",
        "image corners",
        TWO,
        lambda f, x, at: f.fn.multi_paste(x, in_ids=[0, 1], output_size=f.canvas, out_anchors=at),
    )
    row("sequence_rearrange", "frames", TWO, lambda f, x: f.fn.sequence_rearrange(x, new_order=[3, 1, 0, 2]))
    row("element_extract", "frames", TWO, lambda f, x: f.fn.element_extract(x, element_map=[2]))
    row("per_frame", "frames", BYTES, lambda f, x: f.fn.per_frame(x))
    row("copy", "image", TWO, lambda f, x: f.fn.copy(x))
    row("permute_batch", "image", TWO, lambda f, x: f.fn.permute_batch(x, indices=list(range(f.count))[::-1]))
    row("expand_dims", "image", BYTES, lambda f, x: f.fn.expand_dims(x, axes=[0]))
    row("squeeze", "gray", BYTES, lambda f, x: f.fn.squeeze(x, axes=[2]))
    row("reshape", "image", BYTES, lambda f, x: f.fn.reshape(x, shape=[-1]))
    row("reinterpret", "image", BYTES, lambda f, x: f.fn.reinterpret(x, shape=[-1], dtype=f.types.INT8))
    row("shapes", "image", BYTES, lambda f, x: f.fn.shapes(x))
    row("get_property", "image", BYTES, lambda f, x: f.fn.get_property(x, key="layout"))


def values():
    """Operators that change values where they are."""
    row("cast", "image", INTEGERS, lambda f, x: f.fn.cast(x, dtype=f.types.FLOAT))
    row("cast to uint8", "image", ("float32", "uint16"), lambda f, x: f.fn.cast(x, dtype=f.types.UINT8))
    row("cast_like", "image unit", BYTES, lambda f, x, y: f.fn.cast_like(x, y))
    white = {"mean": [123.0] * 3, "std": [58.0] * 3}
    row(
        "crop_mirror_normalize",
        "image",
        TWO,
        lambda f, x: f.fn.crop_mirror_normalize(x, dtype=f.types.FLOAT, output_layout="CHW", **white),
    )
    row("brightness", "image", TWO, lambda f, x: f.fn.brightness(x, brightness=1.2))
    row("contrast", "image", TWO, lambda f, x: f.fn.contrast(x, contrast=0.9))
    row("brightness_contrast", "image", ALL, lambda f, x: f.fn.brightness_contrast(x, brightness=1.2, contrast=0.9))
    row("hue", "image", TWO, lambda f, x: f.fn.hue(x, hue=10.0))
    row("saturation", "image", TWO, lambda f, x: f.fn.saturation(x, saturation=1.3))
    row("hsv", "image", TWO, lambda f, x: f.fn.hsv(x, hue=10.0, saturation=1.3))
    twist = {"brightness": 1.2, "contrast": 0.9, "saturation": 1.3, "hue": 10.0}
    row("color_twist", "image", TWO, lambda f, x: f.fn.color_twist(x, **twist))
    for kind, name in (("gray", "GRAY"), ("bgr", "BGR"), ("ycbcr", "YCbCr")):
        call = lambda f, x, n=name: f.fn.color_space_conversion(
            x, image_type=f.types.RGB, output_type=getattr(f.types, n)
        )
        row(f"color_space_conversion {kind}", "image", BYTES, call)
    formats = [("image", "RGB", t) for t in ("HSV", "HLS", "Lab", "Luv", "XYZ", "YCrCb", "RGBA", "I420", "YUYV")]
    formats += [("image", s, "RGB") for s in ("HSV", "HLS", "Lab", "Luv", "XYZ", "YCrCb")]
    formats += [("nv12", "NV12", "RGB"), ("nv12", "I420", "RGBA"), ("yuyv", "YUYV", "RGB")]
    formats += [("rgba", "RGBA", t) for t in ("RGB", "BGRA", "GRAY")]
    for kind, source, target in formats:
        call = lambda f, x, s=source, t=target: f.fn.color_space_conversion(x, image_type=s, output_type=t)
        shapes = (False,) if target in ("I420", "YUYV") else (False, True)  # ragged images have odd widths
        row(f"color_space_conversion {source} to {target}", kind, BYTES, call, shapes=shapes)
    row("invert", "image", ALL, lambda f, x: f.fn.invert(x))
    row("solarize", "image", TWO, lambda f, x: f.fn.solarize(x, threshold=128.0))
    row("posterize", "image", BYTES, lambda f, x: f.fn.posterize(x, bits=4))
    row("grayscale", "image", TWO, lambda f, x: f.fn.grayscale(x, num_output_channels=3))
    row("adjust_saturation", "image", TWO, lambda f, x: f.fn.adjust_saturation(x, saturation_factor=1.3))
    row("adjust_hue", "image", TWO, lambda f, x: f.fn.adjust_hue(x, hue_factor=0.1))
    row("shift_hsv", "image", TWO, lambda f, x: f.fn.shift_hsv(x, hue=20.0, saturation=0.1, value=-0.1))
    row("adjust_gamma", "image", TWO, lambda f, x: f.fn.adjust_gamma(x, gamma=1.2))
    sepia = [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131]
    row("color_matrix", "image", TWO, lambda f, x: f.fn.color_matrix(x, coefficients=sepia))
    row("autocontrast", "image", TWO, lambda f, x: f.fn.autocontrast(x))
    table = {"keys": list(range(256)), "values": [min(int(1.2 * k + 3), 255) for k in range(256)]}
    row("lookup_table", "image", BYTES, lambda f, x: f.fn.lookup_table(x, dtype=f.types.UINT8, **table))
    row("lookup_table float32", "image", BYTES, lambda f, x: f.fn.lookup_table(x, dtype=f.types.FLOAT, **table))
    row("equalize", "image", BYTES, lambda f, x: f.fn.equalize(x))
    limits = {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}
    row("clahe", "gray", BYTES, lambda f, x: f.fn.clahe(x, **limits))
    row("clahe color", "image", BYTES, lambda f, x: f.fn.clahe(x, **limits))
    row("histogram", "image", BYTES, lambda f, x: f.fn.histogram(x))
    row("histogram float32", "image", REAL, lambda f, x: f.fn.histogram(x, range=[0, 256]))
    row("debayer", "plane", INTEGERS, lambda f, x: f.fn.debayer(x, blue_position=[0, 0]))
    row("encoders.jpeg", "image", BYTES, lambda f, x: f.fn.encoders.jpeg(x, quality=90))
    row("encoders.png", "image", INTEGERS, lambda f, x: f.fn.encoders.png(x, level=1, filter="sub", strategy="rle"))
    row("encoders.webp", "image", BYTES, lambda f, x: f.fn.encoders.webp(x, quality=80))
    row("where", "chosen image image'", TWO, lambda f, c, a, b: f.fn.where(c, a, b))
    row("grid_mask", "image", TWO, lambda f, x: f.fn.grid_mask(x, tile=50, ratio=0.4, angle=0.2))
    row("noise.gaussian", "image", TWO, lambda f, x: f.fn.noise.gaussian(x, stddev=10.0))
    row("noise.shot", "image", TWO, lambda f, x: f.fn.noise.shot(x, factor=10.0))
    row("noise.salt_and_pepper", "image", TWO, lambda f, x: f.fn.noise.salt_and_pepper(x, prob=0.04))
    row("noise.speckle", "image", TWO, lambda f, x: f.fn.noise.speckle(x, stddev=0.1))
    row("jpeg_compression_distortion", "image", BYTES, lambda f, x: f.fn.jpeg_compression_distortion(x, quality=60))
    row("water", "image", TWO, lambda f, x: f.fn.water(x))
    row("sphere", "image", TWO, lambda f, x: f.fn.sphere(x))
    row("elastic_transform", "image", TWO, lambda f, x: f.fn.elastic_transform(x, alpha=30.0, sigma=5.0))
    row("optical_distortion", "image", TWO, lambda f, x: f.fn.optical_distortion(x, k=0.3))
    cells = {"steps_x": [0.8, 1.2, 1.1, 0.9, 1.0], "steps_y": [1.2, 0.8, 1.0, 0.9, 1.1]}
    row("grid_distortion", "image", TWO, lambda f, x: f.fn.grid_distortion(x, **cells))
    row("jitter", "image", TWO, lambda f, x: f.fn.jitter(x))
    row("one_hot", "classes", BYTES, lambda f, x: f.fn.one_hot(x, num_classes=80))


def placed():
    """By points, lines and tiles of images of 512 x 512."""
    import numpy as np

    grid = np.stack(np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4)), -1)
    by = np.random.default_rng(3).normal(0, 0.03, grid.shape)
    points = {"points": grid.ravel().tolist(), "targets": (grid + by).ravel().tolist(), "normalized": True}
    for between in ("thin_plate_spline", "inverse_distance"):
        call = lambda f, x, between=between: f.fn.warp_by_points(x, between=between, **points)
        row(f"warp_by_points {between}", "image", TWO, call)
    lines = np.linspace(0, 512, 5)
    moves = np.zeros((5, 5, 2))
    moves[1:-1, 1:-1] = np.random.default_rng(3).integers(-10, 11, (3, 3, 2))
    mesh = {"columns": lines.tolist(), "rows": lines.tolist(), "moves": moves.ravel().tolist()}
    row("warp_by_mesh", "image", TWO, lambda f, x: f.fn.warp_by_mesh(x, **mesh))

    def quarters(x):
        """The tiles of images of one even size."""
        height, width = x.shape()[0][:2]
        return {"columns": [0, width // 2, width], "rows": [0, height // 2, height], "order": [3, 0, 1, 2]}

    row("shuffle_tiles", "image", TWO, lambda f, x: f.fn.shuffle_tiles(x, **quarters(x)), shapes=(False,))
    drops = np.random.default_rng(3).integers(0, 480, (400, 2))
    drawn = {"segments": np.hstack([drops, drops + [4, 20]]).ravel().tolist(), "color": [200.0], "opacity": [0.7]}
    row("draw_segments", "image", TWO, lambda f, x: f.fn.draw_segments(x, **drawn))
    row("draw_boxes", "image pixel_boxes", BYTES, lambda f, x, b: f.fn.draw_boxes(x, b, color=[0, 255, 0], thickness=2))
    strokes = {"lines": np.hstack([drops, drops[::-1]])[:64].ravel().tolist(), "color": [255, 0, 0]}
    row("draw_lines", "image", BYTES, lambda f, x: f.fn.draw_lines(x, **strokes))
    dots = {"centers": drops[:64].ravel().tolist(), "radius": 4.0, "color": [255, 0, 0]}
    row("draw_circles", "image", BYTES, lambda f, x: f.fn.draw_circles(x, **dots))
    written = {"text": ["Penstock"] * 16, "positions": drops[:16].ravel().tolist(), "scale": 2}
    row("draw_text", "image", BYTES, lambda f, x: f.fn.draw_text(x, **written))
    row("box_blur_regions", "image pixel_boxes", BYTES, lambda f, x, b: f.fn.box_blur_regions(x, b, window_size=15))


def windows():
    import numpy as np

    for side in (5, 31):
        row(
            f"gaussian_blur {side}",
            "image",
            ALL if side == 5 else TWO,
            lambda f, x, n=side: f.fn.gaussian_blur(x, window_size=n),
        )
    row("adjust_sharpness", "image", TWO, lambda f, x: f.fn.adjust_sharpness(x, sharpness_factor=1.5))
    for side in (3, 15):
        row(f"box_blur {side}", "image", TWO, lambda f, x, n=side: f.fn.box_blur(x, window_size=[n, n]))
    for side in (1, 3, 7):
        row(
            f"laplacian {side}",
            "image",
            TWO,
            lambda f, x, n=side: f.fn.laplacian(x, window_size=n, dtype=f.types.FLOAT),
        )
    for side in (3, 7):
        row(f"sobel {side}", "image", TWO, lambda f, x, n=side: f.fn.sobel(x, window_size=n))
    row("canny", "image", BYTES, lambda f, x: f.fn.canny(x, low=50.0, high=150.0))
    for side in (3, 7):
        taps = np.random.default_rng(3).random((side, side), np.float32) * np.float32(2 / side**2)
        row(f"correlate {side}", "image", TWO, lambda f, x, taps=taps: f.fn.correlate(x, taps))
    for side, dtypes in ((3, ALL), (5, ALL), (15, BYTES)):
        call = lambda f, x, n=side: f.fn.median_blur(x, window_size=[n, n])
        row(f"median_blur {side}", "image", dtypes, call)
    for name, side in (("dilate", 3), ("erode", 9), ("dilate", 31)):
        call = lambda f, x, name=name, n=side: getattr(f.fn, name)(x, mask_size=[n, n])
        row(f"{name} {side}", "image", ALL if side < 31 else TWO, call)
    for name, side in (("open", 3), ("close", 9), ("gradient", 3), ("tophat", 9)):
        call = lambda f, x, name=name, n=side: f.fn.morphology(x, operation=name, mask_size=[n, n])
        row(f"morphology {name} {side}", "image", TWO, call)
    smooth = {"diameter": 9, "sigma_color": 30.0, "sigma_space": 4.0}
    row("bilateral_filter", "gray", TWO, lambda f, x: f.fn.bilateral_filter(x, **smooth))
    row("bilateral_filter color", "image", TWO, lambda f, x: f.fn.bilateral_filter(x, **smooth))
    row("joint_bilateral_filter", "gray image", BYTES, lambda f, x, g: f.fn.joint_bilateral_filter(x, g, **smooth))


def levels():
    """Thresholds, and what chooses elements or channels."""
    call = lambda f, x, mode: f.fn.threshold(x, threshold=127, mode=mode)
    for mode in ("binary", "tozero"):
        row(f"threshold {mode}", "image", ALL, lambda f, x, mode=mode: call(f, x, mode))
    row("find_threshold otsu", "gray", INTEGERS, lambda f, x: f.fn.find_threshold(x))
    row("find_threshold triangle", "gray", BYTES, lambda f, x: f.fn.find_threshold(x, method="triangle"))
    for method, side in (("mean", 11), ("gaussian", 11)):
        call_adaptive = lambda f, x, m=method, n=side: f.fn.adaptive_threshold(x, method=m, block_size=n, offset=2)
        row(f"adaptive_threshold {method}", "gray", BYTES, call_adaptive)
    row("composite", "image image' gray", TWO, lambda f, a, b, m: f.fn.composite(a, b, m))
    row("min_max_loc", "gray", ALL, lambda f, x: f.fn.min_max_loc(x))
    row("channel_reorder", "image", TWO, lambda f, x: f.fn.channel_reorder(x, order=[2, 0, 1]))


def sums():
    for name in ("sum", "mean", "mean_square", "rms", "min", "max"):
        call = lambda f, x, name=name, **axes: getattr(f.fn.reductions, name)(x, **axes)
        row(f"reductions.{name}", "image", TWO, lambda f, x, call=call: call(f, x, axes=[0, 1]))
        row(f"reductions.{name} all", "image", TWO, call)
    for name in ("std_dev", "variance"):
        call = lambda f, x, m, name=name: getattr(f.fn.reductions, name)(x, m, axes=[0, 1])
        row(f"reductions.{name}", "image mean", TWO, call)
    row("normalize", "image", TWO, lambda f, x: f.fn.normalize(x, axes=[0, 1]))
    row("normalize sound", "spectrum", REAL, lambda f, x: f.fn.normalize(x, axes=[1]))


def signals():
    row("audio_resample", "audio", REAL, lambda f, x: f.fn.audio_resample(x, in_rate=16000, out_rate=22050))
    row("preemphasis_filter", "audio", REAL, lambda f, x: f.fn.preemphasis_filter(x))
    windows = {"nfft": 512, "window_length": 400, "window_step": 256}
    row("spectrogram", "audio", REAL, lambda f, x: f.fn.spectrogram(x, **windows))
    row("spectrogram complex", "audio", REAL, lambda f, x: f.fn.spectrogram(x, power=0, **windows))
    row("inverse_spectrogram", "pairs", REAL, lambda f, x: f.fn.inverse_spectrogram(x, window_step=160))
    row("griffin_lim", "spectrum", REAL, lambda f, x: f.fn.griffin_lim(x, window_step=160, n_iter=4))
    row("power_spectrum", "frame", REAL, lambda f, x: f.fn.power_spectrum(x, axis=0))
    mel = {"sample_rate": 16000, "nfilter": 80}
    row("mel_filter_bank", "spectrum", REAL, lambda f, x: f.fn.mel_filter_bank(x, **mel))
    row("mfcc", "spectrum", REAL, lambda f, x: f.fn.mfcc(x, n_mfcc=20))
    row("to_decibels", "spectrum", REAL, lambda f, x: f.fn.to_decibels(x, reference=1.0, cutoff_db=-80))
    row("nonsilent_region", "audio", REAL, lambda f, x: f.fn.nonsilent_region(x))
    row("frame_splicing", "spectrum", REAL, lambda f, x: f.fn.frame_splicing(x))
    row("spec_augment", "spectrum", REAL, lambda f, x: f.fn.spec_augment(x))
    row("time_warp", "spectrum", REAL, lambda f, x: f.fn.time_warp(x))
    row("convolve", "audio", REAL, lambda f, x: f.fn.convolve(x, x))
    row("lfilter", "audio", REAL, lambda f, x: f.fn.lfilter(x, b=[0.5, 0.5], a=[1.0, -0.5]))
    row("biquad", "audio", REAL, lambda f, x: f.fn.biquad(x, kind="lowpass", sample_rate=16000, frequency=3400))
    row("fade", "audio", REAL, lambda f, x: f.fn.fade(x, fade_in=1600, fade_out=1600))
    row("loudness", "audio", REAL, lambda f, x: f.fn.loudness(x, sample_rate=16000))
    row("time_stretch", "audio", REAL, lambda f, x: f.fn.time_stretch(x, factor=1.1, sample_rate=16000))
    row("g711_encode", "audio", REAL, lambda f, x: f.fn.g711_encode(x))
    row("g711_decode", "image", BYTES, lambda f, x: f.fn.g711_decode(x))
    row("mu_law_encode", "audio", REAL, lambda f, x: f.fn.mu_law_encode(x))
    row("mu_law_decode", "image", BYTES, lambda f, x: f.fn.mu_law_decode(x))


def annotations():
    row("bb_flip", "boxes", REAL, lambda f, x: f.fn.bb_flip(x, ltrb=True))
    row("bbox_paste", "boxes", REAL, lambda f, x: f.fn.bbox_paste(x, ratio=1.25, ltrb=True))
    turned = {"matrix": [0.9, -0.2, 30.0, 0.2, 0.9, -20.0, 0.0, 0.0, 1.0]}
    row("transform_boxes", "boxes", REAL, lambda f, x: f.fn.transform_boxes(x, output_shape=[1, 1], **turned))
    row("transform_points", "points", REAL, lambda f, x: f.fn.transform_points(x, **turned))
    row("bbox_rotate", "boxes", REAL, lambda f, x: f.fn.bbox_rotate(x, angle=15.0, input_shape=[512, 512]))
    row("box_encoder", "boxes box_labels", REAL, lambda f, x, y: f.fn.box_encoder(x, y, anchors=ANCHORS))
    row("nms", "many_boxes scores", REAL, lambda f, x, s: f.fn.nms(x, s, iou_threshold=0.5))
    row("min_area_rect", "points", REAL, lambda f, x: f.fn.min_area_rect(x))
    row("find_homography", "points points'", REAL, lambda f, a, b: f.fn.find_homography(a, b))
    robust = {"method": "ransac", "threshold": 3.0}
    row("find_homography ransac", "points moved_points", REAL, lambda f, a, b: f.fn.find_homography(a, b, **robust))
    row("inpaint", "image holes", BYTES, lambda f, x, m: f.fn.inpaint(x, m))
    row("sift", "gray", BYTES, lambda f, x: f.fn.sift(x)[1])
    row("find_contours", "regions", BYTES, lambda f, m: f.fn.find_contours(m)[0])
    row("hough_lines", "regions", BYTES, lambda f, m: f.fn.hough_lines(f.fn.canny(m), threshold=100)[0])
    row("hough_circles", "regions", BYTES, lambda f, m: f.fn.hough_circles(m, threshold=40, max_radius=60)[0])
    row("hough_lines_p", "regions", BYTES, lambda f, m: f.fn.hough_lines_p(f.fn.canny(m), threshold=50, min_length=20))
    row("match", "descriptors descriptors'", REAL, lambda f, a, b: f.fn.match(a, b))
    row("match hamming", "bits bits'", BYTES, lambda f, a, b: f.fn.match(a, b, norm="hamming", cross_check=True))
    row("coord_flip", "points", REAL, lambda f, x: f.fn.coord_flip(x, center_x=256.0))
    row("coord_transform", "points", REAL, lambda f, x: f.fn.coord_transform(x, MT=[1, 0.2, 3, -0.2, 1, 5]))
    crops = {"aspect_ratio": [0.5, 2.0], "thresholds": [0.1, 0.5], "scaling": [0.3, 1.0], "bbox_layout": "xyXY"}
    row("random_bbox_crop", "boxes", REAL, lambda f, x: f.fn.random_bbox_crop(x, num_attempts=10, **crops))
    row("ssd_random_crop", "image boxes box_labels", BYTES, lambda f, x, b, l: f.fn.ssd_random_crop(x, b, l))
    row(
        "roi_random_crop",
        "window",
        REAL,
        lambda f, x: f.fn.roi_random_crop(crop_shape=[64, 64], roi_start=[100, 120], roi_shape=[200, 240], **f.size),
    )
    row("random_crop_generator", "size", REAL, lambda f, x: f.fn.random_crop_generator(x))
    row("label", "mask", REAL, lambda f, x: f.fn.label(x))
    masks = "segmentation.random_mask_pixel segmentation.random_object_bbox segmentation.select_masks".split()
    row(masks[0], "mask", REAL, lambda f, x: f.fn.segmentation.random_mask_pixel(x, foreground=1))
    row(masks[1], "mask", REAL, lambda f, x: f.fn.segmentation.random_object_bbox(x)[0])
    row(masks[2], "polygon_ids polygons vertices", REAL, lambda f, *x: f.fn.segmentation.select_masks(*x))
    row("transforms.translation", "matrix", REAL, lambda f, x: f.fn.transforms.translation(x, offset=[3.0, 4.0]))
    row("transforms.scale", "matrix", REAL, lambda f, x: f.fn.transforms.scale(x, scale=[1.5, 2.0]))
    row("transforms.rotation", "matrix", REAL, lambda f, x: f.fn.transforms.rotation(x, angle=15.0))
    row("transforms.shear", "matrix", REAL, lambda f, x: f.fn.transforms.shear(x, shear=[0.1, 0.2]))
    row("transforms.crop", "matrix", REAL, lambda f, x: f.fn.transforms.crop(x, to_end=[2.0, 3.0]))
    row("transforms.combine", "matrix matrix'", REAL, lambda f, a, b: f.fn.transforms.combine(a, b))


ANCHORS = [
    round(v, 6) for k in range(1600) for v in (k % 40 / 50, k // 40 / 50, k % 40 / 50 + 0.15, k // 40 / 50 + 0.2)
]


def made():
    """Operators that make values."""
    shape = {"shape": [512, 512, 3]}
    only = {"shapes": (False,)}
    row("random.uniform", "value", REAL, lambda f, x: f.fn.random.uniform(**shape, **f.size), **only)
    row("random.normal", "value", REAL, lambda f, x: f.fn.random.normal(**shape, **f.size), **only)
    row("random.coin_flip", "value", REAL, lambda f, x: f.fn.random.coin_flip(**shape, **f.size), **only)
    row("random.beta", "value", REAL, lambda f, x: f.fn.random.beta(alpha=2.0, shape=[128, 128], **f.size), **only)
    row("random.choice", "classes", REAL, lambda f, x: f.fn.random.choice(x, **shape), **only)
    row("full", "value", REAL, lambda f, x: f.fn.full(x, **shape), **only)
    row("full_like", "image value", TWO, lambda f, x, v: f.fn.full_like(x, v))
    row("zeros", "value", REAL, lambda f, x: f.fn.zeros(**shape, dtype=f.types.FLOAT, **f.size), **only)
    row("ones", "value", REAL, lambda f, x: f.fn.ones(**shape, dtype=f.types.FLOAT, **f.size), **only)
    row("zeros_like", "image", TWO, lambda f, x: f.fn.zeros_like(x))
    row("ones_like", "image", TWO, lambda f, x: f.fn.ones_like(x))
    row("constant", "value", REAL, lambda f, x: f.fn.constant(fdata=[1.0] * 300, shape=[10, 10, 3], **f.size), **only)
    row("batch_permutation", "value", REAL, lambda f, x: f.fn.batch_permutation(**f.size), **only)
    row("decoders.numpy", "npy", TWO, lambda f, x: f.fn.decoders.numpy(x))


def modules(fn, element_types, math, count, size, canvas=(700, 700)):
    """What a row's call gets first."""
    return SimpleNamespace(fn=fn, types=element_types, math=math, count=count, size=size, canvas=list(canvas))


def prepared(row, f, batches):
    """What runs Penstock's operator over the batches: an immediate call, or a pipeline where the operator needs one."""
    if not row.pipeline:
        return lambda: row.call(f, *batches)
    from penstock import Pipeline

    gpu = any(batch.device_type == "gpu" for batch in batches)
    device = {"device": "gpu"} if gpu else {}
    made = Pipeline(batch_size=f.count, num_threads=len(os.sched_getaffinity(0)), device_id=0 if gpu else None)
    with made:
        always = lambda batch: lambda: batch
        kept = {"batch": True, "no_copy": True, **device}
        nodes = [f.fn.external_source(source=always(b), dtype=b.dtype, ndim=b.ndim(), **kept) for b in batches]
        made.set_outputs(row.call(f, *nodes))
    made.build()
    return made.run


for part in (signs, functions, resampling, moves, values, placed, windows, levels, sums, signals, annotations, made):
    part()

FILES = "reads or writes files: benchmarks/run.py, containers.py, remote.py and direct_storage.py"
DECODES = "decodes: benchmarks/run.py, decode_fast.py, large_image.py"
PARTS = "parts of a sample: benchmarks/samples.py"
WITHOUT = {
    "decoders.image": DECODES,
    "decoders.image_crop": DECODES,
    "decoders.image_random_crop": DECODES,
    "decoders.image_slice": DECODES,
    "peek_image_shape": DECODES,
    "peek_video": DECODES,
    "decoders.audio": "benchmarks/audio.py",
    "audio_codec": "its time is that of libopus or libmp3lame",
    "decoders.video": "benchmarks/video.py",
    "experimental.inputs.video": "benchmarks/video.py",
    "_box_union": PARTS,
    "_displace_boxes": PARTS,
    "_displace_points": PARTS,
    "_mask_boxes": PARTS,
    "_keypoints_after_move": PARTS,
    "_same_extents": PARTS,
    "_shuffle_boxes": PARTS,
    "_shuffle_points": PARTS,
    "decoders.inflate": "takes blocks of LZ4, which these environments cannot make",
    "io.file.read": FILES,
    "dump_image": FILES,
    "external_source": "carries every pipeline of these tables",
    "python_function": "calls the user's function",
    "numba_function": "calls the user's function",
}


def reason_without(operator):
    return WITHOUT.get(operator) or (FILES if "readers." in operator else None)


def check_registry(operators):
    """Fails for an operator that has neither a row nor a reason, and for a row or a reason of no operator."""
    have = {row.operator for row in ROWS.values()}
    neither = sorted(o for o in operators if o not in have and not reason_without(o))
    unknown = sorted((have | set(WITHOUT)) - set(operators))
    both = sorted(have & set(WITHOUT))
    assert not neither and not unknown and not both, f"no row: {neither}; no operator: {unknown}; twice: {both}"
