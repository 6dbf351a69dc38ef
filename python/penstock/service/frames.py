# SPDX-License-Identifier: Apache-2.0
"""Frames: what goes through a connection. A header of fixed size, a description in JSON, and bytes.

Nothing that comes from a peer is unpickled or executed, and each size is compared with a limit before memory is taken.
"""

from __future__ import annotations

import json
import socket
import struct
import threading

from .. import _core
from .errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MARK = b"PSv1"
_HEADER = struct.Struct("<4sB3xIQII")  # mark, kind, bytes of the description, bytes that follow it, the sums of both
_SUMMED = _HEADER.size - 4 - 4  # the sum of the description begins with these bytes of the header
CHALLENGE, HELLO, WELCOME, REFUSED, ASK, DROP, BATCH, ERROR, END, LEAVING, RELEASE = range(1, 12)
MOST_DESCRIPTION = 8 << 20  # bytes; a batch names the shape and the file of each sample
MOST_OF_STRANGERS = 1 << 16  # from a peer that has not shown the key
_SCRAP = 1 << 16


def crc32c(memory: Any, before: int = 0) -> int:
    """The CRC-32C of bytes or of a NumPy array, without the GIL."""
    import numpy

    array = memory if isinstance(memory, numpy.ndarray) else numpy.frombuffer(memory, numpy.uint8)
    return _core.crc32c(array.ctypes.data, array.nbytes, before) if array.nbytes else before


def packed(kind: int, description: Any, following: int = 0, sum_of_following: int = 0) -> bytes:
    """The header and the description of a frame."""
    text = json.dumps(description, separators=(",", ":")).encode()
    head = _HEADER.pack(_MARK, kind, len(text), following, 0, sum_of_following)
    return head[:_SUMMED] + struct.pack("<II", crc32c(head[:_SUMMED] + text), sum_of_following) + text


class Frame:
    """What a connection has received.

    Attributes:
        kind: One of the kinds above.
        description: A dict.
        following, sum: Bytes that follow, which the receiver must take, and their CRC-32C.
        files: Descriptors that came with it, through a UNIX socket.
    """

    __slots__ = ("kind", "description", "following", "sum", "files")

    def __init__(self, kind, description, following, sum_of_following, files):
        self.kind, self.description, self.following, self.sum = kind, description, following, sum_of_following
        self.files = files


class Connection:
    """Frames over a socket. Any thread may send; one receives.

    Args:
        end: A socket that is connected; the connection closes it.
        name: The peer, for messages.
    """

    def __init__(self, end: socket.socket, name: str) -> None:
        self.end, self.name, self._sending = end, name, threading.Lock()
        self.most_description, self.most_following = MOST_OF_STRANGERS, 0

    def trust(self, most_following: int) -> None:
        """The peer has shown the key: it may send larger frames."""
        self.most_description, self.most_following = MOST_DESCRIPTION, most_following

    def send(
        self, kind: int, description: Any, parts: Sequence[memoryview] = (), total: int = 0, checksum: int = 0, files=()
    ) -> None:
        """Sends a frame; `parts`: the bytes that follow, `total` of them."""
        head = packed(kind, description, total, checksum)
        with self._sending:
            if files:
                socket.send_fds(self.end, [head[:1]], files)
                head = head[1:]
            self.end.sendall(head)
            for part in parts:
                self.end.sendall(part)

    def receive(self) -> Frame:
        """Waits for a frame.

        Raises:
            EOFError: The peer has closed the connection.
            ProtocolError: It is not a frame, is damaged, or is larger than it may be.
        """
        head = bytearray(_HEADER.size)
        files = self._begin(head)
        mark, kind, size, following, checksum, sum_of_following = _HEADER.unpack(head)
        if mark != _MARK or not CHALLENGE <= kind <= RELEASE:
            raise ProtocolError(f"{self.name} does not speak this version of the protocol: {bytes(head[:8])!r}")
        if size > self.most_description or following > self.most_following:
            raise ProtocolError(
                f"{self.name} announces {size} + {following} bytes; at most {self.most_description} + {self.most_following} "
                "are taken: see max_batch_bytes"
            )
        text = bytearray(size)
        self.receive_into(memoryview(text))
        if crc32c(bytes(head[:_SUMMED]) + text) != checksum:
            raise ProtocolError(f"a frame of {self.name} was damaged on its way: its CRC-32C differs")
        return Frame(kind, _object_of(text, self.name), following, sum_of_following, files)

    def _begin(self, head):
        """Receives the header, and the descriptors that come with its first byte."""
        if self.end.family != socket.AF_UNIX:
            return self._fill(memoryview(head), True)
        first, files, _, _ = socket.recv_fds(self.end, 1, 1)
        if not first:
            raise EOFError
        head[:1] = first
        self._fill(memoryview(head)[1:], False)
        return files

    def _fill(self, memory, may_end):
        at = 0
        while at < len(memory):
            count = self.end.recv_into(memory[at:])
            if not count:
                raise EOFError if may_end and not at else ProtocolError(f"{self.name} ended in the middle of a frame")
            at += count
        return []

    def receive_into(self, memory: memoryview) -> None:
        """Receives as many bytes as the memory has."""
        self._fill(memory, False)

    def skip(self, count: int) -> None:
        """Receives bytes that nobody needs, without memory for all of them."""
        scrap = memoryview(bytearray(min(count, _SCRAP)))
        while count:
            part = scrap[: min(count, _SCRAP)]
            self._fill(part, False)
            count -= len(part)

    def close(self) -> None:
        """Ends the connection; a thread that waits in receive() gets an error."""
        try:
            self.end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.end.close()


def _object_of(text, name):
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        made = None
    if not isinstance(made, dict):
        raise ProtocolError(f"{name} sent a description that is not an object of JSON")
    return made


def numbers_of(description: dict[str, Any], most: int = 1024) -> tuple[int, ...]:
    """The numbers of batches in an ASK, DROP or RELEASE."""
    numbers = description.get("numbers")
    if not isinstance(numbers, list) or len(numbers) > most:
        raise ProtocolError("a request has no list of numbers")
    return tuple(number_of(n, "a number of a batch") for n in numbers)


def number_of(value: Any, what: str, most: int = 2**63 - 1) -> int:
    """A number that is not negative."""
    if type(value) is not int or not 0 <= value <= most:
        raise ProtocolError(f"{what} must be a number from 0 to {most}, got {str(value)[:40]}")
    return value
