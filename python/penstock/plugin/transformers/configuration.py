# SPDX-License-Identifier: Apache-2.0
"""The configuration of an image processor of transformers: read, completed with the defaults of its class, and checked."""

import json
import os
from dataclasses import dataclass

CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
NEAREST, LANCZOS, BILINEAR, BICUBIC = range(4)
COMMON = {
    "do_resize": True,
    "size": None,
    "resample": BICUBIC,
    "do_center_crop": False,
    "crop_size": None,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "do_convert_rgb": True,
    "do_pad": False,
    "pad_size": None,
    "default_to_square": True,
}
CROPPED = {"size": {"shortest_edge": 224}, "default_to_square": False, "do_center_crop": True, "crop_size": 224}
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
SQUARES = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]
VIDEO = "Qwen2VLVideoProcessor"
QWEN = {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": None, "max_pixels": None}
DEFAULTS = {  # of the classes, as transformers publishes them
    "CLIPImageProcessor": COMMON | CLIP | CROPPED,
    "SiglipImageProcessor": COMMON | HALF | {"size": {"height": 224, "width": 224}, "default_to_square": False},
    "ViTImageProcessor": COMMON | HALF | {"size": 224, "resample": BILINEAR},
    "DeiTImageProcessor": COMMON | HALF | {"size": 256, "do_center_crop": True, "crop_size": 224},
    "ConvNextImageProcessor": COMMON
    | HALF
    | {"size": {"shortest_edge": 384}, "default_to_square": False, "crop_pct": 224 / 256},
    "BitImageProcessor": COMMON | CLIP | CROPPED,
    "Qwen2VLImageProcessor": COMMON
    | CLIP
    | QWEN
    | {"size": {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}, "default_to_square": False},
    VIDEO: COMMON
    | CLIP
    | QWEN
    | {"size": {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768}, "default_to_square": False}
    | {"min_frames": 4, "max_frames": 768, "do_sample_frames": False},
    "LlavaImageProcessor": COMMON | CLIP | CROPPED,
    "LlavaNextImageProcessor": COMMON | CLIP | CROPPED | {"do_pad": True, "image_grid_pinpoints": PINPOINTS},
    "LlavaOnevisionImageProcessor": COMMON
    | CLIP
    | {"size": {"height": 384, "width": 384}, "default_to_square": False}
    | {"do_pad": True, "image_grid_pinpoints": SQUARES},
    "Idefics2ImageProcessor": COMMON
    | HALF
    | {"size": {"shortest_edge": 378, "longest_edge": 980}, "resample": BILINEAR, "default_to_square": False}
    | {"do_pad": True, "do_image_splitting": False},
    "Idefics3ImageProcessor": COMMON
    | HALF
    | {"size": {"longest_edge": 1456}, "resample": LANCZOS, "max_image_size": {"longest_edge": 364}}
    | {"do_pad": True, "do_image_splitting": True, "return_row_col_info": False},
    "PixtralImageProcessor": COMMON
    | CLIP
    | {"size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16}, "do_pad": True},
}
NAMES = "video_processor_type", "image_processor_type", "feature_extractor_type"
# Fields that say nothing about pixels, and fields that a processor takes with one meaning alone.
NOTES = {*NAMES, "processor_class", "_valid_processor_keys", "image_seq_length", "num_additional_image_tokens"}
NOTES |= {"disable_grouping", "transformers_version"}
FIXED = {"data_format": (None, "channels_first"), "input_data_format": (None,), "return_tensors": (None, "pt", "np")}
FIXED |= {"device": (None, "cpu"), "return_metadata": (None, False), "cap_pixels_per_frame": (None, False)}
FIXED |= {"use_token_compression": (None,), "max_video_tokens": (None, 128000), "num_frames": (None,)}
SIZES = {"height", "width"}, {"shortest_edge"}, {"longest_edge"}, {"shortest_edge", "longest_edge"}
SIZES += ({"max_height", "max_width"},)


@dataclass(frozen=True)
class Configuration:
    """A class of transformers and its fields, all given."""

    name: str
    fields: dict
    source: str

    def __getitem__(self, field):
        return self.fields[field]

    def refuse(self, field, rule):
        """Raises the error of a field."""
        raise ValueError(f"{self.source}: {self.name}: {field}={self.fields.get(field)!r}: {rule}")

    def size(self, field="size"):
        """A size as a dict of integers."""
        value = self.fields[field]
        if isinstance(value, int):
            squared = field == "crop_size" or field == "patch_size" or self.fields["default_to_square"]
            value = {"height": value, "width": value} if squared else {"shortest_edge": value}
        elif isinstance(value, (list, tuple)) and len(value) == 2:
            value = {"height": value[0], "width": value[1]}
        value = {k: v for k, v in dict(value or {}).items() if v is not None}
        if set(value) not in SIZES or not all(isinstance(v, int) and v > 0 for v in value.values()):
            self.refuse(
                field, f"expected positive integers as one of {', '.join(' and '.join(sorted(s)) for s in SIZES)}"
            )
        return value

    def sides(self, field):
        """The (height, width) of a field that names both."""
        value = self.size(field)
        if set(value) == {"shortest_edge"}:
            return value["shortest_edge"], value["shortest_edge"]
        if set(value) != {"height", "width"}:
            self.refuse(field, "expected height and width")
        return value["height"], value["width"]


def _read(source):
    """(the dict, what messages call it)"""
    if isinstance(source, dict):
        return source, "the configuration"
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):
            path = os.path.join(path, "preprocessor_config.json")
        with open(path, encoding="utf-8") as file:
            try:
                found = json.load(file)
            except ValueError as error:
                raise ValueError(f"{path}: not a JSON file: {error}") from None
        return found, path
    for part in ("image_processor", "feature_extractor"):  # of a processor of pictures and text
        source = getattr(source, part, source)
    if not hasattr(source, "to_dict"):
        raise TypeError(
            f"expected a dict, the path of a preprocessor_config.json or an image processor of transformers, got {type(source).__name__}"
        )
    return source.to_dict(), type(source).__name__


def _class_name(found, source):
    name = next((found[field] for field in NAMES if found.get(field)), None)
    if name is None:
        raise ValueError(f"{source}: no image_processor_type; add it, for example 'CLIPImageProcessor'")
    plain = name.removesuffix("Fast").removesuffix("Pil")
    plain = plain.replace("FeatureExtractor", "ImageProcessor")
    plain = plain.replace("Qwen2_5_VL", "Qwen2VL").replace("ConvNeXT", "ConvNext")
    if plain not in DEFAULTS:
        raise ValueError(f"{source}: {name} is not known; known: {', '.join(DEFAULTS)}")
    return plain


def read(source):
    """Reads a configuration.

    Args:
        source: A dict, the path of a JSON file or of its folder, or an image processor of transformers.

    Returns:
        A Configuration.

    Raises:
        ValueError: The class or a field is not known.
    """
    found, source = _read(source)
    name = _class_name(found, source)
    fields = dict(DEFAULTS[name])
    for field, value in found.items():
        if field in fields:
            if value is not None or field.startswith("do_"):
                fields[field] = value
        elif field in FIXED:
            if value not in FIXED[field]:
                raise ValueError(f"{source}: {name}: {field}={value!r} is not supported; leave the field out")
        elif field not in NOTES and value is not None:
            raise ValueError(f"{source}: {name}: the field {field}={value!r} is not known")
    made = Configuration(name, fields, source)
    _check(made)
    return made


def _check(made):
    if made["resample"] not in (NEAREST, LANCZOS, BILINEAR, BICUBIC):
        made.refuse("resample", "expected 0 (nearest), 1 (lanczos), 2 (bilinear) or 3 (bicubic)")
    for field in ("image_mean", "image_std"):
        value = made[field]
        if not isinstance(value, (list, tuple)) or len(value) != 3:
            made.refuse(field, "expected 3 numbers")
    if made["do_center_crop"] and made["crop_size"] is None:
        made.refuse("crop_size", "do_center_crop needs it")
