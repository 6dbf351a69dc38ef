# SPDX-License-Identifier: Apache-2.0
"""The pipelines that are being defined, the innermost last: calls of operators add their nodes to it."""

import contextlib
import threading

from .. import _core
from .._base.log import INFO, log, warn
from .._settings import setting

_stack = threading.local()
_warned = set()


def current():
    """The pipeline that is being defined, or None."""
    pipelines = getattr(_stack, "pipelines", None)
    return pipelines[-1] if pipelines else None


def push(pipeline):
    if not hasattr(_stack, "pipelines"):
        _stack.pipelines = []
    _stack.pipelines.append(pipeline)
    _core.set_building(True)


def pop():
    pipeline = _stack.pipelines.pop()
    _core.set_building(bool(_stack.pipelines))
    return pipeline


@contextlib.contextmanager
def outside():
    """Makes calls of operators run at once, for functions of the program that do not define the pipeline."""
    pipelines, _stack.pipelines = getattr(_stack, "pipelines", []), []
    building = _core.set_building(False)
    try:
        yield
    finally:
        _stack.pipelines = pipelines
        _core.set_building(building)


def required(what):
    """Returns the pipeline that is being defined.

    Args:
        what: What needs it, for the message.

    Raises:
        RuntimeError: None is being defined.
    """
    pipeline = current()
    if pipeline is None:
        raise RuntimeError(f"{what} is only possible inside a pipeline's function or `with pipeline:`")
    return pipeline


def warn_device(device):
    """Warns once that work for a GPU runs on the CPU if no GPU can be used; with PENSTOCK_REQUIRE_GPU=1 it is an error."""
    if device not in ("gpu", "mixed"):
        raise ValueError(f"device must be 'cpu', 'gpu' or 'mixed', got {device!r}")
    why_not = _core.gpu_why_not()
    if not why_not:
        return
    if setting("PENSTOCK_REQUIRE_GPU") not in ("", "0"):
        raise RuntimeError(
            f"device='{device}' is requested and PENSTOCK_REQUIRE_GPU is set, but no GPU can be used: {why_not}"
        )
    if "device" in _warned:
        log("gpu", INFO, "device='%s' runs on the CPU: %s", device, why_not)
    else:
        _warned.add("device")
        warn("gpu", f"device='{device}' runs on the CPU: {why_not}", _core.DeviceWarning)
