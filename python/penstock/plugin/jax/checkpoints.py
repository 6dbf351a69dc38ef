# SPDX-License-Identifier: Apache-2.0
"""Iterators in the checkpoints of Orbax: one small file, which any number of processes goes on from."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jax
import orbax.checkpoint as ocp

__all__ = ["IteratorHandler", "IteratorRestore", "IteratorSave"]

_FILE = "penstock.json"


class IteratorHandler(ocp.CheckpointHandler):
    """Writes and reads the state of an iterator; IteratorSave and IteratorRestore are its arguments."""

    def save(self, directory: Any, args: IteratorSave) -> None:
        """Writes the state, by one process: it is the same on all.

        Args:
            directory: Where to.
            args: The iterator.

        Raises:
            TypeError: The iterator is one of Grain whose stages count the elements of their own process.
        """
        state = json.dumps(_state_of(args.item))
        if jax.process_index() == 0:
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
        """
        files = [path for path in (directory / _FILE, *sorted(directory.glob("process_*-of-*.json"))) if path.exists()]
        if not files:
            raise FileNotFoundError(f"{directory} has no state of an iterator: neither {_FILE} nor process_*-of-*.json")
        state = _same_on_all(json.loads(files[0].read_text()), str(files[0]))
        item = args.item
        (item.load_state if hasattr(item, "load_state") else item.set_state)(state)
        return item


def _state_of(item):
    """The state of an iterator of Penstock, or of one of Grain over it."""
    if hasattr(item, "load_state"):
        return item.state()
    return _same_on_all(item.get_state(), f"{type(item).__module__}.{type(item).__qualname__}")


def _same_on_all(state, where):
    """Stages of Grain that count put their state around ours, and each process has another one."""
    if isinstance(state, dict) and {"pipelines", "iterator"} <= state.keys():
        return state
    raise TypeError(
        f"{where}: the state is not that of a Penstock iterator alone. A stage of Grain has added what it has counted "
        "in its own process, which another number of processes cannot go on from: use grain.checkpoint.CheckpointSave "
        "and CheckpointRestore, or only stages that keep no state (map, batch, thread prefetch)"
    )


@ocp.args.register_with_handler(IteratorHandler, for_save=True)
@dataclasses.dataclass
class IteratorSave(ocp.args.CheckpointArgs):
    """Says which iterator a checkpoint of Orbax holds.

    Args:
        item: A DALIGenericIterator, or an iterator of Grain over one. Grain's stages must keep no state (map, batch,
            thread prefetch), and take the same number of batches on all processes: filter may not.

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
