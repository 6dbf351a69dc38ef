# SPDX-License-Identifier: Apache-2.0
"""Errors of the service, and how an error of a worker's pipeline reaches the trainer: its type and its whole text."""

from __future__ import annotations

import builtins

from .. import _core
from .._base.errors import KINDS
from .._base.public import public
from .._operators.python_function import FunctionError
from .._workers.pool import WorkerError

_TYPES = {
    kind.__name__: kind for kind in (*KINDS, MemoryError, RuntimeError, _core.DataError, FunctionError, WorkerError)
}
MOST_TEXT = 1 << 16  # characters of an error that cross the wire


class ServiceError(RuntimeError):
    """Says that a trainer and a worker cannot work together, or what went wrong between them."""


class ProtocolError(ServiceError):
    """Says that what came through a connection is not what Penstock sends, or was damaged on its way."""


public("penstock.service", ServiceError, ProtocolError)


def told(error: BaseException) -> dict[str, str]:
    """An error as texts."""
    name = type(error).__name__
    kind = name if _TYPES.get(name) is type(error) else ""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return {
        "kind": kind,
        "name": f"{type(error).__module__}.{name}".removeprefix("builtins."),
        "text": text[:MOST_TEXT],
    }


def raised(words: dict[str, str], worker: str) -> Exception:
    """The error that told() made texts of, to raise in the trainer. `worker`: who says it."""
    kind, text = _TYPES.get(words["kind"]), words["text"]
    if kind is None:
        found = getattr(builtins, words["name"], None)
        kind = found if isinstance(found, type) and issubclass(found, ArithmeticError) else ServiceError
        text = f"{words['name']}: {text}"
    error = kind(text)
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"made by the worker {worker}")
    return error
