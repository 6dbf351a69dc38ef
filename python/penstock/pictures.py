# SPDX-License-Identifier: Apache-2.0
"""Pictures of batches, for people; needs Pillow."""

import math as _math

from . import _core


def _as_picture(sample, layout, low, high):
    """A Pillow image of one sample: (H, W), (H, W, C) or (C, H, W); of frames or slices the first."""
    import numpy
    from PIL import Image

    x = sample.numpy()
    if not layout:
        layout = (
            "HW"
            if x.ndim == 2
            else "CHW"
            if x.ndim == 3 and x.shape[0] in (1, 3) and x.shape[2] not in (1, 3)
            else "HWC"
        )
    for letter in layout:
        if letter not in "HWC":
            axis = layout.index(letter)
            x, layout = x.take(0, axis), layout.replace(letter, "", 1)
    x = x.transpose([layout.index(c) for c in "HWC" if c in layout])
    if x.ndim == 3 and x.shape[2] not in (1, 3, 4):
        x = x[:, :, :1]
    if x.ndim == 3 and x.shape[2] == 1:
        x = x[:, :, 0]
    if x.dtype != numpy.uint8:
        scale = 255.0 / (high - low) if high > low else 0.0
        x = ((x.astype(numpy.float32) - low) * scale).clip(0, 255).astype(numpy.uint8)
    return Image.fromarray(numpy.ascontiguousarray(x)).convert("RGB")


def contact_sheet(values, columns=None, size=160, path=None):
    """The samples of a Batch (or one Tensor) side by side as one Pillow image; written to `path` if given.

    columns: samples in a row; default: about as many as rows. size: pixels of a sample's longer side. Values that are
    not uint8 are stretched from the smallest to the largest of the batch. Layouts with H and W, or none (then (H, W),
    (H, W, C) or (C, H, W) by their extents).
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures need Pillow: pip install pillow") from error
    samples = [values] if isinstance(values, _core.Tensor) else list(values)
    if any(s.ndim() < 2 for s in samples):
        raise TypeError(f"samples of {samples[0].ndim()} dimensions are not pictures")
    low = high = 0.0
    if str(samples[0].numpy().dtype) != "uint8":
        low, high = min(float(s.numpy().min()) for s in samples), max(float(s.numpy().max()) for s in samples)
    pictures = [_as_picture(s, values.layout(), low, high) for s in samples]
    for p in pictures:
        p.thumbnail((size, size))
    columns = columns or _math.ceil(_math.sqrt(len(pictures)))
    rows = -(-len(pictures) // columns)
    gap = 4
    sheet = Image.new("RGB", (columns * (size + gap) + gap, rows * (size + gap) + gap), "white")
    for k, p in enumerate(pictures):
        x, y = gap + k % columns * (size + gap), gap + k // columns * (size + gap)
        sheet.paste(p, (x + (size - p.width) // 2, y + (size - p.height) // 2))
    if path is not None:
        sheet.save(path)
    return sheet
