# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: boxes and other marks on images. Marks are drawn one over the other, each by one or two operators."""

import math
import time

import numpy as np

from .. import _core, fn
from .._base.limits import integer
from . import shapes
from .calls import Step, row
from .enumerations import ClockFormat
from .signatures import found

_FONT_HEIGHT = 13  # of draw_text
_CLOCKS = {
    ClockFormat.YYMMDD_HHMMSS: "%y-%m-%d %H:%M:%S",
    ClockFormat.YYMMDD: "%y-%m-%d",
    ClockFormat.HHMMSS: "%H:%M:%S",
}


class Canvas:
    """One image that is drawn on."""

    def __init__(self, call, image):
        self.call, self.image, self.channels = call, image, call.channels

    def draw(self, operator, *inputs, **arguments):
        """The image with what an operator draws."""
        self.image = self.call.step(found(operator), self.image, *inputs, **arguments)

    def ink(self, color):
        """The arguments of a color of 3 numbers, or of 4 with an opacity of 255ths."""
        color = [*map(float, color)]
        alpha = color[3] if len(color) > 3 else 255.0
        return {"color": (color[:3] + [255.0])[: self.channels], "opacity": alpha / 255}

    def box(self, box, thickness, color):
        """The outline of (x, y, width, height), or with thickness 0 its area."""
        ink, (x, y, width, height) = self.ink(color), box
        corners = _core.Batch([np.float32([[x, y, x + width - 1, y + height - 1]])])
        if thickness > 0:
            self.draw("draw_boxes", corners, thickness=integer("thickness", thickness), **ink)
        else:
            self.draw("draw_boxes", corners, thickness=0, color=ink["color"], fill_opacity=ink["opacity"])

    def lines(self, points, closed, thickness, color):
        """Lines from point to point."""
        ends = np.concatenate([points[:-1], points[1:]], axis=1)
        if closed:
            ends = np.concatenate([ends, [[*points[-1], *points[0]]]])
        self.draw(
            "draw_lines",
            lines=ends.reshape(-1).tolist(),
            thickness=max(integer("thickness", thickness), 1),
            **self.ink(color),
        )

    def circle(self, center, radius, thickness, color):
        """A circle, or with thickness 0 a disc."""
        given = {
            "centers": [*map(float, center)],
            "radius": [float(radius)],
            "thickness": integer("thickness", thickness),
        }
        self.draw("draw_circles", **given, **self.ink(color))

    def text(self, text, position, size, color, background):
        """A text whose left upper corner is at a position."""
        given = {"text": [text], "positions": [*map(float, position)], "scale": max(1, round(size / _FONT_HEIGHT))}
        if len(background) < 4 or background[3] > 0:
            given["background"] = self.ink(background)["color"]
        self.draw("draw_text", **given, **self.ink(color))

    def area(self, mask, color):
        """The pixels of a mask of the image's extents."""
        ink = self.ink(color)
        alpha = round(ink["opacity"] * 255)
        shade = np.int32(ink["color"]).reshape((-1, 1, 1) if self.image.layout() == "CHW" else (1, 1, -1))
        mask = mask[None] if self.image.layout() == "CHW" else mask[..., None]
        wide = self.call.step(fn.cast, self.image, dtype="int32")
        mixed = (wide * (255 - alpha) + (shade * alpha + 127)) // 255
        layout = self.image.layout()
        self.image = self.call.step(fn.cast, self.call.step(fn.where, mask, mixed, wide), dtype="uint8")
        self.image.set_layout(layout)

    def extents(self):
        """(height, width)"""
        layout, shape = self.image.layout(), self.image.shape()[0]
        return shape[layout.index("H")], shape[layout.index("W")]


def _inside(points, height, width):
    """A mask of the pixels inside a polygon, by the even-odd rule at their centers."""
    y, x = np.mgrid[0:height, 0:width]
    mask = np.zeros((height, width), bool)
    for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0)):
        if ay != by:
            crosses = (ay <= y) != (by <= y)
            mask ^= crosses & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return mask.astype(np.uint8)


def _seen(color):
    return len(color) < 4 or color[3] > 0


def _polygon(canvas, points, closed, thickness, border, fill):
    points = np.asarray(points, np.float64).reshape(-1, 2)
    if _seen(fill) and closed:
        canvas.area(_inside(points, *canvas.extents()), fill)
    if thickness > 0 and len(points) > 1:
        canvas.lines(points, closed, thickness, border)


def _box(canvas, e):
    if _seen(e.fillColor):
        canvas.box(e.box, 0, e.fillColor)
    canvas.box(e.box, max(e.thickness, 0), e.borderColor)


