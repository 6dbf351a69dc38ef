# SPDX-License-Identifier: Apache-2.0
"""What converted functions call instead of Python's statements and expressions. Plain values of Python behave as in
Python: a graph is only made where a value of the pipeline decides."""

import functools
import operator
import sys
import threading
import types as python_types

from .. import _graph as graph
from .._base.converted_code import is_converted
from .._graph import DataNode
from .._graph.item_assignment import aug_item, put_back, set_attribute, set_item  # noqa: F401  converted functions call them
from . import conversion
from .tracing import (
    GraphRange,
    Unset,
    _copied,
    branch,
    counted,
    defined,
    enumerated,
    is_iterable,
    is_left_out,
    loop,
    region_depth,
    zipped,
)

unset, slice_ = Unset, slice
_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def if_stmt(condition, then, otherwise, state, names):
    """The variables `names` after an `if` statement; the branches are functions of `state` that return them."""
    if isinstance(condition, DataNode):
        return branch(condition, lambda: then(*_copied(state)), lambda: otherwise(*_copied(state)), names)
    return then(*state) if condition else otherwise(*state)


def while_stmt(test, body, state, names):
    while True:
        going = test(*state)
        if isinstance(going, DataNode):
            return loop(going.pipeline, test, body, state, names)
        if not going:
            return state
        state = body(*state)


def for_stmt(iterable, test, body, state, names):
    """test: None, or whether the loop continues, asked before it takes the next item."""
    if is_iterable(iterable):
        pipeline, count, item, dtype = counted(iterable)
        return loop(pipeline, test, body, state, names, count=count, item=item, dtype=dtype)
    for item in iterable:
        going = True if test is None else test(*state)
        if isinstance(going, DataNode):
            before = state
            state = branch(going, lambda: body(item, *_copied(before)), lambda: _copied(before), names)
        elif not going:
            break
        else:
            state = body(item, *state)
    return state


def not_(value):
    if isinstance(value, DataNode):
        return graph.arithmetic("_eq", value, False)
    return not value


def _truth(value):
    """The truth of each sample, as BOOL."""
    return graph.arithmetic("_ne", value, False) if isinstance(value, DataNode) else bool(value)


def and_(*values):
    """`and`: for values of the pipeline BOOL, and the right side runs only for samples whose left side is true."""
    first = values[0]()
    for k, value in enumerate(values[1:], 1):
        if isinstance(first, DataNode):
            rest = values[k:]
            return branch(first, lambda: (_truth(and_(*rest)),), lambda: (False,), ("the result of 'and'",))[0]
        if not first:
            return first
        first = value()
    return first


def or_(*values):
    """`or`, as and_()."""
    first = values[0]()
    for k, value in enumerate(values[1:], 1):
        if isinstance(first, DataNode):
            rest = values[k:]
            return branch(first, lambda: (True,), lambda: (_truth(or_(*rest)),), ("the result of 'or'",))[0]
        if first:
            return first
        first = value()
    return first


def chain(operators, first, *values):
    """a < b < c: makes each value once, and only while the comparisons before it are true."""

    def from_(left, k):
        right = values[k]()
        result = _COMPARE[operators[k]](left, right)
        if k + 1 == len(operators):
            return result
        if isinstance(result, DataNode):
            return branch(
                result, lambda: (_truth(from_(right, k + 1)),), lambda: (False,), ("the result of a comparison",)
            )[0]
        return from_(right, k + 1) if result else result

    return from_(first, 0)


def ternary(condition, then, otherwise):
    if isinstance(condition, DataNode):
        return branch(condition, lambda: (then(),), lambda: (otherwise(),), ("the conditional expression",))[0]
    return then() if condition else otherwise()


def returned(value):
    return None if type(value) is Unset else value


def _range(*bounds):
    return GraphRange(*bounds) if any(isinstance(b, DataNode) for b in bounds) else range(*bounds)


def convert(function):
    """The function with control flow over values of the pipeline; the same one where there is nothing to convert."""
    made_code = conversion.converted_code(function)
    if made_code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[conversion.RUN] = python_types.CellType(sys.modules[__name__])
    made = python_types.FunctionType(
        made_code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in made_code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    return made


def call(function):
    """The function, converted if it is Python code of the user."""
    if function is range or function is zip or function is enumerate:
        return {range: _range, zip: zipped, enumerate: enumerated}[function]
    if isinstance(function, python_types.FunctionType):
        return _converted(function)
    if isinstance(function, python_types.MethodType) and isinstance(function.__func__, python_types.FunctionType):
        made = _converted(function.__func__)
        return function if made is function.__func__ else python_types.MethodType(made, function.__self__)
    if isinstance(function, functools.partial):
        made = call(function.func)
        return function if made is function.func else functools.partial(made, *function.args, **function.keywords)
    own = type(function).__dict__.get("__call__")
    if isinstance(own, python_types.FunctionType) and not isinstance(function, type):
        made = _converted(own)
        return function if made is own else python_types.MethodType(made, function)
    return function


_running = (
    threading.local()
)  # .active: (code of a function that runs, how deep in bodies); .recursive: codes that called themselves


def _converted(function):
    if graph.current() is None:
        return function
    made = convert(function)
    if made is function and not is_converted(function):
        return function
    code = function.__code__
    everywhere = not conversion.is_installed(function)

    @functools.wraps(function)
    def entered(*args, **kwargs):
        if not everywhere and not any(_holds_node(a) for a in (args, kwargs)):
            return function(*args, **kwargs)
        depth = region_depth()
        if not hasattr(_running, "active"):
            _running.active, _running.recursive = [], set()
        inner = any(c is code and d < depth for c, d in _running.active)
        if inner:
            _running.recursive.add(code)
            if is_left_out(graph.current()):
                raise RecursionError(_ENDLESS.format(function.__name__))
        _running.active.append((code, depth))
        try:
            return made(*args, **kwargs)
        except RecursionError:
            if inner or code not in _running.recursive:
                raise
            raise RecursionError(_ENDLESS.format(function.__name__) + f"\n  at {graph.user_line()}") from None
        finally:
            _running.active.pop()
            if not inner:
                _running.recursive.discard(code)

    return entered


_ENDLESS = (
    "'{}' calls itself under a condition or in a loop on a value of the pipeline, whose values are not known while the "
    "pipeline is defined: only a number of Python's own ends such a recursion; write it as a loop"
)


def _holds_node(value):
    if isinstance(value, dict):
        return any(_holds_node(v) for v in value.values())
    return isinstance(value, DataNode) or (isinstance(value, (list, tuple)) and any(_holds_node(v) for v in value))


__all__ = [
    "aug_item",
    "and_",
    "call",
    "chain",
    "convert",
    "defined",
    "for_stmt",
    "if_stmt",
    "not_",
    "or_",
    "put_back",
    "returned",
    "set_attribute",
    "set_item",
    "slice_",
    "ternary",
    "unset",
    "while_stmt",
]
