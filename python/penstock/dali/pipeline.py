# SPDX-License-Identifier: Apache-2.0
"""Pipeline and pipeline_def, with a meaning for arguments that DALI refuses."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from types import ModuleType

from .. import _pipeline as native
from .._base.running import running
from .._control_flow.conversion import do_not_convert
from .._graph import DataNode
from .._pipeline.definition import made_by, parameters, remember
from .._pipeline.returns import Outputs
from .._pipeline.saved import load
from ..types import OperatorConcurrency, StreamPolicy
from . import outputs
from .errors import also_runtime_errors
from .meanings import say, shards_of_readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import Any

    from .calls import pipeline_def

__all__ = [
    "DataNode",
    "OperatorConcurrency",
    "Pipeline",
    "StreamPolicy",
    "do_not_convert",
    "experimental",
    "pipeline_def",
]
_SHARDS = ("shard_id", "num_shards")


class Pipeline(native.Pipeline[Outputs]):
    __doc__ = native.Pipeline.__doc__
    _also_runtime_error, _stream = True, None

    if not TYPE_CHECKING:  # which takes the parameters of the base class

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._arguments = dict(
                zip(inspect.signature(native.Pipeline).parameters, args), **kwargs
            )  # that the program gave

    @classmethod
    def deserialize(
        cls, serialized_pipeline: bytes | str | None = None, filename: str | PathLike[str] | None = None, **kwargs: Any
    ) -> Pipeline[Any]:
        """A pipeline from serialize(), to_json() or a file; keywords override what was stored."""
        return also_runtime_errors(load)(Pipeline, serialized_pipeline, filename, kwargs)

    def deserialize_and_build(self, serialized_pipeline: bytes | str) -> None:
        """Makes this pipeline the one that was serialized. Arguments that it was made with override what was stored."""
        loaded = also_runtime_errors(load)(Pipeline, serialized_pipeline, None, self._arguments)
        vars(self).update(vars(loaded))
        running.add(self)

    def enable_api_check(self, enable: bool) -> None:
        """Accepted without effect: run(), outputs() and iterators may be mixed."""

    def output_stream(self) -> int | None:
        """The handle of the stream on which the last outputs were made; None on the CPU."""
        return self._stream

    def _prefetch(self) -> None:
        """Starts the first iteration; iterators of well-known scripts call it first."""
        self.schedule_run()

    @contextlib.contextmanager
    def _check_api_type_scope(self, kind: Any) -> Iterator[None]:
        """The same scripts call it; accepted without effect."""
        yield

    def _finish(self, step):
        batches = super()._finish(step)
        self._stream = batches[0].stream if batches else None
        return outputs.as_declared(self, batches)


Pipeline._share_outputs, Pipeline._release_outputs = Pipeline.share_outputs, Pipeline.release_outputs
_WHAT_FAILS = "_flat_outputs _run add_sink build checkpoint feed_input reader_meta schedule_run serialize set_outputs"
for _name in _WHAT_FAILS.split():
    setattr(Pipeline, _name, also_runtime_errors(getattr(native.Pipeline, _name)))


def _pipeline_arguments(given):
    """Keywords of pipeline_def and of calls, as Pipeline takes them."""
    if "max_batch_size" in given:  # DALI's other name
        given.setdefault("batch_size", given.pop("max_batch_size"))
    if "bytes_per_sample_hint" in given:
        say("bytes_per_sample_hint")
        given.setdefault("bytes_per_sample", given.pop("bytes_per_sample_hint"))
        given.pop("bytes_per_sample_hint", None)
    return given


if not TYPE_CHECKING:  # which takes the forms of calls.pyi

    def pipeline_def(fn=None, *, enable_conditionals=False, **pipeline_kwargs):
        """Like penstock.pipeline_def, but arguments that the function and Pipeline share go to both: those of a call to the
        function alone where the decorator has one for Pipeline."""
        known = parameters() | {"bytes_per_sample_hint", "max_batch_size"}
        for name in pipeline_kwargs:
            if name not in known:
                raise TypeError(f"pipeline_def() got an argument '{name}' that Pipeline does not have")

        def decorate(function):
            parameters = inspect.signature(function).parameters
            takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

            @functools.wraps(function)
            def create(*args, **kwargs):
                if "enable_conditionals" not in parameters:  # they always are
                    kwargs.pop("enable_conditionals", None)
                shadowed = pipeline_kwargs.keys() & set(parameters)  # as in DALI
                options = {**pipeline_kwargs, **{k: v for k, v in kwargs.items() if k in known - shadowed}}
                rest = {k: v for k, v in kwargs.items() if k not in known or k in parameters}
                for name in (known - shadowed) & set(parameters):
                    default = parameters[name].default
                    if name in kwargs or (name not in options and default not in (None, inspect.Parameter.empty)):
                        say("shared argument")
                        options.setdefault(name, default)
                shards = {} if takes_all else {k: rest.pop(k) for k in _SHARDS if k in rest and k not in parameters}
                if shards:
                    say("shard")
                with shards_of_readers(shards):
                    pipeline = also_runtime_errors(made_by)(
                        function, args, rest, _pipeline_arguments(options), Pipeline
                    )
                remember(pipeline, create, args, {**rest, **options, **shards})
                pipeline._shards_of_readers = shards  # with debug=True the function runs later
                return pipeline

            create._is_pipeline_def = True
            return create

        return decorate if fn is None else decorate(fn)


experimental = sys.modules[f"{__name__}.experimental"] = ModuleType(
    f"{__name__}.experimental", "pipeline_def with debug=."
)
experimental.pipeline_def, experimental.do_not_convert = pipeline_def, do_not_convert
__path__ = []
