# SPDX-License-Identifier: Apache-2.0
"""Pickled pipelines: the other process gets what defines a pipeline and makes it again."""

from .. import _core
from .._graph import Definition


def reduced(pipeline, of_class):
    """What pickle writes of a pipeline that has not been built: it has the same seed there. of_class: whether define_graph()
    of its class makes the nodes."""
    if pipeline._pipeline is not None:
        raise TypeError(
            "a pipeline that has been built has threads and memory of its process and cannot be pickled: pickle it "
            "before build() and run(), or send the pipeline_def function and its arguments; checkpoint() gives the "
            "state as bytes"
        )
    definition = pipeline.definition
    if pipeline._made_by is not None:
        return _defined, (*pipeline._made_by, {"seed": definition.options["seed"]}, pipeline._epoch_mode)
    if of_class and not definition.graph.nodes():
        parts = {name: value for name, value in vars(definition).items() if name != "graph"}
        return _of_class, (type(pipeline), {**vars(pipeline), "definition": parts})
    raise TypeError(
        "the nodes of this pipeline were made in this process and cannot be pickled: make them in a function with "
        "@pipeline_def at the top of a module or in define_graph() of a class, or send to_json() to "
        "Pipeline.deserialize()"
    )


def _defined(create, arguments, keywords, given, epoch_mode):
    pipeline = create(*arguments, **keywords)
    pipeline.definition.set_seed(given["seed"])
    pipeline._epoch_mode = epoch_mode
    return pipeline


def _of_class(kind, state):
    if "definition" not in state:
        state = _of_0_1_0(state)
    parts = state["definition"]
    pipeline = kind.__new__(kind)
    pipeline.__dict__.update({"_replays": [], "_logs_steps": False} | state)  # what older states lack
    pipeline.definition = Definition(parts["options"], _core.Graph(), kind._also_runtime_error)
    vars(pipeline.definition).update(parts)
    pipeline.definition.set_seed(parts["options"]["seed"])
    return pipeline


def _of_0_1_0(state):
    """The state as pipelines have it now: version 0.1.0 wrote what is now in the definition beside the rest."""
    state = dict(state)
    former = {
        "options": "_given",
        **{part: f"_{part}" for part in ("sources", "fed", "functions", "form", "built", "took")},
    }
    parts = {part: state.pop(name) for part, name in former.items()}
    return {**state, "_made_by": state["_definition"], "definition": parts}
