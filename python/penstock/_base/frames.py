# SPDX-License-Identifier: Apache-2.0
"""Tells lines of the program from lines of this package."""

import contextlib
import os
import sys
import threading

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MODULES = __name__.partition(".")[0] + "."

_of_thread = threading.local()


@contextlib.contextmanager
def at_line(line):
    """What is made inside belongs to a line of the program that ran before.

    Args:
        line: What user_line() gave there.
    """
    before = getattr(_of_thread, "line", None)
    _of_thread.line = line
    try:
        yield
    finally:
        _of_thread.line = before


def _ours(frame):
    # A program that this package wrote as text has no file; its module is called as if it were of the package.
    name = frame.f_globals.get("__name__") or ""
    return frame.f_code.co_filename.startswith(PACKAGE) or name.startswith(_MODULES)


def user_line():
    """Returns file and line of the program's code that runs, for messages."""
    if line := getattr(_of_thread, "line", None):
        return line
    frame = sys._getframe(1)
    while frame is not None and _ours(frame):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def user_level():
    """The stacklevel, for the caller, of the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _ours(frame):
        level, frame = level + 1, frame.f_back
    return level
