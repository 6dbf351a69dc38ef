# SPDX-License-Identifier: Apache-2.0
"""x[key] of values of a pipeline: numbers, slices, masks and lists as the arguments of operators."""

from .._base.element_types import DType
from .._base.frames import user_line
from .building import add_node, constant, stacked
from .node import DataNode, holds_node, is_new_axis


def picking_index(key):
    """(suffix of the operators, index as a node) of a boolean mask or a list of integers; None for other indices."""
    if not isinstance(key, DataNode):
        if isinstance(key, (list, tuple)) and holds_node(key) and isinstance(key, list):
            key = stacked("_take", "index", key)
        elif isinstance(key, list) or (getattr(key, "ndim", 0) and hasattr(key, "dtype")):
            key = constant(key)
        else:
            return None
    if not key.ndim:
        return None
    return ("where" if key.dtype == DType.BOOL else "at"), key


def split_picking(key):
    """(numbers and slices, mask or list) of an index that has both: x[mask, 0] is x[:, 0][mask]. None where it is
    not such a one, or comes after a slice, where NumPy changes the order of the axes."""
    if not isinstance(key, tuple):
        return None
    places = [
        k
        for k, item in enumerate(key)
        if not isinstance(item, slice)
        and item is not Ellipsis
        and not is_new_axis(item)
        and (isinstance(item, list) or getattr(item, "ndim", 0))
    ]
    if (
        len(places) != 1
        or any(isinstance(i, slice) or i is Ellipsis for i in key[: places[0]])
        or any(map(is_new_axis, key))
    ):
        return None
    picking = picking_index(key[places[0]])
    whole = (slice(None),) * (picking[1].ndim if picking[0] == "where" else 1)
    return key[: places[0]] + whole + key[places[0] + 1 :], picking[1]


def index_arguments(node, key):
    """(arguments of _subscript, [(place, name) of new axes]) for node[key]."""
    items = key if isinstance(key, tuple) else (key,)
    given = sum(1 for i in items if not is_new_axis(i) and i is not Ellipsis)
    if sum(1 for i in items if i is Ellipsis) > 1:
        raise IndexError("an index can only have one ellipsis ('...')")
    arguments, new_axes, names, dim, out = {}, [], [], 0, 0
    for item in items:
        if item is Ellipsis:
            if node.ndim is None:
                raise NotImplementedError("'...' needs a value whose number of dimensions is known before data flow")
            skipped = node.ndim - given
            dim, out = dim + skipped, out + skipped
        elif is_new_axis(item):
            new_axes.append(out)
            names.append(getattr(item, "name", None))
            out += 1
        elif isinstance(item, slice):
            for part, name in ((item.start, "lo"), (item.stop, "hi"), (item.step, "step")):
                if part is not None:
                    arguments[f"{name}_{dim}"] = part
            dim, out = dim + 1, out + 1
        elif isinstance(item, list) or (isinstance(item, DataNode) and item.ndim):
            raise TypeError(
                f"only one mask or list of indices is allowed in the brackets, and not after a slice\n  at {user_line()}"
            )
        elif isinstance(item, DataNode) or hasattr(item, "__index__"):
            if isinstance(item, bool) or (isinstance(item, DataNode) and item.dtype == DType.BOOL):
                raise TypeError("True and False are not indices")
            arguments[f"at_{dim}"] = item
            dim += 1
        else:
            raise TypeError(
                f"an index is a number, a slice, a value of the pipeline, newaxis or '...', not {type(item).__name__}"
            )
    return arguments, list(zip(new_axes, names))


def subscript(node, key):
    picking = picking_index(key)
    if picking is not None:
        return add_node("_select_where" if picking[0] == "where" else "_take", (node, picking[1]), {})
    mixed = split_picking(key)
    if mixed is not None:
        return subscript(subscript(node, mixed[0]), mixed[1])
    arguments, new_axes = index_arguments(node, key)
    result = add_node("_subscript", (node,), arguments) if arguments else node
    if new_axes:
        options = {"axes": [axis for axis, _ in new_axes]}
        names = [name for _, name in new_axes]
        if all(names):
            options["new_axis_names"] = "".join(names)
        result = add_node("expand_dims", (result,), options)
    return result
