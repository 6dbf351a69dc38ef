# SPDX-License-Identifier: Apache-2.0
"""Programs for CV-CUDA, unchanged: `python -m penstock.cvcuda program.py`, or penstock.cvcuda.install() before their imports.

The names are those of cvcuda 0.19; the work is done by penstock.fn, on a GPU or without one. docs/reference/cvcuda.md lists what
differs.
"""

from . import (
    areas,
    borders,
    colors,
    cropping,
    drawing,
    enumerations,
    facts,
    features,
    filters,
    geometry,
    joining,
    labels,
    normalizing,
    points,
    regions,
    resizing,
    shapes,
    tones,
    values,
)
from .buffers import ExternalBuffer, HostBuffer
from .cache import cache_size, clear_cache, current_cache_size_inbytes, get_cache_limit_inbytes, set_cache_limit_inbytes
from .calls import ROWS, Function
from .formats import FORMATS, Format, TensorLayout, Type
from .images import Image, ImageBatchVarShape, as_image, as_images
from .modules import install, uninstall
from .streams import Stream, as_stream
from .tensor_batches import TensorBatch, as_tensors
from .tensors import Container, Resource, Tensor, as_tensor, reshape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.19.0"  # the version of CV-CUDA that has these names

_TABLE = (
    areas,
    borders,
    colors,
    cropping,
    drawing,
    features,
    filters,
    geometry,
    joining,
    labels,
    normalizing,
    points,
    regions,
    resizing,
    tones,
    values,
)  # each enters its rows
globals().update({name: getattr(enumerations, name) for name in enumerations.NAMES})
_NAMED = {**shapes.CLASSES, "RectI": shapes.RectI, **{name: getattr(Format, name) for name in FORMATS}}
_NAMED |= {member.name: member for kind in ("ConnectivityType", "LabelMaskType") for member in globals()[kind]}
globals().update(_NAMED)
for _row in ROWS.values():
    for _function in (Function(_row, False), Function(_row, True)):
        globals()[_function.__name__] = _function

__all__ = ["ExternalBuffer", "Image", "ImageBatchVarShape", "Stream", "Tensor", "TensorBatch", "Type", "Format"]
__all__ += [
    "as_image",
    "as_images",
    "as_stream",
    "as_tensor",
    "as_tensors",
    "install",
    "reshape",
    "uninstall",
    *enumerations.NAMES,
]
__all__ += [
    "Container",
    "HostBuffer",
    "Resource",
    "TensorLayout",
    "cache_size",
    "clear_cache",
    "current_cache_size_inbytes",
]
__all__ += ["get_cache_limit_inbytes", "set_cache_limit_inbytes", *ROWS, *(f"{name}_into" for name in ROWS)]


def __getattr__(name: str) -> "Any":
    if name in ("tv", "cuda", "internal"):
        import importlib

        return importlib.import_module(f"{__name__}.{'namespaces' if name != 'tv' else name}")
    why = facts.MISSING.get(name.removesuffix("_into"))
    if why is not None:
        raise AttributeError(f"Penstock has no cvcuda.{name}: {why}", name=name)
    raise AttributeError(
        f"module 'cvcuda' has no attribute '{name}'; docs/reference/cvcuda.md lists what there is", name=name
    )


def __dir__() -> list[str]:  # neither the modules of the inside nor what they import
    shown = {*__all__, *_NAMED, "tv", *(name for name in globals() if name.startswith("__"))}
    return sorted(shown)
