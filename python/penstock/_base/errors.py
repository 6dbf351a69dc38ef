# SPDX-License-Identifier: Apache-2.0
"""Errors that are both what Penstock raises and RuntimeError, which scripts for DALI expect."""

from .frames import PACKAGE
from .public import public

KINDS = (ValueError, TypeError, IndexError, KeyError, OverflowError, FileNotFoundError)


class OperatorError(RuntimeError):
    """An operator or a pipeline refused something. Subclasses also derive from ValueError, TypeError and so on."""


public("penstock.dali.errors", OperatorError)
_classes = {
    kind: type(
        f"Operator{kind.__name__}",
        (kind, OperatorError),
        {"__module__": OperatorError.__module__, "__doc__": f"A {kind.__name__} that is a RuntimeError too."},
    )
    for kind in KINDS
}


def _is_ours(error):
    """Whether the exception comes from this package, and not from a function of the program that it called."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename.startswith(PACKAGE)


def raise_again(error):
    """Raises the exception, as a RuntimeError too where it is one of KINDS and of this package."""
    made = _classes.get(type(error))
    if made is None or not _is_ours(error):
        raise error
    again = made(*error.args, error.filename) if isinstance(error, OSError) and error.filename else made(*error.args)
    again.__dict__.update(error.__dict__)
    raise again.with_traceback(error.__traceback__) from error.__cause__
