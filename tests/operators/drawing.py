# SPDX-License-Identifier: Apache-2.0
"""Operators that draw over pictures: the references and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import of
from operators.picture_draws import pictures


def painted(x, layout, masks, colors, opacities):
    """x with each mask's pixels (height, width) blended with its color, in order."""
    out = x.astype(np.int64)
    axes = layout.index("H"), layout.index("W")
    made = np.moveaxis(out, axes, (0, 1))
    rest = [a for a in layout if a not in "HW"]
    for mask, color, opacity in zip(masks, colors, opacities):
        a = int(np.floor(np.float32(opacity) * np.float32(255) + np.float32(0.5)))
        channels = x.shape[layout.index("C")] if "C" in layout else 1
        c = np.broadcast_to(np.int64(color), channels)
        c = c.reshape([-1 if letter == "C" else 1 for letter in rest])
        made[mask] = (made[mask] * (255 - a) + c * a + 127) // 255
    return np.moveaxis(made, (0, 1), axes)


def pixel(v):
    return int(np.floor(np.float64(np.float32(v)) + 0.5))


def extents(x, layout):
    return x.shape[layout.index("H")], x.shape[layout.index("W")]


def near(size, distance, thickness):
    """Pixels whose centers are at most (thickness + 1) / 2 away."""
    y, x = np.mgrid[: size[0], : size[1]]
    return distance(x, y) <= (thickness + 1) / 2


def line_mask(size, ends, thickness):
    x0, y0, x1, y1 = map(pixel, ends)
    if thickness == 1:
        canvas = np.zeros(size, np.uint8)
        cv2.line(canvas, (x0, y0), (x1, y1), 255, 1)
        return canvas > 0
    dx, dy = x1 - x0, y1 - y0

    def distance(x, y):
        part = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy or 1), 0, 1)
        return np.hypot(x - x0 - part * dx, y - y0 - part * dy)

    return near(size, distance, thickness)


def circle_mask(size, center, radius, thickness):
    (x0, y0), r = map(pixel, center), pixel(radius)
    if thickness <= 1:
        canvas = np.zeros(size, np.uint8)
        cv2.circle(canvas, (x0, y0), r, 255, thickness or -1)
        return canvas > 0
    return near(size, lambda x, y: np.abs(np.hypot(x - x0, y - y0) - r), thickness)


def box_masks(size, box, thickness):
    """The area and the outline."""
    x0, y0, x1, y1 = map(pixel, box)
    area, outline = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    cv2.rectangle(area, (x0, y0), (x1, y1), 255, -1)
    if thickness:
        cv2.rectangle(outline, (x0, y0), (x1, y1), 255, thickness)
    return area > 0, outline > 0


