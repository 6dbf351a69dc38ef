# SPDX-License-Identifier: Apache-2.0
"""Compose and what chooses among transforms."""

from __future__ import annotations

import difflib
import functools
import types
from typing import Any, Sequence

import numpy as np

from .. import _core, augment, _graph as graph
from .._base.other_names import answer_of_loader
from ..sample import Mask, Other, Points, Sample
from . import checks
from .targets import KINDS, PIXELS, BboxParams, KeypointParams
from .transforms import Transform

FURTHER = "cropping_bbox_key", "metadata_key"  # arguments that name an argument of the call


def _list(name, transforms):
    if not isinstance(transforms, (list, tuple)):
        raise TypeError(f"{name} takes a list of transforms, got {transforms!r}")
    transforms = list(transforms)
    for t in transforms:
        if isinstance(t, type) and hasattr(t, "_apply"):
            raise TypeError(f"{name} takes transforms, got the class {t.__name__}: call it, {t.__name__}()")
        if not hasattr(t, "_apply"):
            raise TypeError(f"{name} takes transforms of penstock.albumentations, got {t!r}")
    return transforms


_INSTEAD = {
    "seed": "penstock.seed(s) restarts the draws of calls outside pipelines",
    "is_check_shapes": "shapes are always checked",
    "strict": "wrong arguments are always errors",
    "save_applied_params": "ReplayCompose gives what was drawn",
    "targets": "additional_targets={'image2': 'image'} names more of them",
}


def _instead(argument):
    known = ("transforms", "bbox_params", "keypoint_params", "additional_targets", "p")
    if near := difflib.get_close_matches(argument, known, 1):
        return f", did you mean '{near[0]}'?"
    return f": {_INSTEAD[argument]}" if argument in _INSTEAD else answer_of_loader(argument)


class _Several:
    def __init__(self, transforms, p):
        self.transforms, self.p = _list(type(self).__name__, transforms), augment.samples.checked_probability(p)

    def _apply(self, sample):
        return self._forced(sample) if self.p >= 1.0 else augment.maybe(sample, self._forced, self.p)

    def __call__(self, **data):
        return Compose([self])(**data)

    def __repr__(self):
        return f"{type(self).__name__}({self.transforms!r}, p={self.p})"


class Sequential(_Several):
    """Does all transforms, or none.

    Args:
        transforms: Transforms.
        p: The probability of all.

    Example:
        >>> from penstock import albumentations as A
        >>> both = A.Sequential([A.HorizontalFlip(), A.VerticalFlip()], p=0.5)
    """

    def __init__(self, transforms: Sequence[Any], p: float = 0.5) -> None:
        super().__init__(transforms, p)

    def _forced(self, sample: Any) -> Any:
        """Does all.

        Args:
            sample: A Sample.
        """
        for t in self.transforms:
            sample = t._apply(sample)
        return sample


class OneOf(_Several):
    """Does one transform; their p say how often each is taken.

    Args:
        transforms: Transforms.
        p: The probability that one is done.

    Example:
        >>> from penstock import albumentations as A
        >>> blur = A.OneOf([A.GaussianBlur(p=2 / 3), A.MedianBlur(p=1 / 3)], p=0.2)
    """

    def __init__(self, transforms: Sequence[Any], p: float = 0.5) -> None:
        super().__init__(transforms, p)

    def _forced(self, sample: Any) -> Any:
        """Does one.

        Args:
            sample: A Sample.
        """
        return augment.one_of(sample, [t._forced for t in self.transforms], [t.p for t in self.transforms])


class SomeOf(_Several):
    """Does n transforms in their order; all choices are equally likely.

    Args:
        transforms: Transforms; each is done with its own p where it is taken.
        n: How many are taken.
        replace: False: each once. True is not there.
        p: The probability that any is done.

    Raises:
        ValueError: replace is True.

    Example:
        >>> from penstock import albumentations as A
        >>> two = A.SomeOf([A.HorizontalFlip(), A.VerticalFlip(), A.InvertImg()], n=2)
    """

    def __init__(self, transforms: Sequence[Any], n: int = 1, replace: bool = False, p: float = 1.0) -> None:
        if replace:
            raise ValueError("SomeOf: replace=True is not there")
        super().__init__(transforms, p)
        self.n = n

    def _forced(self, sample: Any) -> Any:
        """Does n.

        Args:
            sample: A Sample.
        """
        return augment.some_of(sample, [t._apply for t in self.transforms], self.n)


