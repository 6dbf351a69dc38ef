# SPDX-License-Identifier: Apache-2.0
"""penstock.fn with DALI's deprecated names, and with a meaning for arguments that DALI refuses (meanings.py). A call without
arrays outside a pipeline makes a node (graph/free_nodes.py)."""

import functools
from types import ModuleType

from .. import fn as native
from .. import _graph as graph
from .._base.log import warn
from .._graph import free_nodes
from ..types import ScalarConstant
from . import meanings
from .aliases import DEPRECATED, NAMES, REFUSED
from .errors import KINDS, raise_again
from .groups import Group

_warned = set()
_INSIDE = (
    "readers.dataset",
    "readers.mix",
    "expand",
    "flatten_batch",
    "rebatch",
)  # not DALI's operators: only inside pipelines


def _is_free(inputs, arguments):
    """Whether a call outside a pipeline makes a node. It joins the pipeline whose outputs need it."""
    if graph.holds_node(inputs) or graph.holds_node(list(arguments.values())):
        return True
    if "batch_size" in arguments or any(isinstance(a, native._core.Batch) for a in arguments.values()):
        return False
    return all(isinstance(i, ScalarConstant) for i in inputs)


def _find(path):
    """penstock.fn's operator, function or group of this path, or None."""
    found = native
    for part in NAMES.get(path, path).split("."):
        found = getattr(found, part, None)
    foreign = isinstance(found, ModuleType) and not found.__name__.startswith(
        native.__name__ + "."
    )  # what fn imports itself
    return None if foreign else found


def _adapted(path, function, old=None):
    adapt = meanings.adapter(path)

    @functools.wraps(function)
    def call(*inputs, **arguments):
        if old is not None and old not in _warned:
            _warned.add(old)
            warn("dali", f"fn.{old} is deprecated: use fn.{path}", DeprecationWarning)
        try:
            if (
                graph.current() is None
                and path not in _INSIDE
                and (path == "external_source" or _is_free(inputs, arguments))
            ):
                with free_nodes.at_home(inputs, arguments):
                    return function(*inputs, **(adapt(inputs, dict(arguments)) if adapt else arguments))
            return function(*inputs, **(adapt(inputs, dict(arguments)) if adapt else arguments))
        except KINDS as error:
            raise_again(error)

    return call


class _Group(Group):
    """fn, or a group of its operators such as fn.readers; members are made on first use."""

    _members = "Operators"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}".lstrip(".")
        if path in DEPRECATED:
            now = DEPRECATED[path]
            function, old = _find(now), path
        else:
            now, function, old = path, _find(path), None
        if isinstance(function, ModuleType) or (
            function is None and any(d.startswith(path + ".") for d in [*DEPRECATED, *NAMES])
        ):
            made = self._group(path)
        elif function is not None:
            made = _adapted(now, function, old)
        else:
            why = f": {REFUSED[now]}" if now in REFUSED else " yet"
            raise AttributeError(f"Penstock has no fn.{now}{why}; docs/reference/dali.md lists what there is")
        setattr(self, name, made)
        return made

    def __dir__(self):
        own = _find(self._path) if self._path else native
        start = self._path and self._path + "."
        old = {d[len(start) :].partition(".")[0] for d in [*DEPRECATED, *NAMES] if d.startswith(start)}
        found = {n: _find(f"{self._path}.{n}".lstrip(".")) for n in dir(own) if not n.startswith("_")}
        return sorted({n for n, f in found.items() if f is not None and not isinstance(f, type)} | old)


_Group.replace_module()
