# SPDX-License-Identifier: Apache-2.0
"""Runs a script or module as `__main__`, in this process and in those that it spawns."""

import importlib.machinery
import importlib.util
import os
import runpy
import sys
from types import ModuleType

from .._settings import set_setting, setting

_WHAT = "PENSTOCK_DALI_SCRIPT"  # for processes that multiprocessing spawns: the script's path, or "-m" and the module's name


class _Spec(importlib.machinery.ModuleSpec):
    """Tells multiprocessing that a new process makes `__main__` of `spawned`; relative imports ask for `parent`."""

    def __init__(self, spawned, package):
        super().__init__(spawned, None)
        self.package = package or ""

    @property
    def parent(self):
        return self.package


def _module_code(name):
    """(code, path, package) of a module that is run by its name."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    code = spec.loader.get_code(spec.name) if spec is not None and hasattr(spec.loader, "get_code") else None
    if code is None:
        raise ImportError(f"there is no module '{name}' that can be run")
    return code, spec.origin, spec.parent


def run(arguments, spawned_by=f"{__package__}.spawned"):
    """What a command line says after `python`. spawned_by: the module that is `__main__` of processes that it spawns."""
    by_name = arguments[0] == "-m"
    if by_name:
        sys.path[0] = os.getcwd()
        name, sys.argv = arguments[1], arguments[1:]
        set_setting(_WHAT, f"-m{name}")
        code, path, package = _module_code(name)
        sys.argv = [path, *sys.argv[1:]]
    else:
        path, package, sys.argv = os.path.abspath(arguments[0]), None, arguments
        if os.path.isdir(path):
            return runpy.run_path(path, run_name="__main__")
        sys.path[0] = os.path.dirname(path)
        set_setting(_WHAT, path)
        code = _script_code(path)
    main = ModuleType("__main__")
    main.__file__, main.__package__, main.__spec__ = path, package, _Spec(spawned_by, package)
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _script_code(path):
    import io

    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def spawned(name):
    """What `__main__` has in a process that multiprocessing spawned, whose own name for it is `name`."""
    what = setting(_WHAT)
    return runpy.run_module(what[2:], run_name=name) if what.startswith("-m") else runpy.run_path(what, run_name=name)
