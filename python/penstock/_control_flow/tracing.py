# SPDX-License-Identifier: Apache-2.0
"""Conditions and loops over values of a pipeline: their bodies are traced into regions of the graph.

What a body works on is a state: a sequence of variables, each a value of the pipeline, a number, or a list, tuple or dict
of such. conversion.py turns `if`, `while` and `for` into calls of this module; penstock.control offers the same to
programs.
"""

import threading

from .. import _core, _graph as graph
from .._base.element_types import DType, ScalarConstant
from .._graph import DataNode, free_nodes

_depth = threading.local()  # how many bodies are being traced


class Unset:
    """The content of a variable without a value; reading it is an error that says why."""

    def __init__(self, name, why=""):
        self.name, self.why = name, why

    def error(self):
        why = self.why or "it is read before it is set"
        return UnboundLocalError(f"the variable '{self.name}' has no value here: {why}\n  at {graph.user_line()}")

    def __repr__(self):
        return f"<'{self.name}' has no value>"


def is_internal(name):
    """Variables that conversion adds may be set in one branch only: they are read only where they are set."""
    return name.startswith("_penstock_")


def defined(value):
    """The value of a variable that may not have one."""
    if type(value) is Unset:
        raise value.error()
    return value


def region_depth():
    return getattr(_depth, "value", 0)


# --- trees ------------------------------------------------------------------------------------------------------------


def map_tree(f, tree, path=""):
    """The same lists, tuples, dicts and Samples with f(leaf, path)."""
    if isinstance(tree, tuple):
        items = [map_tree(f, t, f"{path}[{k}]") for k, t in enumerate(tree)]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if type(tree) is list:
        return [map_tree(f, t, f"{path}[{k}]") for k, t in enumerate(tree)]
    if _is_dict(tree):
        made = {k: map_tree(f, t, f"{path}[{k!r}]") for k, t in tree.items()}
        return made if type(tree) is dict else tree.replaced(made)
    return f(tree, path)


def _is_dict(tree):
    """A dict, or a penstock.sample.Sample, which knows how to be made again of other parts."""
    return type(tree) is dict or (isinstance(tree, dict) and hasattr(tree, "replaced"))


def leaves(tree, path=""):
    found = []
    map_tree(lambda leaf, at: found.append((at, leaf)), tree, path)
    return found


def _form(tree):
    """What two trees must share to be merged leaf by leaf."""
    if isinstance(tree, tuple):
        return ("tuple", *(_form(t) for t in tree))
    if type(tree) is list:
        return ("list", *(_form(t) for t in tree))
    if _is_dict(tree):
        return (type(tree).__name__, tuple(tree), *(_form(t) for t in tree.values()))
    return None


def _is_number(value):
    return isinstance(value, (bool, int, float, ScalarConstant, _core.Tensor)) or (
        hasattr(value, "dtype") and hasattr(value, "shape")
    )


def _node(value):
    return value if isinstance(value, DataNode) else graph.constant(value)


def _same(a, b):
    if isinstance(a, DataNode) and isinstance(b, DataNode):
        return (a.node, a.output, a.device) == (b.node, b.output, b.device)
    if isinstance(a, DataNode) or isinstance(b, DataNode):
        return False
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def _shown(value):
    return "a value of the pipeline" if isinstance(value, DataNode) else f"{value!r} ({type(value).__name__})"


# --- bodies -----------------------------------------------------------------------------------------------------------


def _traced(pipeline, kind, body, condition=None, count=None):
    """(region, what body() returned), with all its nodes in a region of their own. condition, count: what says which samples
    are in it, for debug mode, where a body that no sample is in may fail: it is then left out."""
    debug = _debugged(pipeline)
    pipeline.definition.graph.begin_region(kind)
    _depth.value = region_depth() + 1
    try:
        if debug and (condition is not None or count is not None or kind == "loop"):
            debug.choose(kind, condition, count)
        result = body()
        leaves(result)  # a Sample makes the nodes of its parts here, in the region where it was moved
    except Exception as error:
        if not debug or not debug.nobody or kind not in ("then", "else") or isinstance(error, _NeedsForm):
            raise
        result = _LeftOut
    finally:
        _depth.value -= 1
        region = pipeline.definition.graph.end_region()
    return region, result


