# SPDX-License-Identifier: Apache-2.0
"""readers.packed: several samples of a data set in one row of a fixed length."""

from __future__ import annotations

from .. import _core, _graph as graph
from .dataset import _array, _check, dataset as read_dataset
from .sample_lengths import lengths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ADDED = ("segments", "positions")


class Rows:
    """A data set of rows. A sample of the given data set is one array, a tuple or a dict of arrays of one length."""

    def __init__(self, dataset, lengths, row_length, window, seed, pad):
        import numpy

        self.dataset, self.lengths, self.row_length, self.pad = dataset, lengths, row_length, pad
        samples, first = _core.pack_rows(lengths.tobytes(), row_length, window, seed)
        self.samples, self.first = numpy.frombuffer(samples, numpy.uint32), numpy.frombuffer(first, numpy.int64)

    def __len__(self):
        return len(self.first) - 1

    def __getitem__(self, row):
        """The values of the row, a dict if the samples are dicts, and numbers of segments and positions."""
        import numpy

        chosen = [int(k) for k in self.samples[self.first[row] : self.first[row + 1]]]
        parts = [self._values(k) for k in chosen]
        names = list(parts[0])
        for k, part in zip(chosen, parts):
            if list(part) != names:
                raise TypeError(f"sample {k} has the values {list(part)}, sample {chosen[0]} {names}")
        made = {name: self._joined([part[name] for part in parts]) for name in names}
        sizes = self.lengths[chosen].astype(numpy.int64)
        numbers = numpy.repeat(numpy.arange(1, len(chosen) + 1, dtype=numpy.int32), sizes)
        starts = numpy.repeat(numpy.cumsum(sizes) - sizes, sizes)
        places = (numpy.arange(len(numbers)) - starts).astype(numpy.int32)
        made.update(zip(ADDED, (self._filled(numbers, 0), self._filled(places, 0))))
        return made if isinstance(names[0], str) else tuple(made.values())

    def _values(self, k):
        """{name or number: array} of a sample."""
        import numpy

        sample = self.dataset[k]
        named = (
            sample if isinstance(sample, dict) else dict(enumerate(sample if isinstance(sample, tuple) else [sample]))
        )
        values = {name: numpy.asarray(_array(value)) for name, value in named.items()}
        for name, value in values.items():
            if value.ndim < 1 or len(value) != self.lengths[k]:
                raise ValueError(
                    f"value {name!r} of sample {k} has the shape {value.shape}, but lengths says {self.lengths[k]} elements"
                )
        return values

    def _joined(self, parts):
        import numpy

        return self._filled(numpy.concatenate(parts), self.pad)

    def _filled(self, values, pad):
        import numpy

        row = numpy.full((self.row_length, *values.shape[1:]), pad, values.dtype)
        row[: len(values)] = values
        return row


def packed(
    dataset: Any,
    *,
    lengths: Any,
    row_length: int,
    window: int = 4096,
    pad: float = 0,
    seed: int = 0,
    num_workers: int = 1,
    processes: bool = False,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads rows of one length, in each several samples of a data set one after the other.

    The samples are permuted by the seed and taken `window` at a time. Those of a window are placed from the longest to
    the shortest, each in the first row that has room. The rows are the same in all epochs and on all ranks; their
    order is that of a reader. What follows the last sample of a row is padding.

    Args:
        dataset: An object with __len__ and __getitem__. A sample is an array, a tuple or a dict of arrays, all with as
            many elements in their first dimension.
        lengths: The number of elements of each sample: an array, a function of the number of a sample, or the name of
            a column, where dataset[name] gives one.
        row_length: Elements of a row.
        window: How many samples are placed together. More leave less padding.
        pad: The value of padding.
        seed: Decides which samples share a row, and the order of the rows if they are shuffled.
        num_workers: Threads that call __getitem__; with processes=True processes.
        processes: Uses processes, which start as the py_start_method of the pipeline says.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards ...

    Returns:
        The values of a sample, (row_length, ...), then `segments` and `positions`, int32 of shape (row_length,): the
        number of the sample in its row, from 1, and the place in that sample, from 0; both are 0 in padding. A dict if
        samples are dicts, else a list.

    Raises:
        TypeError: The object has no __len__ or __getitem__.
        ValueError: The data set is empty, a sample is longer than a row, or there are not as many lengths as samples.
        DatasetError: A run: __getitem__ raised, or a sample does not have the length that was given.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def rows(data):
        ...     return fn.readers.packed(data, lengths=[len(d) for d in data], row_length=6)
        >>> tokens, segments, positions = rows([[7, 8, 9], [5, 6]]).run()
        >>> tokens.as_array()[0].tolist(), segments.as_array()[0].tolist(), positions.as_array()[0].tolist()
        ([7, 8, 9, 5, 6, 0], [1, 1, 1, 2, 2, 0], [0, 1, 2, 0, 1, 0])
    """
    import zlib

    graph.required("fn.readers.packed(...)")
    _check(dataset)
    for length in ("bucket_by", "max_cost", "bucket_width", "bucket_groups", "packing_window"):
        if length in arguments:
            raise TypeError(f"[readers.packed] all rows have one length, so there is no argument {length!r}")
    counted = _whole(lengths_of(dataset, lengths, "lengths", "readers.packed"))
    rows = Rows(dataset, counted, int(row_length), int(window), int(seed), pad)
    return read_dataset(
        rows,
        num_workers=num_workers,
        processes=processes,
        name=name,
        seed=int(seed),
        content=zlib.crc32(rows.samples.tobytes(), zlib.crc32(counted.tobytes(), int(row_length) & 0xFFFFFFFF)),
        **arguments,
    )


def _whole(lengths):
    import numpy

    whole = lengths.astype(numpy.uint32)
    if (wrong := numpy.flatnonzero(whole != lengths)).size:
        raise ValueError(f"[readers.packed] the length of sample {wrong[0]} is {lengths[wrong[0]]}, not a whole number")
    return whole
