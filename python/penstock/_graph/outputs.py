# SPDX-License-Identifier: Apache-2.0
"""What the function of a pipeline returns, as the outputs of its graph."""

from . import free_nodes, nested
from .building import constant
from .node import DataNode


def as_outputs(returned, pipeline):
    """Returns the nodes of what the function of a pipeline returned; its definition remembers the form.

    Args:
        returned: Values of the pipeline or constants, in tuples, lists and dictionaries.
        pipeline: The pipeline.

    Raises:
        TypeError: An output is neither a value nor a constant.
        ValueError: An output belongs to another pipeline.
    """
    if returned is None:
        return []
    if isinstance(returned, tuple):
        items = list(returned)
    elif isinstance(returned, list) and any(isinstance(r, DataNode) for r in returned):
        items = returned
    else:
        items = [returned]
    leaves = []
    form = [nested.take_apart(item, leaves, str(k)) for k, item in enumerate(items)]
    if hasattr(returned, "_fields") or any(not isinstance(part, int) for part in form):
        several = isinstance(returned, tuple) or items is returned
        pipeline.definition.form = nested.alike(returned, form) if several else form[0]
    nodes = []
    for k, item in leaves:
        if isinstance(item, (str, set)) or (
            isinstance(item, (list, tuple)) and any(isinstance(i, (list, tuple)) for i in item)
        ):
            raise TypeError(
                f"output {k} of the pipeline is of type {type(item).__name__}: outputs are values of the "
                "pipeline or constants, in tuples, lists and dictionaries"
            )
        nodes.append(item if isinstance(item, DataNode) else constant(item))
        free_nodes.join(nodes[-1], pipeline)
        if nodes[-1].pipeline is not pipeline:
            raise ValueError(f"output {k} belongs to another pipeline{free_nodes.rule_of(nodes[-1])}")
    return nodes
