# SPDX-License-Identifier: Apache-2.0
"""@pipeline_def: pipelines made by functions."""

from __future__ import annotations

import functools

from .._control_flow.statements import convert
from .._graph import as_outputs
from .defining import defining, generators, pruned, warn_of_draws
from .pipeline import Pipeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, overload

    from typing_extensions import Never, Unpack

    from .._core import Batch
    from .._graph import DataNode
    from .calls import Definition, Options, Parameters


def made_by(function, args, keywords, options, make=None):
    """The Pipeline(**options) whose outputs function(*args, **keywords) returns. make: a class of pipelines."""
    pipeline = (make or Pipeline)(**options)
    converted = convert(function)
    if pipeline.definition.options["debug"]:
        pipeline._function = functools.partial(converted, *args, **keywords)
        return pipeline
    before = generators()
    try:
        with defining(pipeline):
            outputs = as_outputs(converted(*args, **keywords), pipeline)
    except Exception as error:
        raise pruned(error)
    warn_of_draws(function, before)
    pipeline.set_outputs(*outputs)
    return pipeline


def remember(pipeline, create, args, keywords):
    """What pickle writes of a pipeline that has not been built: create(*args, **keywords) makes it again."""
    pipeline._made_by = create, args, keywords


if TYPE_CHECKING:
    # Pyright infers the result of a function without annotations while it compares forms, and takes the third one for
    # it, whatever it is: so the first three fit no function that says what it returns, and give Any.

    class Decorator(Protocol):
        """Knows the outputs of the pipeline by the annotation of the function."""

        @overload
        def __call__(self, fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
        @overload
        def __call__(self, fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
        @overload
        def __call__(self, fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
        @overload
        def __call__(self, fn: Callable[Parameters, DataNode], /) -> Definition[Parameters, tuple[Batch]]: ...
        @overload
        def __call__(self, fn: Callable[Parameters, tuple[DataNode]], /) -> Definition[Parameters, tuple[Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, Batch, Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode, DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch, Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode, DataNode, DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch, Batch, Batch]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, tuple[DataNode, ...] | list[DataNode]], /
        ) -> Definition[Parameters, tuple[Batch, ...]]: ...
        @overload
        def __call__(
            self, fn: Callable[Parameters, dict[str, DataNode]], /
        ) -> Definition[Parameters, dict[str, Batch]]: ...
        @overload
        def __call__(self, fn: Callable[Parameters, Any], /) -> Definition[Parameters, Any]: ...

    @overload
    def pipeline_def(fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, Never], /) -> Definition[Parameters, Any]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, DataNode], /) -> Definition[Parameters, tuple[Batch]]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, tuple[DataNode]], /) -> Definition[Parameters, tuple[Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, Batch, Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode, DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch, Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, DataNode, DataNode, DataNode, DataNode, DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, Batch, Batch, Batch, Batch, Batch]]: ...
    @overload
    def pipeline_def(
        fn: Callable[Parameters, tuple[DataNode, ...] | list[DataNode]], /
    ) -> Definition[Parameters, tuple[Batch, ...]]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, dict[str, DataNode]], /) -> Definition[Parameters, dict[str, Batch]]: ...
    @overload
    def pipeline_def(fn: Callable[Parameters, Any], /) -> Definition[Parameters, Any]: ...
    @overload
    def pipeline_def(*, enable_conditionals: bool = False, **pipeline_kwargs: Unpack[Options]) -> Decorator: ...


def pipeline_def(
    fn: Callable[..., Any] | None = None, *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Any:
    """Turns a function that returns values of a pipeline into one that returns a Pipeline.

    It works with and without parentheses. `if`, `while`, `for`, `and`, `or` and `not` on values of the pipeline work
    inside the function.

    Args:
        fn: The function, where the decorator has no parentheses.
        enable_conditionals: Accepted without effect: conditions always work.
        **pipeline_kwargs: Arguments of Pipeline. Those of the call go before those of the decorator; other arguments
            of the call go to the function.

    Returns:
        A function that makes a Pipeline.

    Raises:
        TypeError: Pipeline has no such argument.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers(factor):
        ...     return fn.external_source([[np.int32(1), np.int32(2)]]) * factor
        >>> batch, = numbers(10).run()
        >>> batch.as_array().tolist()
        [10, 20]
    """
    import inspect

    known = parameters()
    for name in pipeline_kwargs:
        if name not in known:
            from .._base.other_names import answer_of_loader

            here = answer_of_loader(name)
            raise TypeError(f"pipeline_def() got an argument '{name}' that Pipeline does not have{here}")

    def decorate(function):
        own = set()
        try:
            own = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            pass

        @functools.wraps(function)
        def create(*args, **kwargs):
            kwargs.pop("enable_conditionals", None) if "enable_conditionals" not in own else None
            both = own & known & set(kwargs)
            if both:
                raise ValueError(f"the argument '{sorted(both)[0]}' belongs to the function and to Pipeline")
            options = {**pipeline_kwargs, **{k: v for k, v in kwargs.items() if k in known}}
            rest = {k: v for k, v in kwargs.items() if k not in known}
            pipeline = made_by(function, args, rest, options)
            remember(pipeline, create, args, kwargs)
            return pipeline

        create._is_pipeline_def = True
        return create

    return decorate if fn is None else decorate(fn)


@functools.lru_cache(None)
def parameters():
    import inspect

    return frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}
