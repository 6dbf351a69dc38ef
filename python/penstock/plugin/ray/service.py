# SPDX-License-Identifier: Apache-2.0
"""Service: the workers of penstock.service as actors of Ray."""

from __future__ import annotations

import os
import weakref

from ..._pipeline.recipe import recipe_of
from .actors import Supervisor
from .found import ray_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._pipeline import Pipeline
    from ...service import Loader

_ANSWER = 10.0  # seconds for an answer of the supervisor


class Service:
    """Workers on a cluster of Ray that make the batches of a pipeline.

    A process of Ray supervises them: one that ends is replaced, on another node where its own is gone. Ray only places
    them. Batches go from worker to trainer as penstock.service sends them: through shared memory on one machine, else
    through sockets, with a key that Ray hands to both sides. Bytes and order are those of the pipeline alone, whatever
    workers do. Where all of them are gone, trainers make batches themselves.

    A Service may be sent to tasks and actors of Ray, such as the workers of Ray Train; loader() works there.

    Args:
        pipeline: What a function with @pipeline_def returned.
        workers: How many.
        autoscale: (least, most): their number follows how long trainers wait. `workers` is then not given.
        num_cpus: Processors that Ray reserves for each worker; the pipeline there has as many threads.
        keep: Batches that a worker keeps for other trainers, for loader(shared=True).
        interval: Seconds at least from one change of their number to the next; six times as many before it falls.
        shared_memory: Passes batches through shared memory to trainers on the machine of a worker.
        options: More options of Ray for the actors of workers, such as {"resources": {"decoders": 1}}. Without a
            "scheduling_strategy" Ray spreads them over the nodes.

    Raises:
        ImportError: Ray is missing: pip install ray.
        TypeError: It is not a pipeline.
        ValueError: A function with @pipeline_def did not make the pipeline, or a number of workers is negative.

    Example:
        with Service(photos(root="/data/train"), workers=4, num_cpus=4) as service:
            for images, labels in service.loader():
                ...
    """

    def __init__(
        self,
        pipeline: Pipeline[Any],
        workers: int | None = None,
        *,
        autoscale: tuple[int, int] | None = None,
        num_cpus: float = 1,
        keep: int = 0,
        interval: float = 10.0,
        shared_memory: bool = True,
        options: dict[str, Any] | None = None,
    ) -> None:
        recipe = recipe_of(pipeline, "Service")
        if workers is not None and autoscale is not None:
            raise ValueError("workers is a number that stays, autoscale two bounds: give one of them")
        least, most = autoscale if autoscale is not None else (2 if workers is None else workers,) * 2
        if not 0 <= least <= most:
            raise ValueError(f"the numbers of workers must be 0 <= least <= most, got {least} and {most}")
        if num_cpus < 0 or keep < 0 or interval <= 0:
            raise ValueError(
                f"num_cpus and keep must not be negative, interval must be positive; got {num_cpus}, {keep}, {interval}"
            )
        ray = ray_of("Service")
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if not ray.is_initialized():
            ray.init()
        options = {"scheduling_strategy": "SPREAD", **(options or {}), "num_cpus": num_cpus}
        threads = {"num_threads": max(1, int(num_cpus))}
        self._recipe, self._key, self._owner = recipe, os.urandom(32), True
        at_workers = type(recipe)(recipe.create, recipe.arguments, {**recipe.keywords, **threads})
        # On the node of the program, without which there is no service. Where it ends Ray starts it again, and that one starts
        # new workers.
        near = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._supervisor = (
            ray.remote(Supervisor)
            .options(num_cpus=0, max_concurrency=16, max_restarts=-1, max_task_retries=-1, scheduling_strategy=near)
            .remote(least, most, interval, at_workers, self._key, keep, shared_memory, options)
        )
        self._end = weakref.finalize(self, _end, ray, self._supervisor)

    def loader(self, rank: int | None = None, ranks: int | None = None, **options: Any) -> Loader:
        """Returns a loader of batches that the workers make.

        Args:
            rank, ranks: This trainer gets the batches rank, rank + ranks, ... None: those of Ray Train in one of its
                workers; elsewhere all batches.
            **options: Of penstock.service.loader(), such as state, epochs and window.

        Returns:
            The loader. Its state is that of the pipeline: it goes on with any number of workers and ranks.

        Raises:
            ValueError: rank is given without ranks, the batches of the pipeline have no numbers, or the loader
                refuses an option.
        """
        from ...service import loader

        if (rank is None) != (ranks is None):
            raise ValueError("rank and ranks are given together")
        if rank is None:
            rank, ranks = _of_train()
        follow = _Addresses(self._supervisor)
        made = loader(follow, self._recipe.pipeline(), rank=rank, ranks=ranks, key=self._key, **options)
        follow.loader = weakref.ref(made)
        return made

    def statistics(self) -> dict[str, Any]:
        """Returns what the supervisor knows.

        Returns:
            workers: how many serve. wanted: how many there should be. restarts: workers that ended and were replaced.
            trainers: how many reported of late. trouble: why the last one ended while none has begun since.
        """
        return ray_of("Service").get(self._supervisor.statistics.remote(), timeout=6 * _ANSWER)

    def close(self) -> None:
        """Ends the workers; loaders make their batches themselves from then on."""
        if self._owner:
            self._end()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """For Ray, which sends it to other processes; those do not end the workers."""
        return {"_recipe": self._recipe, "_key": self._key, "_supervisor": self._supervisor, "_owner": False}


def _end(ray, supervisor):
    """Ends the supervisor, and with it the workers."""
    if not ray.is_initialized():
        return  # it has ended with Ray
    try:
        ray.get(supervisor.close.remote(), timeout=_ANSWER)
    except Exception:  # it has gone
        pass
    ray.kill(supervisor)


class _Addresses:
    """Asks the supervisor where workers are, and tells it how long the trainer waited."""

    def __init__(self, supervisor):
        self.supervisor, self.loader, self.name = supervisor, None, os.urandom(8).hex()

    def __call__(self):
        made, report = self.loader and self.loader(), ()
        if made is not None:
            report = (self.name, made.statistics()["waited"], made.workers_wanted())
        addresses, trouble = ray_of("Service").get(self.supervisor.look.remote(*report), timeout=_ANSWER)
        if not addresses and trouble:
            raise RuntimeError(f"no worker could be started: {trouble}")
        return addresses


def _of_train():
    """(rank, ranks) in a worker of Ray Train, else (0, 1)."""
    try:
        from ray import train

        context = train.get_context()
        rank, ranks = context.get_world_rank(), context.get_world_size()
    except Exception:  # ray[train] is missing, or this process is not one of its workers
        return 0, 1
    return (0, 1) if rank is None else (rank, ranks)
