# SPDX-License-Identifier: Apache-2.0
"""Gives lines that DALI refuses the meaning that their author intended."""

import contextlib
import contextvars

from .. import fn, _graph as graph
from .._base.log import warn
from .aliases import MEANINGS


class MeaningWarning(UserWarning):
    """A line that DALI refuses was given a meaning."""


_said = set()
_shards = contextvars.ContextVar("shards of readers", default={})


def say(name):
    """Warns of one of MEANINGS, once in the life of the process."""
    if name not in _said:
        _said.add(name)
        warn("dali", MEANINGS[name], MeaningWarning)


@contextlib.contextmanager
def shards_of_readers(given):
    """While it is active, new readers take shard_id and num_shards from `given`, unless they have their own."""
    token = _shards.set(given)
    try:
        yield
    finally:
        _shards.reset(token)


def _reader(inputs, arguments):
    if "shuffle" in arguments:
        say("shuffle")
        arguments.setdefault("random_shuffle", arguments.pop("shuffle"))
        arguments.pop("shuffle", None)
    pipeline = graph.current()
    return {**getattr(pipeline, "_shards_of_readers", {}), **_shards.get(), **arguments}


def _decoder(inputs, arguments):
    if arguments.get("device") == "gpu":
        say("decoder on a GPU")
        arguments["device"] = "mixed"
    return arguments


def _resize(inputs, arguments):
    for place, name in enumerate(("resize_x", "resize_y")):
        value = arguments.get(name)
        if isinstance(value, (list, tuple)) and len(value) == 2:
            say("resize pair")
            arguments[name] = value[place]
    return arguments


def _flip(inputs, arguments):
    chance = arguments.get("probability")
    if chance is None or (graph.current() is None and not isinstance(inputs[0], graph.DataNode)):
        return arguments
    say("probability")
    del arguments["probability"]
    coin = fn.random.coin_flip(probability=chance)
    wanted = {"horizontal": 1, **{k: arguments[k] for k in ("horizontal", "vertical", "depthwise") if k in arguments}}
    for name, value in wanted.items():
        if isinstance(value, graph.DataNode):
            arguments[name] = coin * value
        else:
            arguments[name] = coin if value else 0
    return arguments


class _OnCopies:
    """Calls a function with copies of its arrays, so that it may write to them: others may read the memory of the pipeline."""

    def __init__(self, function):
        self.function = function
        self.__name__ = getattr(function, "__name__", None) or type(function).__name__

    def __call__(self, *inputs):
        return self.function(*map(_copied, inputs))


def _copied(value):
    if isinstance(value, list):  # the samples of a batch
        return [_copied(v) for v in value]
    return value.copy() if type(value).__module__ == "numpy" else value


def _python_function(inputs, arguments):
    if inputs and callable(arguments.get("function")):
        arguments["function"] = _OnCopies(arguments["function"])
    return arguments


def adapter(name):
    """The function of inputs and keywords that changes the arguments of fn.<name>; None if there is none."""
    if name.startswith("readers."):
        return _reader
    if name.startswith("decoders.image"):
        return _decoder
    if name == "python_function":
        return _python_function
    if name == "dl_tensor_python_function":
        return lambda inputs, arguments: {"batch_processing": True, **arguments}  # DALI's default, of this one alone
    return {"flip": _flip, "resize": _resize, "resize_crop_mirror": _resize}.get(name)
