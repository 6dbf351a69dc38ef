# SPDX-License-Identifier: Apache-2.0
"""The manifest of a data set in a bucket while it is written: an object for the head and one for each piece that is complete, because
nothing can be added to an object."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from .. import _core
from .._base.log import warn
from ..storage.objects import content_of, put, put_new, remove, sizes_below
from .manifest import NAME, checked, compare, line_of, lines_of, read_manifest

_MARKS = f".{NAME}.partial/"
_AT_ONCE = 16  # requests


class Marks:
    """A Journal in a bucket. Two processes that write the same write the same objects, so that neither has to wait.

    Args:
        folder: The URL of the data set, which ends with a slash.
        head: What this run makes.

    Attributes:
        entries: The pieces that are complete.
        complete: Whether an earlier run has finished.

    Raises:
        ValueError: There are other objects, or the manifest of something else.
        DataError: The server does not take or does not list objects.
    """

    def __init__(self, folder, head):
        self._folder, self._head = folder, head
        done = read_manifest(folder)
        self.complete, self.entries = done is not None, done.entries if done else []
        there = sizes_below(folder)
        self._marks = sorted(name for name in there if name.startswith(_MARKS))
        if done is not None:
            compare(folder, done.head, head)
            self._remove()
        elif there and not self._marks:
            raise ValueError(f"{folder} is not empty: give a new folder, or one that an earlier run has begun")
        else:
            self._begin(there)

    def _begin(self, there):
        head = self._folder + _MARKS + "head"
        if not put_new(head, line_of(self._head)):
            before = checked(lines_of(content_of(head) or b"", head), head)
            compare(self._folder, before.head, self._head)
        numbered = [name for number, name in enumerate(self._marks) if name == self._name(number)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            contents = pool.map(lambda name: content_of(self._folder + name), numbered)
            for name, content in zip(numbered, contents):
                path = self._folder + name
                (entry,) = checked([self._head, *lines_of(content or b"", path)], path).entries or [None]
                if entry is None or there.get(entry.get("file")) != entry.get("bytes", -1):
                    break  # it was removed or replaced: it and what follows are written again
                self.entries.append(entry)

    @staticmethod
    def _name(number):
        return f"{_MARKS}{number:06d}"

    def add(self, entry):
        """Notes a piece that is complete.

        Args:
            entry: What the mark says.
        """
        name, line = self._name(len(self.entries)), line_of(entry)
        put(self._folder + name, [line], len(line))
        self._marks.append(name)
        self.entries.append(entry)

    def finish(self):
        """Writes the manifest."""
        lines = [line_of(line) for line in (self._head, *self.entries)]
        put(self._folder + NAME, lines, sum(map(len, lines)))
        self.complete = True
        self._marks.append(_MARKS + "head")
        self._remove()

    def _remove(self):
        try:
            remove(self._folder, sorted({*self._marks}))
        except _core.DataError as error:  # the data set is complete without it
            warn("convert", str(error))

    def close(self):
        """Does nothing: others may write."""
