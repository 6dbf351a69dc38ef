# SPDX-License-Identifier: Apache-2.0
"""Objects of remote storage as files of Python, for libraries that read such files."""

from __future__ import annotations

import io

from .. import _core

_AHEAD = 1 << 20  # bytes of a request


class _Remote(io.RawIOBase):
    """An object that a URL names."""

    def __init__(self, url):
        self._url, self._size, self._at = url, _core.remote_size(url), 0

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
            out[:length] = _core.remote_read(self._url, self._at, length)
        self._at += length
        return length


def opened(path):
    """Returns a file that can be read.

    Args:
        path: Its path or URL.
    """
    return io.BufferedReader(_Remote(path), _AHEAD) if "://" in path else open(path, "rb")
