# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: regions of equal values, and geometry of points."""

from .calls import found, row

_LABEL = (
    "connectivity=ConnectivityType.CONNECTIVITY_4_2D, assign_labels=LABEL.FAST, "
    "mask_type=LabelMaskType.REMOVE_ISLANDS_OUTSIDE_MASK_ONLY"
)
_LIMITS = "bg_label=None, min_thresh=None, max_thresh=None, min_size=None, mask=None"


@row(
    f"T: src, {_LABEL}, *, count=False, stats=False, max_labels=10000, {_LIMITS}",
    into=[f"dst, count=None, stats=None, src=None, {_LABEL}, *, {_LIMITS}"],
    over=("label",),
)
def label(call):
    """Numbers connected regions of equal values."""
    found("label")
    call.refuse("fn.label has no counterpart of cvcuda.label's arguments yet")


@row("T: src, numPointsInContour, totalContours", over=("min_area_rect",))
def minarearect(call):
    """Finds the smallest rotated rectangle around each set of points."""
    found("min_area_rect")
    call.refuse("fn.min_area_rect has no counterpart of cvcuda.minarearect's arguments yet")


@row(
    "T: srcPts, dstPts",
    "B: srcPts, dstPts",
    into=["models, srcPts, dstPts"] * 2,
    first="srcPts",
    over=("find_homography",),
)
def findhomography(call):
    """Finds the perspective that takes each set of points to another one."""
    found("find_homography")
    call.refuse("fn.find_homography has no counterpart of cvcuda.findhomography's arguments yet")
