# SPDX-License-Identifier: Apache-2.0
"""Objects of remote storage as files of Python, for libraries that read such files."""

from __future__ import annotations

import io

from .. import _core

_AHEAD = 1 << 20  # bytes of a request


class RemoteObject(io.RawIOBase):
    """An object that a URL names.

    Args:
        url: The URL.

    Raises:
        FileNotFoundError: There is no such object.
        DataError: The server does not answer; or, where the object is read, it has changed.
    """

    def __init__(self, url):
        self._file, self._at = _core.RemoteFile(url), 0
        self._size = self._file.size()

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, out):
        length = max(0, min(len(out), self._size - self._at))
        if length:
            out[:length] = self._file.read(self._at, length)
        self._at += length
        return length


def opened(path):
    """Returns a file that can be read.

    Args:
        path: Its path or URL.
    """
    return io.BufferedReader(RemoteObject(path), _AHEAD) if "://" in path else open(path, "rb")