class Compose(Sequential):
    """Does transforms one after the other, to an image and what belongs to it.

    Called with arrays it does them at once, with the shapes of Albumentations; with values of a pipeline it adds nodes.

    Args:
        transforms: Transforms.
        bbox_params: A BboxParams, or a dict of its arguments.
        keypoint_params: A KeypointParams, or a dict.
        additional_targets: Further arguments of the call, by what they are: "image", "mask", "volume", "mask3d",
            "bboxes" or "keypoints".
        p: The probability of all.
        **others: No argument has another name: an error says what does its work here.

    Raises:
        TypeError: What is given is not a list of transforms, or there is no such argument.

    Example:
        >>> from penstock import albumentations as A
        >>> train = A.Compose(
        ...     [A.HorizontalFlip(p=1.0), A.Resize(24, 32)], bbox_params=A.BboxParams("coco", label_fields=["labels"])
        ... )
        >>> made = train(image=np.zeros((48, 64, 3), np.uint8), bboxes=[[8, 8, 16, 16]], labels=["cat"])
        >>> made["image"].shape, made["bboxes"].tolist(), made["labels"]
        ((24, 32, 3), [[20.0, 4.0, 8.0, 8.0]], ['cat'])
    """

    def __init__(
        self,
        transforms: Sequence[Any],
        bbox_params: BboxParams | dict[str, Any] | None = None,
        keypoint_params: KeypointParams | dict[str, Any] | None = None,
        additional_targets: dict[str, str] | None = None,
        p: float = 1.0,
        **others: Any,
    ) -> None:
        for name in others:
            raise TypeError(f"{type(self).__name__} has no argument '{name}'{_instead(name)}")
        super().__init__(transforms, p)
        self.boxes = BboxParams(**bbox_params) if isinstance(bbox_params, dict) else bbox_params
        self.points = KeypointParams(**keypoint_params) if isinstance(keypoint_params, dict) else keypoint_params
        self.targets = {n: n for n in (*PIXELS, "bboxes", "keypoints")} | (additional_targets or {})

    def __call__(self, *args: Any, **data: Any) -> dict[str, Any]:
        """Does the transforms.

        Args:
            *args: None: targets are given by name.
            **data: image or volume, and mask, masks, mask3d, bboxes, keypoints, the label fields, additional targets.

        Returns:
            A dict of the same names.

        Raises:
            TypeError: An argument is not known, or image and volume are missing.
            ValueError: Boxes are not in the image, a mask has another size, or labels do not match boxes.
        """
        if args:
            raise TypeError("Compose takes its targets by name: image=, or volume=")
        self._check(data)
        if graph.current() is not None:
            return self._in_pipeline(data)
        first = _first(data)
        images = data[first]
        if isinstance(images, (list, _core.Batch)):
            made = [self._at_once({n: v[k] for n, v in data.items()})[0] for k in range(len(images))]
            result = {n: [m[n] for m in made] for n in made[0]} if made else dict(data)
            layout = PIXELS[first][-1]
            return {n: _core.batch(v, layout=layout) if n == first and isinstance(images, _core.Batch)
                    and isinstance(v[0], np.ndarray) and v[0].ndim == len(layout) else v
                    for n, v in result.items()}  # fmt: skip
        return self._at_once(data)[0]

    def _fields(self, params):
        return list((params and params.label_fields) or ())

    def _further(self):
        """Names of further arguments that transforms read."""
        found, inner = set(), list(self.transforms)
        while inner:
            t = inner.pop()
            inner += getattr(t, "transforms", [])
            found |= {getattr(getattr(t, "arguments", None), key, None) for key in FURTHER} - {None}
        return sorted(found)

    def _check(self, data):
        known = [*self.targets, "masks", *self._further(), *self._fields(self.boxes), *self._fields(self.points)]
        for name in data:
            if name not in known:
                raise TypeError(
                    f"Compose: '{name}' is not a target: it has {', '.join(known)}; additional_targets= and label_fields= add some"
                )
            params = {"bboxes": self.boxes, "keypoints": self.points}.get(self.targets.get(name), self)
            if params is None:
                what = (
                    "bbox_params=BboxParams(...)"
                    if self.targets[name] == "bboxes"
                    else "keypoint_params=KeypointParams(...)"
                )
                raise TypeError(f"Compose: {name} needs {what}: it says how they are meant")
        if _first(data) is None:
            raise TypeError("Compose takes its targets by name: image=, or volume=")
        if self.points and "keypoints" in data and (self.points.format == "xyz") != (_first(data) == "volume"):
            raise ValueError("KeypointParams: points of a volume have format='xyz', others have not")

    def _in_pipeline(self, data):
        if self.points and self.points.remove_invisible and "keypoints" in data:
            raise ValueError("KeypointParams: in a pipeline all points stay: write remove_invisible=False")
        if self.points and "keypoints" in data and self.points.format == "yx":
            raise ValueError("KeypointParams: in a pipeline format must be 'xy'")
        if self.boxes and (self.boxes.min_width or self.boxes.min_height or self.boxes.clip):
            raise ValueError("BboxParams: min_width, min_height and clip are not there in a pipeline")
        parts, half = {}, np.float32([0.5] * (3 if _first(data) == "volume" else 2))
        for name, value in data.items():
            kind = self.targets.get(name, "other")
            if name == "masks":
                raise TypeError("Compose: in a pipeline give each mask a name, by additional_targets")
            parts[name] = (
                self.boxes._part(value, self._fields(self.boxes))
                if kind == "bboxes"
                else KINDS[kind](value)
                if kind != "keypoints"
                else Points(value + half)
            )
        made = self._apply(Sample(**parts))
        return {n: made[n] - half if self.targets.get(n) == "keypoints" else made[n] for n in data}

    def _at_once(self, data, do=None):
        self._check_arrays(data)
        image = data[_first(data)]
        image = image.numpy() if isinstance(image, _core.Tensor) else image
        extent, parts = image.shape[:2], {}
        for name, value in data.items():
            kind = self.targets.get(name, "other")
            if name == "masks":
                parts |= {f"_mask{k}": Mask(_part(mask)) for k, mask in enumerate(value)}
            elif kind == "bboxes":
                rows = _rows(value, 4)
                parts[name] = self.boxes._part(self.boxes._checked(rows, extent), [f"_rows_{name}"])
                parts[f"_rows_{name}"] = Other(np.arange(len(rows), dtype=np.int32))
            elif kind == "keypoints":
                parts[name] = Points(self.points._corner_based(_rows(value, len(self.points.format)), 1.0))
            elif name in self._further():
                parts[name] = Other(value if _described(value) else np.float32(value))
            elif kind in PIXELS:
                parts[name] = KINDS[kind](_part(value, PIXELS[kind]))
        made = (do or self._apply)(Sample(**parts))
        return self._results(data, made), made

    def _check_arrays(self, data):
        pixels = {n: v for n, v in data.items() if self.targets.get(n) in PIXELS}
        pixels |= {f"masks[{k}]": mask for k, mask in enumerate(data.get("masks", ()))}
        first = _first(data)
        for name, value in pixels.items():
            checks.check_pixels(name, value, PIXELS.get(self.targets.get(name), PIXELS["mask"]))
        shape = data[first].shape
        extent = tuple(shape() if callable(shape) else shape)[: len(PIXELS[first][0])]
        for name, value in pixels.items():
            checks.check_extents(extent, name, value, first)
        for name, params in (("bboxes", self.boxes), ("keypoints", self.points)):
            if data.get(name) is not None:
                checks.check_labels(name, len(data[name]), data, self._fields(params))

    def _results(self, data, made):
        made = {n: _array(made[n]) for n in made}
        image = made[_first(data)]
        spatial = len(PIXELS[_first(data)][0])
        extent = image.shape[1:] if self._gives_tensors() else image.shape[:spatial]
        result = {n: made[n] for n in data if n in made}
        if "masks" in data:
            result["masks"] = [made[f"_mask{k}"] for k in range(len(data["masks"]))]
        for name in data:
            kind = self.targets.get(name)
            if kind == "bboxes":
                kept = np.asarray(made[f"_rows_{name}"]).reshape(-1)
                boxes = np.asarray(made[name]).reshape(-1, 4)
                large = self.boxes._large(boxes, extent)
                result[name] = _like(data[name], boxes[large], kept[large], 4)
                if name == "bboxes":
                    result |= {f: _taken(data[f], kept[large]) for f in self._fields(self.boxes) if f in data}
            elif kind == "keypoints":
                points = self.points._corner_based(np.asarray(made[name]), -1.0)
                at = points[:, 1::-1] if self.points.format == "yx" else points[:, :spatial]
                stay = (
                    ((at >= 0) & (at < extent[::-1])).all(1) if self.points.remove_invisible else at[:, 0] == at[:, 0]
                )
                rows = np.flatnonzero(stay)
                result[name] = points[rows]
                if name == "keypoints":
                    result |= {f: _taken(data[f], rows) for f in self._fields(self.points) if f in data}
        if self._gives_tensors():
            result = {n: _tensor(v) if self.targets.get(n) in PIXELS else v for n, v in result.items()}
        return {n: result[n] for n in data}

    def _gives_tensors(self):
        return any(type(t).__name__ == "ToTensorV2" for t in self.transforms)


