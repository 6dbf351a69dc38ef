# SPDX-License-Identifier: Apache-2.0
"""Control flow over values of a pipeline as calls, for code without source; pipeline_def makes them of Python's own
statements. Each sample goes its own way.

Bodies are functions that are called once, while the pipeline is defined. What they return are values of the pipeline,
numbers, or lists, tuples and dicts of such; where ways meet, both sides have one structure, and each value one type,
number of dimensions and layout.
"""

from __future__ import annotations

from ._base.frames import user_line as _user_line
from ._control_flow import statements as _run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["for_", "if_", "range_", "set_", "while_"]


def if_(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any] = lambda: None) -> Any:
    """Returns what then() gives where a condition is true, and else what otherwise() gives.

    Args:
        condition: One number for each sample, true if it is not 0. A plain value of Python decides at once.
        then: A function without arguments.
        otherwise: A function without arguments.

    Raises:
        TypeError: The two sides differ in their structure.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def halves():
        ...     x = fn.external_source([[np.int32(3), np.int32(4)]])
        ...     return penstock.control.if_(x % 2 == 0, lambda: x // 2, lambda: x)
        >>> halves().run()[0].as_array().tolist()
        [3, 2]
    """
    return _run.if_stmt(condition, lambda: (then(),), lambda: (otherwise(),), (), ("result",))[0]


def while_(test: Callable[..., Any], body: Callable[..., Any], state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the state after body(*state) has run on each sample as long as test(*state) is true for it.

    Samples that have left the loop take no part in later trips.

    Args:
        test: A function of the state that gives one number for each sample.
        body: A function of the state that returns the next one.
        state: A tuple.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def doubled():
        ...     x = fn.external_source([[np.int32(3), np.int32(40)]])
        ...     return penstock.control.while_(lambda x: x < 20, lambda x: x * 2, (x,))
        >>> doubled().run()[0].as_array().tolist()
        [24, 40]
    """
    return tuple(_run.while_stmt(test, lambda *s: _tuple(body(*s), len(state)), tuple(state), _names(state)))


def for_(iterable: Any, body: Callable[..., Any], state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the state after body(item, *state) has run for each item.

    Args:
        iterable: A value, whose first axis has the items, range_(), or any iterable.
        body: A function of an item and the state that returns the next state.
        state: A tuple.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def sums():
        ...     n = fn.external_source([[np.int32(3), np.int32(4)]])
        ...     return penstock.control.for_(penstock.control.range_(n), lambda i, total: total + i, (n * 0,))
        >>> sums().run()[0].as_array().tolist()
        [3, 6]
    """
    return tuple(
        _run.for_stmt(iterable, None, lambda i, *s: _tuple(body(i, *s), len(state)), tuple(state), _names(state))
    )


def range_(*bounds: Any) -> Any:
    """Returns range() with bounds that may be values of the pipeline, for for_().

    Args:
        *bounds: As those of range().
    """
    return _run.call(range)(*bounds)


def set_(x: Any, key: Any, value: Any) -> Any:
    """Returns a new value: x with x[key] = value.

    Args:
        x: A value of the pipeline.
        key: An index, as NumPy has them.
        value: What is assigned, broadcast as NumPy does and converted to the type of x.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def changed():
        ...     x = fn.external_source([[np.int32([1, 2, 3])]])
        ...     return penstock.control.set_(x, 0, 9)
        >>> changed().run()[0].at(0).tolist()
        [9, 2, 3]
    """
    return _run.set_item(x, key, value)


def _names(state):
    return tuple(f"state[{k}]" for k in range(len(state)))


def _tuple(state, count):
    state = state if isinstance(state, tuple) else (state,)
    if len(state) != count:
        raise TypeError(f"the body of a loop over {count} values returned {len(state)}\n  at {_user_line()}")
    return state
