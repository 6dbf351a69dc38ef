# SPDX-License-Identifier: Apache-2.0
"""Types of elements, layouts of tensors and formats of images."""

import re

import numpy as np

_KINDS = {"U": "u", "S": "i", "F": "f", "C": "c"}


class _Types(type):
    def __instancecheck__(cls, value):
        return isinstance(value, np.dtype)

    def __call__(cls, value=np.void):
        return np.dtype(value)


class Type(metaclass=_Types):
    """Types of elements: each is a type of NumPy. Type._3U8 is three numbers of Type.U8 as one element."""


def _make_types():
    for kind, letter in _KINDS.items():
        for bits in (8, 16, 32, 64, 128):
            if (kind == "F" and bits == 8) or (kind == "C") != (bits == 128 or (kind == "C" and bits == 64)):
                continue
            name, one = f"{kind}{bits}", np.dtype(f"{letter}{bits // 8}")
            setattr(Type, name, one)
            for count in (2, 3, 4):
                setattr(Type, f"_{count}{name}", np.dtype((one, (count,))))


_make_types()


def scalar_of(dtype):
    """(the type of a number, how many of them are an element)"""
    dtype = np.dtype(dtype)
    return (dtype.base, dtype.shape[0]) if dtype.shape else (dtype, 1)


class TensorLayout(str):
    """The letters of the dimensions, outermost first."""

    __slots__ = ()

    def __repr__(self):
        return f"cvcuda.TensorLayout('{self}')"


LAYOUTS = (
    "N C F D H W WC CW NW NWC NCW HW NHW FHW NFHW CHW NCHW HWC NHWC CFHW FCHW FHWC NCFHW NFCHW NFHWC DHW NDHW CDHW DHWC "
    "NCDHW NDHWC FDHW NFDHW CFDHW FCDHW FDHWC NCFDHW NFCDHW NFDHWC"
).split()
for _name in LAYOUTS:
    setattr(TensorLayout, _name, TensorLayout(_name))
TensorLayout.NONE = TensorLayout("")


def layout_of(value):
    """A layout, or None for none."""
    return TensorLayout(value) if value else None


class Format:
    """The format of an image: colors, type of elements, planes.

    Formats are compared by identity; `Format.RGB8` and the other names are all there are.
    """

    def __init__(self, name, dtype, channels, planes, plane_channels=None, halved=(1, 1), block_linear=False):
        self.name, self.dtype, self.channels, self.planes = name, np.dtype(dtype), channels, planes
        self.plane_channels = plane_channels or [channels // max(planes, 1)] * planes
        self.halved, self.block_linear = halved, block_linear  # of the planes after the first: rows, columns

    @property
    def value(self):
        """A number of this library."""
        return _values.get(self.name, -1)

    def __int__(self):
        return self.value

    def __repr__(self):
        return f"cvcuda.Format.{self.name}" if self.name else f"a format of {self.channels} x {self.dtype}"

    @property
    def planar(self):
        """Whether every channel is a plane of the same extents."""
        return self.planes > 1 and self.planes == self.channels and self.halved == (1, 1)

    def plane_shape(self, plane, width, height):
        """(height, width, channels) of a plane."""
        rows, columns = self.halved if plane else (1, 1)
        return -(-height // rows), -(-width // columns), self.plane_channels[plane]


_PATTERN = re.compile(r"(RGBA|BGRA|RGB|BGR|LAB|HSV|CMYK|YCCK)(8|f16|f32)(p?)$")
_BITS = {"8": "u1", "f16": "f2", "f32": "f4"}


def _described(name):
    plain = name.replace("_ER", "").replace("_BL", "")
    linear = "_BL" not in name
    found = _PATTERN.match(plain)
    if found:
        channels = len(found[1])
        return Format(name, _BITS[found[2]], channels, channels if found[3] else 1)
    if plain in ("NV12", "NV21", "NV24"):
        return Format(name, "u1", 3, 2, [1, 2], (1, 1) if plain == "NV24" else (2, 2), not linear)
    if plain in ("UYVY", "VYUY", "YUYV"):
        return Format(name, "u1", 3, 1, [2], block_linear=not linear)
    if plain == "YUV8p":
        return Format(name, "u1", 3, 3)
    found = re.match(r"_?(2?)([USFCY])(\d+)$", plain)
    if found:
        kind = {**_KINDS, "Y": "u"}[found[2]]
        return Format(name, f"{kind}{int(found[3]) // 8}", int(found[1] or 1), 1, block_linear=not linear)
    dtype = (
        {"U8": "u1", "U16": "u2", "U32": "u4", "F32": "f4"}[plain.rpartition("_")[2]] if "ALPHA" not in name else "u1"
    )
    return Format(
        name,
        dtype,
        4 if "ALPHA" in name else {"1U": 4, "7U": 10, "3U": 7, "3POS3D": 7, "3D": 4}[plain.split("_")[1]],
        1,
    )


FORMATS = (
    "U8 U8_BL S8 U16 U32 S32 S16 S16_BL F16 F32 F64 C64 C128 _2S16 _2S16_BL _2F16 _2F32 _2C64 _2C128 Y8 Y8_BL Y8_ER "
    "Y8_ER_BL Y16 Y16_BL Y16_ER Y16_ER_BL NV12 NV12_BL NV12_ER NV12_ER_BL NV21 NV21_ER NV24 NV24_BL NV24_ER NV24_ER_BL "
    "UYVY UYVY_BL UYVY_ER UYVY_ER_BL VYUY VYUY_BL VYUY_ER VYUY_ER_BL YUYV YUYV_BL YUYV_ER YUYV_ER_BL YUV8p YUV8p_ER RGB8 "
    "BGR8 RGBA8 BGRA8 RGB8p BGR8p RGBA8p BGRA8p RGBf16 BGRf16 RGBAf16 BGRAf16 RGBf16p BGRf16p RGBAf16p BGRAf16p RGBf32 "
    "BGRf32 RGBAf32 BGRAf32 RGBf32p BGRf32p RGBAf32p BGRAf32p HSV8 LAB8 LAB8p LABf16 LABf16p LABf32 LABf32p CMYK8 YCCK8 "
    "RGBA8_UNASSOCIATED_ALPHA RGB8_1U_U8 RGB8_7U_U8 RGBA8_3U_U16 RGBA8_3POS3D_U32 RGB8_3D_F32"
).split()
_values = {name: number for number, name in enumerate(FORMATS, 1)}
for _name in FORMATS:
    setattr(Format, _name, _described(_name))
Format.NONE = Format("NONE", "u1", 0, 0, [])
_values["NONE"] = 0
_BY_KIND = {}  # the first name of each (type, channels, planar), in this order
for _name in "U8 S8 U16 S16 U32 S32 F16 F32 F64 C64 C128 _2S16 _2F16 _2F32 _2C64 _2C128".split() + [
    f"{c}{b}{p}" for b in ("8", "f16", "f32") for p in ("", "p") for c in ("RGB", "RGBA")
]:
    _format = getattr(Format, _name)
    _BY_KIND.setdefault((_format.dtype, _format.channels, _format.planar), _format)


def format_of(dtype, channels, planar=False):
    """The format of an array of such pixels."""
    key = (np.dtype(dtype), channels, planar and channels > 1)
    return _BY_KIND.get(key) or _BY_KIND.setdefault(key, Format("", key[0], channels, channels if key[2] else 1))
