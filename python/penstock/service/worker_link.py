# SPDX-License-Identifier: Apache-2.0
"""The trainer's connection to one worker: it is made again when it ends, and receives batches into memory that becomes them."""

from __future__ import annotations

import socket
import threading

from . import greeting
from .contents import Description
from .errors import ProtocolError, ServiceError, raised
from .frames import ASK, BATCH, DROP, END, ERROR, LEAVING, RELEASE, close_all, number_of
from .maker import Ended
from .messages import Ask
from .shared_memory import MappedSlots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ssl import SSLContext

    from .deliveries import Deliveries
    from .messages import Drop

_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0)  # seconds between attempts


def address_of(text: str) -> tuple[str, int]:
    """(host, port) of "host:port".

    Raises:
        ValueError: It is not that.
    """
    host, colon, port = str(text).rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f'the address of a worker is "host:port", such as "10.0.0.7:9000", got {text!r}')
    return host.strip("[]"), int(port)


class WorkerLink:
    """A worker as the trainer sees it.

    Args:
        deliveries: Whose batches it makes.
        address: (host, port).
        key, tls: As loader() takes them.
        most: Bytes of a batch.
    """

    def __init__(
        self, deliveries: Deliveries, address: tuple[str, int], key: bytes | None, tls: SSLContext | None, most: int
    ) -> None:
        self.deliveries, self.address, self.key, self.tls, self.most = deliveries, address, key, tls, most
        self.name = f"{address[0]}:{address[1]}"
        self.connection, self.slots, self.bytes, self.ends = None, None, 0, threading.Event()
        self.trying, self.trouble, self.refusal = True, "", None
        self.started, self.attempts = False, 0  # attempts since it sent something

    def __str__(self) -> str:
        return self.name  # all trainers order workers by it

    def start(self) -> None:
        """Connects, and receives, in a thread of its own."""
        self.started = True
        threading.Thread(target=self._run, name=f"penstock.service: {self.name}", daemon=True).start()

    def send(self, message: Ask | Drop) -> None:
        """Sends a message, or nothing where the connection has ended: the thread that receives says so."""
        self._tell(ASK if isinstance(message, Ask) else DROP, message.numbers)

    def drop(self, numbers: Iterable[int]) -> None:
        """Batches that are not needed any more."""
        self._tell(DROP, sorted(numbers))

    def give_back(self) -> None:
        """Tells the worker of slots that nothing uses."""
        if self.slots is not None and self.slots.released:
            self._tell(RELEASE, self.slots.taken_back())

    def _tell(self, kind, numbers):
        connection = self.connection
        try:
            if connection is not None and numbers:
                connection.send(kind, {"numbers": list(numbers)})
        except OSError:
            pass

    def close(self) -> None:
        """Ends it."""
        self.ends.set()
        connection = self.connection
        if connection is not None:
            connection.close()

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _run(self):
        while not self.ends.is_set():
            try:
                self._connect()
                self.deliveries.joined(self)
                self.trying = False
                self._receive()
            except EOFError:
                self.trouble = "it has gone"
            except Exception as error:  # whatever a worker sends, the others go on
                self._note(error)
            finally:
                self._leave()
            self.ends.wait(60.0 if self.refusal is not None else _PAUSES[min(self.attempts, len(_PAUSES) - 1)])
            self.attempts += 1

    def _connect(self):
        connection, challenge = greeting.reach(*self.address, self.tls, f"the worker {self.name}")
        self.connection = connection
        greeting.introduce(connection, challenge, self.key, self.deliveries.job)
        connection.trust(self.most)
        connection.end.settimeout(None)
        self.slots = MappedSlots() if connection.end.family == socket.AF_UNIX else None
        self.refusal, self.trouble = None, ""

    def _note(self, error):
        self.trouble = str(error) or type(error).__name__
        if type(error) is ServiceError:
            self.refusal = error

    def _leave(self):
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()
        self.trying = False
        self.deliveries.left(self)

    def _receive(self):
        while not self.ends.is_set():
            frame = self.connection.receive()
            try:
                if frame.kind == LEAVING:
                    raise EOFError
                if frame.kind not in (BATCH, ERROR, END):
                    raise ProtocolError(f"a worker sent a frame of kind {frame.kind}")
                number = number_of(frame.description.get("number"), "the number of a batch")
                self.deliveries.received(self, number, self._content(frame, number))
            finally:
                close_all(frame.files)
            self.attempts = 0
            self.give_back()

    def _content(self, frame, number):
        if frame.kind == END:
            return Ended()
        if frame.kind == ERROR:
            words = frame.description
            if not all(isinstance(words.get(k), str) for k in ("kind", "name", "text")):
                raise ProtocolError("an error has no text")
            return raised(words, self.name)
        return self._in_slot(frame) if "slot" in frame.description else self._in_memory(frame, number)

    def _in_slot(self, frame):
        if self.slots is None:
            raise ProtocolError("a batch is in shared memory, which this connection does not have")
        total = number_of(frame.description.get("total"), "the bytes of a batch", self.most)
        layout = Description(frame.description, total)
        memory = self.slots.take(frame.description, frame.files, total, self.most)
        self.bytes += total
        return layout.made(memory)

    def _in_memory(self, frame, number):
        self.bytes += frame.following
        if not self.deliveries.wants(number):
            return self.connection.skip(frame.following)
        layout = Description(frame.description, frame.following)
        memory = self.deliveries.memory.take(frame.following)
        self.connection.receive_into(memory)
        return layout.made(memory)
