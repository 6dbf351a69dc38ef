# SPDX-License-Identifier: Apache-2.0
"""Pictures of single samples: images, volumes, videos, sound, spectrograms, text, numbers."""

import textwrap

import numpy as np
from PIL import Image, ImageDraw

FRAMES = 4  # of a video that are shown
_HEAT = np.array([(0, 0, 4), (81, 18, 124), (183, 55, 121), (252, 137, 97), (252, 253, 191)], np.float64)


def kind_of(sample, layout):
    """What a sample shows: "image", "frames", "spectrogram", "sound", "text" or "number"."""
    if sample.ndim == 0 or (sample.ndim == 1 and sample.size <= 4 and sample.dtype != np.uint8):
        return "number"
    if sample.ndim == 1:
        return "text" if sample.dtype == np.uint8 and _text(sample) is not None else "sound"
    if "H" in layout and "W" in layout:
        return "frames" if set(layout) - set("HWC") else "image"
    if sample.ndim == 2 and not layout and sample.shape[1] <= 2 and sample.shape[0] > 32:
        return "sound"
    if sample.ndim == 2 and layout:
        return "spectrogram"
    if sample.ndim > 4:
        raise TypeError(f"samples of {sample.ndim} dimensions are not pictures: name their axes by layout=, as 'FHWC'")
    return "frames" if sample.ndim == 4 else "image"


def pictures_of(sample, layout, low, high, size):
    """The Pillow images of a sample: several for a video."""
    kind = kind_of(sample, layout)
    if kind == "image":
        return [_image(sample, layout, low, high)]
    if kind == "frames":
        layout = layout or "FHWC"
        axis = next(k for k, letter in enumerate(layout) if letter not in "HWC")
        some = np.unique(np.linspace(0, sample.shape[axis] - 1, FRAMES).round().astype(int)) if sample.size else []
        rest = layout[:axis] + layout[axis + 1 :]
        return [p for k in some for p in pictures_of(sample.take(k, axis), rest, low, high, size)[:FRAMES]]
    return [{"sound": _wave, "spectrogram": _heat, "text": _words, "number": _words}[kind](sample, size)]


def _image(x, layout, low, high):
    if not layout:
        first = x.ndim == 3 and x.shape[0] in (1, 3) and x.shape[2] not in (1, 3)
        layout = "HW" if x.ndim == 2 else "CHW" if first else "HWC"
    x = x.transpose([layout.index(c) for c in "HWC" if c in layout])
    if x.ndim == 3 and x.shape[2] not in (1, 3, 4):
        x = x[:, :, :1]
    if x.ndim == 3 and x.shape[2] == 1:
        x = x[:, :, 0]
    if not x.size:
        return Image.new("RGB", (1, 1), "white")
    return Image.fromarray(np.ascontiguousarray(_bytes(x, low, high))).convert("RGB")


def _bytes(x, low, high):
    if x.dtype == np.uint8:
        return x
    scale = 255.0 / (high - low) if high > low else 0.0
    return np.nan_to_num((x.astype(np.float32) - low) * scale).clip(0, 255).astype(np.uint8)


def _finite(x):
    return np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def _wave(x, size):
    """The smallest and the largest value of each column; channels one below the other."""
    x = _finite(x)
    x = x.reshape(len(x), 1) if x.ndim == 1 else x
    width, height = max(size, 2), max(size // 2, 4)
    most = max(np.abs(x).max(initial=0.0), 1e-12)
    made = Image.new("RGB", (width, height), "white")
    draw, band = ImageDraw.Draw(made), height / max(x.shape[1], 1)
    for channel in range(x.shape[1]):
        middle = band * (channel + 0.5)
        draw.line([(0, middle), (width, middle)], fill=(200, 200, 200))
        ends = np.linspace(0, len(x), width + 1).astype(int)
        for column, (begin, end) in enumerate(zip(ends, ends[1:])):
            part = x[begin : max(end, begin + 1), channel] / most * (band * 0.46)
            if part.size:
                draw.line([(column, middle - part.max()), (column, middle - part.min())], fill=(31, 97, 160))
    return made


def _heat(x, size):
    """Colors from dark to bright; the first row, of the lowest frequency, is at the bottom."""
    x = _finite(x)
    low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
    place = (x[::-1] - low) / (high - low if high > low else 1.0) * (len(_HEAT) - 1)
    below = np.clip(place.astype(int), 0, len(_HEAT) - 2)
    part = (place - below)[..., None]
    pixels = _HEAT[below] * (1 - part) + _HEAT[below + 1] * part
    made = Image.fromarray(pixels.round().astype(np.uint8)) if x.size else Image.new("RGB", (1, 1), "white")
    return made.resize((max(size, 2), max(size // 2, 2)), Image.Resampling.BILINEAR)


def _text(x):
    try:
        text = x.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text and all(c.isprintable() or c in "\n\r\t" for c in text) else None


def _words(x, size):
    text = _text(x) if x.ndim == 1 and x.dtype == np.uint8 else np.array2string(x, precision=4, separator=", ")
    made = Image.new("RGB", (max(size, 2), max(size // 2, 2)), (250, 250, 250))
    columns = max(size // 7, 1)
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, columns) or [""]]
    ImageDraw.Draw(made).multiline_text((4, 4), "\n".join(lines[: max(size // 26, 1)]), fill=(30, 30, 30))
    return made
