# SPDX-License-Identifier: Apache-2.0
"""A worker: it listens, takes jobs of trainers, makes batches and sends them."""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading

from . import greeting
from .errors import ProtocolError, ServiceError
from .frames import LEAVING, Connection
from .agreement import compare, job_of, key_of_job
from .cut import with_outputs
from .jobs import Job
from .keys import only_local
from .trainer_link import TrainerLink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext
    from typing import Any

_EPOCHS = ("stream", "drop", "partial")
_MOST_TRAINERS = 1024


class Server:
    """A worker of the service.

    Args:
        make: Makes the pipeline; called as make(seed=..., batch_size=...).
        host, port: Where it listens; port 0: one that is free.
        key: What trainers must show. Beyond this machine there must be one.
        tls: A context of ssl for servers, or None.
        keep: Batches that stay for other trainers of a job.
        jobs: Pipelines that may run at once, for trainers with unlike jobs.
        near: Gives batches to trainers on this machine through shared memory.
        log: Where messages go.

    Raises:
        ValueError: It would listen beyond this machine without a key, or the port is not a port.
        OSError: The address is not free.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        host: str = "127.0.0.1",
        port: int = 0,
        key: bytes | None = None,
        tls: SSLContext | None = None,
        keep: int = 0,
        jobs: int = 4,
        near: bool = True,
        log: Any = None,
    ) -> None:
        if key is None and not only_local(host):
            raise ValueError(
                f"{host} is reached from other machines: give a key, --key FILE (openssl rand -hex 32 > FILE makes one)"
            )
        if not 0 <= port < 65536:
            raise ValueError(f"port must be from 0 to 65535, got {port}")
        self.make, self.key, self.tls, self.keep, self.most_jobs = make, key, tls, keep, jobs
        self.log = log or sys.stderr
        self.jobs, self.trainers, self.lock, self.making = {}, {}, threading.Lock(), threading.Lock()
        self.count, self.closing = 0, False
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.ends = [socket.create_server((host, port), family=family, backlog=128)]
        self.host, self.port = self.ends[0].getsockname()[:2]
        self.unix_name = ""
        if near and hasattr(socket, "SO_PEERCRED") and tls is None:
            self._listen_near()

    def _listen_near(self):
        near = socket.socket(socket.AF_UNIX)
        self.unix_name = f"penstock-{os.urandom(12).hex()}"
        near.bind("\0" + self.unix_name)
        near.listen(128)
        self.ends.append(near)

    def start(self) -> None:
        """Accepts trainers, in threads of its own."""
        for end in self.ends:
            threading.Thread(target=self._accept, args=(end,), name="penstock.service: accepts", daemon=True).start()

    def _accept(self, listening):
        while True:
            try:
                end, address = listening.accept()
            except OSError:
                if self.closing:
                    return
                continue
            threading.Thread(target=self._begin, args=(end, address), name="penstock.service", daemon=True).start()

    def _begin(self, end, address):
        near = end.family == socket.AF_UNIX
        name = "trainer on this machine" if near else f"trainer {address[0]}:{address[1]}"
        try:
            if near and self.key is None and not _same_user(end):
                raise ServiceError("another user; give both sides a key")
            greeting.prepare(end)
            end.settimeout(greeting.SECONDS)
            if self.tls is not None:
                end = self.tls.wrap_socket(end, server_side=True)
        except (OSError, ServiceError) as error:
            self.say(f"{name}: {error}")
            return end.close()
        with self.lock:
            if self.closing or len(self.trainers) >= _MOST_TRAINERS:
                return end.close()
            self.count += 1
            name = f"trainer {self.count} on this machine" if near else name
            trainer = self.trainers[self.count] = TrainerLink(self.count, Connection(end, name), self)
        trainer.serve()

    def gone(self, trainer: TrainerLink) -> None:
        """Forgets a trainer whose connection has ended.

        Args:
            trainer: The trainer.
        """
        with self.lock:
            self.trainers.pop(trainer.number, None)
        if trainer.job is not None and not self.closing:
            gone = f"{trainer.connection.name} has gone after {trainer.batches} batches of {trainer.bytes} bytes"
            self.say(f"{gone}; trainers: {self._with_jobs()}")

    def give_job(self, trainer: TrainerLink, words: dict[str, Any]) -> None:
        """Gives a trainer its job; the pipeline is made where no other trainer has the same.

        Args:
            trainer: The trainer.
            words: What it said of its pipeline.

        Raises:
            ServiceError: The pipeline of this worker makes other batches, or there are too many jobs.
        """
        key = key_of_job(words)
        with self.making:
            if key not in self.jobs:
                self._make_room()
                self.jobs[key] = Job(self._driver(words), self.keep, self.say)
            trainer.job = self.jobs[key]
            trainer.job.join(trainer)
            size, seed, count = words["batch_size"], words["seed"], self._with_jobs()
        self.say(f"{trainer.connection.name} has come: batches of {size} samples, seed {seed}; trainers: {count}")

    def _with_jobs(self):
        with self.lock:
            return sum(trainer.job is not None for trainer in self.trainers.values())

    def _make_room(self):
        for key, job in list(self.jobs.items()):
            if len(self.jobs) >= self.most_jobs and not job.trainers:
                self.jobs.pop(key).close()
        if len(self.jobs) >= self.most_jobs:
            raise ServiceError(f"this worker has {len(self.jobs)} other jobs; --jobs says how many it takes")

    def _driver(self, words):
        seed, size, epochs = words.get("seed"), words.get("batch_size"), words.get("epochs")
        if type(seed) is not int or type(size) is not int or epochs not in _EPOCHS:
            raise ProtocolError("the trainer's job has no seed, no batch size, or unknown epochs")
        cut = words.get("cut")
        pipeline = self.make(seed=seed, batch_size=size)
        try:
            if cut is not None:
                with_outputs(pipeline, cut)
            driver = pipeline.driver(epochs=epochs)
            compare(words, job_of(pipeline, epochs))
        except BaseException:
            pipeline.close()
            raise
        return driver

    def say(self, text: str) -> None:
        """Writes a line to the log.

        A log that cannot be written, as a pipe that nobody reads, does not end the worker.

        Args:
            text: The line; what stands on several lines becomes one.
        """
        line = "; ".join(part.strip() for part in text.splitlines() if part.strip())
        try:
            self.log.write(f"penstock serve: {line}\n")
            self.log.flush()
        except (OSError, ValueError):
            pass

    def close(self) -> None:
        """Tells trainers that it leaves, and ends."""
        self.closing = True
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        with self.lock:
            trainers = list(self.trainers.values())
        for trainer in trainers:
            try:
                trainer.connection.end.settimeout(1.0)
                trainer.connection.send(LEAVING, {})
            except OSError:
                pass
            trainer.connection.close()
        with self.making:
            for job in self.jobs.values():
                job.close()


def _same_user(end):
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return user in (os.getuid(), 0)
