# SPDX-License-Identifier: Apache-2.0
"""What the generic tests of plug-ins (test_plugins.py) know of each: a file of this folder with the name of the plug-in, with its
`Iterator` and `numpy_of(value)`, which makes a NumPy array of what the iterator gives for an output."""

import importlib
import inspect
import pkgutil

import penstock.plugin
from penstock.plugin.base_iterator import BaseIterator


# Their tests need environments of their own: tests/<name>_long.py.
ELSEWHERE = ("mxnet", "paddle")


def names():
    """The plug-ins that have an iterator."""
    for found in sorted(pkgutil.iter_modules(penstock.plugin.__path__), key=lambda m: m.name):
        if found.name in ("base_iterator", "interface", *ELSEWHERE):
            continue
        module = importlib.import_module(f"penstock.plugin.{found.name}")
        own = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
        if any(issubclass(c, BaseIterator) for c in own):
            yield found.name


def plugin(name):
    """The module of this folder for a plug-in."""
    return importlib.import_module(f"{__name__}.{name}")