class _AlsoOfTheClass:
    """A method that Albumentations has on the class: there a Compose of no transforms stands for the object."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __get__(self, made, owner):
        return types.MethodType(self.function, owner([]) if made is None else made)


class ReplayCompose(Compose):
    """Compose whose result has under "replay" what was drawn; replay() does it again to other images.

    Args:
        *args: The arguments of Compose.
        **kwargs: The arguments of Compose.

    Example:
        >>> from penstock import albumentations as A
        >>> twice = A.ReplayCompose([A.HorizontalFlip(), A.RandomCrop(8, 8)])
        >>> image = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
        >>> first = twice(image=image)
        >>> again = twice.replay(first["replay"], image=image)
        >>> bool((again["image"] == first["image"]).all())
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def __call__(self, **data: Any) -> dict[str, Any]:
        """Does the transforms to one image.

        Args:
            **data: As for Compose.

        Raises:
            TypeError: The image is a value of a pipeline, or a batch.
        """
        if graph.current() is not None or isinstance(data.get("image"), (list, _core.Batch)):
            raise TypeError("ReplayCompose takes one image at a time, outside pipelines")
        self._check(data)
        result, made = self._at_once(data)
        return {**result, "replay": made.params}

    @_AlsoOfTheClass
    def replay(self, saved: list[dict[str, Any]], **data: Any) -> dict[str, Any]:
        """Does again what was done before. Called on the class it takes images and masks.

        Args:
            saved: What stands under "replay".
            **data: As for Compose.
        """
        self._check(data)
        return self._at_once(data, lambda sample: sample.replay(saved))[0]


