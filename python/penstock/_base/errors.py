# SPDX-License-Identifier: Apache-2.0
"""Errors that are what Penstock raises and also what DALI raises in its place, which scripts for DALI expect."""

from .frames import PACKAGE
from .public import public

KINDS = (ValueError, TypeError, IndexError, KeyError, OverflowError, FileNotFoundError, UnboundLocalError)


class OperatorError(RuntimeError, ValueError, TypeError):
    """An operator or a pipeline refused something. DALI raises RuntimeError, ValueError or TypeError there: this is all of
    them. Subclasses also derive from IndexError, FileNotFoundError and so on."""


public("penstock.dali.errors", OperatorError)
_classes = {
    kind: type(
        f"Operator{kind.__name__}",
        (OperatorError,) if issubclass(OperatorError, kind) else (kind, OperatorError),
        {"__module__": OperatorError.__module__, "__doc__": f"A {kind.__name__} that is an OperatorError too."},
    )
    for kind in KINDS
}


def is_ours(error):
    """Whether the exception comes from this package, and not from a function of the program that it called."""
    if getattr(error, "_penstock_raised", False):
        return True
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename.startswith(PACKAGE)


def raise_again(error):
    """Raises the exception, as an OperatorError too where it is one of KINDS and of this package."""
    made = _classes.get(type(error))
    if made is None or not is_ours(error):
        raise error
    again = made(*error.args, error.filename) if isinstance(error, OSError) and error.filename else made(*error.args)
    again.__dict__.update(error.__dict__)
    raise again.with_traceback(error.__traceback__) from error.__cause__
