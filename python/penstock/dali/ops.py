# SPDX-License-Identifier: Apache-2.0
"""DALI's operators as classes, made from penstock.dali.fn: ops.readers.File(file_root=...)(name="Reader").

An instance keeps arguments; calling it calls the function of fn with them and with those of the call.
"""

from types import ModuleType

from .._graph import DataNode
from . import fn
from .errors import also_runtime_errors
from .groups import Group

# Words of operators' names that are not written with one capital.
_WORDS = {
    "bbox": "BBox",
    "coco": "COCO",
    "dl": "DL",
    "mfcc": "MFCC",
    "mxnet": "MXNet",
    "rms": "RMS",
    "roi": "ROI",
    "ssd": "SSD",
    "tfrecord": "TFRecord",
}


# Arguments that a constructor takes by position, in their order.
_POSITIONAL = {
    "dl_tensor_python_function": ("function", "num_outputs", "device", "synchronize_stream", "batch_processing"),
    "experimental.numba_function": ("run_fn", "out_types", "in_types", "outs_ndim", "ins_ndim", "setup_fn"),
    "external_source": ("source", "num_outputs"),
    "numba_function": ("run_fn", "out_types", "in_types", "outs_ndim", "ins_ndim", "setup_fn"),
    "python_function": ("function", "num_outputs", "device", "batch_processing"),
    "readers.tfrecord": ("path", "index_path", "features"),
    "tfrecord_reader": ("path", "index_path", "features"),
    "torch_python_function": ("function", "num_outputs", "device", "batch_processing"),
}


def class_name(name):
    """The class of the function `name`: random_bbox_crop is RandomBBoxCrop."""
    return "".join(_WORDS.get(word, word[:1].upper() + word[1:]) for word in name.split("_"))


class Operator:
    """Arguments of an operator, for calls with its inputs. An argument is given once, here or in the call; None here is none."""

    @also_runtime_errors
    def __init__(self, *values, **arguments):
        names = _POSITIONAL.get(self._path, ())
        if len(values) > len(names):
            raise TypeError(
                f"[{self._path}] the constructor takes {len(names)} arguments by position, got {len(values)}"
            )
        for name, value in zip(names, values):
            if name in arguments:
                raise TypeError(f"[{self._path}] the argument '{name}' was given twice")
            arguments[name] = value
        self._arguments = {name: value for name, value in arguments.items() if value is not None}

    @property
    def device(self):
        return self._arguments.get("device") or "cpu"

    @property
    def preserve(self):
        return bool(self._arguments.get("preserve", False))

    @also_runtime_errors
    def __call__(self, *inputs, **arguments):
        for name in arguments:
            if name in self._arguments:
                raise ValueError(f"[{self._path}] the argument '{name}' was given to the constructor and to the call")
        return self._function()(*inputs, **self._arguments, **arguments)

    def _function(self):
        found = fn
        for part in self._path.split("."):
            found = getattr(found, part)
        return found

    def __repr__(self):
        return f"ops.{self._path}({', '.join(f'{k}={v!r}' for k, v in self._arguments.items())})"


class Compose:
    """Operators in order: each gets what the one before returned, on its own device."""

    def __init__(self, op_list):
        self._steps = list(op_list)

    def __call__(self, *inputs):
        values = inputs
        for step in self._steps:
            if getattr(step, "device", "cpu") == "gpu":
                values = tuple(v.gpu() if isinstance(v, DataNode) else v for v in values)
            values = step(*values)
            values = tuple(values) if isinstance(values, (list, tuple)) else (values,)
        return values[0] if len(values) == 1 else list(values)


class _Group(Group):
    """ops, or a group of its classes such as ops.readers; members are made on first use."""

    _members = "Classes"

    def _functions(self):
        """{name of a class or a group: name in fn}"""
        found = fn
        for part in filter(None, self._path.split(".")):
            found = getattr(found, part)
        named = {}
        for name in dir(found):
            if name.startswith("_") or name == "hidden":
                continue
            try:
                member = getattr(found, name)
            except AttributeError:  # a deprecated name of an operator that is not here yet
                continue
            if isinstance(member, ModuleType) and member.__name__.startswith(fn.__name__ + "."):
                named[name] = name
            elif callable(member) and not isinstance(member, type):
                named[class_name(name)] = name
        return named

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = self._functions().get(name)
        if function is None:
            raise AttributeError(
                f"Penstock has no {self.__name__.rpartition('dali.')[2]}.{name} yet; docs/reference/dali.md lists "
                "what there is"
            )
        path = f"{self._path}.{function}".lstrip(".")
        made = (
            self._group(path)
            if name == function
            else type(
                name,
                (Operator,),
                {
                    "_path": path,
                    "__module__": self.__name__,
                    "__doc__": f"fn.{path} as a class: its arguments here, or in the call.",
                },
            )
        )
        setattr(self, name, made)
        return made

    def __dir__(self):
        own = {"Compose"} if not self._path else set()
        return sorted({*self._functions(), *own})


_Group.replace_module()
