# SPDX-License-Identifier: Apache-2.0
"""How calls of operators become nodes of the pipeline that is being defined."""

from __future__ import annotations

import re

from .. import _core
from .._base.element_types import DType, ScalarConstant
from .._base.errors import raise_again
from .._base.frames import user_line
from .._base.limits import integer
from .._base.log import warn
from . import free_nodes
from .constants import arguments_of_batch, arguments_of_constant, scalar
from .node import DataNode, holds_node
from .scope import current, required, warn_device

_COMMON = ("device", "name", "seed", "bytes_per_sample_hint", "preserve", "out", "stream")


def constant(value, dtype=None, shape=None, layout=None, name=None):
    """The node of a constant."""
    if not isinstance(value, _core.Batch):
        return add_node("constant", (), arguments_of_constant(value, dtype, shape, layout, name))
    pipeline = required("a batch as a value of a pipeline")
    if pipeline.definition.options["debug"]:
        return pipeline.definition.graph.add_value(value)
    return add_node("constant", (), arguments_of_batch(value, pipeline.definition.options["batch_size"]))


def _flat(value):
    for v in value:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


def stacked(op, name, values):
    """One node for an argument that is a list of numbers and scalar nodes; integers if all of them are."""
    items = list(_flat(values))
    types = [v.dtype if isinstance(v, DataNode) else (scalar(v) or [None, None])[1] for v in items]
    for item, dtype in zip(items, types):
        if dtype is None or (isinstance(item, DataNode) and item.ndim not in (0, None)):
            what = f"one with {item.ndim} dimensions" if isinstance(item, DataNode) else type(item).__name__
            raise TypeError(
                f"[{op}] {name}: a list holds numbers and scalar values of the pipeline, not {what}\n  at {user_line()}"
            )
    fractions = {DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64, DType.NO_TYPE}
    common = DType.FLOAT64 if fractions & set(types) else DType.INT64
    constants, nodes = {}, []
    for item, dtype in zip(items, types):
        if isinstance(item, DataNode):
            nodes.append(item if dtype == common else add_node("cast", (item,), {"dtype": common}))
            continue
        number = scalar(item)[0]
        if repr(number) not in constants:  # -0.0 is a number of its own
            constants[repr(number)] = constant(number, dtype=common)
        nodes.append(constants[repr(number)])
    return add_node("stack", tuple(nodes), {})


def stacked_once(op, arguments):
    """The arguments of several nodes that one call makes: a list with values of the pipeline becomes one node for all."""
    if current() is None:
        return arguments
    return {k: stacked(op, k, v) if isinstance(v, (list, tuple)) and holds_node(v) else v for k, v in arguments.items()}


def _nodes_of(values):
    return [v for v in _flat(values) if isinstance(v, DataNode)]


def as_node(value):
    if isinstance(value, DataNode):
        return value
    if value is None:
        raise TypeError(
            "an input of an operator is a value of the pipeline or an array, not None: does a function lack its return?"
            f"\n  at {user_line()}"
        )
    if isinstance(value, (list, tuple)) and any(getattr(v, "shape", ()) for v in value):
        if not required("a list of arrays").definition.options["debug"]:
            raise TypeError(
                "a list of arrays is a batch with debug=True; else fn.external_source() brings batches into a pipeline"
                f"\n  at {user_line()}"
            )
        value = _core.batch(value)
    return constant(value)


def add_node(op, inputs, arguments, draws_of=-1, outputs=0):
    """Adds the operator `op` to the pipeline that is being defined; called by every fn.name(...) inside it.
    draws_of: the node whose random numbers it draws. outputs: one more than the operator has: the last one is the size of
    its input, which maps of points read (decision 41)."""
    try:
        return _add_node(op, inputs, arguments, draws_of, outputs)
    except (ValueError, TypeError) as error:
        _add_hint(error, op)
        pipeline = current()
        if pipeline is not None and pipeline.definition.also_runtime_error:
            raise_again(error)
        raise


