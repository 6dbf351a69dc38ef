# SPDX-License-Identifier: Apache-2.0
"""The references of all operators by their names, from the files of tests/operators, and where they differ from DALI."""

import inspect

import operators

KNOWN_DIFFERENCES = {
    "rounding": "Integers are rounded half to even and saturated; DALI rounds half away from zero in scalar code and "
    "half to even in its SSE paths.",
    "crop.dtype": "crop and slice with a dtype round; DALI truncates there, and saturates to float16.",
    "slice.empty": "A relative slice of no extent is empty; DALI's roundings can make it an error.",
    "fill_values": "Fill values are rounded and saturated like every value; DALI's crop, slice, pad and erase convert "
    "them with a C cast.",
    "resize.tables": "Gaussian, cubic and Lanczos kernels are the closed forms; DALI interpolates tables of 65, 129 "
    "and 193 entries, which differ by up to 2e-3 of the value range.",
    "resize.gaussian": "The kernel is 0 at its radius, so a resize to the same size is the identity; DALI has a tap "
    "of weight 0.018 there, on one side.",
    "resize.filter": "At scale 1 (within 1e-6) the mag filter is meant; in DALI float32 noise decides.",
    "resize.nearest": "Source indices are clamped to the image; DALI reads past the row's end when a ROI reaches over "
    "the right edge, its row coordinate drifts because it is a running float32 sum, and when only "
    "one axis is nearest it applies the other axis' ROI twice.",
    "resize.outside": "A ROI that lies outside the image gives the edge pixel; DALI's process dies of it.",
    "warp.coordinates": "Coordinates are exact; DALI adds a float32 step along each row, so samples near a pixel "
    "border can take the neighbor (nearest) or differ by about 1e-4 of a pixel (linear).",
    "crop_mirror_normalize.fill": "A scalar mean and std hold for every channel, also with fill values per channel, "
    "where DALI reads past its arrays.",
    "color_space_conversion.same": "From a type to itself is a copy; DALI refuses it.",
    "color.channels": "The color operators take 3 channels; DALI reads other counts as triples.",
    "reductions.mean.integer": "With an integer dtype the mean is exact and rounded; DALI accumulates in that type, "
    "wrapping, and truncates.",
    "reductions.types": "Reductions take all types; DALI has none for bool, float16 and float64. The means of variance and std_dev "
    "may be float64.",
    "reductions.sum.integer": "Sums of integers saturate when they become another type; DALI adds in that type, wrapping.",
    "reductions.extreme": "The least and largest of no numbers, and of NaN alone, are infinite; DALI's are the float32 limits.",
    "grid_mask": "Coordinates are float64; DALI's float32 decides otherwise at edges of squares.",
    "segmentation.select_masks": "All polygons of a mask are taken; DALI takes the last one of each mask.",
    "transforms.rotation": "Multiples of 90 degrees are exact, and an axis of length 0 is an error; DALI gives NaN.",
    "squeeze.negative": "Negative axes count from the back; DALI ignores them.",
    "subscript": "None inserts an axis and ... fills up, as in NumPy; in DALI None is a full slice and ... an error.",
    "arithmetic.float16": "float16 takes part in arithmetic here and not in DALI.",
    "arithmetic.comparisons": "Integers and floating point compare in the promoted type; DALI orders negative integers "
    "wrongly there: int16 -6 < float32 -10.",
    "arithmetic.remainder": "Operands of % are converted to the result's type first, as for every other operator; "
    "DALI computes integer % float in double.",
    "constant.float64": "float64 constants keep their type; DALI reduces them to float32.",
    "bbox_rotate.45": "At 45 degrees a box keeps its width and height in the modes fixed and halfway; in DALI float32 noise "
    "decides for each box whether they change places.",
    "coord_transform.MT": "A scalar MT is a diagonal also where each sample has its own; DALI takes that for n + 1 rows.",
    "random_bbox_crop": "Without total_num_attempts a search that finds nothing ends in an error; DALI's goes on forever.",
    "clahe.bins": "bins is the number of bins; DALI's CPU takes 256 whatever it says.",
    "mask": "A mask of 0 leaves the sample alone in sphere, water and jitter; DALI hears only masks that are one a sample.",
    "warp_perspective.coordinates": "Coordinates are float64; OpenCV's, which DALI's CPU calls, are float32.",
    "debayer.default": "The default is bilinear_ocv on every device; DALI's GPU has an algorithm of NPP's instead.",
    "jitter": "Channels move together, by trunc(nDegree / 2) at most to both sides; DALI moves each channel by itself.",
    "decoders.inflate": "The size is always checked: a block that holds another number of bytes is an error.",
    "nan": "NaN converted to an integer gives 0 everywhere; in DALI only some operators do.",
}

for _family in operators.families():
    globals().update(
        {
            name: value
            for name, value in inspect.getmembers(_family, inspect.isfunction)
            if value.__module__ == _family.__name__ and not name.startswith(("_", "draw_"))
        }
    )
