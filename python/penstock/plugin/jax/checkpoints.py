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
        """
        state = json.dumps(args.item.state())
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
        """
        files = [path for path in (directory / _FILE, *sorted(directory.glob("process_*-of-*.json"))) if path.exists()]
        if not files:
            raise FileNotFoundError(f"{directory} has no state of an iterator: neither {_FILE} nor process_*-of-*.json")
        args.item.load_state(json.loads(files[0].read_text()))
        return args.item


@ocp.args.register_with_handler(IteratorHandler, for_save=True)
@dataclasses.dataclass
class IteratorSave(ocp.args.CheckpointArgs):
    """Says which iterator a checkpoint of Orbax holds.

    Args:
        item: A DALIGenericIterator.

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
        item: A DALIGenericIterator; its number of processes and its batch size may differ from those that have saved.
    """

    item: Any
