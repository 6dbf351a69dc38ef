# SPDX-License-Identifier: Apache-2.0
"""A pipeline that has not been built, as other processes make it again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .pipeline import Pipeline


class Recipe:
    """The function with @pipeline_def and its arguments.

    Args:
        create: The function.
        arguments, keywords: What it was called with.
    """

    def __init__(self, create: Callable[..., Pipeline[Any]], arguments: tuple[Any, ...], keywords: dict[str, Any]):
        self.create, self.arguments, self.keywords = create, arguments, keywords

    def pipeline(self, **options: Any) -> Pipeline[Any]:
        """Makes the pipeline, with other options than those it was called with."""
        return self.create(*self.arguments, **{**self.keywords, **options})


def recipe_of(pipeline: Pipeline[Any], what: str) -> Recipe:
    """How a pipeline was made; its seed is the one that it has drawn.

    Raises:
        TypeError: It is not a pipeline.
        ValueError: A function with @pipeline_def did not make it.
    """
    from .pipeline import Pipeline

    if getattr(pipeline, "_is_pipeline_def", False):
        raise TypeError(f"{what} takes a pipeline: call the function, {what}({pipeline.__name__}(...))")
    if not isinstance(pipeline, Pipeline):
        raise TypeError(f"{what} takes a pipeline, got {type(pipeline).__name__}")
    if pipeline._made_by is None:
        raise ValueError(
            f"{what} makes the pipeline in other processes: it must come from a function with @pipeline_def"
        )
    create, arguments, keywords = pipeline._made_by
    return Recipe(create, arguments, {**keywords, "seed": pipeline.definition.options["seed"]})


def set_other_outputs(pipeline: Pipeline[Any], values: Iterable[tuple[int, int]]) -> None:
    """Makes other values of a pipeline, which is not built, its outputs; what was declared of the old ones holds no more.

    Args:
        pipeline: The pipeline.
        values: Each the number of a node and of its output, which the graph has.
    """
    from .._graph import DataNode

    pipeline._declared = dict.fromkeys(pipeline._declared)
    pipeline.set_outputs(*(DataNode(pipeline, node, output) for node, output in values))
