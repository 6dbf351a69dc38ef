# SPDX-License-Identifier: Apache-2.0
"""What the parts of a Sample are."""

from __future__ import annotations

import dataclasses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclasses.dataclass(frozen=True)
class Image:
    """A part of pixels that every operator of images changes.

    Args:
        value: The image, as operators take it.
        interp_type: The interpolation with which this image moves, whatever the call says: types.INTERP_NN for depth in
            a file of class numbers, say. None: that of the call.
    """

    value: Any = None
    interp_type: int | None = None


@dataclasses.dataclass(frozen=True)
class Volume(Image):
    """A part of voxels, such as a scan: operators take it as an image with a depth. Masks and points move with it.

    Args:
        value: (D, H, W) or (D, H, W, C), as arrays without a layout are taken.
        interp_type: As of an Image.
        layout: Another order of the dimensions, such as "CDHW"; it also says what a value of a pipeline is whose layout
            is not known.

    Example:
        >>> from penstock.sample import Mask, Sample, Volume
        >>> scan = np.zeros((24, 64, 48), np.int16)
        >>> sample = Sample(volume=scan, mask=Mask(np.zeros((24, 64, 48), np.uint8)), points=np.float32([[1, 2, 3]]))
        >>> fn.flip(sample, depthwise=1, horizontal=0)["points"].tolist()
        [[1.0, 2.0, 21.0]]
    """

    layout: str = ""


@dataclasses.dataclass(frozen=True)
class Mask:
    """A part of class numbers: it moves with the images, by nearest neighbors, and keeps its values.

    Args:
        value: (H, W) or (H, W, C), with the height and the width of the images; of volumes (D, H, W) or (D, H, W, C).
        fill: The class of what comes from outside the mask, where an operator fills that.
    """

    value: Any = None
    fill: float = 0


@dataclasses.dataclass(frozen=True)
class Instances:
    """Masks of objects, one for each box: they move as masks do, and are dropped with the boxes of their objects.

    Args:
        value: (N, H, W): a mask for each object, with the height and the width of the images.
        fill: What comes from outside a mask, where an operator fills that.
    """

    value: Any = None
    fill: float = 0


@dataclasses.dataclass(frozen=True)
class Boxes:
    """Boxes that move with the images; those that leave them are dropped, with their rows of `labels`.

    Args:
        value: (N, 4), float32.
        layout: "ltrb", "xywh" or "cxcywh".
        normalized: True: in fractions of the image. False: in pixels, (0, 0) is the outer corner of the first pixel.
        min_area: Boxes are dropped if their area in the image, in pixels, is less.
        min_visibility: Boxes are dropped if less than this fraction of their area is in the image.
        labels: The names of the parts that have one row for each box; they need not all be there.
    """

    value: Any = None
    layout: str = "ltrb"
    normalized: bool = False
    min_area: float = 0.0
    min_visibility: float = 0.0
    labels: tuple[str, ...] | str = ("labels",)


@dataclasses.dataclass(frozen=True)
class Points:
    """Points that move with the images. All of them stay, also those that leave the images.

    Args:
        value: (N, n) in pixels, x and y first; (0, 0) is the outer corner of the first pixel. Numbers after these, such as
            a visibility, stay as they are. Of volumes x, y and z first.
    """

    value: Any = None


@dataclasses.dataclass(frozen=True)
class Keypoints(Points):
    """Keypoints of objects: they move as points do, and are dropped with the boxes of their objects.

    The third number is the visibility: it becomes 0 where a move takes a keypoint out of the image. Where a move mirrors
    the image, left and right change places.

    Args:
        value: (N, k, n): k keypoints for each object, each of x, y and any further numbers.
        flip_indices: Which keypoint takes each place in a mirrored image, k whole numbers, as flip_idx of YOLO:
            (0, 2, 1) for a nose, a left and a right eye. Empty: all keep their places.

    Raises:
        ValueError: flip_indices does not name each of its places once.
    """

    flip_indices: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        places = list(self.flip_indices)
        if sorted(map(str, places)) != sorted(map(str, range(len(places)))):
            raise ValueError(
                f"flip_indices must name each keypoint from 0 to {len(places) - 1} once, got {self.flip_indices!r}"
            )


@dataclasses.dataclass(frozen=True)
class Other:
    """A part that no operator changes; boxes may name it as their labels.

    Args:
        value: The value.
    """

    value: Any = None


_KINDS = {
    "image": Image,
    "images": Image,
    "volume": Volume,
    "volumes": Volume,
    "mask": Mask,
    "masks": Mask,
    "instances": Instances,
    "boxes": Boxes,
    "bboxes": Boxes,
    "points": Points,
    "keypoints": Points,
}
CLASSES = (Image, Mask, Instances, Boxes, Points, Other)
PIXELS = (Image, Volume, Mask, Instances)
OF_OBJECTS = (Instances, Keypoints)  # have a row for each of the first boxes


def refusal(kinds):
    """Why parts of these kinds cannot be together; None if they can."""
    volumes = [name for name, kind in kinds.items() if isinstance(kind, Volume)]
    if not any(isinstance(kind, PIXELS) for kind in kinds.values()):
        return "a Sample needs an image, a volume or a mask: it decides where the other parts move"
    for name, kind in kinds.items():
        if volumes and (type(kind) is Image or isinstance(kind, (Boxes, Instances, Keypoints))):
            return (
                f"Sample: '{name}' ({type(kind).__name__}) cannot move with the volume '{volumes[0]}': masks and points "
                "can; a second volume is Volume(value)"
            )
        if isinstance(kind, Boxes) and not all(isinstance(label, str) for label in label_names(kind)):
            return f"Sample: labels of '{name}' must be names of parts, got {kind.labels!r}"
        for label in label_names(kind):
            if isinstance(kinds.get(label), PIXELS):
                return f"Sample: '{label}' is a part of pixels, not of labels of '{name}'"
    return None


def label_names(kind):
    names = getattr(kind, "labels", ())
    return names if isinstance(names, (list, tuple)) else (names,)


def kind_of(name, part):
    if isinstance(part, CLASSES):
        return dataclasses.replace(part, value=None)
    return _KINDS.get(name, Other)()
