# SPDX-License-Identifier: Apache-2.0
"""Signatures of the forms of rows, whose texts calls.py explains; and which operators penstock.fn has."""

import inspect

from .. import _core, fn
from . import enumerations, formats
from .images import ImageBatchVarShape
from .tensor_batches import TensorBatch
from .tensors import Tensor

KINDS_OF = {"T": Tensor, "V": ImageBatchVarShape, "B": TensorBatch, "L": (list, tuple)}
_names = {n: getattr(enumerations, n) for n in enumerations.NAMES} | {"Type": formats.Type, "Format": formats.Format}


def signature_of(form, into, by_dst):
    """(letter, signature) of a form; into: False, True, or the parameters as text."""
    kind, _, text = form.partition(":")
    parts = [p.strip() for p in text.split(",")] if into is None or not isinstance(into, str) else into.split(",")
    parts = _joined([p.strip() for p in parts])
    if into is True:
        parts = ["dst", *[p for p in parts if p.partition("=")[0] not in by_dst]]
    if "*" not in parts:
        parts.append("*")
    if parts[-1] == "*" or "*" in parts:
        parts.append("stream=None")
    return kind, inspect.signature(eval(f"lambda {', '.join(parts)}: 0", dict(_names)))


def _joined(parts):
    """Puts together what a comma inside parentheses has cut."""
    whole = []
    for part in parts:
        if whole and whole[-1].count("(") > whole[-1].count(")"):
            whole[-1] += ", " + part
        else:
            whole.append(part)
    return whole


def found(name):
    """An operator of penstock.fn, or an error that says that it is not there."""
    there = fn
    for part in name.split("."):
        there = getattr(there, part, None)
    if there is None:
        raise NotImplementedError(f"this version of Penstock has no fn.{name}, which this call needs")
    return there


def exists(name):
    """Whether penstock.fn has an operator."""
    return name in _core.operators()


def takes(name, argument):
    """Whether an operator has an argument."""
    return exists(name) and any(a["name"] == argument for a in _core.operator_schema(name)["args"])
