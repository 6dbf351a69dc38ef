# SPDX-License-Identifier: Apache-2.0
"""Values of a pipeline while it is defined, and how calls of operators become nodes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings

from . import _core
from .settings import setting
from .types import DType, ScalarConstant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_stack = threading.local()
_warned = set()
_COMMON = ("device", "name", "seed", "bytes_per_sample_hint", "preserve")


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
    """Calls of operators run at once meanwhile, for functions of the program that do not define the pipeline."""
    pipelines, _stack.pipelines = getattr(_stack, "pipelines", []), []
    building = _core.set_building(False)
    try:
        yield
    finally:
        _stack.pipelines = pipelines
        _core.set_building(building)


def required(what):
    pipeline = current()
    if pipeline is None:
        raise RuntimeError(f"{what} is only possible inside a pipeline's function or `with pipeline:`")
    return pipeline


def user_line():
    """File and line of the code outside this package that is being run."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def warn_device(device):
    """Where no GPU can be used, its work is done on the CPU: said once, an error where PENSTOCK_REQUIRE_GPU=1."""
    if device not in ("gpu", "mixed"):
        raise ValueError(f"device must be 'cpu', 'gpu' or 'mixed', got {device!r}")
    why_not = _core.gpu_why_not()
    if not why_not:
        return
    if setting("PENSTOCK_REQUIRE_GPU") not in ("", "0"):
        raise RuntimeError(
            f"device='{device}' was asked for and PENSTOCK_REQUIRE_GPU is set, but no GPU can be used: {why_not}"
        )
    if "device" not in _warned:
        _warned.add("device")
        warnings.warn(f"device='{device}' runs on the CPU: {why_not}", _core.DeviceWarning, stacklevel=3)


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
        _free().refer(self)

    def _type(self):
        return self.pipeline._graph.type_of(self)

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self.pipeline._graph.name_of(self.node)

    @property
    def device(self) -> str:
        """Where the value is wanted, "cpu" or "gpu", whether or not this machine has a GPU."""
        return "gpu" if self.pipeline._graph.on_gpu(self) else "cpu"

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
        return add_node("shapes", (self,), given)

    def get(self) -> Any:
        """Returns the batch of the samples that are here; only with debug=True.

        Raises:
            RuntimeError: The pipeline has no debug=True.
        """
        if not self.pipeline._given["debug"]:
            raise RuntimeError(
                f"a value of the pipeline is there while the pipeline is defined only with debug=True\n  at {user_line()}"
            )
        return self.pipeline._graph.get(self)

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
        if self.pipeline._given["debug"]:
            return f"DataNode({self.name!r}, {self.device}, {self.get()!r})"
        return f"DataNode({self.name!r}, output {self.output})"

    def __bool__(self):
        from .control_flow_ast import why_not

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
        from .other_names import NAMES

        name = getattr(function, "__name__", str(function))
        here = NAMES.get(
            name, f"fn.{name}" if name in _core.operators() else "operators of penstock.fn, or fn.python_function"
        )
        raise TypeError(f"numpy.{name}() works on arrays, not on values of a pipeline: use {here}\n  at {user_line()}")

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

    def __getitem__(self, key: Any) -> DataNode:
        from .indexing import subscript

        return subscript(self, key)

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
        return add_node("get_property", (self,), {"key": key} if device == "cpu" else {"key": key, "device": device})


def _scalar(value):
    """(value, element type) of an operand that is one number, for all samples or a value of the pipeline; else
    None."""
    if isinstance(value, DataNode):
        exact = value.dtype not in (DType.NO_TYPE, DType.INT64, DType.UINT64)  # arguments are carried as float64
        return (value, value.dtype) if value.ndim == 0 and exact else None
    if isinstance(value, ScalarConstant):
        if isinstance(value.value, int) and abs(value.value) > 2**53:  # an argument is carried as float64
            return None
        return value.value, _natural_type(value.value) if value.dtype is None else value.dtype
    if isinstance(value, (bool, int, float)) and type(value).__module__ != "numpy":
        return value, _natural_type(value)
    if getattr(value, "shape", None) == () and hasattr(value, "dtype") and hasattr(value, "item"):  # NumPy's scalars
        return value.item(), _reduced(_core.tensor(value).dtype)
    return None


