# SPDX-License-Identifier: Apache-2.0
"""What operators did to a sample, as a pipeline has logged it: steps as plain data."""

from .. import _core
from .._base.element_types import DType, to_numpy_type

_FRACTIONS = {DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.FLOAT64}
_SIZE = "input_size"  # that the log adds to the arguments (Graph::give_sizes)


def _number(value, dtype):
    if dtype in _FRACTIONS:
        return value
    return bool(value) if dtype == DType.BOOL else int(value)


def _plain(dtype, is_list, numbers):
    """What one argument was for one sample; None where it is not known on the CPU."""
    made = [_number(value, DType(dtype)) for value in numbers]
    return (made or None) if is_list else made[0] if made else None


def _batch_of(dtype, is_list, numbers):
    import numpy as np

    return _core.batch([np.asarray(numbers if is_list else numbers[0], to_numpy_type(DType(dtype)))])


def _key(trips, child):
    key = 0
    for trip in trips:
        key = _core.mixed(key ^ _core.mixed(trip))
    return key ^ child


def _window(node, draws, change, origin, size, logged):
    """[left, top, right, bottom], in pixels, of what an operator read and stretched over its result; None: something else."""
    if any(not numbers for _, _, _, numbers in logged):
        return None
    arguments = {**node.get("constants", {}), **{name: _batch_of(*rest) for name, *rest in logged}}
    made = _core.run_operator(
        f"points.{node['op']}", [_batch_of(*size)], arguments, change, *origin, draws, 1, -1, node.get("line", "")
    )
    if len(made) != 3:
        return None
    (x, skew_x, left), (skew_y, y, top), *_ = made[0][0].numpy().tolist()
    if skew_x or skew_y or x <= 0 or y <= 0:
        return None
    width, height = made[2][0].numpy().tolist()[:2]
    return [round(v, 6) for v in (-left / x, -top / y, (width - left) / x, (height - top) / y)]


def step_of(graph, nodes, index, trips, child, logged, origin):
    """A step of a sample.

    Args:
        graph: The graph.
        nodes: Its nodes as plain data.
        index: The node.
        trips: The numbers of the trips of the loops around it.
        child: Which child of a sample it is, for random numbers.
        logged: (argument, element type, whether it is a list, numbers) of what differed between samples.
        origin: (epoch, position) of what the sample drew.
    """
    node = nodes[index]
    size = [rest for name, *rest in logged if name == _SIZE]
    given = [entry for entry in logged if entry[0] != _SIZE]
    arguments = {**node.get("constants", {}), **{name: _plain(*rest) for name, *rest in given}}
    op = "if" if node.get("control") == "branch" else node["op"]
    made = {"op": op, "arguments": arguments, "line": node.get("line", "")}
    if size and size[0][2]:
        window = _window(node, graph.draws_of(index), _key(trips, child), origin, size[0], given)
        if window is not None:
            made["window"] = window
    return {**made, "trips": trips} if trips else made
