# SPDX-License-Identifier: Apache-2.0
"""Which code the conversion of control flow made, and why other code keeps Python's own control flow."""

import weakref

templates = weakref.WeakKeyDictionary()  # code -> converted code, or why there is none
made = weakref.WeakSet()  # code that a conversion made


def is_made(code):
    return code in made


def is_converted(function):
    """Returns whether a function came from the conversion of control flow.

    Args:
        function: The function.
    """
    return function.__code__ in made


def why_not(code):
    """Why control flow in this code is Python's own, or ""."""
    import inspect

    if code in made:
        return ""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE):
        return f"'{code.co_name}' is a generator, whose control flow cannot be converted: return a list"
    reason = templates.get(code)
    return reason if isinstance(reason, str) else ""
