# SPDX-License-Identifier: Apache-2.0
"""Data sets as they are written: in pieces, each of which is there as a whole or not at all."""

from __future__ import annotations

import os

from .. import _core
from ..storage.objects import put
from .fields import picture_ending, sum_of

_BLOCK = 1 << 22  # bytes


class PieceOfFile:
    """A file of a data set that is being written; it gets its name when it is complete.

    Args:
        folder: The folder of the data set.
        name: The name in it.
        lasting: Wait until the medium has it.
    """

    def __init__(self, folder, name, lasting=True):
        self.name, self.bytes, self.sum, self._lasting = name, 0, 0, lasting
        self._path = os.path.join(folder, name)
        self._partial = os.path.join(os.path.dirname(self._path), "." + os.path.basename(name) + ".partial")
        self._file = None
        self.closed = False

    def __enter__(self):
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        self._file = open(self._partial, "wb", buffering=1 << 20)
        return self

    def write(self, content):
        """Adds bytes.

        Args:
            content: The bytes.

        Returns:
            Their number.
        """
        self.sum = sum_of(content, self.sum)
        self.bytes += len(content)
        return self._file.write(content)

    def tell(self):
        """Returns how many bytes it has."""
        return self.bytes

    def flush(self):
        """Does nothing: it is complete when it is left."""

    def __exit__(self, kind, *_):
        self.closed = True
        if kind is None:
            self._file.flush()
            if self._lasting:
                os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            os.replace(self._partial, self._path)
        else:
            os.unlink(self._partial)

    def entry(self):
        """Returns what the manifest says of it."""
        return {"file": self.name, "bytes": self.bytes, "crc32c": f"{self.sum:08x}"}


class PieceOfObject:
    """The same in a bucket. Its bytes are in memory until all are there.

    Args:
        folder: The URL of the data set, which ends with a slash.
        name: The name in it.
    """

    def __init__(self, folder, name):
        self.name, self.bytes, self.sum, self._url, self._pieces = name, 0, 0, folder + name, []
        self.closed = False

    def __enter__(self):
        return self

    def write(self, content):
        """Adds bytes.

        Args:
            content: The bytes.

        Returns:
            Their number.
        """
        self._pieces.append(bytes(content))
        self.sum = sum_of(content, self.sum)
        self.bytes += len(content)
        return len(content)

    def tell(self):
        """Returns how many bytes it has."""
        return self.bytes

    def flush(self):
        """Does nothing: it is complete when it is left."""

    def __exit__(self, kind, *_):
        self.closed = True
        pieces, self._pieces = self._pieces, []
        if kind is None:
            put(self._url, pieces, self.bytes)

    def entry(self):
        """Returns what the manifest says of it."""
        return {"file": self.name, "bytes": self.bytes, "crc32c": f"{self.sum:08x}"}


class PictureFiles:
    """Pictures of a data set that are files of their own, each with a name that no other one has.

    Args:
        folder: The folder of the data set.
    """

    def __init__(self, folder):
        self.folder, self.taken = folder, set()

    def write(self, place, picture, record):
        """Writes a picture.

        Args:
            place: Its name in the folder, without an ending.
            picture: The bytes of its file.
            record: Where it came from.

        Returns:
            The name that it has, with an ending.

        Raises:
            DataError: It is not a picture of a known format.
        """
        ending = picture_ending(picture[:16])
        if not ending:
            raise _core.DataError(f"this is not a picture of a known format (file: {record})")
        name, again = f"{place}.{ending}", 1
        while name in self.taken:
            again += 1
            name = f"{place}-{again}.{ending}"
        with PieceOfFile(self.folder, name, lasting=False) as file:
            file.write(picture)
        self.taken.add(name)
        return name


class Target:
    """A data set that is written. A format derives a class of its own from this one.

    Args:
        folder: Its folder, or a URL that ends with a slash.
        fields: What a sample consists of.
        about: What is known of all samples.
        options: Those of convert().

    Attributes:
        fields: The fields as reading finds them.

    Raises:
        ValueError: The format cannot hold such samples.
    """

    name = ""
    ending = None  # of its files, where a piece is a file and does not depend on other pieces

    def __init__(self, folder, fields, about, options):
        self.folder, self.fields, self.about, self.options = folder, list(fields), dict(about), options
        self.prepare()

    def prepare(self):
        """Checks the fields, and changes `fields` where reading finds others.

        Raises:
            ValueError: The format cannot hold them.
        """

    def file_of(self, number):
        """Returns the name of a piece that is a file.

        Args:
            number: Its number, from 0.
        """
        return f"{number:06d}.{self.ending}"

    def new_file(self, name):
        """Returns a file or an object that is to be written.

        Args:
            name: Its name in the data set.
        """
        return (PieceOfObject if "://" in self.folder else PieceOfFile)(self.folder, name)

    def take(self, path, name):
        """Gives a file that another process has written its place.

        Args:
            path: Where it is.
            name: Its name in the data set.
        """
        if "://" not in self.folder:
            os.replace(path, os.path.join(self.folder, name))
            return
        with open(path, "rb") as file:
            put(self.folder + name, iter(lambda: file.read(_BLOCK), b""), os.path.getsize(path))
        os.unlink(path)

    def renamed(self, entry, number):
        """Returns what the manifest says of a piece that gets another number.

        Args:
            entry: What write() returned.
            number: The number.
        """
        return {**entry, "file": self.file_of(number)}

    def learn(self, values):
        """Learns what the first sample of the data set decides for all.

        Args:
            values: Its values, as stored() returned them.
        """

    def state(self):
        """Returns what learn() has learned, for JSON."""
        return None

    def restore(self, state):
        """Knows what the target of another process has learned.

        Args:
            state: What its state() returned.
        """

    def stored(self, values):
        """Returns the values as reading gives them back.

        Args:
            values: A value for each field.
        """
        return values

    def write(self, number, samples):
        """Writes a piece.

        Args:
            number: Its number, from 0.
            samples: (name, values, the file or record that it came from) of each sample; values as stored() returned
                them.

        Returns:
            What the manifest says of the piece: a dict with "file", "bytes" and "crc32c", or with "files".

        Raises:
            DataError: A sample cannot be written; the text names where it came from.
        """
        raise NotImplementedError

    def finish(self, entries):
        """Writes what belongs to all pieces. It may be called again after the program was killed in it.

        Args:
            entries: What write() returned, piece by piece.
        """

    def clean(self):
        """Removes what only the work itself needed."""

    def resume(self, entries):
        """Learns of the pieces that are there.

        Args:
            entries: What write() returned, piece by piece.
        """


def safe_name(key, record):
    """Returns the name of a sample as a path below a folder.

    Args:
        key: The name. It may come from a stranger.
        record: Where the sample came from.

    Raises:
        DataError: It is not such a path.
    """
    parts = key.split("/")
    if not key or "\0" in key or "\\" in key or any(p in ("", ".", "..") or len(p.encode()) > 200 for p in parts):
        raise _core.DataError(f"the name {key[:200]!r} of a sample cannot be that of a file (file: {record})")
    return key