def turns(color, n, channels):
    color = np.floor(np.float32(color).ravel() + np.float32(0.5)).astype(np.int64)
    if color.size == 1:
        return [color[0]] * n
    return [color.reshape(-1, channels)[k % (color.size // channels)] for k in range(n)]


def channels_of(x, layout):
    return x.shape[layout.index("C")] if "C" in layout else 1


def draw_lines(x, layout, *, lines, color=255, thickness=1, opacity=1.0):
    ends = np.float32(lines).reshape(-1, 4)
    masks = [line_mask(extents(x, layout), e, thickness) for e in ends]
    return painted(x, layout, masks, turns(color, len(ends), channels_of(x, layout)), [opacity] * len(ends))


def draw_circles(x, layout, *, centers, radius, color=255, thickness=0, opacity=1.0):
    places = np.float32(centers).reshape(-1, 2)
    radii = np.broadcast_to(np.float32(radius), len(places))
    masks = [circle_mask(extents(x, layout), p, r, thickness) for p, r in zip(places, radii)]
    return painted(x, layout, masks, turns(color, len(masks), channels_of(x, layout)), [opacity] * len(masks))


def draw_boxes(x, boxes, layout, *, color=255, thickness=1, opacity=1.0, fill_opacity=0.0):
    masks, inks = [], []
    for box, ink in zip(boxes, turns(color, len(boxes), channels_of(x, layout))):
        masks += box_masks(extents(x, layout), box, thickness)
        inks += [ink, ink]
    return painted(x, layout, masks, inks, [fill_opacity, opacity] * len(boxes))


def glyphs(text):
    """The pixels of a text: the font is read where it is defined."""
    import pathlib
    import re

    header = pathlib.Path(__file__).parents[2] / "third_party" / "misc_fixed" / "misc_fixed_8x13.h"
    table = [bytes(int(v, 16) for v in re.findall("0x(..)", row)) for row in re.findall("{(0x.*)}", header.read_text())]
    lines = []
    for line in text.split("\n"):
        known = [ord(c) - 32 if " " <= c <= "~" else ord("?") - 32 for c in line]
        bits = [np.unpackbits(np.frombuffer(table[k], np.uint8)[:, None], 1) for k in known]
        lines.append(np.concatenate(bits, 1) if bits else np.zeros((13, 0), np.uint8))
    widest = max(p.shape[1] for p in lines)
    return np.concatenate([np.pad(p, ((0, 0), (0, widest - p.shape[1]))) for p in lines]) > 0


def text_mask(size, place, text, scale):
    x0, y0 = map(pixel, place)
    drawn = np.kron(glyphs(text), np.ones((scale, scale), bool))
    both = []
    for pattern in (np.ones_like(drawn), drawn):
        mask = np.zeros(size, bool)
        y, x = np.nonzero(pattern)
        y, x = y + y0, x + x0
        inside = (y >= 0) & (y < size[0]) & (x >= 0) & (x < size[1])
        mask[y[inside], x[inside]] = True
        both.append(mask)
    return both


def draw_text(x, layout, *, text, positions, indices=None, color=255, background=None, scale=1, opacity=1.0):
    places = np.float32(positions).reshape(-1, 2)
    chosen = range(len(text)) if indices is None else indices
    channels = channels_of(x, layout)
    colors = turns(color, len(places), channels)
    under = [None] * len(places) if background is None else turns(background, len(places), channels)
    masks, inks = [], []
    for k, place, ink, below in zip(chosen, places, colors, under):
        cell, letters = text_mask(extents(x, layout), place, text[k], scale)
        if below is not None:
            masks.append(cell)
            inks.append(below)
        masks.append(letters)
        inks.append(ink)
    return painted(x, layout, masks, inks, [opacity] * len(masks))


def canvases(draw):
    xs, layout, dtype = pictures(
        draw, ["HWC", "CHW", "HW", "FHWC"], ["uint8"], channels=draw(st.sampled_from([1, 3, 4]))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    constants = {}
    if draw(st.booleans()):
        constants["opacity"] = draw(st.sampled_from([0.0, 0.25, 0.5, 0.8]))
    channels = channels_of(xs[0], layout)
    colors = draw(st.sampled_from([1, channels, 3 * channels]))
    constants["color"] = rng.integers(0, 256, colors).astype(float).tolist()
    places = lambda n, k: np.float32(np.round(rng.uniform(-30, 90, (n, k)) * 4) / 4)  # noqa: E731
    counts = [draw(st.integers(0, 5)) for _ in xs]
    return xs, layout, constants, places, counts


def draw_draw_lines(draw):
    xs, layout, constants, places, counts = canvases(draw)
    constants["thickness"] = draw(st.sampled_from([1, 1, 2, 3, 8]))
    each = {"lines": [places(n, 4).ravel() for n in counts]}
    expected = lambda i: draw_lines(xs[i], layout, **of((constants, each), i))  # noqa: E731
    return Case([xs], [layout], constants, each, dtype="uint8", error=0.0, expected=expected)


def draw_draw_circles(draw):
    xs, layout, constants, places, counts = canvases(draw)
    constants["thickness"] = draw(st.sampled_from([0, 1, 2, 3, 8]))
    each = {"centers": [places(n, 2).ravel() for n in counts], "radius": [np.abs(places(n, 1)).ravel() for n in counts]}
    each["radius"] = [r if len(r) else np.ones(1, np.float32) for r in each["radius"]]
    expected = lambda i: draw_circles(xs[i], layout, **of((constants, each), i))  # noqa: E731
    return Case([xs], [layout], constants, each, dtype="uint8", error=0.0, expected=expected)


def draw_draw_boxes(draw):
    xs, layout, constants, places, counts = canvases(draw)
    constants["thickness"] = draw(st.sampled_from([0, 1, 2, 3, 8]))
    constants["fill_opacity"] = draw(st.sampled_from([0.0, 0.5, 1.0]))
    boxes = [np.sort(places(n, 4).reshape(n, 2, 2), 1).reshape(n, 4) for n in counts]
    expected = lambda i: draw_boxes(xs[i], boxes[i], layout, **constants)  # noqa: E731
    return Case([xs, boxes], [layout, ""], constants, dtype="uint8", error=0.0, expected=expected)


def draw_draw_text(draw):
    xs, layout, constants, places, counts = canvases(draw)
    constants |= {"text": ["Ay|", "two\nlines~", ""], "scale": draw(st.sampled_from([1, 2, 5]))}
    if draw(st.booleans()):
        constants["background"] = [30.0]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    each = {"positions": [places(n, 2).ravel() for n in counts], "indices": [rng.integers(0, 3, n) for n in counts]}
    expected = lambda i: draw_text(xs[i], layout, **of((constants, each), i))  # noqa: E731
    return Case([xs], [layout], constants, each, dtype="uint8", error=0.0, expected=expected)


CASES = {
    "draw_boxes": draw_draw_boxes,
    "draw_lines": draw_draw_lines,
    "draw_circles": draw_draw_circles,
    "draw_text": draw_draw_text,
}