def _natural_type(value):
    if isinstance(value, bool):
        return DType.BOOL
    if isinstance(value, float):
        return DType.FLOAT
    if not -(2**31) <= value < 2**31:
        raise OverflowError(
            f"{value} does not fit into INT32, the type of integer constants; "
            "types.Constant(value, dtype=types.INT64) says another"
        )
    return DType.INT32


def _reduced(dtype):
    """The type of constants that are given as arrays: 64 bits become 32."""
    return {DType.FLOAT64: DType.FLOAT, DType.INT64: DType.INT32, DType.UINT64: DType.UINT32}.get(dtype, dtype)


def _two_operands(op, left, right):
    """A scalar operand becomes an argument: the operator then stays in one pass with its neighbors. One that lies on
    the GPU with the other stays an input: arguments are read on the host."""
    if all(isinstance(o, DataNode) and o.device == "gpu" for o in (left, right)):
        return add_node(op, (left, right), {})
    if all(isinstance(o, DataNode) and o.ndim == 0 and o.device == "cpu" for o in (left, right)):
        return add_node(op, (left, right), {})  # numbers of all samples are one row (src/exec/executor_numbers.cpp)
    if isinstance(left, DataNode):
        scalar = _scalar(right)
        if scalar is not None:
            return add_node(op, (left,), {"right": scalar[0], "right_type": scalar[1]})
    scalar = _scalar(left)
    if scalar is not None and isinstance(right, DataNode):
        return add_node(op, (right,), {"left": scalar[0], "left_type": scalar[1]})
    for operand in (left, right):
        if isinstance(operand, (str, bytes, dict, set)) or operand is None:
            return NotImplemented
    return add_node(op, (left, right), {})


def _immediate(op, *operands):
    """The same on Tensors, Batches and arrays, at once."""
    function = _functions.get(op)
    if function is None:
        function = _functions[op] = _core.operator_function(op)
    if len(operands) == 2:
        left, right = operands
        for value, other, side in ((right, left, "right"), (left, right, "left")):
            if isinstance(value, ScalarConstant) or type(value) in (bool, int, float):
                number, dtype = _scalar(value)
                return function(other, **{side: number, f"{side}_type": dtype})
        if any(isinstance(o, (str, bytes, dict, set)) or o is None for o in operands):
            return NotImplemented
    return function(*operands)


_functions = {}


def arithmetic(op, *operands):
    """An operator of Python's expressions: a node where an operand is one, else the result."""
    if any(isinstance(o, DataNode) for o in operands) or current() is not None:
        return _two_operands(op, *operands) if len(operands) == 2 else add_node(op, operands, {})
    return _immediate(op, *operands)


def _binary(op):
    def forward(self, other):
        return arithmetic(op, self, other)

    def backward(self, other):
        return arithmetic(op, other, self)

    return forward, backward


_VALUES = (DataNode, _core.Tensor, _core.Batch)
for _python, _op in (
    ("add", "_add"),
    ("sub", "_sub"),
    ("mul", "_mul"),
    ("truediv", "_div"),
    ("floordiv", "_fdiv"),
    ("mod", "_mod"),
    ("pow", "_pow"),
    ("and", "_and"),
    ("or", "_or"),
    ("xor", "_xor"),
    ("lshift", "_shl"),
    ("rshift", "_shr"),
):
    _forward, _backward = _binary(_op)
    for _class in _VALUES:
        setattr(_class, f"__{_python}__", _forward)
        setattr(_class, f"__r{_python}__", _backward)
for _python in ("lt", "le", "gt", "ge", "eq", "ne"):
    for _class in _VALUES:
        setattr(_class, f"__{_python}__", _binary(f"_{_python}")[0])
for _class in _VALUES:
    _class.__neg__ = lambda self: arithmetic("_neg", self)
    _class.__abs__ = lambda self: arithmetic("_math.abs", self)
    _class.__invert__ = lambda self: arithmetic("_not", self)
    _class.__pos__ = lambda self: arithmetic("_pos", self)
    _class.__array_ufunc__ = None  # NumPy leaves `array + value` to the value
    _class.__hash__ = object.__hash__


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


