# SPDX-License-Identifier: Apache-2.0
"""Operators on each pixel, casts and constants: the references and random calls."""

import math

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import COLOR_LAYOUTS, DTYPES, IMAGE_LAYOUTS, NUMBERS, arguments, images, number, of, output_type
from operators.exact import range_of, to_dtype


def brightness_contrast(x, *, brightness=1.0, brightness_shift=0.0, contrast=1.0, contrast_center=None, dtype=None):
    kind = np.dtype(x.dtype)
    half = 0.5 if kind.kind == "f" else 2.0 ** (8 * kind.itemsize - (2 if kind.kind == "i" else 1))
    center = half if contrast_center is None else contrast_center
    shift = brightness_shift * range_of(dtype or x.dtype)
    # Not center + contrast * (x - center): for 64-bit integers x - 2^63 keeps only multiples of 1024.
    return shift + brightness * (contrast * x.astype(np.float64) + (center - contrast * center))


def brightness(x, *, brightness=1.0, brightness_shift=0.0, dtype=None):
    return brightness_contrast(x, brightness=brightness, brightness_shift=brightness_shift, dtype=dtype)


def contrast(x, *, contrast=1.0, contrast_center=None, dtype=None):
    return brightness_contrast(x, contrast=contrast, contrast_center=contrast_center, dtype=dtype)


RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def color_twist(x, *, brightness=1.0, contrast=1.0, hue=0.0, saturation=1.0, value=1.0):
    """Channel last. The contrast's center is 128 for every integer type and 0.5 for floats."""
    c, s = saturation * math.cos(math.radians(hue)), saturation * math.sin(math.radians(hue))
    turn = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    m = brightness * contrast * value * np.linalg.inv(RGB_TO_YIQ) @ turn @ RGB_TO_YIQ
    half = 0.5 if x.dtype.kind == "f" else 128.0
    return x.astype(np.float64) @ m.T + half * (1 - contrast) * brightness


def hsv(x, *, hue=0.0, saturation=1.0, value=1.0):
    return color_twist(x, hue=hue, saturation=saturation, value=value)


def hue(x, *, hue=0.0):
    return color_twist(x, hue=hue)


def saturation(x, *, saturation=1.0):
    return color_twist(x, saturation=saturation)


LUMA = np.array([0.299, 0.587, 0.114])
RGB_TO_YCBCR = np.array(
    [
        [0.25678823529, 0.50412941176, 0.09790588235],
        [-0.14822289945, -0.29099278682, 0.43921568627],
        [0.43921568627, -0.36778831435, -0.07142737192],
    ]
)


def color_space_conversion(x, *, image_type, output_type):
    """uint8, channel last; RGB, BGR, GRAY, YCbCr (ITU-R BT.601, Y in 16 to 235)."""
    x, k = x.astype(np.float64), 255 / 219
    if image_type == output_type:
        return x
    rgb = x[..., ::-1] if image_type == "BGR" else x
    if image_type == "YCbCr":
        y, b, r = k * (x[..., :1] - 16), x[..., 1:2] - 128, x[..., 2:] - 128
        if output_type == "GRAY":
            return y
        rgb = np.concatenate(
            [y + 1.5960267848 * r, y - 0.39176228842 * b - 0.81296764538 * r, y + 2.0172321417 * b], -1
        )
    if image_type == "GRAY":
        if output_type == "YCbCr":
            return np.concatenate([x / k + 16, np.full_like(x, 128), np.full_like(x, 128)], -1)
        return np.repeat(x, 3, -1)
    if output_type == "GRAY":
        return (rgb @ LUMA)[..., None]
    if output_type == "YCbCr":
        return rgb @ RGB_TO_YCBCR.T + [16, 128, 128]
    return rgb[..., ::-1] if output_type == "BGR" else rgb


def cast(x, *, dtype):
    return to_dtype(x, dtype)


def draw_brightness_contrast(names, function):
    ranges = {
        "brightness": number(-2, 2),
        "brightness_shift": number(-1, 1),
        "contrast": number(-2, 2),
        "contrast_center": number(-100, 100),
    }

    def make(draw):
        xs, layout, dtype = images(draw, IMAGE_LAYOUTS, NUMBERS)
        given = arguments(draw, len(xs), {n: ranges[n] for n in names})
        out = output_type(draw, dtype, given[0])
        span = 4 * max(range_of(out), 0.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max))
        takes_type = function is not contrast
        return Case(
            [xs],
            [layout],
            *given,
            dtype=out,
            largest=span,
            expected=lambda i: function(
                xs[i],
                **{k: v for k, v in of(given, i).items() if k != "dtype"},
                **({"dtype": out} if takes_type else {}),
            ),
        )

    return make


