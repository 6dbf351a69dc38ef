# SPDX-License-Identifier: Apache-2.0
"""readers.mix: samples of several readers, by weight."""

from . import graph


def _nodes(source, number):
    """What a reader's call returned: a value, a list or a dict of values."""
    values = (
        list(source.values())
        if isinstance(source, dict)
        else list(source)
        if isinstance(source, (list, tuple))
        else [source]
    )
    for value in values:
        if not isinstance(value, graph.DataNode):
            raise TypeError(
                f"[readers.mix] source {number} holds {type(value).__name__}: a source is what a reader's call gives"
            )
    if not values:
        raise ValueError(f"[readers.mix] source {number} is empty")
    return values


def mix(read, sources, weights=None, *, source_ids=False, **arguments):
    """fn.readers.mix over `read`, the operator itself."""
    if isinstance(sources, (dict, graph.DataNode)) or not hasattr(sources, "__iter__"):
        raise TypeError("[readers.mix] sources is a list with what each reader's call gives")
    sources = list(sources)
    if not sources:
        raise ValueError("[readers.mix] no sources")
    for unknown in ("random_shuffle", "shuffle", "shuffle_after_epoch", "stick_to_shard", "initial_fill"):
        if unknown in arguments:
            raise TypeError(
                f"[readers.mix] there is no argument '{unknown}': each source says itself whether and how it is shuffled"
            )
    nodes = [_nodes(source, k) for k, source in enumerate(sources)]
    pipeline = nodes[0][0].pipeline
    first = nodes[0]
    for k, own in enumerate(nodes):
        if len(own) != len(first):
            raise ValueError(
                f"[readers.mix] source 0 ({_called(pipeline, first)}) gives {len(first)} values, source {k} "
                f"({_called(pipeline, own)}) {len(own)}"
            )
    dicts = [source for source in sources if isinstance(source, dict)]
    keys = list(dicts[0]) if len(dicts) == len(sources) else None
    if keys is not None:
        for k, source in enumerate(sources):
            if set(source) != set(keys):
                raise ValueError(
                    f"[readers.mix] source 0 ({_called(pipeline, first)}) gives {', '.join(map(repr, keys))}, source {k} "
                    f"({_called(pipeline, nodes[k])}) {', '.join(map(repr, source))}"
                )
        nodes = [[source[key] for key in keys] for source in sources]
    if weights is not None:
        arguments["weights"] = [float(w) for w in weights]
        if len(arguments["weights"]) != len(sources):
            raise ValueError(f"[readers.mix] {len(arguments['weights'])} weights for {len(sources)} sources")
    arguments = {k: v for k, v in arguments.items() if v is not None}
    values = read(
        *(node for own in nodes for node in own), num_outputs=len(first), source_ids=bool(source_ids), **arguments
    )
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if keys is None:
        return values[0] if len(values) == 1 else values
    made = dict(zip(keys, values))
    return (made, values[-1]) if source_ids else made


def _called(pipeline, nodes):
    return f"'{pipeline._graph.name_of(nodes[0].node)}'"
