# SPDX-License-Identifier: Apache-2.0
"""Samples of several parts that move together: images, masks, boxes, points, labels."""

from __future__ import annotations

import dataclasses

from . import _core
from .base.element_types import DType
from .base.frames import at_line, user_line
from .graph import building as _building
from .graph import scope as _scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclasses.dataclass(frozen=True)
class Image:
    """A part of pixels that every operator of images changes.

    Args:
        value: The image, as operators take it.
    """

    value: Any = None


@dataclasses.dataclass(frozen=True)
class Mask:
    """A part of class numbers: it moves with the images, by nearest neighbors, and keeps its values.

    Args:
        value: (H, W) or (H, W, C), with the height and the width of the images.
        fill: The class of what comes from outside the mask, where an operator fills that.
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
            a visibility, stay as they are.
    """

    value: Any = None


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
    "mask": Mask,
    "masks": Mask,
    "boxes": Boxes,
    "bboxes": Boxes,
    "points": Points,
    "keypoints": Points,
}
_CLASSES = (Image, Mask, Boxes, Points, Other)


class Sample(dict):
    """Parts of a sample that move together: a dictionary that operators of `fn` take in place of an image.

    An operator that moves pixels (crop, flip, resize, rotate, warp_affine, warp_perspective, paste, ...) draws its
    random numbers once and moves every part with the same map: images as usual, masks by nearest neighbors, boxes and
    points exactly. An operator that changes pixels where they are (brightness, gaussian_blur, noise, ...) changes the
    images alone. Others refuse a Sample. The result is a Sample again. In a pipeline the parts are its values, outside
    one arrays, tensors or batches.

    Args:
        **parts: The parts by name. `image`, `mask`, `boxes` or `bboxes`, `points` or `keypoints` are taken as what they
            say; Image, Mask, Boxes, Points and Other say it of any name, and how numbers are meant.

    Raises:
        TypeError: No part has pixels, or boxes name labels that are pixels.

    Example:
        >>> from penstock.sample import Boxes, Sample
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> sample = Sample(image=image, boxes=Boxes(np.float32([[8, 8, 24, 16]])), labels=np.int32([7]))
        >>> flipped = fn.flip(sample)
        >>> flipped["boxes"].tolist(), flipped["labels"].tolist()
        ([[40.0, 8.0, 56.0, 16.0]], [7])
    """

    def __init__(self, **parts: Any) -> None:
        self.kinds = {name: _kind_of(name, part) for name, part in parts.items()}
        self._steps, self._waiting, self._inner = (), _Waiting(), {}
        super().__init__({n: p.value if isinstance(p, _CLASSES) else p for n, p in parts.items()})
        if not any(isinstance(kind, (Image, Mask)) for kind in self.kinds.values()):
            raise TypeError("a Sample needs an image or a mask: it decides where the other parts move")
        for name, kind in self.kinds.items():
            for label in _label_names(kind):
                if isinstance(self.kinds.get(label), (Image, Mask)):
                    raise TypeError(f"Sample: '{label}' is a part of pixels, not of labels of '{name}'")

    def replaced(self, parts: dict[str, Any]) -> Sample:
        """Returns a Sample with other values of some parts, of the same kinds.

        Args:
            parts: The new values by name.
        """
        return self._with({**self, **parts}, _Waiting())

    def _with(self, parts, waiting):
        made = Sample.__new__(Sample)
        dict.__init__(made, parts)
        made.kinds, made._steps, made._waiting, made._inner = self.kinds, self._steps, waiting, {}
        return made

    def _after(self, parts, waiting, op, rest, arguments):
        made = self._with({**self._there(), **parts}, waiting)
        made._steps = (*self._steps, (op, rest, arguments))
        return made

    # In a pipeline the nodes that move boxes and points are added when these parts are read: nodes of pixels that
    # follow one another then form one stage (decision 41).
    def _there(self):
        """The parts as they are, without those that wait."""
        return {name: dict.__getitem__(self, name) for name in dict.keys(self)}

    def _settled(self):
        there, region = self._there(), _region()
        if not self._waiting.moves:
            return there
        if region in self._inner:
            return self._inner[region]
        for move in self._waiting.moves:
            there |= move(there)
        if region == self._waiting.region:
            dict.update(self, there)
            self._waiting = _Waiting()
        else:  # nodes of an inner region are not values of this one
            self._inner[region] = there
        return there

    @property
    def pixels(self):
        """The first image, or mask where there is none: it decides where the other parts move."""
        return self._there()[_pixel_parts(self)[0]]

    def __getitem__(self, name):
        return self._settled()[name] if self._waiting.moves else dict.__getitem__(self, name)

    def __iter__(self):  # dict(sample) and {**sample} then ask for the parts one by one
        return iter(tuple(dict.keys(self)))

    def get(self, name, default=None):
        """Returns a part, or `default`.

        Args:
            name: Its name.
            default: What is returned if there is none.
        """
        return self[name] if name in self else default

    def items(self):
        """Returns the names and the parts."""
        return self._settled().items()

    def values(self):
        """Returns the parts."""
        return self._settled().values()

    @property
    def params(self) -> list[dict[str, Any]]:
        """What operators did to the sample, with all that was drawn: plain values, which json.dumps() takes.

        Raises:
            TypeError: The sample is one of a pipeline that is being defined: its draws are values of the pipeline.
        """
        return [
            {"op": op, "inputs": [_plain(v) for v in rest], "arguments": {k: _plain(v) for k, v in arguments.items()}}
            for op, rest, arguments in self._steps
        ]

    def replay(self, params: list[dict[str, Any]]) -> Sample:
        """Does to this sample what was done to another one, with the same draws.

        Args:
            params: Its `params`.

        Example:
            >>> from penstock.sample import Sample
            >>> first = fn.random_resized_crop(Sample(image=np.ones((64, 64, 3), np.uint8)), size=[32, 32])
            >>> again = Sample(image=np.ones((64, 64, 3), np.uint8)).replay(first.params)
            >>> bool((again["image"] == first["image"]).all())
            True
        """
        sample = self
        for step in params:
            sample = apply(step["op"], (sample, *step["inputs"]), step["arguments"])
        return sample

    def __repr__(self):
        return f"Sample({', '.join(f'{name}: {type(kind).__name__}' for name, kind in self.kinds.items())})"