class _LeftOut:
    """What a body returned that no sample was in and that failed."""


def is_left_out(pipeline):
    """Whether what is traced now is a body that no sample is in."""
    debug = _debugged(pipeline)
    return bool(debug and debug.nobody)


def _debugged(pipeline):
    """The pipeline's graph where it evaluates its nodes (debug=True), else None."""
    definition = pipeline.definition
    return definition.graph if definition.options["debug"] else None


def _copied(state):
    return map_tree(lambda leaf, _: leaf, state)


def branch(condition, then, otherwise, names, line=None):
    """Both bodies are traced; each sample runs the one that its condition says. The bodies return as many values as there
    are names."""
    pipeline = graph.current() or condition.pipeline
    free_nodes.join(condition, pipeline)
    line = line or graph.user_line()
    calls = len(pipeline.definition.functions)
    then_region, a = _traced(pipeline, "then", then, condition)
    else_region, b = _traced(pipeline, "else", otherwise, condition)
    if a is _LeftOut or b is _LeftOut:
        return tuple(b if a is _LeftOut else a)
    sides = _Sides(line)
    results = [sides.joined(name, x, y) for name, x, y in zip(names, a, b)]
    outputs, made = sides.outputs, []
    # Functions of the user are called even where nothing reads what they return.
    if outputs or len(pipeline.definition.functions) > calls:
        shown = ["the returned value" if is_internal(n) else n for n, _, _ in outputs]
        index = pipeline.definition.graph.add_branch(
            condition, then_region, else_region, [x for _, x, _ in outputs], [y for _, _, y in outputs], shown, line
        )
        made = [DataNode(pipeline, index, k) for k in range(len(outputs))]
    return tuple(r(made) for r in results)


class _Sides:
    """Joins what the two bodies of a condition return. outputs: (name, value, value) of the condition's node; None where a
    side does not set it."""

    def __init__(self, line):
        self.line, self.outputs = line, []

    def joined(self, name, x, y):
        """A function of the node's outputs that returns the value after the condition."""
        if type(x) is Unset and type(y) is Unset:
            return lambda made: x
        if type(x) is Unset or type(y) is Unset:
            return self._set_on_one_side(name, x, y)
        if _form(x) != _form(y):
            _ask_for_form(name, x, y)
            raise TypeError(
                f"{_variable(name)} is {_kind(x)} where the condition is true and {_kind(y)} where it is "
                f"false; both must have one structure\n  at {self.line}"
            )
        if _form(x) is not None:
            flat = [self.joined(f"{name}{at}", u, v) for (at, u), (_, v) in zip(leaves(x), leaves(y))]
            return _rebuilt(x, flat)
        return (lambda made: x) if _same(x, y) else self._output(name, x, y)

    def _set_on_one_side(self, name, x, y):
        if not is_internal(name):
            which = "false" if type(x) is Unset else "true"
            unset = Unset(
                name, f"it is set only where the condition at {self.line} is {which}; set it in both branches or before"
            )
            return lambda made: unset
        full = y if type(x) is Unset else x
        if _form(full) is None:
            is_value = isinstance(full, DataNode) or _is_number(full)
            return self._output(name, x, y) if is_value else lambda made: full
        flat = [
            self.joined(f"{name}{at}", v if full is x else Unset(name), Unset(name) if full is x else v)
            for at, v in leaves(full)
        ]
        return _rebuilt(full, flat)

    def _output(self, name, x, y):
        for value in (x, y):
            if not isinstance(value, (DataNode, Unset)) and not _is_number(value):
                raise TypeError(
                    f"{_variable(name)} is {_shown(x)} where the condition is true and {_shown(y)} where it is "
                    f"false; only values of the pipeline and numbers may differ\n  at {self.line}"
                )
        place = len(self.outputs)
        self.outputs.append((name, None if type(x) is Unset else _node(x), None if type(y) is Unset else _node(y)))
        return lambda made: made[place]


