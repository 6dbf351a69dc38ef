# SPDX-License-Identifier: Apache-2.0
"""The arrangement of pictures on a sheet."""

import math

from PIL import Image, ImageDraw

GAP, LINE = 4, 13


def fitted(picture, size):
    """A picture whose longer side is at most `size`. Small ones grow by whole factors: their pixels stay visible."""
    longer = max(picture.size)
    if longer > size:
        picture.thumbnail((size, size))
    elif longer * 2 <= size:
        picture = picture.resize([n * (size // longer) for n in picture.size], Image.Resampling.NEAREST)
    return picture


def beside(pictures):
    """Several pictures as one, from left to right."""
    if len(pictures) == 1:
        return pictures[0]
    made = Image.new(
        "RGB", (max(sum(p.width + 1 for p in pictures) - 1, 1), max((p.height for p in pictures), default=1)), "white"
    )
    x = 0
    for p in pictures:
        made.paste(p, (x, 0))
        x += p.width + 1
    return made


def sheet_of(pictures, captions, columns, size):
    """Pictures in rows, with lines below each. captions: a list of lines for each picture, or None."""
    columns = columns or max(math.ceil(math.sqrt(len(pictures))), 1)
    rows = -(-len(pictures) // columns)
    wide = max([size, *(p.width for p in pictures)])
    high = max((p.height for p in pictures), default=size)
    below = LINE * max(map(len, captions or ()), default=0)
    made = Image.new("RGB", (columns * (wide + GAP) + GAP, rows * (high + below + GAP) + GAP), "white")
    draw = ImageDraw.Draw(made)
    for k, p in enumerate(pictures):
        x, y = GAP + k % columns * (wide + GAP), GAP + k // columns * (high + below + GAP)
        made.paste(p, (x + (wide - p.width) // 2, y + (high - p.height) // 2))
        for number, line in enumerate(captions[k] if captions else ()):
            draw.text((x + 2, y + high + number * LINE), _cut(draw, line, wide), fill=(30, 30, 30))
    return made


def _cut(draw, text, wide):
    while text and draw.textlength(text) > wide:
        text = text[:-1]
    return text
