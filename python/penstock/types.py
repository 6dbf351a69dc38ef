# SPDX-License-Identifier: Apache-2.0
"""Element types, color spaces and filters by the names that pipelines use."""
from enum import IntEnum

from . import _core


class DType(IntEnum):
    """Type of the elements of a tensor."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11


class ImageType(IntEnum):
    """Color space of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class InterpType(IntEnum):
    """Filter of a resampling."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


globals().update(DType.__members__)
globals().update(ImageType.__members__)
globals().update(InterpType.__members__)
DALIDataType, DALIImageType, DALIInterpType = DType, ImageType, InterpType
FLOAT32 = DType.FLOAT
