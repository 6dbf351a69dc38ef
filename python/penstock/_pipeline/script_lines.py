# SPDX-License-Identifier: Apache-2.0
"""Finds the line of the program where an argument is, to say what to change there."""

from __future__ import annotations

import ast
import functools
import linecache
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Change:
    """Says what to write instead in a line of the program.

    Args:
        place: "file.py:12"; "": not known.
        argument: The name of the argument.
        old: Its value there as text; None: it is not given.
        new: What to write.
        call: The function that is called there.
    """

    def __init__(self, place: str, argument: str, old: str | None, new: str, call: str = "") -> None:
        self.place, self.argument, self.old, self.new, self.call = place, argument, old, new, call

    def __str__(self) -> str:
        at = f" at {self.place}" if self.place else ""
        if self.old is not None:
            return f"`{self.argument}={self.old}` → `{self.new}`{at}"
        return f"add `{self.argument}={self.new}`" + (f" to `{self.call}(...)`" if self.call else "") + at

    def as_dict(self) -> dict[str, Any]:
        """Returns the change as texts: place, argument, old, new, text."""
        return {"place": self.place, "argument": self.argument, "old": self.old, "new": self.new, "text": str(self)}


def short(place):
    """A place without the working folder."""
    folder = os.getcwd() + os.sep
    return place[len(folder) :] if place.startswith(folder) else place


def _split(place):
    file, _, line = place.rpartition(":")
    return (file, int(line)) if line.isdigit() else (place, 0)


@functools.lru_cache(8)
def _calls_of(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # a notebook's cell with commands of its own, or no text at all
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _calls(file):
    text = "".join(linecache.getlines(file))
    return text, _calls_of(text)


def _name(call):
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _called(text, call):
    return ast.get_source_segment(text, call.func) or _name(call)


def find(places, argument, new, function=None):
    """The change of an argument: at the first of these places where it is given, else at the first place.

    Args:
        places: "file.py:12" of calls.
        argument: The name of the argument.
        new: The value to write.
        function: The last part of the name of the function that is called there; None: any.
    """
    first = None
    for place in places:
        file, line = _split(place)
        text, calls = _calls(file)
        here = [c for c in calls if c.lineno <= line <= (c.end_lineno or c.lineno)]
        here = [c for c in here if function is None or _name(c) == function]
        for call in sorted(here, key=lambda c: (c.lineno, -(c.end_lineno or 0)), reverse=True):
            for keyword in call.keywords:
                if keyword.arg == argument:
                    old = ast.get_source_segment(text, keyword.value)
                    return Change(short(f"{file}:{keyword.value.lineno}"), argument, old, str(new))
        if first is None and line:
            first = Change(short(place), argument, None, str(new), _called(text, here[0]) if here else "")
    return first or Change("", argument, None, str(new))
