# SPDX-License-Identifier: Apache-2.0
"""DataNode, a value of a pipeline while it is defined."""

from __future__ import annotations

import sys

from .. import _core
from .._base.converted_code import why_not
from .._base.element_types import DType
from .._base.frames import user_line
from .scope import warn_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def refuse_numpy(name: str) -> None:
    """Raises the error of a function of NumPy that does not take values of a pipeline.

    Args:
        name: Its name.

    Raises:
        TypeError: Always; it says what to use instead.
    """
    from .._base.other_names import NAMES

    here = NAMES.get(
        name, f"fn.{name}" if name in _core.operators() else "operators of penstock.fn, or fn.python_function"
    )
    raise TypeError(f"numpy.{name}() works on arrays, not on values of a pipeline: use {here}\n  at {user_line()}")


class DataNode(_core.NodeRef):
    """Stands for a value of a pipeline: one output of one operator, a batch whenever the pipeline runs.

    Arithmetic, comparisons, bitwise operators and square brackets make new values; they apply to each sample.

    Args:
        pipeline: The pipeline.
        node: The number of the operator.
        output: The number of its output.
        device: "cpu" or "gpu": where the value is wanted.
    """

    def __init__(self, pipeline: Any, node: int, output: int, device: str = "") -> None:
        super().__init__(node, output, device)
        self.pipeline = pipeline
        pipeline.definition.refer(self)

    if not TYPE_CHECKING:  # which would take every name for one of a value

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            from .._base.other_names import NAMES, answer

            known = name in NAMES or any(o.rpartition(".")[2] == name for o in _core.operators())
            here = answer(name, _core.operators()) if known else ""
            here = here or ": operators of penstock.fn take it; fn.python_function calls functions of arrays"
            raise AttributeError(f"a value of a pipeline has no attribute '{name}'{here}", name=name)

    def _type(self):
        return self.pipeline.definition.graph.type_of(self)

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self.pipeline.definition.graph.name_of(self.node)

    @property
    def device(self) -> str:
        """Where the value is wanted, "cpu" or "gpu", whether or not this machine has a GPU."""
        return "gpu" if self.pipeline.definition.graph.on_gpu(self) else "cpu"

    @property
    def source(self) -> None:
        """None; scripts for DALI ask for it."""
        return None

    @property
    def dtype(self) -> DType:
        """Element type as far as it is known before data flow (NO_TYPE: not known)."""
        return DType(self._type()[0])

    @property
    def ndim(self) -> int | None:
        """Number of dimensions of a sample, None if not known."""
        ndim = self._type()[1]
        return None if ndim < 0 else ndim

    @property
    def layout(self) -> str:
        """The layout of a sample, "" if it is not known."""
        return self._type()[2]

    def cpu(self) -> DataNode:
        """Returns the value on the CPU."""
        return self._on("cpu")

    def gpu(self) -> DataNode:
        """Returns the value on the GPU; where there is none, it stays on the CPU, with a DeviceWarning."""
        warn_device("gpu")
        return self._on("gpu")

    def _on(self, device):
        return self if self.device == device else DataNode(self.pipeline, self.node, self.output, device)

    def shape(self, *, dtype: Any = None, device: str = "cpu") -> DataNode:
        """Returns the shape of each sample, as a 1-D tensor.

        Args:
            dtype: The type of the extents; omitted: int64.
            device: "cpu" or "gpu": where they are wanted.
        """
        given = {} if dtype is None else {"dtype": dtype}
        if device != self.device:
            given["device"] = device
        return _core.operator_function("shapes")(self, **given)

    def get(self) -> Any:
        """Returns the batch of the samples that are here; only with debug=True.

        Raises:
            RuntimeError: The pipeline has no debug=True.
        """
        if not self.pipeline.definition.options["debug"]:
            raise RuntimeError(
                f"a value of the pipeline is there while the pipeline is defined only with debug=True\n  at {user_line()}"
            )
        return self.pipeline.definition.graph.get(self)

    def at(self, sample: int) -> Any:
        """Returns one sample as a NumPy array; only with debug=True.

        Args:
            sample: Its number.
        """
        return self.get().cpu().at(sample)

    def as_array(self) -> Any:
        """Returns the batch as one NumPy array; only with debug=True."""
        return self.get().cpu().as_array()

    def __repr__(self):
        if self.pipeline.definition.options["debug"]:
            return f"DataNode({self.name!r}, {self.device}, {self.get()!r})"
        return f"DataNode({self.name!r}, output {self.output})"

    def __bool__(self) -> bool:
        frame, why = sys._getframe(1), ""
        while frame is not None and not why:  # what a lambda calls is not converted either
            why, frame = why_not(frame.f_code), frame.f_back
        raise TypeError(
            "a value of the pipeline has no truth while the pipeline is defined"
            + (
                f": {why}"
                if why
                else "; `if`, `while`, `and`, `or` and `not` on it work inside functions that "
                "pipeline_def converts, &, | and ~ everywhere"
            )
            + f"\n  at {user_line()}"
        )

    def __array__(self, dtype=None, copy=None):
        if dtype == object:  # an array of nodes
            import numpy

            boxed = numpy.empty((), object)
            boxed[()] = self
            return boxed
        raise TypeError(
            "a value of the pipeline has no elements while the pipeline is defined: use operators of penstock.fn, or "
            f"fn.python_function for functions of arrays\n  at {user_line()}"
        )

    def __array_function__(self, function, types, args, kwargs):
        refuse_numpy(getattr(function, "__name__", str(function)))

    def __len__(self):
        raise TypeError(
            f"a value of the pipeline has no length while the pipeline is defined; see .shape()\n  at {user_line()}"
        )

    __iter__ = None  # isinstance(value, collections.abc.Iterable) is False, and iter(value) says so

    def __setitem__(self, key, value):
        raise TypeError(
            "assignment to a part of a value of the pipeline works inside functions that pipeline_def converts; "
            f"penstock.control.set_(x, key, value) gives the new value everywhere\n  at {user_line()}"
        )

    if TYPE_CHECKING:  # expressions.py and numpy_functions.py set them

        def __getitem__(self, key: Any) -> DataNode: ...

        def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any: ...

    def source_info(self, *, device: str = "cpu") -> DataNode:
        """Returns the file or record that each sample came from, as bytes.

        Args:
            device: "cpu" or "gpu": where the value is wanted.
        """
        return self.property("source_info", device=device)

    # The last one: its name is that of a decorator.
    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """Returns a property of each sample, as bytes.

        Args:
            key: "source_info" or "layout".
            device: "cpu" or "gpu": where the value is wanted.
        """
        given = {} if device == "cpu" else {"device": device}
        return _core.operator_function("get_property")(self, key=key, **given)


def holds_node(value):
    """Whether a list or tuple has values of a pipeline in it."""
    return isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) or holds_node(v) for v in value)


def is_new_axis(item):
    return item is None or type(item).__name__ == "_NewAxis"


class _NewAxis:
    """Stands for a new axis in an index: newaxis, or newaxis("C") with the letter that the layout gets.

    Args:
        name: The letter.
    """

    def __init__(self, name=None):
        self.name = name

    def __call__(self, name=None):
        return _NewAxis(name)


newaxis = _NewAxis()
