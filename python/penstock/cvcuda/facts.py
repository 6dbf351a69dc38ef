# SPDX-License-Identifier: Apache-2.0
"""What differs from CV-CUDA 0.19 and what is not there, each with its reason: facts alone, which the reference page is made
from as well."""

# Functions that are not there -> why.
MISSING = {
    "get_findhomography_operator": "operators need no object that is made before for a size",
    "findhomography_into_with_op": "operators need no object that is made before for a size",
}

# Functions whose results differ -> how.
DIFFERENT = {
    "resize": "NEAREST reads the pixel under the center",
    "random_resized_crop": "Penstock's random numbers",
    "gaussiannoise": "Penstock's random numbers",
    "erase": "Penstock's random numbers",
    "remap": "a constant border has one value for all channels",
    "histogram": "images of one channel",
    "gamma_contrast": "integers are rounded to the nearest",
    "advcvtcolor": "BT601, BT709 and BT2020 mean the limited range, BT601_ER and so on the full one, also for YUV",
    "cvtcolor": "no premultiplied alpha, no linear RGB, no edge-aware Bayer; see fn.color_space_conversion",
    "nms": "computed on the host",
    "osd": "texts in a font of 8 x 13 pixels in whole multiples; areas of polygons and of masks without smooth borders; clocks in UTC",
    "boxblur": "a value becomes the mean of the square around it, with the border REFLECT101",
    "findhomography": "points that determine no perspective give NaN; the points are read on the host",
    "sift": "features are those of OpenCV, with its meaning of contrast_threshold, in the order of x and y; results are collected on the host",
    "match": "results are collected on the host; without norm_type HAMMING for integers and L2 for floats; rows after the last match are 0",
    "inpaint": "pixels beside known ones are filled together; int32 images are computed in float32",
    "minarearect": "the points are read on the host",
    "min_loc": "computed on the host; places are in the order of rows",
    "max_loc": "computed on the host; places are in the order of rows",
    "min_max_loc": "computed on the host; places are in the order of rows",
    "crop_flip_normalize_reformat": "a border begins where the mirrored rectangle ends",
    "label": "images alone, no volumes; LABEL.FAST counts from 1 as LABEL.SEQUENTIAL does; a row of statistics is label, left, top, width, "
    "height, pixels, and 1 for a region inside the mask; removal and statistics are computed on the host",
}

# Functions that compute on the host, also where their arrays are on a GPU -> why.
ON_HOST = {
    "nms": "ties between scores are decided by areas, as CV-CUDA does and fn.nms does not",
    "min_loc": "the number of places is a result",
    "max_loc": "the number of places is a result",
    "min_max_loc": "the number of places is a result",
}

# What scripts notice of the containers.
CONTAINERS = (
    "rows of new tensors and images follow each other without gaps unless `rowalign` is given, because operators copy rows with "
    "gaps first",
    "on a machine without a GPU all memory is on the host, `cuda()` returns an array of NumPy over the same memory, and arrays of "
    "NumPy may be wrapped without a copy; on a machine with one, operators on wrapped host memory run on the CPU",
    "a result that `_into` writes over its own input, into rows with gaps or into separate planes, is computed and copied",
    "calls that name no stream go to CUDA's default stream, as in CV-CUDA",
    "`clear_cache()`, `set_cache_limit_inbytes()` and the like are accepted: there is no cache, `cache_size()` is 0",
    "numbers of formats, `int(Format.RGB8)`, are Penstock's; numbers of the other enumerations need not be CV-CUDA's where OpenCV "
    "has none",
    "errors are `RuntimeError` and also `ValueError` or `TypeError`",
    "an operator takes what its counterpart in `penstock.fn` takes: more types, layouts and numbers of channels than CV-CUDA",
    "block-linear formats (`_BL`) are refused",
)

# What differs in cvcuda.tv.
TV = (
    "`adjust_saturation`, `adjust_hue`, `adjust_sharpness` round integers to the nearest, torchvision rounds them down",
    "`resize` of bytes sums in float32 and rounds once, as torchvision does on a GPU",
    "`rotate`, `affine`, `perspective`, `elastic` with bilinear interpolation and `fill` weigh the border once; torchvision weighs "
    "it twice",
    "`gaussian_noise` draws Penstock's numbers",
    "`Compose`: a transform whose function `cvcuda.tv` does not have runs as torchvision does it",
)