def draw_color(names, function, default=None):
    ranges = {
        "hue": number(-360, 360),
        "saturation": number(-2, 2),
        "value": number(0, 2),
        "brightness": number(0, 2),
        "contrast": number(0, 2),
    }

    def make(draw):
        xs, layout, dtype = images(draw, COLOR_LAYOUTS, NUMBERS, channels=3)
        given = arguments(draw, len(xs), {n: ranges[n] for n in names})
        out = output_type(draw, dtype, given[0])
        if default and "dtype" not in given[0]:
            out = default
        c = layout.index("C")

        def expected(i):
            keywords = {k: v for k, v in of(given, i).items() if k != "dtype"}
            return np.moveaxis(function(np.moveaxis(xs[i], c, -1), **keywords), -1, c)

        return Case(
            [xs],
            [layout],
            *given,
            dtype=out,
            expected=expected,
            largest=20 * max([256.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size]),
        )

    return make


# Of OpenCV, whose integers are the definition (tests/test_color_conversion.py has them all); roots of Lab and Luv are ours.
OF_OPENCV = {
    ("RGB", "HSV"): "RGB2HSV",
    ("BGR", "HLS"): "BGR2HLS",
    ("RGB", "Lab"): "RGB2LAB",
    ("Lab", "BGR"): "LAB2BGR",
    ("RGB", "Luv"): "RGB2LUV",
    ("YCrCb", "RGB"): "YCrCb2RGB",
    ("RGB", "YUV"): "RGB2YUV",
    ("XYZ", "RGB"): "XYZ2RGB",
    ("NV12", "RGB"): "YUV2RGB_NV12",
    ("YV12", "BGRA"): "YUV2BGRA_YV12",
    ("RGB", "I420"): "RGB2YUV_I420",
    ("UYVY", "BGR"): "YUV2BGR_UYVY",
    ("RGBA", "YUYV"): "RGBA2YUV_YUYV",
    ("RGBA", "GRAY"): "RGBA2GRAY",
    ("BGR", "RGBA"): "BGR2RGBA",
    ("BGR565", "RGB"): "BGR5652RGB",
}
ROUNDED = {"Lab", "Luv", "HLS"}  # not integers: by up to 2 from OpenCV's
CHANNELS = {"RGBA": 4, "NV12": 1, "YV12": 1, "UYVY": 2, "BGR565": 2}


def color_of_opencv(x, source, target):
    y = cv2.cvtColor(x[..., 0] if x.shape[-1] == 1 else x, getattr(cv2, f"COLOR_{OF_OPENCV[source, target]}"))
    y = y if y.ndim == 3 else y[..., None]
    return y.astype(np.float64) if {source, target} & ROUNDED else y


def draw_format(draw):
    source, target = draw(st.sampled_from(list(OF_OPENCV)))
    rows = 6 if source in ("NV12", "YV12") else 2 if target == "I420" else 1
    columns = 2 if {source, target} & {"NV12", "YV12", "I420", "UYVY", "YUYV"} else 1
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 40)), min_size=1, max_size=3))
    xs = [random.integers(0, 256, (rows * h, columns * w, CHANNELS.get(source, 3)), np.uint8) for h, w in sizes]
    return Case(
        [xs],
        ["HWC"],
        {"image_type": source, "output_type": target},
        dtype="uint8",
        error=3 / 255,
        expected=lambda i: color_of_opencv(xs[i], source, target),
    )


def draw_color_space_conversion(draw):
    if draw(st.booleans()):
        return draw_format(draw)
    names = ["RGB", "BGR", "GRAY", "YCbCr"]
    source, target = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    xs, layout, dtype = images(draw, ["HWC", "FHWC", "DHWC"], ["uint8"], channels=1 if source == "GRAY" else 3)
    return Case(
        [xs],
        [layout],
        {"image_type": names.index(source), "output_type": names.index(target)},
        dtype=dtype,
        expected=lambda i: color_space_conversion(xs[i], image_type=source, output_type=target),
    )


def draw_cast(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    out = draw(st.sampled_from(DTYPES))
    return Case([xs], [layout], {"dtype": out}, dtype=out, expected=lambda i: cast(xs[i], dtype=out))


def draw_constant(draw):
    data, out = draw(st.lists(st.integers(-300, 300), min_size=1, max_size=6)), draw(st.sampled_from(DTYPES))
    return Case(
        [],
        [],
        {"idata": data, "shape": [len(data)], "dtype": out},
        dtype=out,
        size=draw(st.integers(1, 3)),
        expected=lambda i: to_dtype(np.array(data), out),
    )


CASES = {
    "brightness_contrast": draw_brightness_contrast(
        ["brightness", "brightness_shift", "contrast", "contrast_center"], brightness_contrast
    ),
    "brightness": draw_brightness_contrast(["brightness", "brightness_shift"], brightness),
    "contrast": draw_brightness_contrast(["contrast", "contrast_center"], contrast),
    "hue": draw_color(["hue"], hue),
    "saturation": draw_color(["saturation"], saturation),
    "hsv": draw_color(["hue", "saturation", "value"], hsv, default="uint8"),
    "color_twist": draw_color(["brightness", "contrast", "hue", "saturation"], color_twist),
    "color_space_conversion": draw_color_space_conversion,
    "cast": draw_cast,
    "constant": draw_constant,
}
REFERENCES = {"constant": "to_dtype"}