def _hint(op, name):
    from .._base.other_names import answer_of_argument

    return answer_of_argument(op, name, [a["name"] for a in _core.operator_schema(op)["args"]])


def _add_hint(error, op):
    """Says after "there is no argument" where what was meant is found."""
    message = str(error)
    unknown = re.search(r"there is no argument '(\w+)'(, did you mean '\w+'\?)?", message)
    here = "" if unknown is None else _hint(op, unknown[1])
    if here:
        error.args = (message.replace(unknown[0], f"there is no argument '{unknown[1]}'{here}", 1),)


def _add_node(op, inputs, arguments, draws_of, outputs):
    nodes = [i for i in inputs if isinstance(i, DataNode)]
    for value in inputs:
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            return _for_each_set(op, inputs, arguments)
    pipeline = current()
    if pipeline is None:
        with free_nodes.at_home(nodes, *arguments.values()):
            return add_node(op, inputs, arguments, draws_of, outputs)
    if pipeline.definition.built:
        raise RuntimeError("the pipeline is built: no operator can be added")
    free_nodes.take(op, nodes + _nodes_of(arguments.values()), pipeline)
    schema_has_seed = "readers." in op
    name, seed = arguments.get("name"), arguments.get("seed")
    device = arguments.get("device")
    if device not in (None, "cpu"):
        warn_device(device)
    for here in ("out", "stream"):
        if arguments.get(here) is not None:
            raise ValueError(f"{op}: {here} is for calls outside pipelines; a Function takes into= and stream=")
    given = {k: v for k, v in arguments.items() if k not in _COMMON or (k == "seed" and schema_has_seed)}
    given = {k: (v.value if isinstance(v, ScalarConstant) else v) for k, v in given.items()}
    given = {
        k: (stacked(op, k, v) if holds_node(v) else constant(v) if isinstance(v, (_core.Tensor, _core.Batch)) else v)
        for k, v in given.items()
    }
    graph = pipeline.definition.graph
    index = graph.add(
        op,
        [as_node(i) for i in inputs],
        given,
        "" if name is None else str(name),
        -1 if seed is None else integer(f"[{op}] seed", seed),
        user_line(),
        outputs=outputs,
        device=device or "",
        draws_of=draws_of,
    )
    count = graph.outputs_of(index)
    made = [DataNode(pipeline, index, k) for k in range(count)]
    return made[0] if count == 1 else made


def add_call(op, inputs, arguments, function):
    """Adds a node that calls an object of a plug-in.

    Args:
        op: The operator.
        inputs: Values of the pipeline.
        arguments: Its arguments, by name.
        function: An object with start(name, line, given) and call(batches, origins), such as a Function.

    Returns:
        A value of the pipeline, or a list of them.

    Raises:
        TypeError: An input is a list of values.
    """
    if any(isinstance(i, (list, tuple)) and any(isinstance(v, DataNode) for v in i) for i in inputs):
        raise TypeError(f"[{op}] takes values of the pipeline, not lists of them\n  at {user_line()}")
    pipeline = current()
    if pipeline is None:
        with free_nodes.at_home(*inputs):
            return add_call(op, inputs, arguments, function)
    made = add_node(op, inputs, arguments)
    index = pipeline.definition.graph.nodes() - 1
    pipeline.definition.functions[index] = (function, user_line())
    if pipeline.definition.options["debug"]:
        pipeline.definition.graph.evaluate(index)
    return made


def add_change(kind, deciding, values, constants):
    """The values of the samples that a change of the batch (fn.filter and its kind) makes of `values`."""
    pipeline = current()
    index = pipeline.definition.graph.add_change(kind, [*deciding, *values], constants, user_line())
    return [DataNode(pipeline, index, k) for k in range(len(values))]


def _for_each_set(op, inputs, arguments):
    """Lists of nodes as inputs: adds one node per list index. All draw the random numbers of the first."""
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


def _warn(text, category):
    warn("gpu" if category is _core.DeviceWarning else "pipeline", text, category)


_core.set_node_type(DataNode)
_core.set_hooks(add_node, warn_device, _hint)
_core.set_warning_hook(_warn)
