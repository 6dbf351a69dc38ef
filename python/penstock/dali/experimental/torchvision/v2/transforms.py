# SPDX-License-Identifier: Apache-2.0
"""Transforms with torchvision's names. Called with an image they give an image of the same kind."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .....augment import draws
from . import steps
from .images import _on, given_back, held, is_pillow, is_torch
from .interpolations import InterpolationMode, interpolation_of


class Operator:
    """A transform: `step` makes one Tensor of Penstock of another.

    Args:
        device: "cpu" or "gpu", where it runs.
    """

    def __init__(self, device: str = "cpu") -> None:
        if str(device).partition(":")[0] not in ("cpu", "gpu", "cuda"):
            raise ValueError(f'device must be "cpu" or "gpu", got {device!r}')
        self.device = device

    def step(self, x: Any) -> Any:
        """What becomes of one image.

        Args:
            x: A Tensor of Penstock with a layout.
        """
        raise NotImplementedError

    def __call__(self, data_input: Any) -> Any:
        return given_back([self.step(_on(x, self.device)) for x in held(data_input)], data_input)

    def __repr__(self):
        shown = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({shown})"


class Compose:
    """Calls transforms one after the other.

    Args:
        op_list: The transforms.
        batch_size: Accepted without effect: the input says how many images there are.
        num_threads: Accepted without effect.
        **dali_pipeline_kwargs: Accepted without effect.

    Example:
        >>> from penstock.dali.experimental.torchvision import CenterCrop, Compose, Resize
        >>> crop = Compose([Resize(64), CenterCrop(48)])
        >>> crop(np.zeros((100, 120, 3), np.uint8)).shape
        (48, 48, 3)
    """

    def __init__(
        self,
        op_list: Sequence[Callable[[Any], Any]],
        batch_size: int = 16,
        num_threads: int = 1,
        **dali_pipeline_kwargs: Any,
    ) -> None:
        self.op_list = list(op_list)
        for op in self.op_list:
            if not callable(op):
                raise TypeError(f"Compose takes transforms, got {op!r}")

    def __call__(self, data_input: Any) -> Any:
        for op in self.op_list:
            data_input = op(data_input)
        return data_input

    def __repr__(self):
        return f"Compose({self.op_list!r})"


class Resize(Operator):
    """Resizes images.

    Args:
        size: (height, width), or the length of the shorter edge; None: max_size is that of the longer one.
        interpolation: An InterpolationMode.
        max_size: The largest length of the longer edge.
        antialias: Filter what becomes smaller.
        device: Where it runs.
    """

    def __init__(
        self,
        size: Any,
        interpolation: Any = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        interpolation_of(interpolation)
        steps.resized_extents((1, 1), size, max_size)
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def step(self, x: Any) -> Any:
        return steps.resize(x, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(Operator):
    """Cuts a window out of the middle; what is outside is 0.

    Args:
        size: One number, or (height, width).
        device: Where it runs.
    """

    def __init__(self, size: Any, device: str = "cpu") -> None:
        super().__init__(device)
        self.size = steps.pair_of("size", size)

    def step(self, x: Any) -> Any:
        return steps.center_crop(x, self.size)


class Pad(Operator):
    """Adds pixels at the sides.

    Args:
        padding: One number; (left and right, top and bottom); or (left, top, right, bottom).
        fill: Their value, one number or one for each channel.
        padding_mode: "constant", "edge", "reflect" or "symmetric".
        device: Where it runs.
    """

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant", device: str = "cpu") -> None:
        super().__init__(device)
        if isinstance(fill, dict):
            raise TypeError("fill by the kind of input is not here: give one number, or one for each channel")
        self.padding, self.fill, self.padding_mode = steps.sides_of(padding), fill, padding_mode

    def step(self, x: Any) -> Any:
        return steps.pad(x, self.padding, self.fill, self.padding_mode)


class GaussianBlur(Operator):
    """Blurs images with a sigma that each image draws.

    Args:
        kernel_size: Odd, one number or (x, y).
        sigma: One number, or a range (low, high).
        device: Where it runs.
        seed: Accepted without effect: penstock.seed() sets the seed of all draws.
    """

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0), device: str = "cpu", seed: int = -1) -> None:
        super().__init__(device)
        low, high = (sigma, sigma) if isinstance(sigma, (int, float)) else sigma
        if not 0 < low <= high:
            raise ValueError(f"sigma must be positive, or a range (low, high), got {sigma!r}")
        self.kernel_size, self.sigma = kernel_size, (float(low), float(high))

    def step(self, x: Any) -> Any:
        return steps.blur(x, self.kernel_size, draws.uniform(*self.sigma))


class Grayscale(Operator):
    """Makes gray images.

    Args:
        num_output_channels: 1, or 3 equal ones.
        device: Where it runs.
    """

    def __init__(self, num_output_channels: int = 1, device: str = "cpu") -> None:
        super().__init__(device)
        if num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels!r}")
        self.num_output_channels = num_output_channels

    def step(self, x: Any) -> Any:
        return steps.grayscale(x, self.num_output_channels)


class Normalize(Operator):
    """Subtracts means and divides by deviations, for each channel; float32.

    An image of Pillow becomes a tensor, because it holds bytes alone.

    Args:
        mean, std: One number for each channel.
        inplace: Accepted without effect.
        device: Where it runs.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False, device: str = "cpu") -> None:
        super().__init__(device)
        self.mean, self.std = list(mean), list(std)

    def step(self, x: Any) -> Any:
        return steps.normalize(x, self.mean, self.std)

    def __call__(self, data_input: Any) -> Any:
        return super().__call__(_tensor(data_input))


def _tensor(image):
    from .functional import pil_to_tensor

    return pil_to_tensor(image) if is_pillow(image) else image


class PILToTensor(Operator):
    """Makes a tensor (C, H, W) of torch of an image of Pillow, with its bytes.

    Args:
        device: Where the tensor shall be.
    """

    def step(self, x: Any) -> Any:
        return x

    def __call__(self, data_input: Any) -> Any:
        return super().__call__(_tensor(data_input))


class ToPureTensor(PILToTensor):
    """Makes a plain tensor of torch of an image: one of Pillow becomes (C, H, W) with its bytes.

    Args:
        device: Where the tensor shall be.
    """

    def __call__(self, data_input: Any) -> Any:
        made = super().__call__(data_input)
        return made.as_subclass(_torch().Tensor) if is_torch(made) and type(made) is not _torch().Tensor else made


def _torch():
    import torch

    return torch


class ToPILImage(Operator):
    """Makes an image of Pillow of a tensor (C, H, W) of torch or an array (H, W, C).

    Args:
        device: Accepted without effect.
    """

    def step(self, x: Any) -> Any:
        return x

    def __call__(self, data_input: Any) -> Any:
        from .functional import to_pil_image

        if is_pillow(data_input):
            return data_input
        return to_pil_image(data_input, input_layout="CHW" if is_torch(data_input) else "HWC")
