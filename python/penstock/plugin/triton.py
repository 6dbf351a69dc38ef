# SPDX-License-Identifier: Apache-2.0
"""Pipelines for Triton Inference Server: @autoserialize, and the installation of the backend."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["autoserialize", "install"]

_BACKEND = "libtriton_penstock.so"  # as Triton calls it; here the name has a version: Python takes what ends with .so for a module
_FILES = (f"{_BACKEND}.*", "libpenstock.so.*", "libpenstock_cuda.so.*", "penstock_kernel_compiler")


def autoserialize(dali_pipeline: F) -> F:
    """Marks the pipeline of a model's Python file (penstock.py or dali.py), which Triton saves when it loads the model.

    Args:
        dali_pipeline: A function with @pipeline_def whose arguments all have defaults.

    Returns:
        The same function.

    Raises:
        TypeError: It is another function.

    Example:
        >>> from penstock.plugin.triton import autoserialize
        >>> @autoserialize
        ... @pipeline_def(batch_size=64, num_threads=4)
        ... def preprocessing():
        ...     files = fn.external_source(name="files", dtype=types.UINT8, ndim=1)
        ...     return fn.resize(fn.decoders.image(files), size=[224, 224])
    """
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise TypeError("autoserialize takes a function with @pipeline_def: write @autoserialize above @pipeline_def")
    dali_pipeline._is_autoserialize = True
    return dali_pipeline


def install(directory: str | PathLike[str]) -> Path:
    """Copies the backend and the libraries that it needs into a backend directory of Triton.

    Args:
        directory: The folder for backends, such as /opt/tritonserver/backends, or one that
            `tritonserver --backend-directory` names. It is made where it is missing.

    Returns:
        The folder `penstock` in it.

    Raises:
        FileNotFoundError: This installation of Penstock has no backend.

    Example:
        >>> from penstock.plugin.triton import install
        >>> folder = install("backends")
    """
    package = Path(__file__).resolve().parents[1]
    folder = Path(directory) / "penstock"
    found = [file for pattern in _FILES for file in package.glob(pattern)]
    if not any(file.name.startswith(_BACKEND) for file in found):
        raise FileNotFoundError(
            f"{package / _BACKEND} does not exist: this build of Penstock has no backend for Triton"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for file in found:
        _replace(file, folder / (_BACKEND if file.name.startswith(_BACKEND) else file.name))
    grafted = package.parent / "penstock.libs"  # of a wheel: what its libraries look for beside their folder
    if grafted.is_dir():
        (folder.parent / grafted.name).mkdir(exist_ok=True)
        for file in grafted.iterdir():
            _replace(file, folder.parent / grafted.name / file.name)
    (folder / "python").write_text(sys.executable + "\n")  # for models that are Python files
    return folder


def _replace(file, target):
    """A server that has the old library loaded keeps it."""
    part = target.with_name(target.name + ".part")
    shutil.copy2(file, part)
    os.replace(part, target)
