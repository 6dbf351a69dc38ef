# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch and of cvcuda as inputs of the functions of cvcuda.tv."""

import functools
import inspect

from ... import _core
from ..._base.errors import KINDS, raise_again
from .. import operands, streams
from ..buffers import operand
from ..calls import Step
from ..tensors import Tensor, as_tensor


def _is_torch(value):
    return type(value).__module__.partition(".")[0] in ("torch", "torchvision") and hasattr(value, "data_ptr")


def taken(value):
    """A Tensor of cvcuda over the input: a tensor of torch is CHW or NCHW."""
    if isinstance(value, Tensor):
        if value.layout not in ("HWC", "NHWC", "CHW", "NCHW"):
            raise ValueError(f"images have the layout HWC, NHWC, CHW or NCHW, got {value.layout}")
        return value
    if not _is_torch(value):
        raise TypeError(f"an image is a cvcuda.Tensor or a torch.Tensor, got {type(value).__name__}")
    if value.ndim not in (3, 4):
        raise ValueError(
            f"a torch tensor of an image has the shape (C, H, W) or (N, C, H, W), got {tuple(value.shape)}"
        )
    return as_tensor(value.contiguous(), "CHW" if value.ndim == 3 else "NCHW")


def given_back(result, torchs):
    """A result as a tensor of torch, if the input was one."""
    if isinstance(result, (list, tuple)):
        return type(result)(given_back(r, torchs) for r in result)
    return _core.Tensor(operand(result._memory)).torch() if torchs and isinstance(result, Tensor) else result


def functional(function):
    """The function for tensors of torch too, which get tensors of torch back."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **named):
        bound = signature.bind(*args, **named)
        first = next(iter(bound.arguments))
        given = bound.arguments[first]
        try:
            bound.arguments[first] = taken(given)
            return given_back(function(*bound.args, **bound.kwargs), _is_torch(given))
        except KINDS as error:
            raise_again(error)

    call.__signature__ = signature
    return call


def applied(inpt, stream, function, *inputs, **arguments):
    """A Tensor: the result of an operator on the samples of another one."""
    return finished(inpt, stream, Step(function, operands.batch_of(inpt, "cvcuda.tv"), *inputs, **arguments))


def finished(inpt, stream, step):
    """The result of a step as a Tensor like another one."""
    return operands.tensor_of(step.run(streams.chosen(stream)), inpt.layout[0] == "N")


def extents(inpt):
    """(height, width, channels)"""
    return tuple(inpt.shape[inpt.layout.index(letter)] for letter in "HWC")
