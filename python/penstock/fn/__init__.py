# SPDX-License-Identifier: Apache-2.0
"""The operators.

Called with arrays they run at once and return the kind that they were given. Called inside a pipeline's function they add a
node. Operators in groups are reached as fn.random.uniform, fn.decoders.image ...
"""

import sys as _sys
from types import ModuleType as _ModuleType

from .. import _core


_LATE = {  # loaded on first use
    "external_source": "_sources",
    "python_function": "_operators.python_function",
    "dl_tensor_python_function": "_operators.python_function",
    "numba_function": "plugin.numba",
    "filter": "_operators.batches",
    "expand": "_operators.batches",
    "flatten_batch": "_operators.batches",
    "rebatch": "_operators.batches",
    "readers.arrow": "_operators.arrow",
    "readers.dataset": "_operators.dataset",
    "readers.dicom": "_operators.dicom",
    "readers.hdf5": "_operators.hdf5",
    "readers.mix": "_operators.mixing",
    "readers.nifti": "_operators.nifti",
    "readers.parquet": "_operators.parquet",
    "readers.packed": "_operators.packing",
    "readers.video_resize": "_operators.video",
    "readers.zarr": "_operators.zarr",
}
_ALSO = {"experimental.readers.fits": "readers.fits", "inputs.video": "experimental.inputs.video"}  # further names


def _missing(name, group=""):
    """Raises AttributeError for a name that is not there, with what other libraries' names are called here."""
    near = ""
    if not name.startswith("_"):
        from .._base.other_names import answer

        near = answer(name, sorted({*_core.operators(), *_LATE}), group)
    where = f"penstock.fn.{group}" if group else "penstock.fn"
    raise AttributeError(f"module '{where}' has no attribute '{name}'{near}", name=name)


def _of_plugin(path):
    """The function or the group of a plug-in that was loaded after this module; None: there is none."""
    if any(name.startswith(path + ".") for name in _core.operators()):
        return _module(path)
    return _core.operator_function(path) if path in _core.operators() else None


def _late(name, group=""):
    """The function of a name that was not used before."""
    path = f"{group}.{name}" if group else name
    if path not in _LATE:
        found = None if name.startswith("__") else _of_plugin(path)
        if found is None:
            return _missing(name, group)
        setattr(_module(group), name, found)
        return found
    from importlib import import_module

    found = getattr(import_module(f"..{_LATE[path]}", __name__), name)
    setattr(_module(group), name, found)
    return found


def _module(path):
    """The module of a group of operators, made with its parents on first use."""
    name = f"{__name__}.{path}" if path else __name__
    if name not in _sys.modules:
        parent, _, last = path.rpartition(".")
        module = _ModuleType(name, f"Operators of the group {path}.")
        module.__path__ = []  # a package: groups may hold groups
        module.__getattr__ = lambda name: _late(name, path)
        module.__dir__ = lambda: _names(path)
        _sys.modules[name] = module
        setattr(_module(parent), last, module)
    return _sys.modules[name]


for _name in _core.operators():
    if _name not in _LATE:
        _path, _, _last = _name.rpartition(".")
        setattr(_module(_path), _last, _core.operator_function(_name))


def __getattr__(name):
    return _late(name)


def _names(group=""):
    """What dir() shows: also what was not used yet."""
    start = f"{group}." if group else ""
    known = (name[len(start) :].partition(".")[0] for name in (*_LATE, *_core.operators()) if name.startswith(start))
    shown = (name for name in vars(_module(group)) if not name.startswith("_") or name.startswith("__"))
    return sorted({*shown, *known})


def __dir__():
    return _names()


def _made(name, function, operator=None):
    """The function under its public name, with the text and the signature of the operator where that has them."""
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = _module(name.rpartition(".")[0]).__name__  # pickle finds it there
    if operator is not None:
        function.__doc__, function.__wrapped__ = operator.__doc__, operator
    return function


def _tfrecord(*, features, _read=_module("readers").tfrecord, **arguments):
    from ..tfrecord import reader

    return reader(_read, features=features, **arguments)


_module("readers").tfrecord = _made("readers.tfrecord", _tfrecord, _module("readers").tfrecord)


def _inputs_video(*, _read=_module("experimental.inputs").video, **arguments):
    from .._operators.video import inputs_video as call

    return call(_read, **arguments)


_module("experimental.inputs").video = _made(
    "experimental.inputs.video", _inputs_video, _module("experimental.inputs").video
)

for _name, _path in _ALSO.items():
    _group, _, _last = _path.rpartition(".")
    _function = getattr(_module(_group), _last)
    _group, _, _last = _name.rpartition(".")
    setattr(_module(_group), _last, _function)
