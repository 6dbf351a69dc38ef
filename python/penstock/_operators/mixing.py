# SPDX-License-Identifier: Apache-2.0
"""readers.mix: samples of several readers, by weight."""

from .. import _core, _graph as graph


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


def _check_arguments(arguments):
    for unknown in ("random_shuffle", "shuffle", "shuffle_after_epoch", "stick_to_shard", "initial_fill"):
        if unknown in arguments:
            raise TypeError(
                f"[readers.mix] there is no argument '{unknown}': each source says itself whether and how it is shuffled"
            )


def _values_of(sources):
    """The values of each source, in the same order in all, and their keys if all sources are dicts, else None."""
    nodes = [_nodes(source, k) for k, source in enumerate(sources)]
    first = nodes[0]
    for k, own in enumerate(nodes):
        if len(own) != len(first):
            raise ValueError(
                f"[readers.mix] source 0 ({_called(first)}) gives {len(first)} values, source {k} "
                f"({_called(own)}) {len(own)}"
            )
    if not all(isinstance(source, dict) for source in sources):
        return nodes, None
    keys = list(sources[0])
    for k, source in enumerate(sources):
        if set(source) != set(keys):
            raise ValueError(
                f"[readers.mix] source 0 ({_called(first)}) gives {', '.join(map(repr, keys))}, source {k} "
                f"({_called(nodes[k])}) {', '.join(map(repr, source))}"
            )
    return [[source[key] for key in keys] for source in sources], keys


def mix(sources, weights=None, *, source_ids=False, **arguments):
    """Mixes readers by weight.

    Each sample is one of the source that the order of the epoch says. An epoch holds the exact share of each source,
    spread evenly in random order. A source whose samples are all read begins again with the order of its next epoch:
    no sample is read twice before all of its source are read once. Each source says itself whether it is shuffled.
    Value k has one type in all sources, or is a signed integer: then the result has the widest type.

    Args:
        sources: A list with what the call of each reader gives: a value, a list or a dict of values, as many in each.
        weights: One number for each source; omitted: as often as it has samples.
        source_ids: Adds a value: the number of the source that a sample comes from.
        **arguments: `stop` ("first" or "all": which source ends an epoch where weights are given), `size` (samples
            of an epoch, instead of `stop`), `num_shards`, `shard_id`, `pad_last_batch`, `name` and `seed`, as
            readers have them.

    Returns:
        Values of the pipeline, in the form of a source.

    Raises:
        TypeError: A source holds something else than values of the pipeline.
        ValueError: The sources differ in their number of values, or there are none.

    Example:
        @pipeline_def(batch_size=32)
        def photos():
            sources = [fn.readers.file(file_root=folder) for folder in ("day", "night")]
            jpegs, labels = fn.readers.mix(sources, weights=[0.75, 0.25])
            return fn.decoders.image(jpegs), labels
    """
    read = _core.operator_function("readers.mix")
    if isinstance(sources, (dict, graph.DataNode)) or not hasattr(sources, "__iter__"):
        raise TypeError("[readers.mix] sources is a list with what each reader's call gives")
    sources = list(sources)
    if not sources:
        raise ValueError("[readers.mix] no sources")
    _check_arguments(arguments)
    nodes, keys = _values_of(sources)
    if weights is not None:
        arguments["weights"] = [float(w) for w in weights]
        if len(arguments["weights"]) != len(sources):
            raise ValueError(f"[readers.mix] {len(arguments['weights'])} weights for {len(sources)} sources")
    arguments = {k: v for k, v in arguments.items() if v is not None}
    values = read(
        *(node for own in nodes for node in own), num_outputs=len(nodes[0]), source_ids=bool(source_ids), **arguments
    )
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if keys is None:
        return values[0] if len(values) == 1 else values
    made = dict(zip(keys, values))
    return (made, values[-1]) if source_ids else made


def _called(nodes):
    return f"'{nodes[0].name}'"
