# SPDX-License-Identifier: Apache-2.0
"""A DataLoader that knows its data set: classes, texts, the program that made it."""

from __future__ import annotations

from ..torch import DataLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..annotations import Table
    from ..pipeline import Pipeline


class Loader(DataLoader):
    """A penstock.torch.DataLoader of the rows of a Table.

    Args:
        pipeline: A Pipeline that has not run yet.
        output_map: Names of the outputs.
        table: The data set.
        texts: Names of the outputs that hold texts; they become lists of str.
        **arguments: Those of penstock.torch.DataLoader: last_batch, pad, ragged, labels ...

    Raises:
        ValueError: texts names no output.

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
        **arguments: Any,
    ) -> None:
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

    def _tensors(self, outputs):
        made = super()._tensors(outputs)
        for name in self.texts:
            made[name] = [bytes(t.cpu().numpy()).decode() for t in made[name]]
        return made