def constant(value, dtype=None, shape=None, layout=None, name=None):
    """The node of a constant."""
    if isinstance(value, _core.Batch):
        pipeline = required("a batch as a value of a pipeline")
        return pipeline._graph.add_value(value) if pipeline._given["debug"] else _constant_batch(value)
    arguments = {}
    if isinstance(value, ScalarConstant):
        dtype = value.dtype if dtype is None else dtype
        value = value.value
    if isinstance(value, (bool, int, float)):
        data, extents = [value], [] if shape is None else _extents(shape)
        natural = _natural_type(value) if dtype is None or isinstance(value, float) else DType.INT32
    elif isinstance(value, (list, tuple)):
        if not all(
            isinstance(v, (bool, int, float)) or hasattr(v, "__index__") or hasattr(v, "__float__") for v in value
        ):
            raise TypeError("a constant is a number, a flat list of numbers or an array")
        data, extents = list(value), [len(value)] if shape is None else _extents(shape)
        natural = (
            DType.BOOL
            if data and all(isinstance(v, bool) for v in data)
            else DType.INT32
            if all(hasattr(v, "__index__") for v in data)
            else DType.FLOAT
        )
    else:
        tensor = _core.tensor(value)
        natural = _reduced(tensor.dtype)
        data, extents = tensor.numpy().ravel().tolist(), list(tensor.shape()) if shape is None else _extents(shape)
        if layout is None and tensor.layout():
            layout = tensor.layout()
    real = natural in (DType.FLOAT, DType.FLOAT16, DType.FLOAT64)
    arguments["fdata" if real else "idata"] = [float(v) for v in data] if real else [int(v) for v in data]
    arguments["dtype"] = natural if dtype is None else dtype
    arguments["shape"] = extents
    if layout:
        arguments["layout"] = str(layout)
    if name is not None:
        arguments["name"] = name
    return add_node("constant", (), arguments)


def _constant_batch(batch):
    """The node of penstock.per_sample([...]): sample i of each batch takes element i."""
    size = required("penstock.per_sample()")._given["batch_size"]
    if size is not None and len(batch) != size:
        raise ValueError(
            f"penstock.per_sample() has {len(batch)} values for a batch of {size} samples\n  at {user_line()}"
        )
    arrays = [batch[i].numpy() for i in range(len(batch))]
    real = batch.dtype in (DType.FLOAT, DType.FLOAT16, DType.FLOAT64)
    arguments = {
        "dtype": batch.dtype,
        "samples": len(arrays),
        "shape": [int(e) for a in arrays for e in a.shape],
        "fdata" if real else "idata": [(float if real else int)(v) for a in arrays for v in a.ravel().tolist()],
    }
    if batch.layout():
        arguments["layout"] = batch.layout()
    return add_node("constant", (), arguments)


def holds_node(value):
    """Whether a list or tuple has values of a pipeline in it."""
    return isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) or holds_node(v) for v in value)


def _flat(value):
    for v in value:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


def _stacked(op, name, values):
    """A list of numbers and scalar nodes as an argument: one node that has them all, whole numbers if all are."""
    items = list(_flat(values))
    types = [v.dtype if isinstance(v, DataNode) else (_scalar(v) or [None, None])[1] for v in items]
    for item, dtype in zip(items, types):
        if dtype is None or (isinstance(item, DataNode) and item.ndim not in (0, None)):
            what = f"one with {item.ndim} dimensions" if isinstance(item, DataNode) else type(item).__name__
            raise TypeError(
                f"[{op}] {name}: a list holds numbers and scalar values of the pipeline, not {what}\n  at {user_line()}"
            )
    fractions = {DType.FLOAT, DType.FLOAT16, DType.FLOAT64, DType.NO_TYPE}
    common = DType.FLOAT64 if fractions & set(types) else DType.INT64
    nodes = []
    for item, dtype in zip(items, types):
        if not isinstance(item, DataNode):
            nodes.append(constant(_scalar(item)[0], dtype=common))
        else:
            nodes.append(item if dtype == common else add_node("cast", (item,), {"dtype": common}))
    return add_node("stack", tuple(nodes), {})


def _nodes_of(values):
    return [v for v in _flat(values) if isinstance(v, DataNode)]


def _extents(shape):
    return [int(s) for s in shape] if hasattr(shape, "__len__") else [int(shape)]


