# SPDX-License-Identifier: Apache-2.0
"""Divides a graph between worker and trainer where a batch has the fewest bytes.

What the trainer computes are operators at the end of the graph that draw no random numbers, so that they need to know nothing of a
sample but its data, and that copy, convert or scale elements, which costs little. Which of them is a minimum cut of the graph: a value
that crosses costs its bytes once, however many operators use it.
"""

from __future__ import annotations

import json
from collections import deque

from .. import _core
from .._base import limits
from .._pipeline.recipe import set_other_outputs
from .errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .._core import Batch
    from .._pipeline import Pipeline
    from .._pipeline.recipe import Recipe

    Value = tuple[int, int]  # the number of a node, and of its output

WORTH = 0.8  # a cut has this part of the bytes of the outputs at most; else all is made by workers
_CHEAP = frozenset(  # arithmetic, whose names begin with "_", is cheap too
    "cast cast_like cat copy crop crop_mirror_normalize expand_dims flip lookup_table normalize one_hot pad reinterpret reshape slice "
    "squeeze stack transpose".split()
)
_SOURCE, _TRAINER = "source", "trainer"


class Cut:
    """A graph in two parts.

    Args:
        values: What workers send, in this order.
        nodes: The nodes of the graph, as its JSON has them.
        outputs: The outputs of the graph.
        tail: The nodes that the trainer computes, in their order.
        limits: Those of the pipeline.
    """

    def __init__(
        self, values: list[Value], nodes: list[dict[str, Any]], outputs: list[Value], tail: list[int], limits: list[int]
    ) -> None:
        self.values, self.at_trainer = values, [nodes[k]["op"] for k in tail]
        own = set(tail)
        self._taken = [values.index(v) for v in values if any(v in _uses(nodes[k]) for k in tail)]
        self._places = [(True, k) if v[0] in own else (False, values.index(v)) for k, v in enumerate(outputs)]
        made = [v for v in outputs if v[0] in own]
        self._places = [(here, made.index(outputs[k]) if here else k) for here, k in self._places]
        graph = _graph_of(nodes, tail, [values[k] for k in self._taken], made)
        self._function = _core.Function(_core.Graph.from_json(json.dumps(graph)), -1, *limits, 1)

    def rest(self, batches: Sequence[Batch]) -> tuple[Batch, ...]:
        """Computes the outputs of the graph of what a worker sent."""
        made, _ = self._function.call([batches[k] for k in self._taken], [], 0, 0, 0, 0, False)
        return tuple(made[k] if here else batches[k] for here, k in self._places)


def cut_of(recipe: Recipe) -> Cut | None:
    """Divides a pipeline by the bytes of its first batch.

    Returns:
        The cut, or None where none has clearly fewer bytes than the outputs.

    Raises:
        DataError: A sample of the first batch cannot be read or decoded.
    """
    pipeline = _made(recipe)
    options = pipeline.definition.options
    pipeline.build()
    graph = json.loads(pipeline.definition.graph.to_json())
    pipeline.close()
    nodes, outputs = graph["nodes"], [tuple(ref[:2]) for ref in graph["outputs"]]
    movable = {k for k, node in enumerate(nodes) if _movable(node)}
    if options["on_error"] != "raise" or not movable.intersection(node for node, _ in outputs):
        return None  # a sample that an operator at the trainer refuses cannot be replaced
    wanted = dict.fromkeys([*outputs, *(v for k in sorted(movable) for v in _uses(nodes[k]))])
    bytes_of = _measured(recipe, list(wanted))
    tail = smallest_cut(nodes, outputs, movable, bytes_of)
    values = crossing(nodes, outputs, tail)
    if not tail or sum(bytes_of[v] for v in values) > WORTH * sum(bytes_of[v] for v in set(outputs)):
        return None
    numbers = [int(options[name] or 0) for name in limits.NAMES]
    try:
        return Cut(values, nodes, outputs, sorted(tail), numbers)
    except ValueError:  # of an operator that changes the number of samples
        return None


def head_of(recipe: Recipe, values: Iterable[Value]) -> Pipeline[Any]:
    """The part of the pipeline that workers run."""
    return with_outputs(recipe.pipeline(), values)


def with_outputs(pipeline: Pipeline[Any], values: Any) -> Pipeline[Any]:
    """Makes other values of a pipeline, which is not built, its outputs. They may come from a peer.

    Raises:
        ProtocolError: There are no such values.
    """
    graph = pipeline.definition.graph
    if not isinstance(values, (list, tuple)) or not 0 < len(values) <= 1024:
        raise ProtocolError("the cut must be a list of values")
    for value in values:
        known = isinstance(value, (list, tuple)) and len(value) == 2 and all(type(n) is int for n in value)
        if not known or not 0 <= value[0] < graph.nodes() or not 0 <= value[1] < graph.outputs_of(value[0]):
            raise ProtocolError(
                f"the pipeline of this worker has no value {str(value)[:100]}, at which the trainer cuts"
            )
    set_other_outputs(pipeline, values)
    return pipeline


