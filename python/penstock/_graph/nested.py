# SPDX-License-Identifier: Apache-2.0
"""Outputs of pipelines in dictionaries, lists and tuples: taken apart into a flat list, and put together again."""

from .node import DataNode


def is_nested(item):
    """Whether an output is a container of outputs. A list or tuple of plain numbers is a constant."""
    if isinstance(item, dict):
        return True
    return isinstance(item, (list, tuple)) and any(isinstance(i, DataNode) or is_nested(i) for i in item)


def alike(container, items):
    """Returns items in a list or tuple of a container's kind; a named tuple keeps its names.

    Args:
        container: The list or tuple.
        items: The items.
    """
    if isinstance(container, list):
        return list(items)
    return type(container)(*items) if hasattr(container, "_fields") else tuple(items)


def take_apart(returned, leaves, path=""):
    """Appends (path, output) to `leaves`; returns the form, with the number of each leaf in its place."""
    if isinstance(returned, dict):
        return {key: take_apart(item, leaves, f"{path}[{key!r}]") for key, item in returned.items()}
    if is_nested(returned):
        return alike(returned, [take_apart(item, leaves, f"{path}[{k}]") for k, item in enumerate(returned)])
    leaves.append((path, returned))
    return len(leaves) - 1


def put_together(form, values):
    """Returns a form with values[k] in the place of leaf k.

    Args:
        form: Numbers of leaves in tuples, lists and dicts.
        values: The values.
    """
    if isinstance(form, dict):
        return {key: put_together(item, values) for key, item in form.items()}
    if isinstance(form, int):
        return values[form]
    return alike(form, [put_together(item, values) for item in form])