def _as_node(value):
    if isinstance(value, DataNode):
        return value
    if value is None:
        raise TypeError("an input of an operator is a value of the pipeline or an array, not None")
    if isinstance(value, (list, tuple)) and any(getattr(v, "shape", ()) for v in value):
        if not required("a list of arrays")._given["debug"]:
            raise TypeError(
                "a list of arrays is a batch with debug=True; else fn.external_source() brings batches into a pipeline"
                f"\n  at {user_line()}"
            )
        value = _core.batch(value)
    return constant(value)


def _free():
    from . import free_nodes

    return free_nodes


def add_node(op, inputs, arguments, draws_of=-1):
    """Adds the operator `op` to the pipeline that is being defined; called by every fn.name(...) inside it.
    draws_of: the node whose random numbers it draws."""
    try:
        return _add_node(op, inputs, arguments, draws_of)
    except (ValueError, TypeError) as error:
        if getattr(current(), "_also_runtime_error", False):
            from .dali.errors import raise_again

            raise_again(error)
        raise


def _add_node(op, inputs, arguments, draws_of):
    nodes = [i for i in inputs if isinstance(i, DataNode)]
    for value in inputs:
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            return _for_each_set(op, inputs, arguments)
    pipeline = current()
    if pipeline is None:
        with _free().at_home(nodes, *arguments.values()):
            return add_node(op, inputs, arguments, draws_of)
    if pipeline._built:
        raise RuntimeError("the pipeline is built: no operator can be added")
    _free().take(op, nodes + _nodes_of(arguments.values()), pipeline)
    schema_has_seed = "readers." in op
    name, seed = arguments.get("name"), arguments.get("seed")
    device = arguments.get("device")
    if device not in (None, "cpu"):
        warn_device(device)
    given = {k: v for k, v in arguments.items() if k not in _COMMON or (k == "seed" and schema_has_seed)}
    given = {k: (v.value if isinstance(v, ScalarConstant) else v) for k, v in given.items()}
    given = {
        k: (_stacked(op, k, v) if holds_node(v) else constant(v) if isinstance(v, (_core.Tensor, _core.Batch)) else v)
        for k, v in given.items()
    }
    graph = pipeline._graph
    index = graph.add(
        op,
        [_as_node(i) for i in inputs],
        given,
        "" if name is None else str(name),
        -1 if seed is None else int(seed),
        user_line(),
        device=device or "",
        draws_of=draws_of,
    )
    count = graph.outputs_of(index)
    outputs = [DataNode(pipeline, index, k) for k in range(count)]
    return outputs[0] if count == 1 else outputs


def add_call(op, inputs, arguments, function):
    """A node that calls a function of the program. function: an object with call() (penstock.python_function)."""
    if any(isinstance(i, (list, tuple)) and any(isinstance(v, DataNode) for v in i) for i in inputs):
        raise TypeError(f"[{op}] takes values of the pipeline, not lists of them\n  at {user_line()}")
    pipeline = current()
    if pipeline is None:
        with _free().at_home(*inputs):
            return add_call(op, inputs, arguments, function)
    made = add_node(op, inputs, arguments)
    index = pipeline._graph.nodes() - 1
    pipeline._functions[index] = (function, user_line())
    if pipeline._given["debug"]:
        pipeline._graph.evaluate(index)
    return made


def _for_each_set(op, inputs, arguments):
    """Lists of nodes as inputs: one node for each place of the lists. All draw the random numbers of the first."""
    lengths = {len(i) for i in inputs if isinstance(i, (list, tuple))}
    if len(lengths) != 1:
        raise ValueError(f"[{op}] lists of inputs must have one length, got {sorted(lengths)}")
    name = arguments.get("name")
    arguments = {k: v for k, v in arguments.items() if k != "name"}
    results, first = [], -1
    for k in range(lengths.pop()):
        own = arguments if name is None else {**arguments, "name": f"{name}_{k}"}
        made = add_node(op, tuple(i[k] if isinstance(i, (list, tuple)) else i for i in inputs), own, first)
        outputs = made if isinstance(made, list) else [made]
        if k == 0 and outputs:
            first = outputs[0].node
        results.append(made)
    if results and isinstance(results[0], list):
        return [list(r) for r in zip(*results)]
    return results


_core.set_node_type(DataNode)
_core.set_hooks(add_node, warn_device)
