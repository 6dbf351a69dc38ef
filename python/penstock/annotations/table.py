# SPDX-License-Identifier: Apache-2.0
"""A data set as columns: files, and what is known of each. Pipelines look up its rows by number."""

from __future__ import annotations

import numpy as np

from .. import fn
from .columns import Objects, Ragged, Texts, column_of
from .conditions import Condition
from .keypoints import flip_indices_of
from .lookup import Lookup
from .samples import Samples
from .weights import WeightedRows, weights_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


class Table:
    """Files and what is known of each, in columns.

    A column is an array with one number a row, numbers in rows of different lengths, texts, or outlines that
    are drawn when they are looked up. Nothing changes a Table: where() and limit() return another one.

    Args:
        files: A path for each row.
        columns: Arrays, lists of arrays, lists of texts by name.
        classes: The names of the classes that "label" or "labels" count.
        keypoints: The names of the keypoints in "points".

    Raises:
        ValueError: A column has another number of rows than there are files, or there is no file.

    Example:
        >>> from penstock.annotations import Table
        >>> table = Table(["a.jpg", "b.jpg", "c.jpg"], {"label": np.array([0, 1, 1])}, ["cat", "dog"])
        >>> len(table.where({"label": 1})), table.row(0)["label"], table.class_to_idx
        (2, 0, {'cat': 0, 'dog': 1})
    """

    def __init__(
        self, files: Sequence[str], columns: dict[str, Any], classes: Sequence[str] = (), keypoints: Sequence[str] = ()
    ) -> None:
        self.files, self.classes, self.keypoints = [str(f) for f in files], list(classes), list(keypoints)
        self.columns = {name: column_of(values) for name, values in columns.items()}
        if not self.files:
            raise ValueError("the table has no row: no file is listed, or where= and limit= leave none")
        for name, column in self.columns.items():
            if len(column) != len(self.files):
                raise ValueError(f"column '{name}' has {len(column)} rows for {len(self.files)} files")

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return f"Table({len(self)} files, columns {', '.join(self.columns) or 'none'}, {len(self.classes)} classes)"

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: k for k, name in enumerate(self.classes)}

    def row(self, index: int) -> dict[str, Any]:
        """Returns one row.

        Args:
            index: Its number.

        Returns:
            The file and the values by the names of the columns.
        """
        values = {n: c.text(index) if isinstance(c, Texts) else c[index] for n, c in self.columns.items()}
        return {
            "file": self.files[index],
            **{n: v.item() if np.ndim(v) == 0 and hasattr(v, "item") else v for n, v in values.items()},
        }

    def rows(self, rows: Sequence[int]) -> Table:
        """Returns a Table of some rows.

        Args:
            rows: Their numbers, in the order of the new Table.

        Returns:
            A Table with the same classes.
        """
        picked = {
            n: c.rows(rows) if isinstance(c, (Ragged, Objects)) else c[np.asarray(rows, np.int64)]
            for n, c in self.columns.items()
        }
        return Table([self.files[r] for r in rows], picked, self.classes, self.keypoints)

    def where(self, condition: dict[str, Any] | Callable[[dict[str, Any]], bool]) -> Table:
        """Returns the rows that a condition holds for.

        Args:
            condition: The value, or a list of values, of columns by name; or a function of a row, a dict.
                Labels are names of classes or their numbers. In a column of several values one must be among
                them.

        Returns:
            A Table.

        Raises:
            ValueError: There is no such column, or no row is left.
        """
        if isinstance(condition, dict):
            self.check(condition)
            test = Condition(self, condition)
            keep = [r for r in range(len(self)) if test(r)]
        else:
            keep = [r for r in range(len(self)) if condition(self.row(r))]
        return self.rows(keep)

    def limit(self, number: int) -> Table:
        """Returns rows at equal distances, so that each class keeps its part.

        Args:
            number: How many; all, if there are fewer.

        Returns:
            A Table.
        """
        if number < 1:
            raise ValueError(f"limit must be at least 1, got {number}")
        n = min(number, len(self))
        return self.rows([k * len(self) // n for k in range(n)])

    def flip_indices(self, pairs: Any = None, indices: Any = None) -> tuple[int, ...]:
        """Says which keypoint takes each place in a mirrored image, as Keypoints of penstock.sample takes it.

        Args:
            pairs: Pairs of keypoints that change places; default: those whose names differ by left and right.
            indices: Instead of pairs: the keypoint of each place, which is checked.

        Returns:
            A number for each keypoint; none, if the keypoints have no names and nothing is given.

        Raises:
            ValueError: There are no keypoints, or pairs and indices do not fit them.
        """
        return flip_indices_of(self, pairs, indices)

    def samples(self, *names: str, load: Callable[[dict[str, Any]], Any] | None = None) -> Any:
        """Makes a data set of the rows, for fn.readers.dataset and fn.readers.packed.

        Args:
            *names: The columns that a sample, a dict, has.
            load: Instead of names: a function of a row, a dict as row() returns it, that makes the sample.

        Returns:
            An object with __len__ and __getitem__. Its columns by name are lengths: of lists, or numbers.

        Raises:
            ValueError: There is no such column, or neither or both of names and load are given.

        Example:
            >>> from penstock.annotations import Table
            >>> table = Table(["a", "b"], {"tokens": [np.array([7, 8, 9]), np.array([5, 6])]})
            >>> @pipeline_def(batch_size=1, num_threads=1)
            ... def rows():
            ...     return fn.readers.packed(table.samples("tokens"), lengths="tokens", row_length=6)
            >>> rows().run()["tokens"].as_array().tolist()
            [[7, 8, 9, 5, 6, 0]]
        """
        self.check(names)
        if bool(names) == (load is not None):
            raise ValueError("samples() takes names of columns, or load=, a function of a row")
        return Samples(self, names, load)

    def check(self, names: Iterable[str]) -> None:
        """Raises an error if a name is that of no column.

        Args:
            names: The names.

        Raises:
            ValueError: There is no such column; the text lists the columns.
        """
        for name in names:
            if name not in self.columns and name != "file":
                raise ValueError(f"there is no column '{name}': the columns are {', '.join(self.columns) or 'none'}")

    def read(self, weights: Any = None, name: str = "reader", **arguments: Any) -> tuple[Any, Any]:
        """Reads the files, in a pipeline.

        Args:
            weights: As torch's WeightedRandomSampler takes them: a number for each row, in any unit; a sample
                is drawn by them, with replacement, len(table) times an epoch. "balanced": all classes are
                drawn equally often. A dict: the weight of each class.
            name: The name of the reader.
            **arguments: Those of every reader: random_shuffle, shard_id, num_shards, pad_last_batch ...

        Returns:
            The bytes of a file, and the number of its row for look_up().
        """
        if weights is None:
            return fn.readers.file(files=self.files, labels=list(range(len(self))), name=name, **arguments)
        rows = WeightedRows(weights_of_rows(self, weights))
        place = fn.readers.indices(size=len(self), name=name, **arguments)
        drawn = fn.random.uniform(range=[0.0, 1.0], shape=[2])  # a float32 alone has too few values for many rows
        row = fn.python_function(place, drawn, function=rows, batch_processing=True)
        return fn.io.file.read(self.look_up(row, "file")), row

    def look_up(self, row: Any, *names: str) -> Any:
        """Gives columns of the samples of a batch, in a pipeline.

        One call of Python serves a whole batch. "masks" are (n, H, W) uint8, one for each object; "mask" is
        (H, W, 1) int32 with the label of the object there plus 1, the last one where objects overlap, 0 for
        the background.

        Args:
            row: The number of the row, as read() gives it.
            *names: Names of columns; "file" is the path as text.

        Returns:
            A value of the pipeline, or a list of them.

        Raises:
            ValueError: There is no such column.
        """
        self.check(n for n in names if not (n == "mask" and "masks" in self.columns))
        return fn.python_function(
            row,
            function=Lookup(self, names),
            num_outputs=len(names),
            batch_processing=True,
            output_layouts=["HWC" if n == "mask" else "" for n in names],
        )
