# SPDX-License-Identifier: Apache-2.0
"""How far long work is: lists of folders, indexes of files, tables of annotations, downloads, kernels of a GPU."""

from __future__ import annotations

import sys
import time

from . import _core
from ._base.public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["Work", "show", "steps"]

_QUIET, _BETWEEN = 2.0, 0.1  # seconds before a bar appears, and between two of its states
_chosen = True  # what show() was given
_bars = {}  # of work of the library, by its number


def show(bar: Any = True) -> None:
    """Says how this process shows work that takes longer than two seconds.

    Args:
        bar: True: a bar of tqdm, where tqdm is installed and the program has a terminal or is a notebook; as at the
            start. False: nothing. Or what makes bars, with tqdm's protocol: bar(desc=, total=, unit=, leave=) gives an
            object with update(n) and close(). total is None where it is not known.

    Raises:
        TypeError: It is something else.

    Example:
        >>> penstock.progress.show(False)
        >>> penstock.progress.show()
    """
    global _chosen
    if not isinstance(bar, bool) and not callable(bar):
        raise TypeError(f"show() takes True, False or a class with tqdm's protocol, got {type(bar).__name__}")
    _chosen = bar


def _maker():
    """What makes a bar; None: nothing is shown."""
    if not isinstance(_chosen, bool):
        return _chosen
    in_notebook = "ipykernel" in sys.modules
    if not _chosen or not (in_notebook or (sys.stderr is not None and sys.stderr.isatty())):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _bar(what, unit, total):
    make = _maker()
    if make is None:
        return None
    scaled = {"unit_scale": True, "unit_divisor": 1000} if unit == "B" and isinstance(_chosen, bool) else {}
    return make(desc=what, total=total, unit=unit, leave=False, **scaled)


def _told(number, what, unit, done, total, ended):
    """The library reports the state of a piece of work."""
    if number not in _bars and not ended:
        _bars[number] = [_bar(what, unit, total if total >= 0 else None), 0]
    bar, before = _bars.get(number, (None, 0))
    if bar is not None and done > before:
        bar.update(done - before)
        _bars[number][1] = done
    if ended and _bars.pop(number, None) and bar is not None:
        bar.close()


class Work:
    """Shows how far a piece of work is, after two seconds of it.

    Args:
        what: What is done.
        total: How many units it has; None: not known.
        unit: What is counted.

    Example:
        >>> with penstock.progress.Work("read", total=3, unit="file") as work:
        ...     for _ in range(3):
        ...         work.add(1)
    """

    def __init__(self, what: str, total: int | None = None, unit: str = "file") -> None:
        self._what, self._total, self._unit = what, total, unit
        self._bar, self._waits, self._next = None, 0, time.monotonic() + _QUIET
        self._quiet = True

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.update(self._waits)
            self._bar.close()

    def add(self, n: int = 1) -> None:
        """Counts units that are done.

        Args:
            n: Their number.
        """
        self._waits += n
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN
        if self._quiet:
            self._quiet, self._bar = False, _bar(self._what, self._unit, self._total)
        if self._bar is not None:
            self._bar.update(self._waits)
            self._waits = 0


def steps(items: Iterable[Any], what: str, total: int | None = None, unit: str = "file") -> Iterable[Any]:
    """Gives items one by one, and shows how many there were.

    Args:
        items: The items.
        what: What is done with them.
        total: Their number; None: that of a list, else not known.
        unit: What one is called.

    Returns:
        A generator.

    Example:
        >>> list(penstock.progress.steps(["a", "b"], "read"))
        ['a', 'b']
    """
    with Work(what, len(items) if total is None and hasattr(items, "__len__") else total, unit) as work:
        for item in items:
            yield item
            work.add(1)


def listen():
    """Lets the library report to this module; called before readers are made."""
    _core.set_progress(_told, _QUIET)


public(__name__, Work, show, steps)
