# SPDX-License-Identifier: Apache-2.0
"""What a function of this package gets: a value of the pipeline that is being defined, or at once one image after the
other."""

import functools

import numpy as np

from .. import _core, control, fn, _graph as graph
from .._base.element_types import DType
from .._control_flow import statements
from .._graph import DataNode
from ..sample import Sample

_LAYOUTS = {2: "HW", 3: "HWC", 4: "FHWC"}  # of arrays without one, as docs/reference/layouts.md says


def augmentation(function):
    """A function of one image as one of a value of the pipeline, an array, a Tensor or a Batch. At once, each image of a
    Batch or of a list is augmented by itself."""

    @functools.wraps(function)
    def called(images, *args, **kwargs):
        if isinstance(images, (list, tuple)) and images:
            arrays = all(isinstance(image, np.ndarray) for image in images)
            images = (
                _core.batch(images, layout=_LAYOUTS.get(images[0].ndim, ""))
                if arrays
                else fn.flip(images, horizontal=0)
            )
        if isinstance(images, Sample) and isinstance(images.pixels, _core.Batch):
            return together(images, [function(sample, *args, **kwargs) for sample in samples_of(images)])
        if isinstance(images, _core.Batch):
            made = [function(image, *args, **kwargs) for image in images]
            return _core.batch(made) if made else images
        if graph.current() is None and isinstance(images, np.ndarray):
            made = function(_core.tensor(images, layout=_LAYOUTS.get(images.ndim, "")), *args, **kwargs)
            return made.numpy() if isinstance(made, _core.Tensor) else made
        if not isinstance(images, DataNode) and type(images).__module__.startswith("torch"):
            return _of_torch(images, lambda image: function(image, *args, **kwargs))
        return function(images, *args, **kwargs)

    return called


def samples_of(batch):
    """The samples of a Sample of Batches."""
    parts = dict(batch.items())
    for name, value in parts.items():
        if not isinstance(value, _core.Batch):
            raise TypeError(f"'{name}' must be a Batch as the images are: penstock.batch([...]) makes one")
    return [batch.replaced({name: value[k] for name, value in parts.items()}) for k in range(len(batch.pixels))]


def together(batch, samples):
    """Samples as one of Batches."""
    return (
        batch.mixed({name: _core.batch([sample[name] for sample in samples]) for name in batch}) if samples else batch
    )


def _of_torch(images, function):
    """A tensor of torch: Penstock's rule finds its layout."""
    known = fn.flip(images, horizontal=0)
    if known.ndim != 4:
        return function(_core.tensor(known)).torch()
    import torch

    return torch.stack([function(_core.tensor(fn.flip(image, horizontal=0))).torch() for image in known])


def pixels_of(image):
    """The image, or the one of a Sample that decides where its parts move."""
    return image.pixels if isinstance(image, Sample) else image


def axes_of(image, letters="HW"):
    """The numbers of axes; without a layout the channels are last."""
    image = pixels_of(image)
    layout = image.layout if isinstance(image, DataNode) else image.layout() if hasattr(image, "layout") else ""
    return [(layout or "HWC").index(letter) for letter in letters]


def extents(image, letters="HW"):
    """The extents of an image along axes."""
    image = pixels_of(image)
    shape = image.shape() if callable(image.shape) else image.shape
    return [shape[axis] for axis in axes_of(image, letters)]


def call(op, *inputs, **arguments):
    """Calls an operator that has no name in fn."""
    if any(isinstance(value, DataNode) for value in inputs):
        return graph.building.add_node(op, inputs, arguments)
    return _core.operator_function(op)(*inputs, **arguments)


def apply(function, *values):
    """Calls a function of the program: its control flow may depend on values of the pipeline."""
    made = statements.call(function)(*values)
    if made is None:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(f"{name} returned None: a function of samples returns what it made of them")
    return made


def checked_functions(name, functions):
    """A list of functions of samples."""
    if callable(functions) or isinstance(functions, (str, dict)):
        raise TypeError(f"{name} takes a list of functions, got {functions!r}")
    functions = list(functions)
    for function in functions:
        if not callable(function):
            raise TypeError(f"{name} takes functions of the samples, got {function!r}")
    return functions


def choose(index, functions):
    """What functions[index]() gives. Samples part at most log2(n) times."""
    if not isinstance(index, DataNode):
        return functions[int(index)]()
    if len(functions) == 1:
        return functions[0]()
    half = len(functions) // 2
    return control.if_(
        index < half, lambda: choose(index, functions[:half]), lambda: choose(index - half, functions[half:])
    )


def check_bytes(images):
    """Refuses images that are known to be of another type than uint8."""
    dtype = pixels_of(images).dtype
    if dtype not in (DType.UINT8, DType.NO_TYPE, np.uint8):
        raise TypeError(f"the operations of policies take images of uint8, got {dtype}")


def interpolation_of(name):
    """The number of an interpolation."""
    if name not in ("nearest", "bilinear"):
        raise ValueError(f'interpolation must be "nearest" or "bilinear", got {name!r}')
    return int(name == "bilinear")


def checked_range(name, value, low=None, high=None):
    """A pair of numbers within bounds, in order."""
    pair = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(pair) != 2 or not pair[0] <= pair[1]:
        raise ValueError(f"{name} must be a range (low, high), got {value!r}")
    if (low is not None and pair[0] < low) or (high is not None and pair[1] > high):
        raise ValueError(f"{name} must be within {low} and {high}, got {value!r}")
    return pair


def checked_probability(p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be from 0 to 1, got {p!r}")
    return p
