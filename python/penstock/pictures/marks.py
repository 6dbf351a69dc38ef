# SPDX-License-Identifier: Apache-2.0
"""What is drawn over a picture: masks, boxes with names, points. Positions are scaled with the picture."""

import numpy as np
from PIL import Image, ImageDraw

# Colors that stay apart for most people who do not see all colors.
COLORS = [(230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167)]


def color_of(number):
    return COLORS[int(number) % len(COLORS)]


def name_of(label, names):
    """The name of a class: its number, where no name is known."""
    label = label.item() if getattr(label, "size", 0) == 1 else label
    if names is not None and isinstance(label, (int, np.integer)):
        known = names.get(label) if isinstance(names, dict) else names[label] if 0 <= label < len(names) else None
        return str(label if known is None else known)
    if isinstance(label, np.ndarray):
        return ", ".join(name_of(part, names) for part in label.reshape(-1)[:4])
    return f"{label:.4g}" if isinstance(label, float) else str(label)


def draw_mask(picture, mask):
    """Class 0 stays as it is; each other class tints its pixels."""
    mask = mask.reshape(mask.shape[:2]) if mask.ndim == 3 and mask.shape[2] == 1 else mask
    if mask.ndim != 2:
        raise ValueError(f"masks are (H, W) or (H, W, 1), of class numbers; got the shape {mask.shape}")
    number = np.nan_to_num(mask).astype(np.int64)
    wanted = np.array(
        Image.fromarray((number % 255 + (number > 0)).clip(0, 255).astype(np.uint8)).resize(picture.size, 0)
    )
    tint = np.array([(0, 0, 0), *(color_of(k) for k in range(255))], np.float32)[wanted]
    pixels = np.array(picture, np.float32)
    mixed = np.where(wanted[..., None] > 0, pixels * 0.5 + tint * 0.5, pixels)
    return Image.fromarray(mixed.round().astype(np.uint8))


def corners(boxes, layout, normalized, extent):
    """Boxes as left, top, right, bottom in pixels of an image of `extent` (width, height)."""
    boxes = np.asarray(boxes, np.float64).reshape(-1, np.shape(boxes)[-1] if np.size(boxes) else 4)[:, :4]
    if boxes.shape[1] != 4:
        raise ValueError(f"boxes are (N, 4); got the shape {np.shape(boxes)}")
    if layout not in ("ltrb", "xywh", "cxcywh"):
        raise ValueError(f'box_layout must be "ltrb", "xywh" or "cxcywh", got {layout!r}')
    first, second = boxes[:, :2], boxes[:, 2:]
    if layout == "cxcywh":
        first = first - second / 2
    ends = np.hstack([first, second if layout == "ltrb" else first + second])
    return ends * [*extent, *extent] if normalized else ends


def draw_boxes(picture, boxes, extent, labels, names):
    """Boxes as corners() gives them; a label stands inside its box at the top."""
    draw = ImageDraw.Draw(picture)
    scale = np.array([picture.width / max(extent[0], 1), picture.height / max(extent[1], 1)] * 2)
    width = 2 if min(picture.size) >= 96 else 1
    for k, box in enumerate(boxes):
        if not np.isfinite(box).all():
            continue
        left, top, right, bottom = box * scale
        label = labels[k] if labels is not None and k < len(labels) else None
        number = label if isinstance(label, (int, np.integer)) else k
        color, right, bottom = color_of(number), max(right - 1, left), max(bottom - 1, top)
        draw.rectangle([left, top, right, bottom], outline=color, width=width)
        if label is not None:
            _draw_name(draw, picture.size, left, top, name_of(label, names), color)


def _draw_name(draw, size, left, top, text, color):
    """Text on a plate in the color of its box; it is moved where it would leave the picture."""
    _, _, wide, high = draw.textbbox((0, 0), text)
    x, y = max(min(left, size[0] - wide - 4), 0), max(min(top, size[1] - high - 2), 0)
    draw.rectangle([x, y, x + wide + 3, y + high + 1], fill=color)
    draw.text((x + 2, y), text, fill=(0, 0, 0) if sum(color) > 330 else (255, 255, 255))


def draw_points(picture, points, extent):
    draw = ImageDraw.Draw(picture)
    points = np.asarray(points, np.float64).reshape(-1, np.shape(points)[-1] if np.size(points) else 2)
    radius = 3 if min(picture.size) >= 96 else 2
    for k, (x, y) in enumerate(points[:, :2]):
        if np.isfinite([x, y]).all():
            x, y = x * picture.width / max(extent[0], 1), y * picture.height / max(extent[1], 1)
            draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=color_of(k), outline=(0, 0, 0))
