# SPDX-License-Identifier: Apache-2.0
"""Loads, decodes and augments data for training: pipelines, or one operator at a time."""

import os as _os

from . import _core, _former_names, _settings, fn, types
from ._base import unseeded as _unseeded
from ._core import Batch, DataError, DeviceWarning, Tensor, batch, per_sample, seed, set_device_allocator, tensor
from ._graph import DataNode, newaxis
from ._native import cmake_prefix_path, get_include, load_library

TYPE_CHECKING = bool()  # completers that read the source leave out what `False` guards: not even pipeline_def was found
if TYPE_CHECKING:  # what __getattr__ returns, for type checkers
    from . import (
        albumentations,
        annotations,
        augment,
        control,
        conversion,
        loaders,
        math,
        pictures,
        plugin,
        storage,
        tfrecord,
        torch,
    )
    from ._function import Function
    from .loaders.detection import detection  # mypy takes penstock.loaders.detection for the module
    from .loaders.images import image_folder
    from .loaders.segmentation import segmentation
    from .loaders.speech import speech
    from ._pipeline import Pipeline, pipeline_def
    from ._python_function import FunctionError
    from .sample import Sample
    from ._workers.pool import WorkerError

__version__ = "0.1.0"
__all__ = [
    "Batch",
    "DataError",
    "DataNode",
    "DeviceWarning",
    "Function",
    "FunctionError",
    "Pipeline",
    "Sample",
    "Tensor",
    "WorkerError",
    "batch",
    "cmake_prefix_path",
    "detection",
    "fn",
    "get_include",
    "image_folder",
    "load_library",
    "newaxis",
    "per_sample",
    "pipeline_def",
    "seed",
    "segmentation",
    "set_device_allocator",
    "speech",
    "tensor",
    "tfrecord",
    "types",
]
# Modules that are imported on first use and that dir() shows. Private ones are imported so too, by their former names as well.
_MODULES = (
    "albumentations",
    "annotations",
    "augment",
    "control",
    "conversion",
    "cvcuda",
    "dali",
    "loaders",
    "math",
    "pictures",
    "plugin",
    "progress",
    "sample",
    "service",
    "storage",
    "tfrecord",
    "torch",
)


def _imported_late(name):
    if name in ("Pipeline", "pipeline_def"):  # imported on first use: immediate calls do not need them
        from . import _pipeline

        globals().update(Pipeline=_pipeline.Pipeline, pipeline_def=_pipeline.pipeline_def)
        return globals()[name]
    if name == "Function":
        from ._function import Function

        return Function
    if name == "FunctionError":
        from ._python_function import FunctionError

        return FunctionError
    if name == "Sample":
        from .sample import Sample

        return Sample
    if name in ("detection", "image_folder", "segmentation", "speech"):
        from . import loaders

        return getattr(loaders, name)
    if name == "WorkerError":
        from ._workers.pool import WorkerError

        return WorkerError
    private = name.removeprefix("_") in _former_names.PRIVATE
    if private or name in _MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{'_' + name.removeprefix('_') if private else name}")
    near = ""
    if not name.startswith("_"):
        from ._base.other_names import answer_of_package

        near = answer_of_package(name, _core.operators())
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'{near}", name=name)


if not TYPE_CHECKING:  # which would take every name for one of the package
    __getattr__ = _imported_late


def show(self, columns=None, size=160, path=None, **marks):
    """Makes a picture of the samples side by side, with labels, boxes, masks and points.

    Args:
        columns: Samples in a row; omitted: about as many as rows.
        size: Pixels of the longer side of a sample.
        path: A file to write the picture to.
        **marks: What is drawn over the samples, as penstock.pictures.show() takes it: labels, names, boxes, box_layout,
            normalized, box_labels, masks, points, before, layout, params.

    Returns:
        A picture of Pillow, as penstock.pictures.show() makes it.
    """
    from .pictures import show

    return show(self, columns, size, path, **marks)


def _repr_html_(self):
    from .pictures import html_of

    return html_of(self)


def _str_of_batch(self):
    from ._tensors_text import of_batch

    return of_batch(self)


def _str_of_tensor(self):
    from ._tensors_text import of_tensor

    return of_tensor(self)


Batch.show = Tensor.show = show
Batch._repr_html_ = Tensor._repr_html_ = _repr_html_
Batch.__str__, Tensor.__str__ = _str_of_batch, _str_of_tensor
del show, _repr_html_, _str_of_batch, _str_of_tensor


def __dir__():
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})


def _tell_nvidia_folders():
    """Sets the folders of NVIDIA's Python packages. The GPU part looks there when it first needs a library."""
    if _settings.setting("PENSTOCK_NVIDIA_LIBS"):
        return
    from importlib.util import find_spec

    try:
        found = find_spec("nvidia")
    except (ImportError, ValueError):
        return
    folders = [
        _os.path.join(root, name, "lib")
        for root in (found and found.submodule_search_locations) or ()
        for name in ("cu13", "cuda_nvrtc", "nvjpeg", "nvjpeg2k", "nvtiff")
    ]
    folders = [f for f in folders if _os.path.isdir(f)]
    if folders:
        _settings.set_setting("PENSTOCK_NVIDIA_LIBS", _os.pathsep.join(folders))


_tell_nvidia_folders()
