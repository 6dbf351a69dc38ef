# SPDX-License-Identifier: Apache-2.0
"""The operators. Called with arrays they run at once and return the kind they were given; called inside of a
pipeline's function they add a node. Operators in groups are reached as fn.random.uniform, fn.decoders.image ..."""

import sys
from types import ModuleType

from .. import _core


def _missing(name, group=""):
    """Raises AttributeError for a name that is not there, with what other libraries' names are called here."""
    near = ""
    if not name.startswith("_"):
        from ..other_names import answer

        near = answer(name, [*_core.operators(), *_LATE, "python_function", "numba_function", "external_source"], group)
    where = f"penstock.fn.{group}" if group else "penstock.fn"
    raise AttributeError(f"module '{where}' has no attribute '{name}'{near}", name=name)


def _module(path):
    """The module of a group of operators, made with its parents on first use."""
    name = f"{__name__}.{path}" if path else __name__
    if name not in sys.modules:
        parent, _, last = path.rpartition(".")
        module = ModuleType(name, f"Operators of the group {path}.")
        module.__path__ = []  # a package: groups may hold groups
        module.__getattr__ = lambda name: _missing(name, path)
        sys.modules[name] = module
        setattr(_module(parent), last, module)
    return sys.modules[name]


for _name in _core.operators():
    _path, _, _last = _name.rpartition(".")
    setattr(_module(_path), _last, _core.operator_function(_name))


def external_source(*args, **kwargs):
    """Takes batches that the program brings; help(penstock.sources.external_source) lists the arguments."""
    from ..sources import external_source as call

    return call(*args, **kwargs)


def python_function(*inputs, **kwargs):
    from ..python_function import python_function as call

    return call(*inputs, **kwargs)


def dl_tensor_python_function(*inputs, **kwargs):
    """As python_function, with DLPack capsules instead of arrays."""
    from ..python_function import dl_tensor_python_function as call

    return call(*inputs, **kwargs)


def numba_function(*inputs, **kwargs):
    from ..plugin.numba import numba_function as call

    return call(*inputs, **kwargs)


for _name in ("python_function", "numba_function"):
    globals()[_name].__doc__ = _core.operator_function(_name).__doc__


_LATE = ("filter", "expand", "flatten_batch", "rebatch")


def __getattr__(name):  # loaded late: penstock.batches imports this package's parent
    if name in _LATE:
        from .. import batches

        return getattr(batches, name)
    return _missing(name)


def _tfrecord(*, features, _read=_module("readers").tfrecord, **arguments):
    from ..tfrecord import reader

    return reader(_read, features=features, **arguments)


_tfrecord.__name__, _tfrecord.__doc__ = "tfrecord", _module("readers").tfrecord.__doc__
_module("readers").tfrecord = _tfrecord
_module("experimental.readers").fits = _module("readers").fits


def _dataset(dataset, **arguments):
    from ..dataset import dataset as call

    return call(dataset, **arguments)


_dataset.__name__, _dataset.__doc__ = (
    "dataset",
    "Samples of an object with __len__ and __getitem__; help(penstock.dataset.dataset).",
)
_module("readers").dataset = _dataset


def _mix(sources, weights=None, *, _read=_module("readers").mix, **arguments):
    from ..mixing import mix as call

    return call(_read, sources, weights, **arguments)


_mix.__name__ = "mix"
_mix.__doc__ = """sources: a list with what each reader's call gives: a value, a list or a dict of values, as many in each.
The result has the same form; with source_ids=True there is one value more.

""" + (_module("readers").mix.__doc__ or "")
_module("readers").mix = _mix


def _inputs_video(*, _read=_module("experimental.inputs").video, **arguments):
    from ..video import inputs_video as call

    return call(_read, **arguments)


_inputs_video.__name__, _inputs_video.__doc__ = "video", _module("experimental.inputs").video.__doc__
_module("experimental.inputs").video = _module("inputs").video = _inputs_video


def _video_resize(*, _read=_module("readers").video, _resize=_core.operator_function("resize"), **arguments):
    from ..video import video_resize as call

    return call(_read, _resize, **arguments)


_video_resize.__name__ = "video_resize"
_video_resize.__doc__ = """readers.video and resize in one call: the arguments of both; `dtype` and `image_type` are the reader's.

""" + (_module("readers").video.__doc__ or "")
_module("readers").video_resize = _video_resize
