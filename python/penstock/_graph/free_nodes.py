# SPDX-License-Identifier: Apache-2.0
"""Nodes that are made outside a pipeline. Until they join one they are in a Draft, whose graph knows their types. The calls that
made a draft are repeated on the graph of the pipeline that its nodes join."""

import contextlib
import weakref

from .. import _core
from .._base.frames import user_line
from . import scope
from .definition import Definition
from .node import DataNode

_QUESTIONS = ("domain_of", "nodes", "on_gpu", "op_of", "outputs_of", "type_of")


class _Recorded:
    """A graph that remembers the calls of add(). Names may repeat until the nodes join a pipeline."""

    def __init__(self):
        self._made, self.records = _core.Graph(), {}
        for question in _QUESTIONS:
            setattr(self, question, getattr(self._made, question))

    def add(self, op, inputs, arguments, name="", *rest, **keywords):
        index = self._made.add(op, inputs, arguments, "", *rest, **keywords)
        self.records[index] = (op, inputs, arguments, name, *rest), keywords
        return index

    def name_of(self, index):
        return self.records[index][0][3] or self._made.name_of(index)

    def __getattr__(self, name):
        raise RuntimeError(
            f"this is only possible inside a pipeline's function or `with pipeline:`\n  at {user_line()}"
        )


class _Fed(list):
    def setdefault(self, name, fed):
        self.append(fed)


class Draft(Definition):
    """Replaces a Pipeline for nodes that belong to none yet. It lives as long as they do."""

    debug, on_error = False, "raise"

    def __init__(self):
        options = {
            "debug": False,
            "batch_size": None,
            "on_error": "raise",
            "late": "wait",
            "py_num_workers": 1,
            "py_start_method": "fork",
            "py_callback_pickler": None,
            "max_trips": 1,
        }
        super().__init__(options, _Recorded(), also_runtime_error=True)
        self.fed = _Fed()
        self._references = []
        self._moved = {}  # (target, index here): index there

    @property
    def definition(self):
        """Itself, where a Pipeline has one."""
        return self

    def refer(self, node):
        """Remembers a DataNode of this draft."""
        self._references.append(weakref.ref(node))

    def move(self, wanted, target):
        """Moves the node `wanted`, and the nodes that it needs, to a pipeline or another draft."""
        moved, waiting = set(), [wanted]
        while waiting:
            index = waiting.pop()
            if index in moved:
                continue
            moved.add(index)
            for node in _nodes_in(self.graph.records[index]):
                if node.pipeline is self:
                    waiting.append(node.node)
                else:
                    check_owner(self.graph.records[index][0][0], node, target)
            drawn = self.graph.records[index][1].get("draws_of", -1)  # the first node of its input sets
            if drawn in self.graph.records:
                waiting.append(drawn)
        for index in sorted(moved):
            args, keywords = self.graph.records.pop(index)
            if keywords.get("draws_of", -1) >= 0:
                keywords = {**keywords, "draws_of": self._moved.get((id(target), keywords["draws_of"]), -1)}
            made = self._moved[id(target), index] = target.definition.graph.add(*args, **keywords)
            self._hand_over(index, made, target)

    def _hand_over(self, index, made, target):
        there = target.definition
        if index in self.functions:
            there.functions[made] = self.functions.pop(index)
        if index in self.sources:
            source = self.sources.pop(index)
            if hasattr(source, "again"):  # it uses the processes of the pipeline that it joins
                again = source.again(there.options)
                again.name, again.anew = there.graph.name_of(made), getattr(source, "anew", False)
                source = again
            there.sources[made] = source
        for fed in [f for f in self.fed if f.node == index]:
            self.fed.remove(fed)
            fed.node = made
            there.fed.setdefault(there.graph.name_of(made), fed)
        left = []
        for reference in self._references:
            node = reference()
            if node is not None and node.node == index:
                node.pipeline, node.node = target, made
                there.refer(node)
            elif node is not None:
                left.append(reference)
        self._references, there.took = left, True


def _nodes_in(value):
    """The values of the pipeline in what add() was given."""
    if isinstance(value, DataNode):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _nodes_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes_in(item)


def check_owner(op, node, pipeline):
    """Raises an error where a node cannot be used in this pipeline."""
    if node.pipeline is not pipeline:
        raise ValueError(f"[{op}] {node!r} belongs to another pipeline{rule_of(node)}\n  at {user_line()}")


def rule_of(node):
    """The rest of the message about a node of another pipeline."""
    return (
        "; a node that is made outside a pipeline joins the first one that uses it"
        if node.pipeline.definition.took
        else ""
    )


def join(value, pipeline):
    """Moves free nodes in a value, or in lists, tuples and dicts of values, to the pipeline."""
    for node in _nodes_in(value):
        if isinstance(node.pipeline, Draft) and node.pipeline is not pipeline:
            if pipeline.definition.options["debug"]:
                raise RuntimeError(
                    f"{node!r} was made outside a pipeline with debug=True, which makes its nodes again in each "
                    f"iteration: make it in the pipeline's function\n  at {user_line()}"
                )
            node.pipeline.move(node.node, pipeline)


def take(op, value, pipeline):
    """Like join(), but a value of another pipeline is an error."""
    join(value, pipeline)
    for node in _nodes_in(value):
        check_owner(op, node, pipeline)


def home(*values):
    """The pipeline or draft where a call outside a pipeline adds its node: that of its inputs, else a new draft."""
    first = None
    for node in _nodes_in(values):
        if not isinstance(node.pipeline, Draft):
            return node.pipeline
        first = first or node.pipeline
    return first or Draft()


@contextlib.contextmanager
def at_home(*values):
    """While it is active, calls add their nodes to the pipeline or draft of `values`, or to a new draft."""
    pipeline = home(*values)
    scope.push(pipeline)
    try:
        yield pipeline
    finally:
        scope.pop()
