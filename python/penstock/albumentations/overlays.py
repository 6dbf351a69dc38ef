# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that lay pictures and texts over images, which the call describes."""

import numpy as np

from .. import fn
from ..augment import draws, numbers
from ..augment.samples import extents
from .._base.element_types import InterpType
from ..sample import Image, Mask
from . import drawn
from .colors import rank
from .functions import computed


def _described(name, x, key, needed):
    """The dicts under this argument of the call."""
    if key not in x:
        raise ValueError(f"{name}: the call has no {key}=, a dict or a list of dicts with {' and '.join(needed)}")
    found = x[key] if isinstance(x[key], (list, tuple)) else [x[key]]
    for row in found:
        for field in needed:
            if not isinstance(row, dict) or field not in row:
                raise ValueError(f"{name}: {key} must be dicts with {' and '.join(needed)}, got {row!r:.80}")
    return found


def _pixels(box, extent):
    """(top, left, bottom, right) in pixels of a box (left, top, right, bottom) in parts of an image."""
    height, width = extent
    left, top, right, bottom = (box[k] for k in range(4))
    if not any(drawn.is_node(v) for v in (left, top, right, bottom)):
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(f"bbox must be (left, top, right, bottom) in parts of the image, got {tuple(box)!r}")
    whole = lambda v: numbers.integer(numbers.floor(v + 1e-4))  # noqa: E731
    return [whole(v * n) for v, n in ((top, height), (left, width), (bottom, height), (right, width))]


def _picture(value):
    """A picture of a description with the channels last."""
    if drawn.is_node(value):
        return value
    value = np.ascontiguousarray(value)
    return fn.reshape(value, layout="HWC" if value.ndim == 3 else "HW")


def _sized(picture, size, kind):
    return fn.resize(_picture(picture), size=size, interp_type=kind)


def _placed(row, extent):
    """(picture, mask or None, (height, width), top, left)"""
    if "bbox" in row:
        top, left, bottom, right = _pixels(row["bbox"], extent)
        size = [bottom - top, right - left]
        if not drawn.is_node(size[0]) and not drawn.is_node(size[1]) and min(size) < 1:
            raise ValueError(f"OverlayElements: the bbox {tuple(row['bbox'])!r} has no pixel of the image")
        resized = True
    else:
        own = extents(_picture(row["image"]))
        fits = (own[0] <= extent[0]) & (own[1] <= extent[1])
        size = [numbers.where(fits, n, e) for n, e in zip(own, extent)]
        top, left = (draws.below(numbers.integer(e - n) + 1) for e, n in zip(extent, size))
        resized = drawn.is_node(fits) or not fits
    picture, mask = _picture(row["image"]), row.get("mask")
    if resized:
        picture = _sized(picture, size, InterpType.INTERP_AREA)
    if mask is not None:
        mask = _sized(mask, size, InterpType.INTERP_NN) if resized else _picture(mask)
    return picture, mask, size, numbers.integer(top), numbers.integer(left)


def _on_canvas(picture, extent, top, left):
    """A picture on an image of zeros."""
    window = {"start": [-1 * top, -1 * left], "end": [extent[0] - top, extent[1] - left]}
    return fn.slice(picture, **window, axes=[0, 1], out_of_bounds_policy="pad", fill_values=[0.0])


def _of_rank(array, like):
    """With or without a last axis, as another one."""
    if rank(array) == 2 and rank(like) == 3:
        return fn.expand_dims(array, axes=[2], new_axis_names="C")
    if rank(array) == 3 and rank(like) == 2:
        return fn.squeeze(array, axes=[2])
    return array


def overlay(x, a):
    extent = extents(x)
    for row in _described("OverlayElements", x, a.metadata_key, ["image"]):
        picture, mask, size, top, left = _placed(row, extent)
        covers = np.ones((1, 1), np.uint8) if mask is None else mask
        covers = _sized(covers, size, InterpType.INTERP_NN) if mask is None else covers
        there = _on_canvas(covers, extent, top, left) > 0
        laid = _on_canvas(picture, extent, top, left)
        fills = {Image: lambda image: drawn.as_type_of(_of_rank(laid, image), image)}
        if "mask_id" in row:
            fills[Mask] = lambda image: drawn.as_type_of(np.float32(row["mask_id"]), image)
        made = {}
        for name, kind in x.kinds.items():
            if type(kind) in fills:
                own = x[name]
                made[name] = drawn.as_type_of(fn.where(_of_rank(there, own), fills[type(kind)](own), own), own)
        x = x.mixed({**x, **made})
    return x


