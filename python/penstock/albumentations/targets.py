# SPDX-License-Identifier: Apache-2.0
"""From the targets of a call (image, mask, bboxes, keypoints) to a Sample, and back."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np

from ..sample import Boxes, Image, Mask, Other, Volume

_BOXES = {
    "pascal_voc": ("ltrb", False),
    "albumentations": ("ltrb", True),
    "coco": ("xywh", False),
    "yolo": ("cxcywh", True),
}
_POINTS = ("xy", "yx", "xyz")
PIXELS = {  # the layouts of pixels, of arrays with few and with all dimensions
    "image": ("HW", "HWC"),
    "mask": ("HW", "HWC"),
    "volume": ("DHW", "DHWC"),
    "mask3d": ("DHW", "DHWC"),
}


@dataclasses.dataclass(frozen=True)
class BboxParams:
    """How boxes are meant, and which are dropped.

    Args:
        format: "pascal_voc" (left, top, right, bottom), "albumentations" (the same in fractions), "coco" (left, top,
            width, height) or "yolo" (center, width, height in fractions).
        label_fields: Names of arguments of the call that have one entry for each box.
        min_area: Boxes are dropped whose area is less, in pixels.
        min_visibility: Boxes are dropped of which less than this fraction stays in the image.
        min_width: Boxes are dropped that are narrower, in pixels; outside a pipeline.
        min_height: Boxes are dropped that are lower; outside a pipeline.
        check_each_transform: True: each transform cuts and drops boxes. False is not there.
        clip: Boxes are cut to the image at first; outside a pipeline.

    Raises:
        ValueError: An argument has a value that is not there.

    Example:
        >>> from penstock.albumentations import BboxParams
        >>> params = BboxParams("coco", label_fields=["labels"], min_visibility=0.1)
    """

    format: str
    label_fields: Sequence[str] | None = None
    min_area: float = 0.0
    min_visibility: float = 0.0
    min_width: float = 0.0
    min_height: float = 0.0
    check_each_transform: bool = True
    clip: bool = False

    def __post_init__(self) -> None:
        if self.format not in _BOXES:
            raise ValueError(f"BboxParams: format must be one of {', '.join(_BOXES)}, got {self.format!r}")
        if not self.check_each_transform:
            raise ValueError(
                "BboxParams: check_each_transform=False is not there: each transform cuts boxes to its image"
            )

    def _part(self, value: Any, labels: Sequence[str]) -> Boxes:
        """Returns the part of a Sample.

        Args:
            value: The boxes.
            labels: The names of the parts with a row for each box.
        """
        layout, normalized = _BOXES[self.format]
        return Boxes(value, layout, normalized, self.min_area, self.min_visibility, tuple(labels))

    def _checked(self, boxes: Any, extent: tuple[int, int]) -> Any:
        """Returns the boxes, which must be in the image, or are cut to it.

        Args:
            boxes: (N, 4).
            extent: The height and the width of the image.
        """
        ends = _ends(boxes, self.format, extent)
        sides = np.array([extent[1], extent[0]] * 2)
        if self.clip:
            return _from_ends(ends.clip(0, sides), self.format, extent)
        wrong = ((ends < -1e-3) | (ends > sides + 1e-3)).any(1) | (ends[:, :2] >= ends[:, 2:]).any(1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"bboxes: box {row} is {boxes[row].tolist()}, which is empty or not in the image of {extent[0]} x "
                f"{extent[1]} as format={self.format!r}: clip=True of BboxParams cuts it"
            )
        return boxes

    def _large(self, boxes: Any, extent: tuple[int, int]) -> Any:
        """Returns which boxes have min_width and min_height.

        Args:
            boxes: (N, 4).
            extent: The height and the width of the image.
        """
        ends = _ends(boxes, self.format, extent)
        return (ends[:, 2] - ends[:, 0] >= self.min_width) & (ends[:, 3] - ends[:, 1] >= self.min_height)


def _ends(boxes, form, extent):
    layout, normalized = _BOXES[form]
    first, second = boxes[:, :2].astype(np.float64), boxes[:, 2:4].astype(np.float64)
    first = first - second / 2 if layout == "cxcywh" else first
    ends = np.hstack([first, second if layout == "ltrb" else first + second])
    return ends * ([extent[1], extent[0]] * 2 if normalized else 1.0)


def _from_ends(ends, form, extent):
    layout, normalized = _BOXES[form]
    ends = ends / ([extent[1], extent[0]] * 2) if normalized else ends
    first, size = ends[:, :2], ends[:, 2:] - ends[:, :2]
    rows = {"ltrb": ends, "xywh": np.hstack([first, size]), "cxcywh": np.hstack([first + size / 2, size])}[layout]
    return rows.astype(np.float32)


@dataclasses.dataclass(frozen=True)
class KeypointParams:
    """How points are meant: (0, 0) is the center of the first pixel.

    Args:
        format: "xy", "yx", or of a volume "xyz"; further numbers of a point stay as they are.
        label_fields: Names of arguments of the call that have one entry for each point.
        remove_invisible: Points that leave the image are dropped. In a pipeline it must be False.
        check_each_transform: Accepted; points are dropped at the end.

    Raises:
        ValueError: The format is not there.

    Example:
        >>> from penstock.albumentations import KeypointParams
        >>> params = KeypointParams("xy", remove_invisible=False)
    """

    format: str
    label_fields: Sequence[str] | None = None
    remove_invisible: bool = True
    check_each_transform: bool = True

    def __post_init__(self) -> None:
        if self.format not in _POINTS:
            raise ValueError(
                f"KeypointParams: format must be 'xy', 'yx' or 'xyz', got {self.format!r}: angles and scales of points are not there"
            )

    def _corner_based(self, points: Any, sign: float) -> Any:
        """Returns points whose origin is the outer corner of the first pixel (sign 1), x first; or back (sign -1).

        Args:
            points: (N, 2), of a volume (N, 3), or more columns.
            sign: 1 or -1.
        """
        made = np.array(points, np.float32)
        if sign > 0 and self.format == "yx":
            made[:, :2] = made[:, 1::-1]
        made[:, : len(self.format)] += np.float32(0.5 * sign)
        if sign < 0 and self.format == "yx":
            made[:, :2] = made[:, 1::-1]
        return made


KINDS = {"image": Image, "mask": Mask, "volume": Volume, "mask3d": Mask, "other": Other}