def _rotated(canvas, e):
    cos, sin = math.cos(e.yaw), math.sin(e.yaw)
    across, down = np.array([cos, sin]) * e.width / 2, np.array([-sin, cos]) * e.height / 2
    center = np.array(e.centerPos, np.float64)
    corners = [center + a * across + b * down for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    _polygon(canvas, corners, True, e.thickness, e.borderColor, e.bgColor)


def _circle(canvas, e):
    if _seen(e.bgColor):
        canvas.circle(e.centerPos, e.radius, 0, e.bgColor)
    if e.thickness > 0:
        canvas.circle(e.centerPos, e.radius, e.thickness, e.borderColor)


def _arrow(canvas, e):
    start, end = np.array(e.pos0, np.float64), np.array(e.pos1, np.float64)
    angle = math.atan2(*(start - end)[::-1])
    head = [
        end + e.arrowSize * np.array([math.cos(angle + d), math.sin(angle + d)]) for d in (math.pi / 6, -math.pi / 6)
    ]
    for points in ([start, end], [end, head[0]], [end, head[1]]):
        canvas.lines(np.array(points), False, e.thickness, e.color)


def _segment(canvas, e):
    height, width = canvas.extents()
    x, y, w, h = (integer("box", v) for v in e.box)
    heat = fn.resize(np.ascontiguousarray(e.segArray, np.float32), size=[h, w], antialias=False)
    mask = np.zeros((height, width), np.uint8)
    top, left = max(y, 0), max(x, 0)
    part = mask[top : max(y + h, 0), left : max(x + w, 0)]
    part[:] = (np.asarray(heat) > e.segThreshold)[top - y :, left - x :][: part.shape[0], : part.shape[1]]
    canvas.area(mask, e.segColor)
    if e.thickness > 0:
        canvas.box(e.box, e.thickness, e.borderColor)


def _clock(canvas, e):
    canvas.text(time.strftime(_CLOCKS[e.clockFormat], time.gmtime(e.time)), e.tlPos, e.fontSize, e.fontColor, e.bgColor)


_MARKS = {
    shapes.BndBoxI: _box,
    shapes.Label: lambda c, e: c.text(e.utf8Text, e.tlPos, e.fontSize, e.fontColor, e.bgColor),
    shapes.Segment: _segment,
    shapes.Point: lambda c, e: c.circle(e.centerPos, e.radius, 0, e.color),
    shapes.Line: lambda c, e: c.lines(np.array([e.pos0, e.pos1]), False, e.thickness, e.color),
    shapes.PolyLine: lambda c, e: _polygon(c, e.points, e.isClosed, e.thickness, e.borderColor, e.fillColor),
    shapes.RotatedBox: _rotated,
    shapes.Circle: _circle,
    shapes.Arrow: _arrow,
    shapes.Clock: _clock,
}


def _drawn(call, lists):
    if len(lists) != len(call.x):
        call.refuse(f"there are marks for {len(lists)} of {len(call.x)} images")
    if call.channels not in (3, 4):
        call.refuse(f"images have 3 or 4 channels, got {call.channels}")
    found("draw_boxes")
    layout, samples = call.x.layout(), []
    for image, marks in zip(call.x, lists):
        canvas = Canvas(call, _core.Batch([image], layout))
        for mark in marks:
            if type(mark) not in _MARKS:
                call.refuse(
                    f"a mark is one of {', '.join(sorted(k.__name__ for k in _MARKS))}, got {type(mark).__name__}"
                )
            _MARKS[type(mark)](canvas, mark)
        samples.append(canvas.image[0])
    return Step(fn.copy, _core.Batch(samples, layout))


@row("T: src, bboxes", over=("draw_boxes",))
def bndbox(call):
    """Draws boxes, a list for each image."""
    return _drawn(call, call.bboxes.boxes)


@row("T: src, elements", over=("draw_boxes", "draw_lines", "draw_circles", "draw_text"))
def osd(call):
    """Draws marks, a list for each image."""
    return _drawn(call, call.elements.elements)


@row("T: src, bboxes", over=("box_blur_regions",))
def boxblur(call):
    """Blurs boxes, a list for each image."""
    lists = call.bboxes.boxes
    if len(lists) != len(call.x):
        call.refuse(f"there are boxes for {len(lists)} of {len(call.x)} images")
    boxes = [np.float32([b.box for b in boxes]).reshape(-1, 4) for boxes in lists]
    sizes = [np.int32([b.kernelSize for b in boxes] or [1]) for boxes in lists]
    given = {"window_size": _core.Batch(sizes), "bbox_layout": "xywh"}
    return Step(found("box_blur_regions"), call.x, _core.Batch(boxes), **given)