def _made(recipe):
    return recipe.pipeline(prefetch_queue_depth=1)


def _measured(recipe, values):
    """{value: the bytes of its first batch}"""
    pipeline = with_outputs(_made(recipe), values)
    try:
        return {value: batch.nbytes for value, batch in zip(values, pipeline.driver().run().outputs)}
    finally:
        pipeline.close()


def _uses(node):
    """The values that a node takes."""
    refs = [*node.get("inputs", ()), *node.get("per_sample", {}).values()]
    return [tuple(ref[:2]) for ref in refs]


def _movable(node):
    """Whether a trainer may compute a node: its results are a function of its inputs alone, on the CPU."""
    if "control" in node or "region" in node or node.get("device", "cpu") != "cpu":
        return False
    if node["op"] not in _CHEAP and not node["op"].startswith("_"):
        return False
    if any(len(ref) > 2 for ref in [*node.get("inputs", ()), *node.get("per_sample", {}).values()]):
        return False  # wanted on a GPU
    schema = _core.operator_schema(node["op"])
    return schema["family"] != "source" and not (schema["random"] or schema["calls_back"] or schema["fed"])


def smallest_cut(
    nodes: list[dict[str, Any]], outputs: list[Value], movable: set[int], bytes_of: dict[Value, int]
) -> set[int]:
    """The nodes after the cut with the fewest bytes; of several cuts, the one with the fewest nodes after it.

    Args:
        nodes: All nodes of the graph.
        outputs: Its outputs, which the trainer needs.
        movable: Nodes that may be after the cut. Nodes that use one that is, are too.
        bytes_of: Sizes of the values that movable nodes use and of the outputs.
    """
    room: dict[Any, dict[Any, float]] = {}  # how much more may flow from one to another

    def add(start, end, most):
        room.setdefault(start, {})[end] = room.get(start, {}).get(end, 0.0) + most
        room.setdefault(end, {}).setdefault(start, 0.0)

    never = float("inf")
    for k, node in enumerate(nodes):
        if k not in movable:
            add(_SOURCE, k, never)
        for value in _uses(node):
            add(k, value[0], never)
            if k in movable:
                add(value, k, never)
    for value in outputs:
        add(value, _TRAINER, never)
    for value, size in bytes_of.items():
        add(value[0], value, float(size))
    while path := _path(room):
        most = min(room[a][b] for a, b in path)
        for a, b in path:
            room[a][b] -= most
            room[b][a] += most
    reach, waiting = {_TRAINER}, deque([_TRAINER])
    while waiting:  # who can still send to the trainer
        end = waiting.popleft()
        for start in room[end]:
            if start not in reach and room[start][end] > 0:
                reach.add(start)
                waiting.append(start)
    return {k for k in movable if k in reach}


def _path(room):
    """The edges of a shortest way on which something may flow, or None."""
    before, waiting = {_SOURCE: None}, deque([_SOURCE])
    while waiting:
        start = waiting.popleft()
        for end, most in room.get(start, {}).items():
            if most > 0 and end not in before:
                before[end] = start
                waiting.append(end)
    if _TRAINER not in before:
        return None
    path, end = [], _TRAINER
    while before[end] is not None:
        path.append((before[end], end))
        end = before[end]
    return path


def crossing(nodes: list[dict[str, Any]], outputs: list[Value], tail: set[int]) -> list[Value]:
    """The values that workers send where these nodes are the trainer's."""
    used = [*outputs, *(value for k in sorted(tail) for value in _uses(nodes[k]))]
    return list(dict.fromkeys(value for value in used if value[0] not in tail))


def _graph_of(nodes, tail, values, outputs):
    """The nodes after the cut as a graph whose external sources are the values that cross."""
    made, places = [], {}
    for number, (node, output) in enumerate(values):
        places[node, output] = [len(made), 0]
        source = {"op": "external_source", "name": f"value {number}", "outputs": 1, "constants": {}}
        types = nodes[node].get("types", [])
        kind, ndim, layout = types[output] if output < len(types) else (-1, -1, "")
        if kind >= 0:
            source["constants"]["dtype"] = [kind]
        if ndim >= 0:
            source["constants"] |= {"ndim": [ndim], **({"layout": [layout]} if layout else {})}
        made.append({**source, "types": [[kind, ndim, layout]]})
    for k in tail:
        node = {name: value for name, value in nodes[k].items() if name not in ("draws_of", "seed")}
        if "inputs" in node:
            node["inputs"] = [places[tuple(ref[:2])] for ref in node["inputs"]]
        if "per_sample" in node:
            node["per_sample"] = {name: places[tuple(ref[:2])] for name, ref in node["per_sample"].items()}
        for output in range(node["outputs"]):
            places[k, output] = [len(made), output]
        made.append(node)
    return {"penstock_graph": 2, "seed": 0, "nodes": made, "outputs": [places[value] for value in outputs]}
