# SPDX-License-Identifier: Apache-2.0
"""The configuration of an image processor of transformers: read, completed with the defaults of its class, and checked."""

import json
import os
from dataclasses import dataclass

from .defaults import BICUBIC, BILINEAR, DEFAULTS, LANCZOS, NEAREST, VIDEOS

NAMES = "video_processor_type", "image_processor_type", "feature_extractor_type"
# Fields that say nothing about pixels, and fields that a processor takes with one meaning alone.
NOTES = {*NAMES, "processor_class", "_valid_processor_keys", "image_seq_length", "num_additional_image_tokens"}
NOTES |= {"disable_grouping", "transformers_version"}
FIXED = {"data_format": (None, "channels_first"), "input_data_format": (None,), "return_tensors": (None, "pt", "np")}
FIXED |= {"device": (None, "cpu"), "return_metadata": (None, False), "use_token_compression": (None,)}
FILES = "preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json"
SIZES = {"height", "width"}, {"shortest_edge"}, {"longest_edge"}, {"shortest_edge", "longest_edge"}
SIZES += ({"max_height", "max_width"},)


@dataclass(frozen=True)
class Configuration:
    """A class of transformers and its fields, all given."""

    name: str
    fields: dict
    source: str

    @property
    def video(self):
        """Whether it is of videos."""
        return self.name in VIDEOS

    def __getitem__(self, field):
        return self.fields[field]

    def replaced(self, **fields):
        """The same with other values of fields."""
        return Configuration(self.name, self.fields | fields, self.source)

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

    def pixels(self):
        """(least, most) pixels of a picture of Qwen-VL."""
        size = self.size()
        if set(size) != {"shortest_edge", "longest_edge"}:
            self.refuse("size", "Qwen-VL takes shortest_edge and longest_edge, as numbers of pixels")
        return self["min_pixels"] or size["shortest_edge"], self["max_pixels"] or size["longest_edge"]


def _part(found):
    """The image processor of a processor of pictures and text, as one file keeps them."""
    if isinstance(found, dict) and not any(found.get(name) for name in NAMES):
        return next((found[p] for p in ("image_processor", "video_processor") if isinstance(found.get(p), dict)), found)
    return found


def _read(source):
    """(the dict, what messages call it)"""
    if isinstance(source, dict):
        return _part(source), "the configuration"
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):
            path = os.path.join(path, next((n for n in FILES if os.path.exists(os.path.join(path, n))), FILES[0]))
        with open(path, encoding="utf-8") as file:
            try:
                found = json.load(file)
            except ValueError as error:
                raise ValueError(f"{path}: not a JSON file: {error}") from None
        return _part(found), path
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
    plain = plain.replace("Qwen3VLImage", "Qwen2VLImage")
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
