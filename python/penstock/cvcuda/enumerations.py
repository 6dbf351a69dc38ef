# SPDX-License-Identifier: Apache-2.0
"""CV-CUDA's enumerations, with the numbers of OpenCV where the names are OpenCV's."""

from enum import IntEnum

from .color_codes import CODES


class Interp(IntEnum):
    """How values between pixels are found. WARP_INVERSE_MAP is a flag beside one of the others."""

    NEAREST = 0
    LINEAR = 1
    CUBIC = 2
    AREA = 3
    LANCZOS = 4
    GAUSSIAN = 5
    HAMMING = 6
    BOX = 7
    NEAREST_FLOOR = 8
    WARP_INVERSE_MAP = 16


class Border(IntEnum):
    """What lies outside an image."""

    CONSTANT = 0
    REPLICATE = 1
    REFLECT = 2
    WRAP = 3
    REFLECT101 = 4
    CONSTANT_COVERAGE = 5


class MorphologyType(IntEnum):
    """What morphology() does."""

    ERODE = 0
    DILATE = 1
    OPEN = 2
    CLOSE = 3


class ThresholdType(IntEnum):
    """What becomes of values above and below a threshold. OTSU and TRIANGLE are flags that find it."""

    BINARY = 1
    BINARY_INV = 2
    TRUNC = 4
    TOZERO = 8
    TOZERO_INV = 16
    OTSU = 32
    TRIANGLE = 64


class AdaptiveThresholdType(IntEnum):
    """How the threshold of a pixel is found in its neighborhood."""

    MEAN_C = 0
    GAUSSIAN_C = 1


class HistogramEq(IntEnum):
    """The table of histogrameq()."""

    OPENCV = 0
    PILLOW = 1


class ChannelManip(IntEnum):
    """The order of channels."""

    NO_OP = 0
    REVERSE = 1


class ConnectivityType(IntEnum):
    """Which neighbors belong to one region."""

    CONNECTIVITY_4_2D = 0
    CONNECTIVITY_6_3D = 1
    CONNECTIVITY_8_2D = 2
    CONNECTIVITY_26_3D = 3


class LABEL(IntEnum):
    """The numbers of regions; here they are always counted from 1."""

    FAST = 0
    SEQUENTIAL = 1


class LabelMaskType(IntEnum):
    """What a mask of label() does."""

    REMOVE_ISLANDS_OUTSIDE_MASK_ONLY = 0


class Remap(IntEnum):
    """What the numbers of a map mean."""

    ABSOLUTE = 0
    ABSOLUTE_NORMALIZED = 1
    RELATIVE_NORMALIZED = 2


class Round(IntEnum):
    """How numbers become integers."""

    NEAREST = 0
    TRUNCATE = 1
    NEAREST_WRAP = 2
    TRUNCATE_WRAP = 3


class NormalizeFlags(IntEnum):
    """Flags of normalize()."""

    SCALE_IS_STDDEV = 1


class Norm(IntEnum):
    """Distances of descriptors."""

    HAMMING = 0
    L1 = 1
    L2 = 2


class Matcher(IntEnum):
    """How match() searches."""

    BRUTE_FORCE = 0


class SIFT(IntEnum):
    """What sift() begins with."""

    USE_ORIGINAL_INPUT = 0
    USE_EXPANDED_INPUT = 1


class ClockFormat(IntEnum):
    """The text of a clock."""

    YYMMDD_HHMMSS = 1
    YYMMDD = 2
    HHMMSS = 3


class ThreadScope(IntEnum):
    """Whose cache is meant."""

    GLOBAL = 0
    LOCAL = 1


class ColorSpec(IntEnum):
    """The standard of YCbCr values; _ER: their full range."""

    BT601 = 0
    BT601_ER = 1
    BT709 = 2
    BT709_ER = 3
    BT2020 = 4
    BT2020_ER = 5


ColorConversion = IntEnum("ColorConversion", CODES, module=__name__)
ColorConversion.__doc__ = "Conversions between color formats, with OpenCV's names and numbers."
NAMES = [n for n, v in list(globals().items()) if isinstance(v, type) and issubclass(v, IntEnum) and v is not IntEnum]
