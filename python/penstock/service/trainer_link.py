# SPDX-License-Identifier: Apache-2.0
"""The worker's connection to one trainer: a thread receives requests, another one sends batches."""

from __future__ import annotations

import functools
import os
import queue
import socket
import threading

from . import greeting
from .contents import Content
from .errors import ProtocolError
from .frames import ASK, BATCH, DROP, END, ERROR, RELEASE, Connection, close_all, numbers_of
from .messages import Made
from .shared_memory import Slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .server import Server


class TrainerLink:
    """A trainer as the worker sees it.

    Args:
        number: Its name in the queue of the job.
        connection: To it.
        server: The worker.
    """

    def __init__(self, number: int, connection: Connection, server: Server) -> None:
        self.number, self.connection, self.server = number, connection, server
        self.outgoing: queue.SimpleQueue[Made | None] = queue.SimpleQueue()
        self.slots = Slots() if connection.end.family == socket.AF_UNIX else None
        self.lock, self.job = threading.Lock(), None
        self.batches = self.bytes = 0  # that it was sent

    def serve(self) -> None:
        """Until the trainer goes."""
        try:
            self.connection.end.settimeout(greeting.SECONDS)
            server = self.server
            take = functools.partial(server.give_job, self)
            greeting.greet(self.connection, server.key, server.unix_name, take, 0)
            self.connection.end.settimeout(None)
            threading.Thread(target=self._send_all, name="penstock.service: sends", daemon=True).start()
            while True:
                self._take(self.connection.receive())
        except (EOFError, OSError):
            pass
        except Exception as error:  # of the pipeline, or of what the trainer sent
            text = str(error)
            self.server.say(text if text.startswith(self.connection.name) else f"{self.connection.name}: {text}")
        finally:
            if self.job is not None:
                self.job.leave(self)
            self.outgoing.put(None)
            self.connection.close()
            self.server.gone(self)

    def _take(self, frame):
        close_all(frame.files)
        if frame.kind == ASK:
            self.job.asked(self, numbers_of(frame.description))
        elif frame.kind == DROP:
            self.job.dropped(self, numbers_of(frame.description))
        elif frame.kind == RELEASE and self.slots is not None:
            with self.lock:
                self.slots.release(numbers_of(frame.description))
        else:
            raise ProtocolError(f"a trainer sent a frame of kind {frame.kind}")

    def _send_all(self):
        try:
            while (message := self.outgoing.get()) is not None:
                self._send(message.number, message.content)
                del message
        except OSError:
            self.connection.close()  # the thread that receives ends too

    def _send(self, number, content):
        if not isinstance(content, Content):
            return self.connection.send(END if content is None else ERROR, {"number": number, **(content or {})})
        if self.slots is None or not self._send_near(number, content):
            words = {"number": number, **content.description}
            content.sum = self.connection.send(BATCH, words, content.parts, content.total, content.sum)
        self.batches, self.bytes = self.batches + 1, self.bytes + content.total

    def _send_near(self, number, content):
        """Sends a batch through shared memory; False: there is none left."""
        try:
            with self.lock:
                place, files = self.slots.place(content)
        except MemoryError:
            return False
        words = {"number": number, "total": content.total, **place, **content.description}
        try:
            self.connection.send(BATCH, words, files=files)
        finally:
            for file in files:
                os.close(file)
        return True