def _plain(value):
    if isinstance(value, _core.NodeRef):
        raise TypeError(
            "params: what a pipeline draws is not known while it is defined; return the drawn values with it"
        )
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (_core.Tensor, _core.Batch)):
        return value.cpu().as_array().tolist() if isinstance(value, _core.Batch) else value.cpu().numpy().tolist()
    return int(value) if isinstance(value, DType) else value


def _label_names(kind):
    names = getattr(kind, "labels", ())
    return (names,) if isinstance(names, str) else names


def _kind_of(name, part):
    if isinstance(part, _CLASSES):
        return dataclasses.replace(part, value=None)
    return _KINDS.get(name, Other)()


# Arguments of operators that move pixels whose numbers are of pixels: a mask moves without them.
_OF_PIXELS = {"mean", "std", "scale", "shift", "output_layout", "pad_output", "dtype", "output_dtype"}
_INTERPOLATIONS = ("interp_type", "min_filter", "mag_filter")
_FILLS = ("fill_value", "fill_values")


class _Calls:
    """Calls of an operator for the parts of one sample: all draw the same random numbers."""

    def __init__(self, op, schema, arguments, in_pipeline):
        self.op, self.arguments, self.in_pipeline, self.first = op, dict(arguments), in_pipeline, -1
        self.takes = {a["name"] for a in schema["args"]}
        self.required = {a["name"] for a in schema["args"] if a["required"]}
        self.outputs = schema["outputs"]
        # A stage gives the extents of what it reads; with debug=True values are there, and so are their shapes.
        pipeline = _scope.current()
        debug = pipeline is not None and pipeline.definition.options["debug"]
        self.gives_size = in_pipeline and schema["family"] == "stage" and not debug
        if not in_pipeline and schema["random"] and arguments.get("seed") is None:
            self.arguments["seed"] = _core.unseeded() >> 2  # a seed is a number of 63 bits

    def __call__(self, name, inputs, arguments):
        if not self.in_pipeline:
            return _core.operator_function(name)(*inputs, **arguments)
        return _building.add_node(name, inputs, arguments)

    def of_pixels(self, inputs, arguments, sized=False):
        """(the result, the extents of the input or None)"""
        if not self.in_pipeline:
            return self(self.op, inputs, arguments), None
        made = _building.add_node(self.op, inputs, arguments, self.first, self.outputs + 1 if sized else 0)
        result = made[0] if isinstance(made, list) else made
        if self.first < 0:
            self.first = result.node
        return result, made[-1] if sized else None

    def of_map(self, inputs, arguments):
        name = f"points.{self.op}"
        if not self.in_pipeline:
            return self(name, inputs, arguments)
        return _building.add_node(name, inputs, arguments, self.first)

    def of_points(self):
        """The arguments of the map of points, which knows no channels."""
        without = {*_OF_PIXELS, *_FILLS, "name"} - self.required
        return {k: v for k, v in self.arguments.items() if k not in without}

    def of_mask(self, kind):
        """The arguments with which a mask moves as the image does."""
        given = {k: v for k, v in self.arguments.items() if k not in _OF_PIXELS and k != "name"}
        given |= {k: 0 for k in _INTERPOLATIONS if k in self.takes}
        given |= {k: v for k, v in {"antialias": False, "output_layout": ""}.items() if k in self.takes}
        return given | {k: kind.fill for k in _FILLS if self.arguments.get(k) is not None}