_CHANGES = (None, "insertion", "swap", "deletion")


def _changed(words, how, count, stopwords, rng):
    """Words with `count` of them inserted, swapped or deleted."""
    words = list(words)
    if how == "insertion":
        for _ in range(count):
            words.insert(int(rng.integers(len(words) + 1)), stopwords[int(rng.integers(len(stopwords)))])
    elif how == "swap" and len(words) > 1:
        for _ in range(count):
            first, second = rng.choice(len(words), 2, replace=False)
            words[first], words[second] = words[second], words[first]
    elif how == "deletion":
        gone = set(rng.choice(len(words), min(count, len(words)), replace=False).tolist())
        words = [word for k, word in enumerate(words) if k not in gone]
    return words


def _said(text, how, stopwords, rng):
    """The text, of which half the words are changed; empty where nothing has changed."""
    if how is None:
        return text
    words = text.split()
    made = " ".join(_changed(words, how, max(1, len(words) // 2), stopwords, rng))
    return made if made != text else ""


class _Texts:
    """Draws texts into an array (H, W) or (H, W, C) of bytes with Pillow. It may be called in other threads."""

    def __init__(self, a, rows):
        try:
            from PIL import Image as pictures
            from PIL import ImageDraw, ImageFont
        except ImportError:
            raise ImportError("TextImage draws with Pillow: pip install pillow") from None
        self.a, self.rows = a, rows
        self.pictures, self.pens, self.fonts = pictures, ImageDraw, ImageFont
        try:
            ImageFont.truetype(str(a.font_path), 8)
        except OSError as error:
            raise ValueError(f"TextImage: {a.font_path}: no font that Pillow reads: {error}") from None

    def _chosen(self, extent, parts):
        """(left, top, text, font, color) of the texts that are drawn."""
        a, rng = self.a, np.random.default_rng([int(v * 2**24) for v in parts])
        count = int(len(self.rows) * rng.uniform(*a.fraction_range))
        for k in rng.choice(len(self.rows), count, replace=False):
            row = self.rows[int(k)]
            top, left, bottom, _ = _pixels(row["bbox"], extent)
            size = int(rng.uniform(*a.font_size_fraction_range) * (bottom - top))
            how = a.augmentations[int(rng.integers(len(a.augmentations)))] if a.augmentations else None
            text = _said(str(row["text"]), how, a.stopwords, rng)
            color = a.font_color
            if isinstance(color, list):
                color = color[int(rng.integers(len(color)))]
            color = tuple(int(v) for v in color) if isinstance(color, (list, tuple)) else color
            yield left, top, text, self.fonts.truetype(str(a.font_path), max(size, 1)), color

    def __call__(self, image, parts):
        image = np.asarray(image)
        planes = image.reshape(image.shape[:2]) if image.ndim == 3 and image.shape[2] == 1 else image
        if image.dtype != np.uint8:
            planes = np.uint8(np.rint(np.clip(planes, 0, 1) * 255))
        canvas = self.pictures.fromarray(np.ascontiguousarray(planes))
        pen = self.pens.Draw(canvas)
        for left, top, text, font, color in self._chosen(image.shape[:2], np.asarray(parts)):
            pen.text((left, top), text, font=font, fill=color)
        made = np.array(canvas).reshape(image.shape)
        return made if image.dtype == np.uint8 else (np.float32(made) / 255).astype(image.dtype)


def text_image(x, a):
    if a.clear_bg:
        raise ValueError("TextImage: clear_bg=True is not there: fn.inpaint fills a mask")
    for how in a.augmentations or ():
        if how not in _CHANGES:
            raise ValueError(f"TextImage: augmentations are among {_CHANGES!r}, got {how!r}")
    rows = _described("TextImage", x, a.metadata_key, ["bbox", "text"])
    if not rows:
        return x
    texts, parts = _Texts(a, rows), drawn.uniform(3)

    def written(image):
        shape = None if drawn.is_node(image) else image.shape() if callable(image.shape) else image.shape
        if shape is not None and len(shape) == 3 and shape[2] not in (1, 3):
            raise ValueError(f"TextImage: images have 1 or 3 channels, got {shape[2]}")
        return computed(texts, image, parts)

    return x.with_images(written)
