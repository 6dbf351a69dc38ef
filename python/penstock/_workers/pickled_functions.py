# SPDX-License-Identifier: Apache-2.0
"""Pickles the user's object for a process that starts without the parent's memory: functions that no module has by name go with their code.

Such are lambdas, functions inside functions, and what was typed into an interactive session. With the code go the values
that it names: globals, defaults and what it closes over. Two such functions do not share the globals that they write.
"""

import importlib
import io
import marshal
import pickle
import sys
import types
from multiprocessing.reduction import ForkingPickler  # knows sockets, locks and queues

loads = pickle.loads


def dumps(value):
    stream = io.BytesIO()
    _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(value)
    return stream.getvalue()


def _by_name(function):
    """Whether another process finds the function in its module."""
    if getattr(function, "_pickle_by_value", False):
        return False
    module = sys.modules.get(function.__module__)
    if function.__module__ == "__main__" and getattr(module, "__file__", None) is None:
        return False
    found = module
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _names(code):
    """The global names that code may use, also those of functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _function(code, name, module, cells):
    scope = {"__builtins__": __builtins__, "__name__": module}
    return types.FunctionType(marshal.loads(code), scope, name, None, cells)


def _cell():
    return types.CellType()


def _complete(function, state):
    scope, contents, function.__qualname__, function.__defaults__, function.__kwdefaults__, attributes = state
    function.__globals__.update(scope)
    function.__dict__.update(attributes)
    for k, content in contents.items():
        function.__closure__[k].cell_contents = content


def _contents(cells):
    """The contents of the cells by number, without empty cells."""
    found = {}
    for k, cell in enumerate(cells):
        try:
            found[k] = cell.cell_contents
        except ValueError:
            pass
    return found


def pickle_by_value(function):
    """Marks a function: its code is sent even if its module has it by name."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"only functions can be pickled by value, not {type(function).__name__}")
    function._pickle_by_value = True
    return function


class _Pickler(ForkingPickler):
    def reducer_override(self, value):
        if isinstance(value, types.FunctionType) and not _by_name(value):
            scope = value.__globals__
            used = {name: scope[name] for name in sorted(_names(value.__code__)) if name in scope}
            state = (
                used,
                _contents(value.__closure__ or ()),
                value.__qualname__,
                value.__defaults__,
                value.__kwdefaults__,
                dict(value.__dict__),
            )
            made = marshal.dumps(value.__code__), value.__name__, value.__module__, value.__closure__
            return _function, made, state, None, None, _complete
        if isinstance(
            value, types.CellType
        ):  # the functions that use the cell fill it, because it may hold one of them
            return _cell, ()
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        return NotImplemented
