# SPDX-License-Identifier: Apache-2.0
"""A DataLoader that knows its data set: classes, texts, the program that made it."""

from __future__ import annotations

import importlib.util

from ..torch import DataLoader
from ..torch.arrays import FRAMEWORKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from ..annotations import Table
    from .._pipeline import Pipeline


def _arrays_of(framework):
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework must be {' or '.join(map(repr, FRAMEWORKS))}, got {framework!r}")
    if framework == "torch" and importlib.util.find_spec("torch") is None:
        raise ImportError("torch is not installed: framework='numpy' gives batches of NumPy's arrays, without it")
    return FRAMEWORKS[framework]


class Loader(DataLoader):
    """A penstock.torch.DataLoader of the rows of a Table.

    Args:
        pipeline: A Pipeline that has not run yet.
        output_map: Names of the outputs.
        table: The data set.
        texts: Names of the outputs that hold texts; they become lists of str.
        framework: "torch", or "numpy": batches are arrays, and torch need not be installed.
        **arguments: Those of penstock.torch.DataLoader: last_batch, pad, ragged, labels ...

    Raises:
        ImportError: torch is not installed, and framework is not "numpy".
        ValueError: texts names no output, or there is no such framework.

    Example:
        loader = penstock.image_folder("photos/train")
        print(loader.classes)
        print(loader.program)
    """

    def __init__(
        self,
        pipeline: Pipeline[Any],
        output_map: Sequence[str],
        *,
        table: Table,
        texts: Sequence[str] = (),
        framework: Literal["torch", "numpy"] = "torch",
        **arguments: Any,
    ) -> None:
        self._arrays = _arrays_of(framework)
        for name in texts:
            if name not in output_map:
                raise ValueError(f"texts names '{name}', which is not in output_map {list(output_map)}")
        ragged = {**(arguments.pop("ragged", None) or {}), **dict.fromkeys(texts, "list")}
        super().__init__(pipeline, output_map, ragged=ragged, **arguments)
        self.table, self.texts = table, list(texts)
        self.program = ""  # the text that made it, if a function of penstock.loaders did
        self.given: dict[str, Any] = {}  # the names that the program uses and does not define

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return self.table.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return self.table.class_to_idx

    def __repr__(self) -> str:
        outputs = ", ".join(self.output_map or ())
        return f"Loader({len(self)} batches of {self.batch_size}: {outputs}; {self.table!r}); .program is its text"

    # A plain dict, as torch's DataLoader makes of samples that are dicts. `for x, y in loader` then unpacks its keys. A
    # subclass could only refuse that by refusing its own iteration: unpacking and `for key in batch` are one call of
    # iter(), and dict(batch), default_collate, pin_memory and Lightning's transfer of batches iterate, too, or make
    # another dict of this class. Users of torch and of DALI (whose iterators give dicts) expect a plain one.
    def _tensors(self, outputs):
        made = super()._tensors(outputs)
        for name in self.texts:
            made[name] = [self._arrays.bytes_of(t).decode() for t in made[name]]
        return made
