# SPDX-License-Identifier: Apache-2.0
"""Augmentations with torchvision's names and meaning: inside a pipeline's function, or at once on arrays, Tensors and
Batches.

Each sample draws its own numbers, from fn.random: seeds, resuming and replay hold. Where only a part of the samples is changed,
a condition parts the batch by an index list, without a copy.
"""

from .._base.public import public
from .chains import aug_mix
from .blur import gaussian_blur
from .color import (
    color_jitter,
    random_adjust_sharpness,
    random_autocontrast,
    random_equalize,
    random_grayscale,
    random_invert,
    random_posterize,
    random_solarize,
)
from .composition import maybe, one_of, repeat, some_of
from .erasing import coarse_dropout, random_erasing
from .geometry import random_affine, random_horizontal_flip, random_perspective, random_rotation, random_vertical_flip
from .letterboxing import letterbox, letterbox_back
from .levels import add_noise, clip, gain, normalize_loudness, trim_silence
from .mixing import cutmix, mixup
from .mosaics import mosaic
from .object_crops import crop_near_mask, random_box_safe_crop, random_overlap_crop, random_sized_box_safe_crop
from .pasting import copy_paste, mixup_boxes
from .policies import auto_augment, rand_augment, trivial_augment_wide
from .rates import pitch_shift, resample, speed_perturbation, time_stretch
from .spectrograms import deltas, frequency_masking, time_masking
from .transmission import codec, reverberate, telephone
from .window_crops import five_crop, ten_crop

__all__ = [
    "add_noise",
    "aug_mix",
    "auto_augment",
    "clip",
    "coarse_dropout",
    "codec",
    "color_jitter",
    "copy_paste",
    "crop_near_mask",
    "cutmix",
    "deltas",
    "five_crop",
    "frequency_masking",
    "gain",
    "gaussian_blur",
    "letterbox",
    "letterbox_back",
    "maybe",
    "mixup",
    "mixup_boxes",
    "mosaic",
    "normalize_loudness",
    "one_of",
    "pitch_shift",
    "rand_augment",
    "random_adjust_sharpness",
    "random_affine",
    "random_box_safe_crop",
    "random_autocontrast",
    "random_equalize",
    "random_erasing",
    "random_grayscale",
    "random_horizontal_flip",
    "random_invert",
    "random_overlap_crop",
    "random_perspective",
    "random_posterize",
    "random_rotation",
    "random_sized_box_safe_crop",
    "random_solarize",
    "random_vertical_flip",
    "repeat",
    "resample",
    "reverberate",
    "some_of",
    "speed_perturbation",
    "telephone",
    "ten_crop",
    "time_masking",
    "time_stretch",
    "trim_silence",
    "trivial_augment_wide",
]
public(__name__, *(globals()[name] for name in __all__))
