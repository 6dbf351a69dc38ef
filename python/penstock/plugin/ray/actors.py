# SPDX-License-Identifier: Apache-2.0
"""What runs in processes of Ray: a worker of the service, and the supervisor that starts workers and replaces them."""

from __future__ import annotations

import threading
import time

from .supervision import Supervision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._pipeline.recipe import Recipe

_LOOKS = 0.5  # seconds between looks at the number of workers; the end of a worker is seen at once


class Worker:
    """A worker of penstock.service in a process of Ray.

    Args:
        recipe: Makes the pipeline.
        key: What trainers must show.
        keep: As `penstock serve --keep`.
        near: Whether trainers on this machine get batches through shared memory.
    """

    def __init__(self, recipe: Recipe, key: bytes, keep: int, near: bool) -> None:
        from ray.util import get_node_ip_address

        from ...service import Server

        self.ended = threading.Event()
        self.server = Server(recipe.pipeline, get_node_ip_address(), key=key, keep=keep, near=near)
        self.server.start()

    def address(self) -> str:
        """Where it listens."""
        host = f"[{self.server.host}]" if ":" in self.server.host else self.server.host
        return f"{host}:{self.server.port}"

    def wait(self) -> None:
        """Until it leaves. The supervisor sees by the end of this call that the process has ended."""
        self.ended.wait()

    def leave(self) -> None:
        """Tells trainers that it goes."""
        self.server.close()
        self.ended.set()


class Supervisor:
    """Keeps the workers of a Service, in a process of Ray: those that end are replaced.

    Args:
        least, most, interval: As Supervision takes them.
        recipe, key, keep, near: As Worker takes them.
        options: Options of Ray for the actors of workers.
    """

    def __init__(
        self,
        least: int,
        most: int,
        interval: float,
        recipe: Recipe,
        key: bytes,
        keep: int,
        near: bool,
        options: dict[str, Any],
    ) -> None:
        import ray

        self.ray = ray
        self.make = ray.remote(Worker).options(max_concurrency=4, max_restarts=0, **options)
        self.arguments = (recipe, key, keep, near)
        self.supervision, self.lock, self.closed = Supervision(least, most, interval), threading.Lock(), False
        self.count = 0
        self.actors: dict[int, Any] = {}  # by the number of the worker
        self.calls: dict[Any, int] = {}  # what ends when a worker listens, or has ended
        threading.Thread(target=self._run, name="penstock.plugin.ray: supervises", daemon=True).start()

    def look(self, trainer: str | None = None, waited: float = 0.0, wanted: int = 0) -> tuple[list[str], str]:
        """What trainers ask each second.

        Args:
            trainer: Who asks; None: one that reports nothing.
            waited: The share of its time in which it waited.
            wanted: How many workers it wants.

        Returns:
            (the addresses of the workers, why the last one ended while none serves)
        """
        with self.lock:
            if trainer is not None:
                self.supervision.reported(trainer, waited, wanted, time.monotonic())
            return self.supervision.addresses(), self.supervision.trouble

    def statistics(self) -> dict[str, Any]:
        """Numbers of workers, as Service.statistics() returns them."""
        with self.lock:
            made = self.supervision
            return {
                "workers": len(made.addresses()),
                "wanted": made.wanted,
                "restarts": made.restarts,
                "trainers": len(made.reports),
                "trouble": made.trouble,
            }

    def close(self) -> None:
        """Ends the workers."""
        with self.lock:
            self.closed = True
            self.supervision.workers.clear()
            workers = list(self.actors)
        for worker in workers:
            self._end(worker)

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _run(self):
        while not self.closed:
            try:
                self._see()
                with self.lock:
                    if self.closed:
                        return
                    missing, leaving = self.supervision.tick(time.monotonic())
                    for _ in range(missing):
                        self._start()
                for worker in leaving:
                    self._end(worker)
            except Exception as error:  # Ray may be short of something for a while; workers that serve go on
                with self.lock:
                    self.supervision.trouble = f"{type(error).__name__}: {error}"
                time.sleep(_LOOKS)

    def _start(self):
        actor = self.make.remote(*self.arguments)
        self.count += 1
        self.actors[self.count] = actor
        self.supervision.started(self.count, time.monotonic())
        self.calls[actor.address.remote()] = self.count

    def _see(self):
        """Waits a moment for a worker to listen or to end."""
        if not self.calls:
            return time.sleep(_LOOKS)
        done, _ = self.ray.wait(list(self.calls), num_returns=1, timeout=_LOOKS)
        for call in done:
            worker = self.calls.pop(call)
            try:
                address = self.ray.get(call)
            except self.ray.exceptions.RayError as error:
                self._ended(worker, _first_line(error))
                continue
            if address is None:
                self._ended(worker, "it has left")
                continue
            with self.lock:
                self.supervision.serves(worker, address, time.monotonic())
                if worker in self.actors:
                    self.calls[self.actors[worker].wait.remote()] = worker

    def _ended(self, worker, why):
        with self.lock:
            self.actors.pop(worker, None)
            if worker in self.supervision.workers:  # else it was told to
                self.supervision.ended(worker, why, time.monotonic())

    def _end(self, worker):
        with self.lock:
            actor = self.actors.pop(worker, None)
        if actor is None:
            return
        try:
            self.ray.get(actor.leave.remote(), timeout=2.0)
        except Exception:  # it serves no more, or never did
            pass
        self.ray.kill(actor)


def _first_line(error):
    """What Ray says of an actor that has ended, without its pages of advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error" in line), lines[0] if lines else type(error).__name__)[
        :500
    ]
