# SPDX-License-Identifier: Apache-2.0
"""Makes `import cvcuda` and `import nvcv` mean Penstock: a finder before Python's own."""

import importlib
import importlib.abc
import importlib.machinery
import sys

_HERE = __package__
# Modules of CV-CUDA -> Penstock's; versions before 0.17 have the containers in nvcv.
_MODULES = {"cvcuda": _HERE, "cvcuda.tv": f"{_HERE}.tv", "nvcv": _HERE}
_MODULES |= {f"{name}.{part}": f"{_HERE}.namespaces" for name in ("cvcuda", "nvcv") for part in ("cuda", "internal")}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cvcuda", "nvcv"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        ours = _MODULES.get(spec.name)
        if ours is None:
            raise ModuleNotFoundError(
                f"Penstock has no counterpart of '{spec.name}'; docs/reference/cvcuda.md lists what there is",
                name=spec.name,
            )
        module = importlib.import_module(ours)
        _specs.setdefault(module.__name__, module.__spec__)
        return module

    def exec_module(self, module):
        module.__spec__ = _specs[module.__name__]  # the import system has written its own


_finder, _specs = _Finder(), {}


def install() -> None:
    """Makes `import cvcuda` and `import nvcv` return Penstock's modules. One call is enough. A cvcuda that was imported before
    is an error."""
    if _finder in sys.meta_path:
        return
    if "cvcuda" in sys.modules or "nvcv" in sys.modules:
        raise RuntimeError("cvcuda is imported already: call penstock.cvcuda.install() before")
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undoes install(): later imports of cvcuda look for CV-CUDA itself."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    for name in [n for n in sys.modules if n.partition(".")[0] in ("cvcuda", "nvcv")]:
        del sys.modules[name]