class _NeedsForm(Exception):
    """A value that is returned from inside a loop has parts, which was not known when the loop began."""

    def __init__(self, name, tree):
        super().__init__(name)
        self.name, self.tree = name, tree


def _ask_for_form(name, x, y):
    if is_internal(name) and (_form(x) is None) != (_form(y) is None):
        raise _NeedsForm(name, y if _form(x) is None else x)


def _variable(name):
    return "the returned value" if is_internal(name) else name if " " in name else f"the variable '{name}'"


def _kind(tree):
    if isinstance(tree, (list, tuple, dict)):
        return f"a {type(tree).__name__} of {len(tree)}"
    return _shown(tree)


def _rebuilt(tree, makers):
    makers = iter(makers)
    # One maker for each leaf, in the order of leaves().
    placed = map_tree(lambda leaf, _: next(makers), tree)
    return lambda made: map_tree(lambda maker, _: maker(made), placed)


def loop(pipeline, test, body, state, names, *, count=None, item=None, line=None, dtype=DType.INT32):
    """A loop of the graph over `state`. test(*state): whether a sample continues; None: `count` says it. body(item,
    *state), or body(*state) without `item`: the next state; item(trip) makes the item from the number of the trip."""
    line = line or graph.user_line()
    pipeline = graph.current() or pipeline
    free_nodes.join((count, list(state)), pipeline)
    state, forms = list(state), {}
    unset = {name for name, value in zip(names, state) if type(value) is Unset}
    while True:
        try:
            first, debug = _with_unset(pipeline, names, state, forms, line), _debugged(pipeline)

            def trace():
                return _loop(pipeline, test, body, first, names, count, item, line, dtype, unset)

            return debug.loop(trace) if debug else trace()
        except _NeedsForm as needed:  # traced once more; what was traced has no reader
            if needed.name in forms or needed.name not in names or type(state[names.index(needed.name)]) is not Unset:
                raise
            forms[needed.name] = needed.tree


def _with_unset(pipeline, names, state, forms, line):
    """The state with values of the graph in the place of a returned value that is not there yet."""

    def unset(leaf, _):
        return DataNode(pipeline, pipeline.definition.graph.add_unset(line), 0)

    return [
        map_tree(unset, forms.get(name)) if type(value) is Unset and is_internal(name) else value
        for name, value in zip(names, state)
    ]


def _loop(pipeline, test, body, state, names, count, item, line, dtype, unset):
    g = pipeline.definition.graph
    carried = _Carried(pipeline, line)

    def begin():
        trip = DataNode(pipeline, g.add_trip(int(dtype), line), 0) if item is not None else None
        inside = tuple(map_tree(carried.of_variable(name), value) for name, value in zip(names, state))
        going = None
        if test is not None:
            going = test(*_copied(inside))
            going = _node(going) if not isinstance(going, DataNode) else going
        given = () if item is None else (lambda: item(trip),)
        inner, after = _traced(pipeline, "body", lambda: body(*[g() for g in given], *_copied(inside)), going, count)
        return trip, inside, going, inner, after

    outer, (trip, inside, going, inner, after) = _traced(pipeline, "loop", begin, count=count)
    index = g.add_loop(
        count,
        carried.first,
        carried.arguments,
        trip,
        going,
        _after_trip(names, inside, after, line),
        outer,
        inner,
        carried.variables,
        pipeline.definition.options["max_trips"],
        line,
    )
    outputs = iter([DataNode(pipeline, index, k) for k in range(len(carried.arguments))])
    return tuple(_after_loop(variable, outputs, unset, line) for variable in zip(names, state, inside, after))


