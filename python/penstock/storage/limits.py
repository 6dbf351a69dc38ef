# SPDX-License-Identifier: Apache-2.0
"""How large and how slow an answer of remote storage may be."""

from __future__ import annotations

import re
import time
from urllib.parse import unquote, urlsplit

from .._base.public import public
from ..progress import Work

LARGE = 16 << 20  # bytes of a download that is shown: samples are many, and come side by side

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def bytes_of(size: int | str, name: str = "size") -> int:
    """Returns the number of bytes that a text names.

    Args:
        size: A number, or a text such as "500M" or "20G", with powers of 1024.
        name: What errors call the number.

    Raises:
        ValueError: It is not a number of bytes.

    Example:
        >>> penstock.storage.bytes_of("2K")
        2048
    """
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)[bB]?\s*", size)
        if not found:
            raise ValueError(f'[storage] {name} must be a number of bytes such as "500M" or "20G", got {size!r}')
        return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))
    if isinstance(size, bool) or not hasattr(size, "__index__") or size < 0:
        raise ValueError(f'[storage] {name} must be a number of bytes such as "500M" or "20G", got {size!r}')
    return int(size)


public("penstock.storage", bytes_of)


class Failed(Exception):
    """How a request ended. kind: "missing", "refused" or "passing"."""

    def __init__(self, text, kind="refused"):
        super().__init__(text)
        self.kind = kind


class Pace:
    """Ends an answer that comes too slowly: judge() raises Failed."""

    def __init__(self, settings):
        self.received = 0  # bytes of the body
        self._begin, self._slow = time.monotonic(), False
        self._patience, self._rate = float(settings["timeout"]), bytes_of(settings["least_rate"], "least_rate")

    def judge(self):
        seconds = time.monotonic() - self._begin
        slow = seconds > self._patience and self.received < self._rate * seconds
        if slow and self._slow:  # the first piece that comes too late may have been the last one
            raise Failed(
                f"the server sends too slowly: {self.received} bytes in {seconds:.1f} s, where least_rate is "
                f"{self._rate} a second"
            )
        self._slow = slow


class _Unshown:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def add(self, n):
        pass


def download(url, size):
    """Shows how much of a large object has come. A URL may hold secrets, the name of its file does not."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    return Work(f"download {name}", total=size, unit="B") if size >= LARGE else _Unshown()
