# SPDX-License-Identifier: Apache-2.0
"""Control flow over values of a pipeline as calls, for code without source; pipeline_def makes them of Python's own
statements. Each sample goes its own way.

Bodies are functions that are called once, while the pipeline is defined. What they return are values of the pipeline,
numbers, or lists, tuples and dicts of such; where ways meet, both sides have one structure, and each value one type, number
of dimensions and layout.
"""

from . import control_flow as _flow
from . import control_flow_run as _run
from . import item_assignment as _items

__all__ = ["for_", "if_", "range_", "set_", "while_"]


def if_(condition, then, otherwise=lambda: None):
    """What then() returns for samples whose condition is true, and what otherwise() returns for the others.

    condition: one number per sample, true if it is not 0. A plain value of Python decides at once.
    """
    return _run.if_stmt(condition, lambda: (then(),), lambda: (otherwise(),), (), ("result",))[0]


def while_(test, body, state):
    """The state after body(*state) has run on each sample as long as test(*state) is true for it.

    state: a tuple; body returns the next one. Samples that have left the loop take no part in later trips.
    """
    return tuple(_run.while_stmt(test, lambda *s: _tuple(body(*s), len(state)), tuple(state), _names(state)))


def for_(iterable, body, state):
    """The state after body(item, *state) has run for each item: of a value's first axis, of range_() or of any iterable."""
    return tuple(
        _run.for_stmt(iterable, None, lambda i, *s: _tuple(body(i, *s), len(state)), tuple(state), _names(state))
    )


def range_(*bounds):
    """range() with bounds that may be values of the pipeline, for for_()."""
    return _run.call(range)(*bounds)


def set_(x, key, value):
    """A new value: x with x[key] = value. NumPy's indices and broadcasting; the value is converted to x's type."""
    return _items.set_item(x, key, value)


def _names(state):
    return tuple(f"state[{k}]" for k in range(len(state)))


def _tuple(state, count):
    state = state if isinstance(state, tuple) else (state,)
    if len(state) != count:
        raise TypeError(f"the body of a loop over {count} values returned {len(state)}\n  at {_flow.graph.user_line()}")
    return state