class _Carried:
    """The leaves of a loop's state that its node carries from trip to trip: their values before the loop, the nodes that
    stand for them in it, and their names."""

    def __init__(self, pipeline, line):
        self.pipeline, self.line = pipeline, line
        self.first, self.arguments, self.variables = [], [], []

    def of_variable(self, name):
        """A function of (leaf, path) that returns what stands for the leaf in the loop."""

        def argument(leaf, path):
            if not isinstance(leaf, DataNode):
                if not _is_number(leaf):
                    return leaf
                leaf = graph.constant(leaf)
            self.first.append(leaf)
            self.variables.append("the returned value" if is_internal(name) else name + path)
            node = self.pipeline.definition.graph.add_argument(leaf, self.line)
            self.arguments.append(DataNode(self.pipeline, node, 0))
            return self.arguments[-1]

        return argument


def _after_trip(names, inside, after, line):
    """The values that the next trip begins with, for each leaf that the loop carries."""
    following = []
    for name, before, next_ in zip(names, inside, after):
        if type(before) is Unset:
            continue
        if _form(before) != _form(next_):
            _ask_for_form(name, before, next_)
            raise TypeError(
                f"the variable '{name}' is {_kind(before)} before the loop and {_kind(next_)} after a trip; it must "
                f"keep its structure\n  at {line}"
            )
        for (at, x), (_, y) in zip(leaves(before, name), leaves(next_, name)):
            if isinstance(x, DataNode):
                if type(y) is Unset:
                    raise y.error()
                if not isinstance(y, DataNode) and not _is_number(y):
                    raise TypeError(
                        f"the variable '{at}' is a value of the pipeline before the loop and {_shown(y)} after a "
                        f"trip\n  at {line}"
                    )
                following.append(_node(y))
            elif not _same(x, y):
                raise TypeError(
                    f"the variable '{at}' is {_shown(x)} before the loop and {_shown(y)} after a trip; only values of "
                    f"the pipeline and numbers may change in it\n  at {line}"
                )
    return following


def _after_loop(variable, outputs, unset, line):
    """The value after the loop of (name, value before it, value in it, value after a trip). outputs: those of the loop's
    node, one taken for each leaf that it carries."""
    name, given, before, next_ = variable
    if is_internal(name) and isinstance(before, DataNode) and _same(before, next_):  # no trip returns
        next(outputs)
        return Unset(name) if name in unset else given
    if type(before) is Unset:
        return Unset(name, f"it is first set inside the loop at {line}, which may run no trip; set it before")
    return map_tree(lambda leaf, _: next(outputs) if isinstance(leaf, DataNode) else leaf, before)


# --- ranges -----------------------------------------------------------------------------------------------------------

_WIDE = (DType.INT64, DType.UINT64, DType.UINT32)
_REAL = (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64)


