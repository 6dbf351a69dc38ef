# SPDX-License-Identifier: Apache-2.0
"""The saved forms of pipelines: checkpoints, JSON, the graph for Graphviz."""

from __future__ import annotations

import json

from .. import _core
from .._base import limits
from .._graph.graphviz import dot_text
from .._sources import FedNode, FedVideo, without_unread
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any, TypeAlias

    from .pipeline import Pipeline

    Path: TypeAlias = str | PathLike[str]


def text_of_saved(data, what, path=None):
    """The text of a saved pipeline or checkpoint."""
    try:
        return bytes(data).decode()
    except UnicodeDecodeError as e:
        raise ValueError(
            f"this is not a saved {what}: byte {e.start} is not UTF-8 text" + (f" (file: {path})" if path else "")
        ) from None


def text_of_checkpoint(checkpoint):
    """The text of a checkpoint that is given as bytes, as a path or as text."""
    if isinstance(checkpoint, (bytes, bytearray)):
        return text_of_saved(checkpoint, "checkpoint")
    if isinstance(checkpoint, str) and not checkpoint.lstrip().startswith("{"):
        with open(checkpoint, "rb") as file:
            return text_of_saved(file.read(), "checkpoint", checkpoint)
    return checkpoint


def with_declared(text, declared):
    """The saved form with output_dtype, output_ndim and output_layout, if they were given; C++ does not use them."""
    if all(value is None for value in declared.values()):
        return text
    return json.dumps({**json.loads(text), "declared": declared}, indent=1)


def without_lines(text):
    """The saved form without the lines of the program that made each operator: they hold paths of this machine."""
    saved = json.loads(text)
    for node in saved["graph"]["nodes"]:
        node.pop("line", None)
    return json.dumps(saved, indent=1)


def random_operators(text):
    """The operators of a saved form that draw random numbers, by name."""
    nodes = json.loads(text)["graph"]["nodes"]
    names = {node["op"] for node in nodes if "control" not in node}
    return sorted(name for name in names if _core.operator_schema(name)["random"])


def load(make, serialized_pipeline, filename, arguments):
    """make(**options) with the graph of the saved form, which is text, bytes or a file; `arguments` override what was stored."""
    if (serialized_pipeline is None) == (filename is None):
        raise ValueError("give either serialized_pipeline or filename")
    if filename is not None:
        with open(filename, "rb") as file:
            serialized_pipeline = file.read()
    text = (
        serialized_pipeline
        if isinstance(serialized_pipeline, str)
        else text_of_saved(serialized_pipeline, "pipeline", filename)
    )
    loaded = _core.Pipeline.from_json(text)
    options, stored = loaded.options(), loaded.graph()
    loaded.close()
    mode = options.pop("epoch_mode")
    options = {
        k: (
            None
            if k in ("num_threads", "memory_limit", *limits.NAMES) and v == 0
            else None
            if k == "error_budget" and v < 0
            else v
        )
        for k, v in options.items()
    }
    declared = json.loads(text).get("declared")
    if isinstance(declared, dict):
        options.update({f"output_{what}": declared.get(what) for what in ("dtype", "ndim", "layout")})
    seed = arguments.get("seed")
    pipeline = make(**{**options, "seed": json.loads(text)["graph"]["seed"] if seed is None else seed, **arguments})
    definition = pipeline.definition
    definition.graph = stored
    if seed is not None and seed >= 0:
        stored.set_seed(seed)
    pipeline._epoch_mode = mode
    nodes = json.loads(text)["graph"]["nodes"]
    for index in range(stored.nodes()):
        if stored.fed(index) == "batches":
            definition.fed[stored.name_of(index)] = FedNode(index, stored.outputs_of(index), False)
        elif stored.fed(index) == "video":
            definition.fed[stored.name_of(index)] = FedVideo(
                index, nodes[index].get("constants", {}).get("blocking", False)
            )
    without_unread(definition)
    pipeline._start()
    return pipeline