class _Waiting:
    """What is still to be done with the boxes and the points of a Sample, in the region of the pipeline where it was said."""

    def __init__(self, moves=(), region=None):
        self.moves, self.region = tuple(moves), region


def _region():
    pipeline = _scope.current()
    return None if pipeline is None else pipeline.definition.graph.current_region()


def _pixel_parts(sample):
    """The names of the images, which decide, and then of the masks."""
    names = [name for name, kind in sample.kinds.items() if isinstance(kind, (Image, Mask))]
    return sorted(names, key=lambda name: isinstance(sample.kinds[name], Mask))


def _move_pixels(sample, rest, calls, parts):
    """The images and masks, moved; and what the map of points reads: the first of them, or its extents."""
    made, read = {}, None
    for name in _pixel_parts(sample):
        kind, value = sample.kinds[name], parts[name]
        arguments = calls.of_mask(kind) if isinstance(kind, Mask) else calls.arguments
        result, size = calls.of_pixels((value, *rest), arguments, sized=read is None and calls.gives_size)
        if read is None:
            read = value if size is None else size
        made[name] = calls("cast_like", (result, value), {}) if isinstance(kind, Mask) else result
    return made, read


def _move_others(sample, rest, calls, read, parts):
    """The boxes with their labels, and the points."""
    made = {}
    arguments = calls.of_points()
    matrix, before, after = calls.of_map((read, *rest), arguments)
    for name, kind in sample.kinds.items():
        if isinstance(kind, Points):
            made[name] = calls("transform_points", (parts[name],), {"matrix": matrix})
        elif isinstance(kind, Boxes):
            settings = {"bbox_layout": kind.layout, "bbox_normalized": kind.normalized, "min_area": kind.min_area}
            settings |= {"min_visibility": kind.min_visibility, "shape_layout": "WHD"}
            settings |= {"matrix": matrix, "input_shape": before, "output_shape": after}
            made[name], rows = calls("transform_boxes", (parts[name],), settings)
            made |= {label: calls("_take", (parts[label], rows), {}) for label in _label_names(kind) if label in parts}
    return made


def _moved(sample, op, rest, calls):
    waiting = sample._waiting
    if waiting.moves and waiting.region != _region():
        sample, waiting = sample._with(sample._settled(), _Waiting()), _Waiting()
    made, read = _move_pixels(sample, rest, calls, sample._there())
    if any(isinstance(kind, (Boxes, Points)) for kind in sample.kinds.values()):
        line = user_line()

        def move(parts):
            with at_line(line):
                return _move_others(sample, rest, calls, read, parts)

        if calls.in_pipeline:
            waiting = _Waiting((*waiting.moves, move), _region())
        else:
            made |= move(sample._there())
    return sample._after(made, waiting, op, rest, calls.arguments)


def apply(op: str, inputs: tuple, arguments: dict[str, Any]) -> Sample:
    """Applies an operator to a Sample; fn.name(sample, ...) calls it.

    Args:
        op: The operator.
        inputs: The Sample, and further inputs.
        arguments: Its arguments, by name.

    Raises:
        TypeError: The operator does not say where the parts of a sample move.
    """
    sample, *rest = inputs
    schema = _core.operator_schema(op)
    calls = _Calls(
        op,
        schema,
        arguments,
        _core.is_building() or any(isinstance(v, _core.NodeRef) for v in sample._there().values()),
    )
    if schema["moves_points"]:
        return _moved(sample, op, rest, calls)
    if schema["keeps_positions"]:
        images = [name for name, kind in sample.kinds.items() if isinstance(kind, Image)]
        parts = sample._there()
        made = {name: calls.of_pixels((parts[name], *rest), calls.arguments)[0] for name in images}
        return sample._after(made, sample._waiting, op, rest, calls.arguments)
    raise TypeError(
        f"[{op}] does not say where the parts of a Sample move: call it with one part, as in "
        f"fn.{op}(sample['{next(iter(sample))}'])"
    )


_core.set_sample_type(Sample, apply)
