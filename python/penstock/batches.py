# SPDX-License-Identifier: Apache-2.0
"""Batches that change: fn.filter, fn.expand, fn.flatten_batch, fn.rebatch."""

from . import graph, nested
from .graph import DataNode

_NO_SOURCE = "works inside of a pipeline's function, on values of the pipeline"


def _change(kind, values, deciding, constants):
    """(values of the new samples, in the form they were given in)"""
    if not values:
        raise TypeError(f"[{kind}] needs a value\n  at {graph.user_line()}")
    pipeline = graph.current()
    if pipeline is None:
        raise RuntimeError(f"[{kind}] {_NO_SOURCE}\n  at {graph.user_line()}")
    returned = values[0] if len(values) == 1 else values
    leaves = []
    form = nested.take_apart(returned, leaves)
    nodes = []
    for _, value in leaves:
        node = graph._as_node(value)
        if node.pipeline is not pipeline:
            raise ValueError(f"[{kind}] {node!r} belongs to another pipeline\n  at {graph.user_line()}")
        nodes.append(node)
    index = pipeline._graph.add_change(kind, [*deciding, *nodes], constants, graph.user_line())
    return nested.put_together(form, [DataNode(pipeline, index, k) for k in range(len(nodes))])


def filter(*values, keep=None, min_batch=1, too_few="skip"):  # noqa: A001  the operator's name
    """The samples for which `keep` is true, in their order: fn.filter(images, labels, keep) gives both.

    values: values of the pipeline, also in tuples, lists and dictionaries; returned in the same form. The last one is
    `keep` where that is not given by name: one number per sample, true if it is not 0, on either device. A file that only
    decoders behind the filter read is not read for samples that it drops.
    min_batch: with fewer samples left, the iteration is left out and the next one takes its place (too_few="skip"), or an
    error says how many there were (too_few="error"). min_batch=0 hands out batches without samples too. 1000 iterations in a
    row that are left out are an error. Inside of a condition or loop: 0 or 1, of what is left behind it, and too_few="skip".
    What is left keeps its random numbers. Values that the filter did not get cannot be used together with those that it gave.
    """
    if keep is None:
        if len(values) < 2:
            raise TypeError(f"[filter] needs values and keep\n  at {graph.user_line()}")
        *values, keep = values
    return _change(
        "filter", tuple(values), [graph._as_node(keep)], {"min_batch": int(min_batch), "too_few": str(too_few)}
    )


def expand(*values, k=None):
    """Each sample k times, one after the other: fn.expand(image, 8), or fn.expand(image, label, k=n).

    values: as in filter(). k: a number, or one whole number per sample, which may be 0; the last value where it is not given
    by name. Children share their memory and differ in what random operators behind it draw: their numbers depend on the sample
    and on which child of it they are for, not on the batch.
    """
    if k is None:
        if len(values) < 2:
            raise TypeError(f"[expand] needs values and k\n  at {graph.user_line()}")
        *values, k = values
    if isinstance(k, DataNode):
        return _change("expand", tuple(values), [k], {})
    if not hasattr(k, "__index__") or k < 0:
        raise ValueError(f"[expand] k must be a whole number that is not negative, got {k!r}\n  at {graph.user_line()}")
    return _change("expand", tuple(values), [], {"k": k.__index__()})


def flatten_batch(*values, repeat=()):
    """The entries of the first axis of each sample become samples: of crops (k, H, W, C), k images (H, W, C).

    values: as in filter(); those of one sample have the same first extent. repeat: values, in the same forms, of which each
    sample is repeated for all entries, as labels are for the tiles of an image; then the result is a tuple of both. Nothing is
    copied. Random numbers behind it are as behind expand().
    """
    flat = []
    nested.take_apart(values, flat)
    constants = {"flattened": len(flat)}
    if isinstance(repeat, tuple) and not repeat:
        return _change("flatten_batch", values, [], constants)
    first = values[0] if len(values) == 1 else values
    return _change("flatten_batch", (first, repeat), [], constants)


def rebatch(*values, batch_size):
    """Batches of `batch_size` samples, whatever the iterations hold: samples wait until there are enough.

    values: as in filter(). What it gives can only be handed out, and then all outputs come from it. The last batch before the
    data end may be smaller; with an iterator's reader_name, last_batch_policy says what becomes of the rest of an epoch.
    Checkpoints count the samples that were handed out.
    """
    return _change("rebatch", values, [], {"batch_size": int(batch_size)})
