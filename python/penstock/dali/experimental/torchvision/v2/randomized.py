# SPDX-License-Identifier: Apache-2.0
"""Transforms that draw: each image draws its own numbers, from penstock.fn.random."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from ..... import _core, fn
from .....augment import color_jitter, draws
from .....augment.samples import checked_probability
from . import steps
from .images import extents, given_back, held
from .interpolations import InterpolationMode, interpolation_of
from .transforms import Operator


class _Maybe(Operator):
    """Takes its step with a probability."""

    def __init__(self, p: float, device: str) -> None:
        super().__init__(device)
        self.p = checked_probability(p)

    def step(self, x: Any) -> Any:
        return self.taken(x) if draws.coin(self.p) else x


class RandomHorizontalFlip(_Maybe):
    """Mirrors images left and right with a probability.

    Args:
        p: The probability.
        device: Where it runs.
    """

    def __init__(self, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(p, device)

    def taken(self, x: Any) -> Any:
        """The mirrored image."""
        return fn.flip(x, horizontal=1)


class RandomVerticalFlip(_Maybe):
    """Mirrors images up and down with a probability.

    Args:
        p: The probability.
        device: Where it runs.
    """

    def __init__(self, p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(p, device)

    def taken(self, x: Any) -> Any:
        """The mirrored image."""
        return fn.flip(x, horizontal=0, vertical=1)


class RandomGrayscale(_Maybe):
    """Makes images gray with a probability; they keep three channels.

    Args:
        p: The probability.
        device: Where it runs.
    """

    def __init__(self, p: float = 0.1, device: str = "cpu") -> None:
        super().__init__(p, device)

    def taken(self, x: Any) -> Any:
        """The gray image."""
        from .images import channels

        return steps.grayscale(x, channels(x)) if channels(x) == 3 else x


class RandomApply(Operator):
    """Calls transforms with a probability.

    Args:
        op_list: The transforms.
        p: The probability of all of them together.
        device: Accepted without effect: each transform has its own.
    """

    def __init__(self, op_list: Sequence[Callable[[Any], Any]], p: float = 0.5, device: str = "cpu") -> None:
        super().__init__(device)
        self.op_list, self.p = list(op_list), checked_probability(p)

    def __call__(self, data_input: Any) -> Any:
        samples = [self._applied(x) for x in held(data_input)]
        return given_back(samples, data_input)

    def _applied(self, x):
        if draws.coin(self.p):
            for op in self.op_list:
                x = op(x)
        return x


class ColorJitter(Operator):
    """Changes brightness, contrast, saturation and hue, in the order that each image draws.

    Args:
        brightness, contrast, saturation: The factor is drawn from [max(0, 1 - value), 1 + value], or from a range.
        hue: The rotation is drawn from [-value, value], or from a range within -0.5 and 0.5.
        device: Where it runs.
    """

    def __init__(
        self, brightness: Any = 0.0, contrast: Any = 0.0, saturation: Any = 0.0, hue: Any = 0.0, device: str = "cpu"
    ) -> None:
        super().__init__(device)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def step(self, x: Any) -> Any:
        given = [
            None if v is None or v == 0 else v for v in (self.brightness, self.contrast, self.saturation, self.hue)
        ]
        made = color_jitter(x, *given)
        return made if isinstance(made, _core.Tensor) else _core.tensor(made, layout=x.layout())


class RandomCrop(Operator):
    """Cuts a window at a random place.

    Args:
        size: One number, or (height, width).
        padding: Pixels that are added before, as Pad takes them.
        pad_if_needed: Add pixels where the image is smaller than the window.
        fill, padding_mode: As those of Pad.
        device: Where it runs.

    Raises:
        ValueError: When it is called: the image is smaller than the window.
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.size, self.pad_if_needed = steps.pair_of("size", size), pad_if_needed
        self.padding = None if padding is None else steps.sides_of(padding)
        self.fill, self.padding_mode = fill, padding_mode

    def step(self, x: Any) -> Any:
        if self.padding is not None:
            x = steps.pad(x, self.padding, self.fill, self.padding_mode)
        (height, width), have = self.size, extents(x)
        if self.pad_if_needed and (height > have[0] or width > have[1]):
            down, across = max(height - have[0], 0), max(width - have[1], 0)
            x = steps.pad(x, [across, down, across, down], self.fill, self.padding_mode)
            have = extents(x)
        if height > have[0] or width > have[1]:
            raise ValueError(
                f"the window {self.size} is larger than the image, {have}: pad_if_needed=True adds pixels, or Resize comes before"
            )
        return steps.crop(x, draws.below(have[0] - height + 1), draws.below(have[1] - width + 1), height, width)


class RandomResizedCrop(Operator):
    """Cuts a window of a random area and aspect ratio, and resizes it.

    Args:
        size: One number, or (height, width).
        scale: The range of the area, as a part of the image's.
        ratio: The range of the aspect ratio, width to height.
        interpolation, antialias: As those of Resize.
        device: Where it runs.
    """

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: Any = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        for name, pair in (("scale", scale), ("ratio", ratio)):
            if not 0 < pair[0] <= pair[1]:
                raise ValueError(f"{name} must be a range (low, high) of positive numbers, got {pair!r}")
        interpolation_of(interpolation)
        self.size, self.scale, self.ratio = steps.pair_of("size", size), tuple(scale), tuple(ratio)
        self.interpolation, self.antialias = interpolation, antialias

    def step(self, x: Any) -> Any:
        window = steps.crop(x, *self._window(*extents(x)))
        return steps.resize(window, self.size, self.interpolation, None, self.antialias)

    def _window(self, height, width):
        """Top, left, height and width: the first of ten draws that fits, else the middle."""
        for _ in range(10):
            area = height * width * draws.uniform(*self.scale)
            ratio = math.exp(draws.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return draws.below(height - h + 1), draws.below(width - w + 1), h, w
        w, h = width, height
        if width / height < self.ratio[0]:
            h = round(w / self.ratio[0])
        elif width / height > self.ratio[1]:
            w = round(h * self.ratio[1])
        return (height - h) // 2, (width - w) // 2, h, w