class GraphRange:
    """range() with bounds that are values of the pipeline."""

    def __init__(self, *bounds):
        if not 1 <= len(bounds) <= 3:
            raise TypeError(f"range takes 1 to 3 arguments, got {len(bounds)}")
        for b in bounds:
            if isinstance(b, DataNode) and b.dtype in _REAL or isinstance(b, float):
                raise TypeError(
                    f"the bounds of range() are integers, not {b.dtype.name if isinstance(b, DataNode) else b}"
                    f"\n  at {graph.user_line()}"
                )
        self.start, self.stop, self.step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if not isinstance(self.step, DataNode) and self.step == 0:
            raise ValueError("range() arg 3 must not be zero")
        parts = [p for p in (self.start, self.stop, self.step) if isinstance(p, DataNode)]
        self.pipeline = parts[0].pipeline
        wide = any(p.dtype in _WIDE for p in parts) or any(
            not isinstance(p, DataNode) and not -(2**31) <= p < 2**31 for p in (self.start, self.stop, self.step)
        )
        self.dtype = DType.INT64 if wide else DType.INT32

    def count(self):
        if (
            not isinstance(self.start, DataNode)
            and self.start == 0
            and not isinstance(self.step, DataNode)
            and self.step == 1
        ):
            return self.stop
        start, stop, step = (_wide(v) for v in (self.start, self.stop, self.step))
        if isinstance(step, DataNode):
            sign = _cast(step > 0, DType.INT64) * 2 - 1
            return (stop - start + step - sign) // step
        return (stop - start + (step - 1)) // step if step > 0 else (start - stop + (-step - 1)) // -step

    def item(self, trip):
        i = trip
        if isinstance(self.step, DataNode) or self.step != 1:
            i = i * (_cast(self.step, self.dtype) if isinstance(self.step, DataNode) else self.step)
        if isinstance(self.start, DataNode) or self.start != 0:
            i = i + (_cast(self.start, self.dtype) if isinstance(self.start, DataNode) else self.start)
        return i if i.dtype == self.dtype else _cast(i, self.dtype)

    def __iter__(self):
        raise TypeError(
            f"range() with a value of the pipeline is for `for` loops of converted functions\n  at {graph.user_line()}"
        )


class GraphItems:
    """zip() and enumerate() over values of the pipeline and ranges: in each trip a tuple of what they give."""

    def __init__(self, parts):
        # A function of the trip's number has no end.
        given = [counted(part) for part in parts if is_iterable(part)]
        self.pipeline = given[0][0]
        self.dtype = DType.INT64 if any(dtype == DType.INT64 for *_, dtype in given) else DType.INT32
        self.parts = [counted(part)[1:3] if is_iterable(part) else (None, part) for part in parts]

    def count(self):
        counts = [_wide(count) for count, _ in self.parts if count is not None]
        least = counts[0]
        for count in counts[1:]:
            smaller = _cast(count < least, DType.INT64)
            least = count * smaller + least * (1 - smaller)
        return least

    def item(self, trip):
        return tuple(item(trip) for _, item in self.parts)

    def __iter__(self):
        raise TypeError(
            "zip() and enumerate() over values of the pipeline are for `for` loops of converted functions"
            f"\n  at {graph.user_line()}"
        )


def is_iterable(value):
    """Whether a loop over it is one of the graph."""
    return isinstance(value, (GraphRange, GraphItems, DataNode))


def zipped(*values, strict=False):
    if not any(is_iterable(v) for v in values):
        return zip(*values, strict=strict)
    if strict:
        raise TypeError(
            f"zip(strict=True) takes no values of the pipeline, whose lengths differ from sample to sample\n"
            f"  at {graph.user_line()}"
        )
    for v in values:
        if not is_iterable(v):
            raise TypeError(
                f"zip() takes values of the pipeline or plain ones, not both: {type(v).__name__}\n  at {graph.user_line()}"
            )
    return GraphItems(values)


def enumerated(value, start=0):
    if not is_iterable(value):
        return enumerate(value, start)

    def number(trip):
        trip = _cast(trip, DType.INT32)  # as range() gives
        return trip + start if isinstance(start, DataNode) or start else trip

    return GraphItems([number, value])


def _cast(node, dtype):
    return node if node.dtype == dtype else graph.add_node("cast", (node,), {"dtype": dtype})


def _wide(value):
    return _cast(value, DType.INT64) if isinstance(value, DataNode) else value


def counted(iterable):
    """(pipeline, count, item(trip), type of the trip's number) of a loop over a GraphRange or the first axis of a value."""
    if isinstance(iterable, (GraphRange, GraphItems)):
        return iterable.pipeline, iterable.count(), iterable.item, iterable.dtype
    if iterable.ndim == 0:
        raise TypeError(f"a value without dimensions cannot be iterated\n  at {graph.user_line()}")
    return iterable.pipeline, iterable.shape(dtype=DType.INT64)[0], lambda trip: iterable[trip], DType.INT64
