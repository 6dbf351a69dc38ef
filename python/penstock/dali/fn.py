# SPDX-License-Identifier: Apache-2.0
"""penstock.fn with DALI's deprecated names, and with a meaning for arguments that DALI refuses (meanings.py)."""
import functools
import warnings
from types import ModuleType

from .. import fn as native
from . import meanings
from .aliases import DEPRECATED, NAMES
from .groups import Group

_warned = set()


def _find(path):
    """penstock.fn's operator, function or group of this path, or None."""
    found = native
    for part in NAMES.get(path, path).split("."):
        found = getattr(found, part, None)
    foreign = isinstance(found, ModuleType) and not found.__name__.startswith(native.__name__ + ".")  # what fn imports itself
    return None if foreign else found


def _adapted(path, function, old=None):
    adapt = meanings.adapter(path)
    if adapt is None and old is None:
        return function

    @functools.wraps(function)
    def call(*inputs, **arguments):
        if old is not None and old not in _warned:
            _warned.add(old)
            warnings.warn(f"fn.{old} is deprecated: use fn.{path}", DeprecationWarning, stacklevel=meanings.user_level())
        return function(*inputs, **(adapt(inputs, dict(arguments)) if adapt else arguments))
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
        if isinstance(function, ModuleType) or (function is None and any(d.startswith(path + ".") for d in [*DEPRECATED, *NAMES])):
            made = self._group(path)
        elif function is not None:
            made = _adapted(now, function, old)
        else:
            raise AttributeError(f"Penstock has no fn.{now} yet; docs/reference/dali.md lists what there is")
        setattr(self, name, made)
        return made

    def __dir__(self):
        own = _find(self._path) if self._path else native
        start = self._path and self._path + "."
        old = {d[len(start):].partition(".")[0] for d in [*DEPRECATED, *NAMES] if d.startswith(start)}
        return sorted({n for n in dir(own) if not n.startswith("_")} | old)


_Group.replace_module()
