# SPDX-License-Identifier: Apache-2.0
"""Compose: transforms of torchvision v2 whose work is done by the functions of cvcuda.tv."""

import functools

from ..tensors import Tensor
from . import arrays, color, geometry


@functools.cache
def _picture_class():
    """A class of tensors for which torchvision calls the functions here."""
    from torchvision import tv_tensors
    from torchvision.transforms.v2 import functional

    class Picture(tv_tensors.Image):
        """An image whose transforms run here."""

    for module in (color, geometry):
        for name in module.__all__:
            theirs = getattr(functional, name, None)
            if theirs is not None:
                functional.register_kernel(theirs, Picture)(_kernel(getattr(module, name)))
    return Picture


def _kernel(function):
    import torch

    def kernel(image, *args, **named):
        plain = image.as_subclass(torch.Tensor)
        result = function(plain, *args, **named)
        return type(result)(map(_wrapped, result)) if isinstance(result, (list, tuple)) else _wrapped(result)

    return kernel


def _wrapped(tensor):
    return tensor.as_subclass(_picture_class())


class Compose:
    """Transforms of torchvision v2, one after another, on a cvcuda.Tensor or a torch.Tensor.

    The parameters are drawn by torchvision's own code, so torch.manual_seed() gives the same choices. A transform whose function
    cvcuda.tv does not have runs as torchvision does it.

    Args:
        transforms: A list of transforms of torchvision.transforms.v2.
    """

    def __init__(self, transforms):
        from torchvision.transforms import v2

        if not isinstance(transforms, (list, tuple)) or not transforms:
            raise TypeError(f"Compose takes a list of transforms, got {transforms!r}")
        for transform in transforms:
            if not isinstance(transform, v2.Transform):
                raise TypeError(f"Compose takes transforms of torchvision.transforms.v2, got {transform!r}")
        self.transforms, self._all = list(transforms), v2.Compose(list(transforms))

    def __call__(self, inpt):
        ours = isinstance(inpt, Tensor)
        planes = arrays.taken(inpt)
        if ours and "CHW" not in planes.layout:
            from .. import reformat

            planes = reformat(planes, planes.layout.replace("HWC", "CHW"))
        result = self._all(_wrapped(arrays.given_back(planes, True)))
        if isinstance(result, (list, tuple)):
            return type(result)(self._given_back(r, inpt) for r in result)
        return self._given_back(result, inpt)

    def _given_back(self, result, inpt):
        import torch

        plain = result.as_subclass(torch.Tensor)
        if not isinstance(inpt, Tensor):
            return plain.as_subclass(type(inpt)) if type(inpt) is not torch.Tensor else plain
        made = arrays.taken(plain)
        if "HWC" in inpt.layout:
            from .. import reformat

            made = reformat(made, inpt.layout)
        return made

    def __repr__(self):
        return f"Compose({self.transforms!r})"


__all__ = ["Compose"]
