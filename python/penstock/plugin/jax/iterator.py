# SPDX-License-Identifier: Apache-2.0
"""An iterator that yields arrays of JAX."""

from __future__ import annotations

import json

from ..interface import BaseIterator, LastBatchPolicy
from .arrays import GlobalArrays, check_rows, check_sharding, on_one_device, rows_of_processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DALIGenericIterator", "LastBatchPolicy"]


class DALIGenericIterator(BaseIterator):
    """Gives dicts from the names of output_map to jax.Array.

    An array is a whole batch over the memory of the pipeline. With a sharding it is one over all its devices, also
    those of other processes; each process gives what its pipelines make. On the CPU the part of each device is over
    the memory of the pipeline where its bytes are a multiple of 64, else JAX copies it.

    state() is the same on all processes, and load_state() takes it on any number of them, with any batch size.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch: As those of BaseIterator. With a sharding, batches have one size: PARTIAL is refused.
        sharding: A jax.sharding.Sharding whose first axis divides the samples; None: arrays of one device. There is
            one pipeline in each process, or one for each device of the process.
        pmap_compatible: True: without a sharding, arrays of several pipelines are put together along a new first axis,
            each on a device, which is what several pipelines give in any case.

    Raises:
        TypeError: sharding is not a Sharding.
        ValueError: last_batch_policy is PARTIAL and there is a sharding, or the sharding cannot divide the samples.

    Example:
        >>> from penstock.plugin.jax import DALIGenericIterator
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=4, name="reader")
        >>> len(DALIGenericIterator(numbers(), ["index"], reader_name="reader"))
        2
    """

    def __init__(
        self,
        pipelines,
        output_map,
        size=-1,
        reader_name=None,
        auto_reset=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=False,
        sharding=None,
        pmap_compatible=None,
    ):
        check_sharding(sharding)
        if sharding is not None and getattr(last_batch_policy, "name", "") == "PARTIAL":
            raise ValueError(
                "arrays over several devices need batches of one size: last_batch_policy must be FILL or DROP"
            )
        self._arrays = None if sharding is None else GlobalArrays(sharding)
        self._stacked = bool(pmap_compatible)
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            None,
            False,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        if sharding is not None:
            check_rows(sharding, self._batch_size * len(self._pipes) * rows_of_processes(sharding, 1)[1])

    def convert_all(self, outputs, keeps):
        """Makes arrays of batches.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        made = {}
        for name, batches in zip(self.output_map, zip(*outputs)):
            if self._arrays is not None:
                made[name] = self._arrays.of(batches, name)
                continue
            arrays = [on_one_device(batch, keep, name) for batch, keep in zip(batches, keeps)]
            made[name] = arrays[0] if len(arrays) == 1 and not self._stacked else _stacked(arrays)
        return made

    # --- states -----------------------------------------------------------------------------------------------------

    def _shares(self):
        """[samples of a batch over all shards, shards, samples of an epoch]; None without a reader."""
        if self._reader is None:
            return None
        meta = self._pipes[0].reader_meta(self._reader)
        return [self._batch_size * meta["number_of_shards"], meta["number_of_shards"], meta["epoch_size"]]

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out: the same on all processes.

        Returns:
            A dict of numbers and short texts, which JSON takes: ocp.args.JsonSave(iterator.state()).

        Raises:
            RuntimeError: No batch was handed out, and the first one is prepared.
        """
        state = super().state()
        state["iterator"]["shares"] = self._shares()
        if self._filled is not None:
            state["iterator"]["left"] = self._filled.batches - self._batches
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Continues from a state, bit for bit; the number of processes and the batch size may be others.

        Args:
            state: What state() returned.

        Raises:
            ValueError: It is not a state of such an iterator.
        """
        counters = state.get("iterator") if isinstance(state, dict) else None
        shares = counters.get("shares") if isinstance(counters, dict) else None
        if shares is None or shares == self._shares():
            return super().load_state(state)
        pipelines = state["pipelines"][:1] * len(self._pipes)  # the states of all shards are one
        before = self._filled.counters() if self._filled is not None else None
        super().load_state(
            {**state, "pipelines": pipelines, "iterator": {**state["iterator"], "over": [False] * len(self._pipes)}}
        )
        sources = pipelines[0]["pipeline"]["sources"]
        source = sources.get(self._reader) or next(iter(sources.values()))
        self._divide_anew(state["iterator"], shares, source, before)

    def _divide_anew(self, counters, shares, source, fresh):
        """Counts on in batches of this iterator, where the state has those of one with other shares."""
        together, shards, size = self._shares()
        if self._filled is None:  # the reader cuts the epochs
            self._batches = 0 if source["consumed"] >= size else -(-source["consumed"] // together)
            self._taken = self._batches * self._batch_size
            return
        left = -(-counters["left"] * shares[0] // together)
        given = source["epoch"] * size + source["consumed"] + left * together  # at the end of this epoch
        ahead = given - (counters["epochs"] + 1) * size
        sizes = fresh["sizes"]
        self._filled.restore(
            {"sizes": sizes, "ahead": [ahead // shards + own - left * self._batch_size for own in sizes]}
        )
        self._filled.batches, self._batches, self._taken = left, 0, 0

    def get_state(self) -> bytes:
        """Returns state() as bytes: what grain.checkpoint.CheckpointSave asks for."""
        return json.dumps(self.state()).encode()

    def set_state(self, state: bytes) -> None:
        """Continues from what get_state() returned: what grain.checkpoint.CheckpointRestore asks for.

        Args:
            state: The bytes.
        """
        self.load_state(json.loads(state))

    def start_prefetch(self) -> None:
        """Does nothing, for Grain: pipelines work ahead by themselves."""


def _stacked(arrays):
    import jax
    import numpy as np

    devices = jax.local_devices()[: len(arrays)]
    if len(devices) < len(arrays):
        return jax.numpy.stack(arrays)
    sharding = jax.sharding.NamedSharding(
        jax.sharding.Mesh(np.array(devices), ("device",)), jax.sharding.PartitionSpec("device")
    )
    parts = [jax.device_put(array[None], device) for array, device in zip(arrays, devices)]
    return jax.make_array_from_single_device_arrays((len(parts), *arrays[0].shape), sharding, parts)
