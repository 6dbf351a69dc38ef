# SPDX-License-Identifier: Apache-2.0
"""Iterators in the checkpoints of Orbax: one small file, which any number of processes goes on from."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jax
import orbax.checkpoint as ocp

__all__ = ["IteratorHandler", "IteratorRestore", "IteratorSave"]

_FILE, _FILE_OF_PROCESS = "penstock.json", "process_{}-of-{}.json"
_KEYS = ({"pipelines", "iterator"}, {"pipeline", "epochs"})  # of DALIGenericIterator and of PipelineIterDataset


class IteratorHandler(ocp.CheckpointHandler):
    """Writes and reads the state of an iterator; IteratorSave and IteratorRestore are its arguments."""

    def save(self, directory: Any, args: IteratorSave) -> None:
        """Writes the state, by one process: it is the same on all.

        Where there are several processes, those of Grain write a file each.

        Args:
            directory: Where to.
            args: The iterator.

        Raises:
            TypeError: The iterator is one of Grain whose stages count the elements of their own process.
        """
        state = json.dumps(_state_of(args.item))
        rank, processes = jax.process_index(), jax.process_count()
        if processes > 1 and not hasattr(args.item, "load_state"):  # filter may have taken more in one than in another
            (directory / _FILE_OF_PROCESS.format(rank, processes)).write_text(state)
        elif rank == 0:
            (directory / _FILE).write_text(state)

    def restore(self, directory: Any, args: IteratorRestore) -> Any:
        """Makes an iterator continue from a state, also from one that Grain has saved.

        Args:
            directory: Where from.
            args: The iterator.

        Returns:
            The iterator.

        Raises:
            FileNotFoundError: There is no state of an iterator.
            TypeError: The state is one of Grain's stages, which count the elements of their own process.
            ValueError: The processes had different positions, and there were other ones than there are now.
        """
        state = _state_in(directory)
        item = args.item
        (item.load_state if hasattr(item, "load_state") else item.set_state)(state)
        return item


def _state_in(directory):
    """The state that this process goes on from."""
    files = [path for path in (directory / _FILE, *sorted(directory.glob("process_*-of-*.json"))) if path.exists()]
    if not files:
        raise FileNotFoundError(f"{directory} has no state of an iterator: neither {_FILE} nor process_*-of-*.json")
    states = {path.name: _same_on_all(json.loads(path.read_text()), str(path)) for path in files}
    first, *others = states.values()
    if all(other == first for other in others):
        return first
    own = _FILE_OF_PROCESS.format(jax.process_index(), jax.process_count())
    if own in states:
        return states[own]
    raise ValueError(
        f"{directory}: the processes had different positions, as filter() makes them where it takes more batches in one than "
        f"in another, and there is no {own}: only as many processes can go on from them"
    )


def _state_of(item):
    """The state of an iterator of Penstock, or of one of Grain over it."""
    if hasattr(item, "load_state"):
        return item.state()
    return _same_on_all(item.get_state(), f"{type(item).__module__}.{type(item).__qualname__}")


def _same_on_all(state, where):
    """Stages of Grain that count put their state around ours, and each process has another one."""
    if isinstance(state, dict) and any(keys <= state.keys() for keys in _KEYS):
        return state
    raise TypeError(
        f"{where}: the state is not that of a Penstock iterator alone. A stage of Grain has added what it has counted "
        "in its own process, which another number of processes cannot go on from: use grain.checkpoint.CheckpointSave "
        "and CheckpointRestore, or only stages that keep no state (map, filter, batch, thread prefetch)"
    )


@ocp.args.register_with_handler(IteratorHandler, for_save=True)
@dataclasses.dataclass
class IteratorSave(ocp.args.CheckpointArgs):
    """Says which iterator a checkpoint of Orbax holds.

    Args:
        item: A DALIGenericIterator, or an iterator of Grain over one or over a PipelineIterDataset. Grain's stages must
            keep no state (map, filter, batch, thread prefetch). Where filter takes more batches in one process than in
            another, only as many processes go on.

    Example:
        from penstock.plugin.jax.checkpoints import IteratorRestore, IteratorSave
        manager.save(step, args=ocp.args.Composite(params=..., data=IteratorSave(iterator)))
        manager.restore(step, args=ocp.args.Composite(params=..., data=IteratorRestore(iterator)))
    """

    item: Any


@ocp.args.register_with_handler(IteratorHandler, for_restore=True)
@dataclasses.dataclass
class IteratorRestore(ocp.args.CheckpointArgs):
    """Says which iterator continues from a checkpoint of Orbax.

    Args:
        item: What IteratorSave takes; its number of processes and its batch size may differ from those that have saved.
    """

    item: Any
