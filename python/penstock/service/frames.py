# SPDX-License-Identifier: Apache-2.0
"""Frames: what goes through a connection. A header of fixed size, a description in JSON, and bytes with their sum after them.

Nothing that comes from a peer is unpickled or executed, and each size is compared with a limit before memory is taken.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading

from .. import _core
from .errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import numpy

_MARK = b"PSv2"
_HEADER = struct.Struct(
    "<4sB3xIQI"
)  # mark, kind, bytes of the description, bytes that follow it, the sum of all but those
_SUM = struct.Struct("<I")
_SUMMED = _HEADER.size - _SUM.size  # the sum of the description begins with these bytes of the header
CHALLENGE, HELLO, WELCOME, REFUSED, ASK, DROP, BATCH, ERROR, END, LEAVING, RELEASE = range(1, 12)
MOST_DESCRIPTION = 8 << 20  # bytes; a batch names the shape and the file of each sample
MOST_OF_STRANGERS = 1 << 16  # from a peer that has not shown the key
_SCRAP = 1 << 16
_PIECE = 1 << 20  # bytes that are summed while they are in the processor's cache, where Python does it


def crc32c(memory: Any, before: int = 0) -> int:
    """The CRC-32C of bytes or of a NumPy array, without the GIL."""
    import numpy

    array = memory if isinstance(memory, numpy.ndarray) else numpy.frombuffer(memory, numpy.uint8)
    return _core.crc32c(array.ctypes.data, array.nbytes, before) if array.nbytes else before


def packed(kind: int, description: Any, following: int = 0) -> bytes:
    """The header and the description of a frame."""
    text = json.dumps(description, separators=(",", ":")).encode()
    head = _HEADER.pack(_MARK, kind, len(text), following, 0)[:_SUMMED]
    return head + _SUM.pack(crc32c(head + text)) + text


def close_all(files: Iterable[int]) -> None:
    """Closes descriptors."""
    for file in files:
        os.close(file)


class Frame:
    """What a connection has received.

    Attributes:
        kind: One of the kinds above.
        description: A dict.
        following: Bytes that follow, which the receiver must take; their CRC-32C comes after them.
        files: Descriptors that came with it, through a UNIX socket.
    """

    __slots__ = ("kind", "description", "following", "files")

    def __init__(self, kind, description, following, files):
        self.kind, self.description, self.following, self.files = kind, description, following, files


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
        self,
        kind: int,
        description: Any,
        parts: Sequence[numpy.ndarray] = (),
        total: int = 0,
        checksum: int | None = None,
        files=(),
    ) -> int:
        """Sends a frame.

        Args:
            kind, description: What it is.
            parts: Arrays of bytes that follow, `total` bytes of them.
            checksum: Their CRC-32C where it is known.
            files: Descriptors that go with it, through a UNIX socket.

        Returns:
            The CRC-32C of the parts.
        """
        head = packed(kind, description, total)
        with self._sending:
            if files:
                socket.send_fds(self.end, [head[:1]], files)
                head = head[1:]
            self.end.sendall(head)
            value = checksum or 0
            for part in parts:
                if checksum is None:
                    value = self._send_summed(part, value)
                else:
                    self.end.sendall(part)
            if total:
                self.end.sendall(_SUM.pack(value))
        return value

    def _send_summed(self, part, value):
        if self._is_plain():
            return _core.send_with_crc32c(self.end.fileno(), part.ctypes.data, part.nbytes, value)
        for at in range(0, len(part), _PIECE):
            piece = part[at : at + _PIECE]
            value = crc32c(piece, value)
            self.end.sendall(piece)
        return value

    def _is_plain(self):
        """Whether the core may use the descriptor: all bytes then cost one wait for Python's lock, not one for each piece."""
        return type(self.end) is socket.socket and self.end.gettimeout() is None

    def receive(self) -> Frame:
        """Waits for a frame.

        Raises:
            EOFError: The peer has closed the connection.
            ProtocolError: It is not a frame, is damaged, or is larger than it may be.
        """
        head = bytearray(_HEADER.size)
        files = self._begin(head)
        try:
            return self._received(head, files)
        except BaseException:
            close_all(files)
            raise

    def _received(self, head, files):
        mark, kind, size, following, checksum = _HEADER.unpack(head)
        if mark != _MARK or not CHALLENGE <= kind <= RELEASE:
            raise ProtocolError(f"{self.name} does not speak this version of the protocol: {bytes(head[:8])!r}")
        if size > self.most_description or following > self.most_following:
            raise ProtocolError(
                f"{self.name} announces {size} + {following} bytes; at most {self.most_description} + {self.most_following} "
                "are taken: see max_batch_bytes"
            )
        text = bytearray(size)
        self._fill(memoryview(text), False)
        if crc32c(bytes(head[:_SUMMED]) + text) != checksum:
            raise ProtocolError(f"a frame of {self.name} was damaged on its way: its CRC-32C differs")
        return Frame(kind, _object_of(text, self.name), following, files)

    def _begin(self, head):
        """Receives the header, and the descriptors that come with its first byte."""
        if self.end.family != socket.AF_UNIX:
            return self._fill(memoryview(head), True)
        first, files, _, _ = socket.recv_fds(self.end, 1, 1)
        if not first:
            raise EOFError
        head[:1] = first
        try:
            self._fill(memoryview(head)[1:], False)
        except BaseException:
            close_all(files)
            raise
        return files

    def _cut(self):
        return ProtocolError(f"{self.name} ended in the middle of a frame")

    def _fill(self, memory, may_end):
        at = 0
        while at < len(memory):
            count = self.end.recv_into(memory[at:])
            if not count:
                raise EOFError if may_end and not at else self._cut()
            at += count
        return []

    def receive_into(self, memory: numpy.ndarray) -> None:
        """Receives the bytes that follow a frame, as many as the array of bytes has, and compares their sum.

        Raises:
            ProtocolError: They were damaged on their way, or the connection has ended.
        """
        if self._is_plain():
            there, value = _core.receive_with_crc32c(self.end.fileno(), memory.ctypes.data, memory.nbytes)
            if there < memory.nbytes:
                raise self._cut()
        else:
            value = self._receive_summed(memory)
        if memory.nbytes and self._sum() != value:
            raise ProtocolError(f"what {self.name} sent was damaged on its way: its CRC-32C differs")

    def _receive_summed(self, memory):
        view, at, value = memoryview(memory), 0, 0
        while at < len(view):
            count = self.end.recv_into(view[at : at + _PIECE])
            if not count:
                raise self._cut()
            value = crc32c(memory[at : at + count], value)
            at += count
        return value

    def _sum(self):
        memory = bytearray(_SUM.size)
        self._fill(memoryview(memory), False)
        return _SUM.unpack(memory)[0]

    def skip(self, count: int) -> None:
        """Receives the bytes that follow a frame and that nobody needs, without memory for all of them."""
        count += _SUM.size if count else 0
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
