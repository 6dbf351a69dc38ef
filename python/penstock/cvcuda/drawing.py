# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: boxes and other marks on images."""

from .calls import found, row


@row("T: src, bboxes", over=("draw_boxes",))
def bndbox(call):
    """Draws boxes, a list for each image."""
    found("draw_boxes")
    call.refuse("fn.draw_boxes has no counterpart of BndBoxesI yet")


@row("T: src, bboxes", over=("box_blur_regions",))
def boxblur(call):
    """Blurs boxes, a list for each image."""
    found("box_blur_regions")
    call.refuse("fn.box_blur_regions has no counterpart of BlurBoxesI yet")


@row("T: src, elements", over=("draw_boxes", "draw_lines", "draw_circles", "draw_text"))
def osd(call):
    """Draws marks, a list for each image."""
    found("draw_boxes")
    call.refuse("fn.draw_boxes and its sisters have no counterpart of Elements yet")
