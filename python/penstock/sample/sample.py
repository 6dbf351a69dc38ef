# SPDX-License-Identifier: Apache-2.0
"""The dictionary that operators take in place of an image."""

from __future__ import annotations

import numpy as np

from .layouts import pixel_parts
from .moves import apply
from .parts import CLASSES, Image, kind_of, refusal
from .steps import plain
from .waiting import Waiting, region_now
from .way_back import boxes_back, described, matrix_of, positions_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Sample(dict):
    """Parts of a sample that move together: a dictionary that operators of `fn` take in place of an image.

    An operator that moves pixels (crop, flip, resize, rotate, warp_affine, warp_perspective, paste, ...) draws its
    random numbers once and moves every part with the same map: images as usual, masks by nearest neighbors, boxes and
    points exactly. An operator that changes pixels where they are (brightness, gaussian_blur, noise, ...) changes the
    images alone. Others refuse a Sample. The result is a Sample again. In a pipeline the parts are its values, outside
    one arrays, tensors or batches.

    Args:
        **parts: The parts by name. `image`, `volume`, `mask`, `boxes` or `bboxes`, `points` or `keypoints` are taken as
            what they say; Image, Volume, Mask, Boxes, Points and Other say it of any name, and how numbers are meant.

    Raises:
        TypeError: No part has pixels, a part is None, boxes name labels that are pixels, or a part cannot move with a
            volume.
        ValueError: The first operator that moves them finds that boxes have not as many labels, masks or keypoints, or
            that the type of a mask has not the value of its `fill`.
        DataError: The images and masks have not one height and width; the first operator that moves them raises it.

    Example:
        >>> from penstock.sample import Boxes, Sample
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> sample = Sample(image=image, boxes=Boxes(np.float32([[8, 8, 24, 16]])), labels=np.int32([7]))
        >>> flipped = fn.flip(sample)
        >>> flipped["boxes"].tolist(), flipped["labels"].tolist()
        ([[40.0, 8.0, 56.0, 16.0]], [7])
    """

    def __init__(self, **parts: Any) -> None:
        self.kinds = {name: kind_of(name, part) for name, part in parts.items()}
        self._steps, self._moves, self._waiting, self._inner = (), (), Waiting(), {}
        self._compared = False  # whether the parts of pixels are known to have one height and width
        super().__init__({n: p.value if isinstance(p, CLASSES) else p for n, p in parts.items()})
        for name, part in self.items():
            if part is None:
                raise TypeError(f"Sample: '{name}' is None: leave out a part that is not there")
        if why := refusal(self.kinds):
            raise TypeError(why)

    def replaced(self, parts: dict[str, Any]) -> Sample:
        """Returns a Sample with other values of some parts, of the same kinds.

        Args:
            parts: The new values by name.
        """
        made = self._with({**self, **parts}, Waiting())
        made._compared = False
        return made

    def mixed(self, parts: dict[str, Any]) -> Sample:
        """Returns a Sample with other values of some parts, which come from several samples.

        It has no params and no way back.

        Args:
            parts: The new values by name.
        """
        made = self.replaced(parts)
        made._compared = self._compared
        made._steps, made._moves = None, (("a mix of samples", (), {}, None),)
        return made

    def with_images(self, function: Callable[[Any], Any]) -> Sample:
        """Returns a Sample whose images are what a function makes of them; nothing moves.

        It has no params: replay() would not know the function.

        Args:
            function: A function of an image that keeps its height and width.

        Example:
            >>> from penstock.sample import Sample
            >>> sample = Sample(image=penstock.tensor(np.ones((4, 4, 3), np.uint8)), mask=np.ones((4, 4), np.uint8))
            >>> int(sample.with_images(lambda x: x * 2)["image"].numpy().max())
            2
        """
        there = self._there()
        made = {n: function(there[n]) for n, kind in self.kinds.items() if isinstance(kind, Image)}
        made = self._with({**there, **made}, self._waiting)
        made._steps = None
        return made

    def _with(self, parts, waiting):
        made = Sample.__new__(Sample)
        dict.__init__(made, parts)
        made.kinds, made._steps, made._waiting, made._inner = self.kinds, self._steps, waiting, {}
        made._moves, made._compared = self._moves, self._compared
        return made

    def _after(self, parts, waiting, op, rest, arguments, move=None):
        made = self._with({**self._there(), **parts}, waiting)
        made._steps = None if self._steps is None else (*self._steps, (op, rest, arguments))
        made._moves = self._moves if move is None else (*self._moves, move)
        return made

    # In a pipeline the nodes that move boxes and points are added when these parts are read: nodes of pixels that
    # follow one another then form one stage (decision 41).
    def _there(self):
        """The parts as they are, without those that wait."""
        return {name: dict.__getitem__(self, name) for name in dict.keys(self)}

    def _settled(self):
        there, region = self._there(), region_now()
        if not self._waiting.moves:
            return there
        if region in self._inner:
            return self._inner[region]
        for move in self._waiting.moves:
            there |= move(there)
        if region == self._waiting.region:
            dict.update(self, there)
            self._waiting = Waiting()
        else:  # nodes of an inner region are not values of this one
            self._inner[region] = there
        return there

    @property
    def pixels(self):
        """The first image, or mask where there is none: it decides where the other parts move."""
        return self._there()[pixel_parts(self)[0]]

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
            TypeError: The sample is one of a pipeline that is being defined: when it has run, Pipeline.params has what
                was drawn. Or it was made of several samples.
        """
        if self._steps is None:
            raise TypeError(
                "params: this Sample was made of several ones, or by a function: its steps are not one list"
            )
        return [
            {"op": op, "inputs": [plain(v) for v in rest], "arguments": {k: plain(v) for k, v in arguments.items()}}
            for op, rest, arguments in self._steps
        ]

    def replay(self, params: list[dict[str, Any]]) -> Sample:
        """Does to this sample what was done to another one, with the same draws.

        Args:
            params: Its `params`.

        Raises:
            TypeError: They are params of a pipeline.

        Example:
            >>> from penstock.sample import Sample
            >>> first = fn.random_resized_crop(Sample(image=np.ones((64, 64, 3), np.uint8)), size=[32, 32])
            >>> again = Sample(image=np.ones((64, 64, 3), np.uint8)).replay(first.params)
            >>> bool((again["image"] == first["image"]).all())
            True
        """
        sample = self
        if not isinstance(params, (list, tuple)) or any(not isinstance(p, dict) or "op" not in p for p in params):
            raise TypeError("replay() takes Sample.params; Pipeline.replay() takes what Pipeline.params gave")
        for step in params:
            if lacking := [name for name in ("inputs", "arguments") if name not in step]:
                raise TypeError(f"replay(): a step of {step['op']!r} lacks {' and '.join(lacking)}")
        for step in params:
            sample = apply(step["op"], (sample, *step["inputs"]), step["arguments"])
        return sample

    def points_back(self, points: Any) -> np.ndarray:
        """Moves points from this sample to the picture that came first, before all operators.

        Args:
            points: (N, n) in pixels, x and y first, of a volume x, y and z; (0, 0) is the outer corner of the first
                pixel.

        Returns:
            The same shape, float32; numbers after these stay.

        Raises:
            TypeError: The sample is one of a pipeline or of a batch, or was moved by a map that is not a matrix.

        Example:
            >>> from penstock.sample import Sample
            >>> half = fn.resize(Sample(image=np.zeros((48, 64, 3), np.uint8)), size=[24, 32])
            >>> half.points_back(np.float32([[16, 12]])).tolist()
            [[32.0, 24.0]]
        """
        points = np.asarray(points, np.float64)
        matrix, shape = self._way_back()
        n = len(shape)
        if points.ndim < 1 or points.shape[-1] < n:
            raise ValueError(
                f"points must have the shape (N, n) with {'x, y, z'[: 3 * n - 2]} first, got {points.shape}"
            )
        moved = positions_back(matrix, points[..., :n])
        return np.concatenate([moved, points[..., n:]], -1).astype(np.float32)

    def boxes_back(self, boxes: Any, layout: str = "ltrb", clip: bool = True) -> np.ndarray:
        """Moves boxes from this sample to the picture that came first, as for what a model found in this one.

        Args:
            boxes: (N, 4) in pixels of this sample. None is dropped.
            layout: "ltrb", "xywh" or "cxcywh".
            clip: Cut boxes to the first picture.

        Returns:
            (N, 4), float32: the upright boxes around the corners, in pixels of the first picture, in the same layout.

        Raises:
            TypeError: The sample is one of a pipeline or of a batch, or was moved by a map that is not a matrix.
            ValueError: boxes or layout are none of these.

        Example:
            >>> from penstock.sample import Sample
            >>> half = fn.resize(Sample(image=np.zeros((48, 64, 3), np.uint8)), size=[24, 32])
            >>> half.boxes_back(np.float32([[1, 2, 11, 12]])).tolist()
            [[2.0, 4.0, 22.0, 24.0]]
        """
        matrix, shape = self._way_back()
        if len(shape) == 3:
            raise TypeError("boxes_back: volumes have no boxes; points_back leads back their corners")
        return boxes_back(matrix, shape, boxes, layout, clip)

    def _way_back(self):
        matrix, shape = matrix_of(self._moves)
        if shape is None:  # nothing has moved
            pixels, layout = described(self)
            shape = tuple(pixels[layout.index(axis)] for axis in "DHW" if axis in layout)
        return np.eye(len(shape) + 1) if matrix is None else matrix, shape

    def __repr__(self):
        return f"Sample({', '.join(f'{name}: {type(kind).__name__}' for name, kind in self.kinds.items())})"
