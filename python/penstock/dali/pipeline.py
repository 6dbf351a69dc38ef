# SPDX-License-Identifier: Apache-2.0
"""Pipeline and pipeline_def, with a meaning for arguments that DALI refuses."""
import functools
import inspect
import sys
from types import ModuleType

from ..graph import DataNode
from ..pipeline import Pipeline, _parameters, made_by
from .meanings import say, shards_of_readers

__all__ = ["DataNode", "Pipeline", "experimental", "pipeline_def"]
_SHARDS = ("shard_id", "num_shards")


def _pipeline_arguments(given):
    """Keywords of pipeline_def and of calls, as Pipeline takes them."""
    if "bytes_per_sample_hint" in given:
        say("bytes_per_sample_hint")
        given.setdefault("bytes_per_sample", given.pop("bytes_per_sample_hint"))
        given.pop("bytes_per_sample_hint", None)
    return given


def pipeline_def(fn=None, *, enable_conditionals=False, **pipeline_kwargs):
    """As penstock.pipeline_def, which refuses arguments that the function and Pipeline share: here they go to both."""
    known = _parameters() | {"bytes_per_sample_hint"}
    for name in pipeline_kwargs:
        if name not in known:
            raise TypeError(f"pipeline_def() got an argument '{name}' that Pipeline does not have")

    def decorate(function):
        parameters = inspect.signature(function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

        @functools.wraps(function)
        def create(*args, **kwargs):
            options = {**pipeline_kwargs, **{k: v for k, v in kwargs.items() if k in known}}
            rest = {k: v for k, v in kwargs.items() if k not in known or k in parameters}
            for name in known & set(parameters):
                default = parameters[name].default
                if name in kwargs or (name not in options and default not in (None, inspect.Parameter.empty)):
                    say("shared argument")
                    options.setdefault(name, default)
            shards = {} if takes_all else {k: rest.pop(k) for k in _SHARDS if k in rest and k not in parameters}
            if shards:
                say("shard")
            with shards_of_readers(shards):
                pipeline = made_by(function, args, rest, _pipeline_arguments(options))
            pipeline._shards_of_readers = shards  # with debug=True the function runs later
            return pipeline

        create._is_pipeline_def = True
        return create

    return decorate if fn is None else decorate(fn)


experimental = sys.modules[f"{__name__}.experimental"] = ModuleType(f"{__name__}.experimental", "pipeline_def with debug=.")
experimental.pipeline_def = pipeline_def
__path__ = []