def seed_of(checkpoint, otherwise):
    """The seed in a checkpoint; restore() reports what is wrong with it."""
    try:
        seed = json.loads(text_of_checkpoint(checkpoint))["seed"]
        return seed if isinstance(seed, int) and 0 <= seed < 2**64 else otherwise
    except (ValueError, TypeError, KeyError, RecursionError):
        return otherwise


class SavedForms:
    """What a Pipeline writes for later."""

    _class_of_loaded: type[Pipeline[Any]]  # what deserialize() makes, also for subclasses

    def checkpoint(self, filename: Path | None = None) -> bytes:
        """Returns the state after the last batch that was handed out.

        Pipeline(checkpoint=...) resumes from it bit for bit, also with another batch size or number of shards. A batch
        that ended with an error was not handed out: if it was the last one, the new pipeline begins with it again.

        Args:
            filename: Also writes it to this file.

        Returns:
            The state, JSON in UTF-8.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=5)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0])
            >>> first = numbers()
            >>> batch, = first.run()
            >>> second = numbers(checkpoint=first.checkpoint())
            >>> bool((first.run()[0].as_array() == second.run()[0].as_array()).all())
            True
        """
        self.build()
        state = self._pipeline.checkpoint().encode()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(state)
        return state

    def to_json(self, lines: bool = True) -> str:
        """Returns the graph and the options as JSON, which C++ loads without Python.

        Args:
            lines: Keeps the line of the program that made each operator, with the path of its file: errors of a
                loaded pipeline name it. False: the text has no paths of this machine but those in arguments.

        Raises:
            ValueError: The pipeline calls a function of this program.
        """
        self.build()
        for node, (_, line) in self.definition.functions.items():
            raise ValueError(
                f"[{self.definition.graph.op_of(node)}] the pipeline cannot be saved: '{self.definition.graph.name_of(node)}' calls a "
                f"function of this program\n  at {line}"
            )
        text = tuning.saved(self._pipeline.to_json(), self.definition.options)
        return with_declared(text if lines else without_lines(text), self._declared)

    def save(self, path: Path, lines: bool = True) -> None:
        """Writes to_json() to a file.

        Args:
            path: The file.
            lines: As to_json() takes it.

        Raises:
            ValueError: The pipeline calls a function of this program.
        """
        text = self.to_json(lines)  # first, so that an error keeps the old file
        with open(path, "w") as file:
            file.write(text)

    def serialize(self, define_graph: Callable[[], Any] | None = None, filename: Path | None = None) -> bytes:
        """Returns to_json() as bytes.

        Args:
            define_graph: As build() takes it.
            filename: Also writes the bytes to this file.

        Raises:
            ValueError: The pipeline calls a function of this program.
        """
        self.build(define_graph)
        data = self.to_json().encode()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(data)
        return data

    @classmethod
    def deserialize(
        cls, serialized_pipeline: bytes | str | None = None, filename: Path | None = None, **kwargs: Any
    ) -> Pipeline[Any]:
        """Makes a pipeline from serialize(), to_json() or a file.

        Args:
            serialized_pipeline: What serialize() or to_json() returned.
            filename: A file with it.
            **kwargs: Arguments of Pipeline that override what was stored.

        Raises:
            ValueError: The text is not a saved pipeline.
        """
        return load(cls._class_of_loaded, serialized_pipeline, filename, kwargs)

    load = deserialize

    @classmethod
    def deserialize_and_build(cls, serialized_pipeline: bytes | str) -> Pipeline[Any]:
        """Makes a pipeline from serialize() or to_json().

        Args:
            serialized_pipeline: What serialize() or to_json() returned.

        Raises:
            ValueError: The text is not a saved pipeline.
        """
        return cls.deserialize(serialized_pipeline)

    def save_graph_to_dot_file(
        self, filename: Path, *, show_tensors: bool = False, show_ids: Any = None, use_colors: bool = False
    ) -> None:
        """Writes the graph for Graphviz.

        Args:
            filename: The file.
            show_tensors: Writes the number of the output at each edge.
            show_ids: Accepted without effect.
            use_colors: Fills the nodes with a color.
        """
        self.build()
        with open(filename, "w") as file:
            file.write(dot_text(self.definition.graph, show_tensors, use_colors))
