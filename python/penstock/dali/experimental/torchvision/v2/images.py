# SPDX-License-Identifier: Apache-2.0
"""Images in any of the forms that functions take, as Tensors of Penstock, and back."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from ..... import _core
from ...dynamic import Batch, Tensor
from ...dynamic import device as device_of

_LAYOUTS = {2: "HW", 3: "HWC", 4: "FHWC"}
_PLANAR = {2: "HW", 3: "CHW"}


def is_pillow(value: Any) -> bool:
    """Whether this is an image of Pillow."""
    return type(value).__module__.partition(".")[0] == "PIL"


def is_torch(value: Any) -> bool:
    """Whether this is a tensor of torch, or of a library that derives from it."""
    return hasattr(value, "data_ptr") and hasattr(value, "new_empty")


def held(value: Any) -> list[Any]:
    """The samples of an input, each as a Tensor of Penstock with a layout.

    Args:
        value: An image of Pillow, a tensor (..., C, H, W) of torch, an array (H, W, C), a Tensor or a Batch.

    Raises:
        TypeError: This is not an image.
        ValueError: It has no shape of an image.
    """
    if isinstance(value, Batch):
        return [held(t)[0] for t in value.tensors]
    if isinstance(value, Tensor):
        value = value.held
    if isinstance(value, _core.Tensor):
        return [value if value.layout() else _core.tensor(value, layout=_layout(value.shape(), _LAYOUTS))]
    if is_pillow(value):
        array = np.array(value)
        return [_core.tensor(array if array.ndim == 3 else array[..., None], layout="HWC")]
    if is_torch(value):
        if value.ndim > 3:
            flat = value.reshape(-1, *value.shape[-3:])
            return [held(image)[0] for image in flat]
        return [_core.tensor(value.contiguous(), layout=_layout(value.shape, _PLANAR))]
    if isinstance(value, np.ndarray):
        return [_core.tensor(np.ascontiguousarray(value), layout=_layout(value.shape, _LAYOUTS))]
    raise TypeError(
        f"an image is one of Pillow, a tensor of torch, an array, or a Tensor or Batch of the dynamic mode, got {type(value).__name__}"
    )


def _layout(shape, layouts):
    if len(shape) not in layouts:
        raise ValueError(f"an image has 2 or 3 dimensions, got the shape {tuple(shape)}")
    return layouts[len(shape)]


def given_back(samples: list[Any], like: Any) -> Any:
    """Samples in the form of the input.

    Args:
        samples: Tensors of Penstock.
        like: The input.
    """
    if isinstance(like, Batch):
        return Batch(_core.batch(samples))
    if isinstance(like, Tensor):
        return Tensor(samples[0])
    if is_pillow(like):
        return pillow(samples[0])
    if is_torch(like):
        return _of_torch(samples, like)
    return samples[0] if isinstance(like, _core.Tensor) else samples[0].cpu().numpy()


def _of_torch(samples, like):
    import torch

    made = [s.torch() for s in samples]
    if like.ndim <= 3:
        return made[0]
    if not made:
        return like
    return torch.stack(made).reshape(*like.shape[:-3], *made[0].shape)


def pillow(sample: Any) -> Any:
    """An image of Pillow.

    Args:
        sample: A Tensor of Penstock, HWC, CHW or HW.

    Raises:
        TypeError: It is not uint8.
    """
    from PIL import Image

    array = sample.cpu().numpy()
    if array.dtype != np.uint8:
        raise TypeError(
            f"an image of Pillow holds uint8, and this is {array.dtype}: put ToPureTensor() or PILToTensor() before what makes it so"
        )
    if sample.layout() == "CHW":
        array = np.ascontiguousarray(array.transpose(1, 2, 0))
    return Image.fromarray(array[..., 0] if array.ndim == 3 and array.shape[-1] == 1 else array)


def extents(sample: Any) -> tuple[int, int]:
    """The height and the width of a sample."""
    shape, layout = sample.shape(), sample.layout()
    return shape[layout.index("H")], shape[layout.index("W")]


def channels(sample: Any) -> int:
    """The number of channels of a sample; 1 without that axis."""
    layout = sample.layout()
    return sample.shape()[layout.index("C")] if "C" in layout else 1


def functional(function: Any) -> Any:
    """A function of one Tensor of Penstock as one of images in any form, with `device`.

    Args:
        function: Its first argument is the image.
    """
    signature = inspect.signature(function)
    first, *rest = signature.parameters.values()
    place = inspect.Parameter("device", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="cpu")

    @functools.wraps(function)
    def call(*args, **kwargs):
        bound = call.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        image, device, *arguments = (
            bound.arguments.pop(first.name),
            bound.arguments.pop("device"),
            *bound.arguments.values(),
        )
        moved = [_on(sample, device) for sample in held(image)]
        return given_back([function(sample, *arguments) for sample in moved], image)

    call.__signature__ = signature.replace(parameters=[first, *rest, place])
    return call


def _on(sample, device):
    if device == "cpu":
        return sample
    return Tensor(sample).to_device(device_of(device)).held
