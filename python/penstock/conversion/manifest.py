# SPDX-License-Identifier: Apache-2.0
"""The manifest of a data set that was converted: what it consists of, and the CRC-32C of each piece and of each sample.

A file of lines of JSON: first the head, then a line for each piece. While the work goes on it has another name, and says to the
next run what is complete.
"""

from __future__ import annotations

import fcntl
import json
import os

from .. import _core
from ..storage.objects import content_of, is_bucket
from .fields import field_of
from .places import is_folder

NAME = "penstock.manifest"
VERSION = 1


class Manifest:
    """What a data set consists of.

    Args:
        head: What the first line says.
        entries: What the other lines say.
    """

    def __init__(self, head, entries):
        self.head, self.entries = head, entries
        self.format, self.about = head["format"], head["about"]
        self.fields = [field_of(name, text) for name, text in head["fields"]]

    @property
    def count(self):
        """The number of samples."""
        return sum(entry["samples"] for entry in self.entries)

    def sums(self, entry):
        """Returns the CRC-32C of each sample of a piece.

        Args:
            entry: One of `entries`.
        """
        text = entry["sums"]
        return [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]


def line_of(line):
    """Returns a line as bytes.

    Args:
        line: What it says.
    """
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def lines_of(content, path):
    """Returns the lines that are complete, as objects.

    Args:
        content: The bytes.
        path: Where they are, for messages.

    Raises:
        DataError: A line is damaged.
    """
    made = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            made.append(json.loads(line))
            if not isinstance(made[-1], dict):
                raise ValueError("it is not an object")
        except (ValueError, RecursionError) as error:
            raise _core.DataError(f"the manifest is damaged: {error} (file: {path}, line {number})") from None
    return made


def checked(lines, path):
    """Returns the manifest that consists of lines.

    Args:
        lines: What lines_of() returns.
        path: Where they are, for messages.

    Raises:
        DataError: They are damaged.
    """
    head = lines[0] if lines else {}
    if head.get("penstock") != "conversion" or head.get("version") != VERSION:
        raise _core.DataError(f"this is not a manifest of version {VERSION} (file: {path}, line 1)")
    for number, entry in enumerate(lines[1:], 2):
        samples, sums = entry.get("samples"), entry.get("sums")
        good = isinstance(samples, int) and isinstance(sums, str) and len(sums) == 8 * samples
        if not good or not set(sums) <= set("0123456789abcdef"):
            raise _core.DataError(f"the manifest is damaged: no sum for each sample (file: {path}, line {number})")
        files = entry.get("files", [entry.get("file")])
        if not isinstance(files, list) or not all(_is_inside(f) for f in files):
            raise _core.DataError(f"the manifest is damaged: names of files (file: {path}, line {number})")
    try:
        return Manifest(head, lines[1:])
    except (KeyError, TypeError, ValueError) as error:
        raise _core.DataError(f"the manifest is damaged: {error!r} (file: {path}, line 1)") from None


def _is_inside(name):
    return isinstance(name, str) and name and not os.path.isabs(name) and ".." not in name.split("/")


def read_manifest(folder, absent=("missing",)):
    """Returns the manifest of a data set, None where it has none.

    Args:
        folder: Its folder, or its URL in a bucket.
        absent: Which answers of a server mean that it has none.

    Raises:
        DataError: It is damaged.
    """
    path = os.path.join(folder, NAME)
    if "://" in folder:
        content = content_of(path, absent) if is_bucket(folder) and is_folder(folder) else None
    elif os.path.isfile(path):
        with open(path, "rb") as file:
            content = file.read()
    else:
        content = None
    return content and checked(lines_of(content, path), path)


def compare(folder, before, now):
    """Compares the heads of two manifests.

    Args:
        folder: The folder of the data set.
        before: What an earlier run makes.
        now: What this run makes.

    Raises:
        ValueError: They differ.
    """
    other = sorted(key for key in {*before, *now} if before.get(key) != json.loads(json.dumps(now.get(key))))
    if other:
        raise ValueError(f"{folder} was begun with other data or arguments ({', '.join(other)}): give a new folder")


class Journal:
    """The manifest while it is written. One process at a time has it.

    Args:
        folder: The folder of the data set.
        head: What this run makes.

    Attributes:
        entries: The pieces that are complete.
        complete: Whether an earlier run has finished.

    Raises:
        ValueError: The folder has other files, the manifest of something else, or another process writes to it.
    """

    def __init__(self, folder, head):
        self._folder, self._path = folder, os.path.join(folder, f".{NAME}.partial")
        os.makedirs(folder, exist_ok=True)
        done = read_manifest(folder)
        self.complete, self.entries = done is not None, done.entries if done else []
        if done is not None:
            compare(folder, done.head, head)
        elif not os.path.exists(self._path) and os.listdir(folder):
            raise ValueError(f"{folder} is not empty: give a new folder, or one that an earlier run has begun")
        self._file = open(self._path, "a+b") if done is None else None
        if self._file is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise ValueError(f"another process writes to {folder}") from None
        self._begin(head)

    def _begin(self, head):
        self._file.seek(0)
        content = self._file.read()
        complete = content[: content.rfind(b"\n") + 1]  # what follows was cut when the program was killed
        if complete:
            before = checked(lines_of(complete, self._path), self._path)
            compare(self._folder, before.head, head)
            self.entries = before.entries
            self._file.truncate(len(complete))
        else:
            self._file.truncate(0)
            self._append(head)

    def _append(self, line):
        self._file.write(line_of(line))
        self._file.flush()
        os.fsync(self._file.fileno())

    def add(self, entry):
        """Notes a piece that is complete.

        Args:
            entry: What the line says.
        """
        self._append(entry)
        self.entries.append(entry)

    def finish(self):
        """Gives the manifest its name."""
        os.replace(self._path, os.path.join(self._folder, NAME))
        self.complete = True

    def close(self):
        """Lets other processes write."""
        if self._file is not None:
            self._file.close()
