# SPDX-License-Identifier: Apache-2.0
"""Pipelines on their way to another process: what defines them goes there and makes the pipeline again."""

from .. import _core


def reduced(pipeline, of_class):
    """What pickle writes of a pipeline that has not been built: it has the same seed there. of_class: whether define_graph()
    of its class makes the nodes."""
    if pipeline._pipeline is not None:
        raise TypeError(
            "a pipeline that has been built has threads and memory of its process and cannot be pickled: pickle it "
            "before build() and run(), or send the pipeline_def function and its arguments; checkpoint() gives the "
            "state as bytes"
        )
    given = {"seed": pipeline._given["seed"]}
    if pipeline._definition is not None:
        return _defined, (*pipeline._definition, given, pipeline._epoch_mode)
    if of_class and not pipeline._graph.nodes():
        state = dict(pipeline.__dict__)
        del state["_graph"]
        return _of_class, (type(pipeline), state)
    raise TypeError(
        "the nodes of this pipeline were made in this process and cannot be pickled: make them in a function with "
        "@pipeline_def at the top of a module or in define_graph() of a class, or send to_json() to "
        "Pipeline.deserialize()"
    )


def _defined(create, arguments, keywords, given, epoch_mode):
    pipeline = create(*arguments, **keywords)
    pipeline._given.update(given)
    pipeline._graph.set_seed(given["seed"])
    pipeline._epoch_mode = epoch_mode
    return pipeline


def _of_class(kind, state):
    pipeline = kind.__new__(kind)
    pipeline.__dict__.update(state)
    pipeline._graph = _core.Graph()
    pipeline._graph.set_seed(pipeline._given["seed"])
    return pipeline
