# SPDX-License-Identifier: Apache-2.0
"""Operators of the dynamic mode, made of those of penstock.fn on first use."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from .... import _core
from .... import fn as native
from .... import math as native_math
from ...aliases import DEPRECATED, NAMES
from ...aliases import REFUSED as OPERATORS
from ...errors import also_runtime_errors
from . import element_types, generators, later
from .batches import Batch, as_batch
from .devices import Device
from .devices import device as device_of
from .tensors import Tensor, as_tensor

# Names of DALI that are refused, and what to use.
REFUSED = {
    "capture": "a pipeline's function is the captured form: @pipeline_def",
    "checkpoint": "readers have get_state() and set_state(), a pipeline has checkpoint()",
    "optical_flow": OPERATORS["optical_flow"],
    "pytorch": "penstock.torch.DataLoader gives batches to torch, and Tensor.torch() and Batch.torch() a tensor",
    **dict.fromkeys(
        ("Stream", "stream", "get_current_stream", "get_default_stream", "set_current_stream", "set_default_stream"),
        "each call waits for its streams itself",
    ),
    "ThreadPool": "set_num_threads(n) sets the threads of readers",
}
_ONLY_IN_PIPELINES = (
    "external_source",
    "python_function",
    "dl_tensor_python_function",
    "numba_function",
    "readers",
    "inputs",
)
_GIVEN_BY_US = ("seed", "name", "preserve")


def operator_of(path: str) -> Any:
    """The function or the group of penstock.fn with this path of DALI, or None."""
    found = native
    path = DEPRECATED.get(path, path)
    for part in NAMES.get(path, path).split("."):
        found = getattr(found, part, None)
    foreign = isinstance(found, ModuleType) and not found.__name__.startswith(f"{native.__name__}.")
    return None if foreign or isinstance(found, type) else found


def _samples(values):
    """How many samples the Batches have; None if there are none."""
    sizes = {v.batch_size for v in values if isinstance(v, Batch)}
    if len(sizes) > 1:
        raise ValueError(f"the Batches of one call must have as many samples, got {sorted(sizes)}")
    return sizes.pop() if sizes else None


def _input(value, count, place):
    """An input of an operator, as Penstock takes it."""
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (bool, int, float)):
        value = as_batch(value)
    if not isinstance(value, Batch):
        value = as_tensor(value)
        value = value if count is None else Batch.broadcast(value, count)
    return (value if place is None else value.to_device(place)).held


def _argument(value):
    if isinstance(value, (Tensor, Batch)):
        held = value.cpu().held
        return held.item() if isinstance(value, Tensor) and not value.shape else held
    return value.type_id if isinstance(value, element_types.DType) else value


def wrapped(made: Any) -> Any:
    """What an operator gave, as Tensors and Batches."""
    if isinstance(made, (list, tuple)):
        return tuple(wrapped(m) for m in made)
    return Batch(made) if isinstance(made, _core.Batch) else Tensor(made)


@also_runtime_errors
def arithmetic(function: Any, a: Any, b: Any) -> Any:
    """An operator of Python on Tensors, Batches, arrays and numbers."""
    count = _samples((a, b))
    place = next((v.device for v in (a, b) if isinstance(v, (Tensor, Batch)) and v.device.device_type == "gpu"), None)
    plain = [v if isinstance(v, (bool, int, float)) else _input(v, count, place) for v in (a, b)]
    return wrapped(function(*plain))


@also_runtime_errors
def call(
    path: str, *inputs: Any, batch_size: int | None = None, device: Any = None, rng: Any = None, **arguments: Any
) -> Any:
    """Calls an operator by its path in fn.

    Args:
        path: The path, such as "random.uniform".
        *inputs: Arrays, Tensors, Batches.
        batch_size: The number of samples, where no input is a Batch.
        device: Where it runs; default: where its inputs are.
        rng: What gives the seed of an operator that draws.
        **arguments: Its arguments: values, Tensors, Batches with one for each sample.

    Returns:
        A Tensor or a Batch, or a tuple of them.
    """
    function = operator_of(path)
    given = {name: value for name, value in arguments.items() if value is not None}
    count = _samples([*inputs, *given.values()])
    if batch_size is not None and count not in (None, batch_size):
        raise ValueError(f"batch_size is {batch_size}, but a Batch has {count} samples")
    count = batch_size if count is None else count
    place = device_of(device) if device is not None else None if inputs else Device.current()
    known = inspect.signature(function).parameters
    if "seed" in known:
        given["seed"] = (rng or generators.get_default_rng())()
    plain = {name: _argument(value) for name, value in given.items()}
    if inputs:
        return wrapped(function(*(_input(value, count, place) for value in inputs), **plain))
    if count is not None:
        plain["batch_size"] = count
    made = wrapped(function(**plain))
    return made if place is None or place.device_type == "cpu" else made.to_device(place)


later.functions.update(arithmetic=arithmetic, call=call)


def _made(path, function):
    signature = inspect.signature(function)
    names = set(signature.parameters)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())

    def operator(*inputs, batch_size=None, device=None, rng=None, **arguments):
        for name in arguments:
            if name in _GIVEN_BY_US or (not takes_all and name not in names):
                raise TypeError(f"{path}() has no argument '{name}'{'; rng= gives the seed' if name == 'seed' else ''}")
        return call(path, *inputs, batch_size=batch_size, device=device, rng=rng, **arguments)

    operator.__name__ = operator.__qualname__ = path.rpartition(".")[2]
    operator.__doc__ = function.__doc__
    return operator


def _function_of_math(name):
    function = getattr(native_math, name)

    @also_runtime_errors
    def operator(*values):
        count = _samples(values)
        return wrapped(function(*(v if isinstance(v, (bool, int, float)) else _input(v, count, None) for v in values)))

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = function.__doc__
    return operator


class Operators(ModuleType):
    """The module of the dynamic mode, or a group of it; members are made on first use."""

    @classmethod
    def replace_module(cls, name):
        module = sys.modules[name]
        module._path = ""
        module.__class__ = cls

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}".lstrip(".")
        made = self._find(path)
        if made is None:
            why = (
                f"; {REFUSED[path]}"
                if path in REFUSED
                else f"; penstock.fn.{path} works inside a pipeline"
                if path in _ONLY_IN_PIPELINES
                else ""
            )
            raise AttributeError(f"Penstock's dynamic mode has no '{path}'{why}")
        setattr(self, name, made)
        return made

    def _find(self, path):
        start = path.partition(".")[0]
        if path in REFUSED or (start in _ONLY_IN_PIPELINES and start != "readers"):
            return None
        if path in ("readers", "experimental.readers"):
            return self._group(path, later.functions["readers"](path))
        if path == "math":
            return self._group(path, {n: _function_of_math(n) for n in native_math.__all__})
        found = operator_of(path)
        if path == "random":
            names = ("RNG", "get_default_rng", "set_seed")
            return self._group(path, {n: getattr(generators, n) for n in names})
        if isinstance(found, ModuleType) or path in ("experimental", "experimental.decoders"):
            return self._group(path, {})
        return None if found is None else _made(path, found)

    def _group(self, path, members):
        name = f"{__package__}.{path}"
        if name not in sys.modules:
            module = sys.modules[name] = Operators(name, f"The group {path} of the dynamic mode.")
            module._path, module.__path__ = path, []
            vars(module).update(members)
        return sys.modules[name]

    def __dir__(self):
        own = operator_of(self._path) if self._path else native
        names = (
            {n for n in dir(own) if not n.startswith("_")} if own is not None and "readers" not in self._path else set()
        )
        moved = {n.rpartition(".")[2] for n in NAMES if n.rpartition(".")[0] == self._path}
        return sorted(
            {n for n in vars(self) if not n.startswith("_")} | (names | moved) - (set(_ONLY_IN_PIPELINES) - {"readers"})
        )
