# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: conversions between color formats."""

import re

from .. import fn
from .calls import Step, row
from .enumerations import ColorConversion, ColorSpec
from .formats import Format
from .operands import type_of
from .values import both

_FRAMES = {
    "420sp": "NV21", "420p": "YV12", "420": "NV21", "IYUV": "I420", "Y422": "UYVY", "UYNV": "UYVY", "YUY2": "YUYV", "YUNV": "YUYV",
}  # fmt: skip
_KNOWN = "RGB BGR GRAY RGBA BGRA HSV HSV_FULL HLS HLS_FULL Lab Luv XYZ YCrCb YUV BGR565 BGR555".split()
_SPECS = {"BT601": "BT.601", "BT709": "BT.709", "BT2020": "BT.2020"}
# Formats of images by the color space and the type; what is not here follows from the channels.
_FORMATS = {
    "uint8": {
        "GRAY": "Y8_ER",
        "RGB": "RGB8",
        "BGR": "BGR8",
        "RGBA": "RGBA8",
        "BGRA": "BGRA8",
        "HSV": "HSV8",
        "Lab": "LAB8",
    },
    "float32": {"RGB": "RGBf32", "BGR": "BGRf32", "RGBA": "RGBAf32", "BGRA": "BGRAf32", "Lab": "LABf32"},
}


def spaces_of(code):
    """The two color spaces of a code, or None for one that is not between two of fn.color_space_conversion.

    Args:
        code: A ColorConversion.

    Returns:
        (from, to), the names that fn.color_space_conversion has.
    """
    name = ColorConversion(code).name
    found = re.match(r"([A-Za-z]+?(?:565|555)?|YUV420sp|YUV420p)2([A-Za-z]+?(?:565|555)?|YUV420sp)(?:_(\w+))?$", name)
    if not found:
        return None
    source, target, more = found.groups()
    if more == "FULL":
        source, target = (s + "_FULL" if s in ("HSV", "HLS") else s for s in (source, target))
    elif more:
        frame = _FRAMES.get(more, more)
        source, target = (frame if s == "YUV" else s for s in (source, target))
    source, target = (_FRAMES.get(s[3:], s) if s.startswith("YUV420") else s for s in (source, target))
    frames = {*_FRAMES.values(), "NV12"}
    return (source, target) if {source, target} <= {*_KNOWN, *frames} else None


_BAYER = {"BG": (0, 0), "GB": (0, 1), "RG": (1, 1), "GR": (1, 0)}


def _debayer(call, name):
    found = re.match(r"Bayer(..)2(RGB|BGR|GRAY)(_VNG|_EA)?$", name)
    pattern, target, method = found.groups()
    if method == "_EA":
        call.refuse(f"{name}: the edge-aware method is not there; BILINEAR and VNG are")
    algorithm = "bilinear_ocv" if not method else "vng_ocv"
    colors = call.step(fn.debayer, call.x, blue_position=list(_BAYER[pattern]), algorithm=algorithm)
    if target == "RGB":
        return Step(fn.copy, colors)
    return Step(fn.color_space_conversion, colors, image_type="RGB", output_type=target)


def _converted(call, source, target, **given):
    step = Step(fn.color_space_conversion, call.x, image_type=source, output_type=target, **given)
    format = _FORMATS.get(str(type_of(call.x)), {}).get(target)
    return step.gives(formats=getattr(Format, format)) if format and call.varies else step


@row(*both("src, code"), over=("color_space_conversion", "debayer"))
def cvtcolor(call):
    """Converts images between color formats by OpenCV's codes."""
    name = ColorConversion(call.code).name
    if name.startswith("Bayer"):
        return _debayer(call, name)
    spaces = spaces_of(call.code)
    if spaces is None:
        call.refuse(f"the conversion {name} is not there; docs/reference/cvcuda.md lists what there is")
    return _converted(call, *spaces)


@row("T: src, code, spec", over=("color_space_conversion",))
def advcvtcolor(call):
    """Converts between RGB and YCbCr, with the standard and the range of `spec`."""
    name, spaces, spec = ColorConversion(call.code).name, spaces_of(call.code), ColorSpec(call.spec).name
    luma = {"YUV", "NV12", "NV21", "I420", "YV12", "YUYV", "UYVY", "YVYU"}
    if spaces is None or not luma & set(spaces):
        call.refuse(f"{name} does not convert to or from YCbCr")
    source, target = ("YCbCr" if s == "YUV" else s for s in spaces)
    standard, _, full = spec.partition("_")
    given = {"color_spec": _SPECS[standard], "range": "full" if full else "limited"}
    if given == {"color_spec": "BT.601", "range": "limited"}:
        given = {}  # the operator's defaults
    return _converted(call, source, target, **given)
