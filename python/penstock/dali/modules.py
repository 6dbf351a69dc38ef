# SPDX-License-Identifier: Apache-2.0
"""Makes `import nvidia.dali` mean Penstock: a finder before Python's own."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

_HERE = __package__
# Modules of DALI -> Penstock's. Those of its plug-ins are found by their names, here and in penstock.plugin.
_MODULES = {
    "nvidia.dali": _HERE,
    "nvidia.dali.auto_aug": f"{_HERE}.auto_aug",
    "nvidia.dali.experimental": f"{_HERE}.experimental",
    "nvidia.dali.types": "penstock.types",
    "nvidia.dali.math": "penstock.math",
    "nvidia.dali.tfrecord": "penstock.tfrecord",
    "nvidia.dali.tensors": "penstock._tensors",
    "nvidia.dali.backend": f"{_HERE}.backend",
    "nvidia.dali.data_node": "penstock._graph",
    "nvidia.dali.external_source": "penstock._sources",
    "nvidia.dali.fn": f"{_HERE}.fn",
    "nvidia.dali.ops": f"{_HERE}.ops",
    "nvidia.dali.pickling": "penstock._workers.pickled_functions",
    "nvidia.dali.pipeline": f"{_HERE}.pipeline",
    "nvidia.dali.pipeline.experimental": f"{_HERE}.pipeline.experimental",
    "nvidia.dali.plugin": f"{_HERE}.plugin",
    "nvidia.dali.plugin_manager": f"{_HERE}.native_libraries",
    "nvidia.dali.sysconfig": f"{_HERE}.build_flags",
}
_PACKAGES = ("nvidia.dali.auto_aug", "nvidia.dali.experimental")  # their modules have the same names here

_PRIVATE = "it is DALI's own; docs/how_to/run_dali_scripts.md lists the modules that scripts use"
_INSTEAD = {
    "plugin.pytorch.loader_evaluator": "Pipeline.stats() says what the loop waits for, and torch.utils.benchmark measures the step alone",
    "plugin.pytorch.torch_utils": "Tensor.torch() and Batch.torch() give tensors of torch",
    "experimental.dynamic.pytorch": "penstock.torch.DataLoader gives batches to torch",
    "reducers": _PRIVATE,
    "internal": _PRIVATE,
    "backend_impl": _PRIVATE,
    "plugin.cupy": "fn.python_function and DLPack give arrays to CuPy",
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == "nvidia.dali" or name.startswith("nvidia.dali."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _module(spec.name)

    def exec_module(self, module):
        # The import system has written its own spec into a module that has one; it stays Penstock's.
        spec = importlib.machinery.ModuleSpec(module.__name__, None, is_package=hasattr(module, "__path__"))
        module.__spec__ = _specs.get(module.__name__, spec)


class _Parent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The package `nvidia`, if no installed package has it."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name == "nvidia" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        pass


_finder, _parent, _specs = _Finder(), _Parent(), {}


def _found(name):
    """The name of the module of Penstock that a module of DALI is, or None."""
    if name.startswith(_PACKAGES):
        ours = name.replace("nvidia.dali", _HERE, 1)
        return ours if importlib.util.find_spec(ours) is not None else None
    start, _, path = name.partition(".plugin.")
    if start != "nvidia.dali" or not path:
        return _MODULES.get(name)
    for package in (f"{_HERE}.plugin", "penstock.plugin"):
        ours = f"{package}.{path}"
        try:
            if importlib.util.find_spec(f"{package}.{path.partition('.')[0]}") is None:
                continue
            importlib.import_module(
                f"{package}.{path.partition('.')[0]}"
            )  # a plug-in makes modules itself, such as its `fn`
            if ours in sys.modules or importlib.util.find_spec(ours) is not None:
                return ours
        except ModuleNotFoundError as error:
            if not ours.startswith(f"{error.name}.") and error.name != ours:  # a framework that is not installed
                raise
    return None


def member(name):
    """The module that `nvidia.dali.<name>` is, or None: DALI has its modules as attributes."""
    ours = _found(f"nvidia.dali.{name}")
    return None if ours is None else importlib.import_module(ours)


def members():
    """The names of these modules."""
    return [name.rpartition(".")[2] for name in _MODULES if name.count(".") == 2]


def _instead(name):
    """What to write instead of a module that is not there."""
    short = name.removeprefix("nvidia.dali.")
    return next(
        (f": {here}" for start, here in _INSTEAD.items() if short == start or short.startswith(start + ".")), ""
    )


def _module(name):
    ours = _found(name)
    if ours is None and name.startswith(("nvidia.dali.fn.", "nvidia.dali.ops.")):
        from . import fn, ops

        found = fn if name.startswith("nvidia.dali.fn.") else ops
        for part in name.split(".")[3:]:
            found = getattr(found, part, None)
        if hasattr(found, "__path__"):
            return found
    if ours is None:
        raise ModuleNotFoundError(
            f"Penstock has no counterpart of '{name}' yet{_instead(name)}; docs/reference/dali.md lists what there is",
            name=name,
        )
    module = importlib.import_module(ours)
    _specs.setdefault(module.__name__, module.__spec__)
    return module


def install() -> None:
    """Makes `import nvidia.dali` and imports of its modules return those of Penstock. One call is enough. An nvidia.dali that
    was imported before is an error."""
    if _finder in sys.meta_path:
        return
    if "nvidia.dali" in sys.modules:
        raise RuntimeError("nvidia.dali is imported already: call penstock.dali.install() before")
    sys.meta_path.insert(0, _finder)
    sys.meta_path.append(_parent)


def uninstall() -> None:
    """Undoes install(): later imports of nvidia.dali look for DALI itself."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    sys.meta_path.remove(_parent)
    for name in [n for n in sys.modules if n == "nvidia.dali" or n.startswith("nvidia.dali.")]:
        del sys.modules[name]
    vars(sys.modules.get("nvidia", sys)).pop("dali", None)
