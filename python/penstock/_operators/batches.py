# SPDX-License-Identifier: Apache-2.0
"""Batches that change: fn.filter, fn.expand, fn.flatten_batch, fn.rebatch."""

from __future__ import annotations

from .. import _graph as graph
from .._graph import DataNode, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

_NO_SOURCE = "works inside a pipeline's function, on values of the pipeline"


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
        node = graph.as_node(value)
        if node.pipeline is not pipeline:
            raise ValueError(f"[{kind}] {node!r} belongs to another pipeline\n  at {graph.user_line()}")
        nodes.append(node)
    return nested.put_together(form, graph.add_change(kind, deciding, nodes, constants))


def filter(*values: Any, keep: Any = None, min_batch: int = 1, too_few: Literal["skip", "error"] = "skip") -> Any:  # noqa: A001
    """Keeps the samples for which `keep` is true, in their order.

    A file that only decoders after the filter read is not read for samples that it drops. What is left keeps its
    random numbers. Values that the filter did not get cannot be used together with those that it gave.

    Args:
        *values: Values of the pipeline, also in tuples, lists and dictionaries. The last one is `keep` where that is
            not given by name.
        keep: One number for each sample, true if it is not 0, on either device.
        min_batch: With fewer samples left, `too_few` decides. 0 hands out batches without samples too. Inside a
            condition or loop: 0 or 1, of what is left after it.
        too_few: "skip": the iteration is left out and the next one takes its place; 1000 iterations in a row that
            are left out are an error. "error": an error says how many samples there were.

    Returns:
        The values of the new samples, in the form in which they were given.

    Raises:
        TypeError: There is no value, or no `keep`.
        ValueError: A value belongs to another pipeline.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1)
        ... def even():
        ...     numbers = fn.external_source([[np.int32(n) for n in range(4)]])
        ...     return fn.filter(numbers, keep=numbers % 2 == 0)
        >>> batch, = even().run()
        >>> batch.as_array().tolist()
        [0, 2]
    """
    if keep is None:
        if len(values) < 2:
            raise TypeError(f"[filter] needs values and keep\n  at {graph.user_line()}")
        *values, keep = values
    return _change(
        "filter", tuple(values), [graph.as_node(keep)], {"min_batch": int(min_batch), "too_few": str(too_few)}
    )


def expand(*values: Any, k: Any = None) -> Any:
    """Repeats each sample k times, one copy after the other.

    Copies share their memory. They differ in what random operators after it draw: their numbers depend on the sample
    and on which copy of it they are for, not on the batch.

    Args:
        *values: As in filter(). The last one is `k` where that is not given by name.
        k: A number, or one whole number for each sample, which may be 0.

    Returns:
        The values of the new samples, in the form in which they were given.

    Raises:
        TypeError: There is no value, or no `k`.
        ValueError: `k` is negative or not a whole number.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def twice():
        ...     return fn.expand(fn.external_source([[np.int32(1), np.int32(2)]]), k=2)
        >>> twice().run()[0].as_array().tolist()
        [1, 1, 2, 2]
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


def flatten_batch(*values: Any, repeat: Any = ()) -> Any:
    """Makes a sample of each entry of the first axis of a sample.

    Of crops (k, H, W, C) it makes k images (H, W, C). Nothing is copied. Random numbers after it are as after
    expand().

    Args:
        *values: As in filter(); those of one sample have the same first extent.
        repeat: Values, in the same forms, of which each sample is repeated for all entries, as labels are for the
            tiles of an image.

    Returns:
        The values of the new samples, in the form in which they were given; with `repeat` a tuple of both.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def entries():
        ...     return fn.flatten_batch(fn.external_source([[np.int32([5, 6, 7])]]))
        >>> entries().run()[0].as_array().tolist()
        [5, 6, 7]
    """
    flat = []
    nested.take_apart(values, flat)
    constants = {"flattened": len(flat)}
    if isinstance(repeat, tuple) and not repeat:
        return _change("flatten_batch", values, [], constants)
    first = values[0] if len(values) == 1 else values
    return _change("flatten_batch", (first, repeat), [], constants)


def rebatch(*values: Any, batch_size: int) -> Any:
    """Makes batches of `batch_size` samples, whatever the iterations hold.

    Samples wait until there are enough. What it gives can only be handed out, and then all outputs come from it. The
    last batch before the end of the data may be smaller; with the reader_name of an iterator, last_batch_policy says
    what becomes of the rest of an epoch. Checkpoints count the samples that were handed out.

    Args:
        *values: As in filter().
        batch_size: Samples of a batch.

    Returns:
        The values, in the form in which they were given.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def threes():
        ...     return fn.rebatch(fn.external_source([[np.int32(1), np.int32(2)]], cycle=True), batch_size=3)
        >>> threes().run()[0].as_array().tolist()
        [1, 2, 1]
    """
    return _change("rebatch", values, [], {"batch_size": int(batch_size)})
