# SPDX-License-Identifier: Apache-2.0
"""Modules whose members are made on first use: fn, ops, and their groups such as fn.readers."""

import sys
from types import ModuleType


class Group(ModuleType):
    """The group `_path` of fn; "": all of it. Subclasses have __getattr__, __dir__ and `_members`, a word for what they hold."""

    def _group(self, path):
        name = f"{type(self).__module__}.{path}"
        if name not in sys.modules:
            module = sys.modules[name] = type(self)(name, f"{self._members} of the group {path}.")
            module._path, module.__path__ = path, []
        return sys.modules[name]

    @classmethod
    def replace_module(cls):
        """Makes the module that defines this class an object of it."""
        module = sys.modules[cls.__module__]
        module._path, module.__path__ = "", []
        module.__class__ = cls