def _first(data):
    """The name of the pixels that decide where the other parts are; None: there are none."""
    return next((name for name in ("image", "volume") if name in data), None)


def _described(value):
    """Whether an argument describes what is laid over an image: a dict, or a list of them."""
    return isinstance(value, dict) or (isinstance(value, (list, tuple)) and all(isinstance(v, dict) for v in value))


def _part(value, layouts=PIXELS["mask"]):
    value = value.numpy() if isinstance(value, _core.Tensor) else np.ascontiguousarray(value)
    return _core.tensor(value, layout={len(layout): layout for layout in layouts}.get(value.ndim, ""))


def _array(value):
    return value.cpu().numpy() if isinstance(value, _core.Tensor) else value


def _rows(value, least):
    """The numbers of boxes or points; what stands after them is kept apart."""
    rows = [row[:least] if least == 4 else row for row in (value if value is not None else [])]
    made = np.asarray(rows, np.float32).reshape(len(rows), -1 if len(rows) else least)
    if made.shape[1] < least:
        raise ValueError(f"a row needs {least} numbers, got {made.shape[1]}")
    return made


def _like(given, boxes, kept, least):
    """Boxes, with what stood after their four numbers."""
    if isinstance(given, list) and len(given) and len(given[0]) > least:
        return [[*box.tolist(), *given[k][least:]] for box, k in zip(boxes, kept)]
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] > least:
        return np.hstack([boxes, given[kept, least:]])
    return boxes


def _taken(values, rows):
    if isinstance(values, np.ndarray):
        return values[rows]
    return [values[int(k)] for k in rows]


def _tensor(value):
    import torch

    return torch.from_numpy(np.array(value))


def _call_alone(self, **data):
    return Compose([self])(**data)


# One transform is called as a Compose of it. It is set here because Compose needs Transform first.
Transform.__call__ = _call_alone

__all__ = ["Compose", "OneOf", "ReplayCompose", "Sequential", "SomeOf", "Transform"]
