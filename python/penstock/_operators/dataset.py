# SPDX-License-Identifier: Apache-2.0
"""readers.dataset: a data set that is an object of the program, with __len__ and __getitem__."""

from __future__ import annotations

from .. import _core, _graph as graph
from .python_function import python_function
from .sample_lengths import lengths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DatasetError(RuntimeError):
    """Says that __getitem__ of a data set raised an exception.

    The exception is __cause__; the message names the index.
    """


class Items:
    """Reads samples by number. It is picklable if the data set is; a worker process gets it once."""

    operator, noun = "readers.dataset", "data set"  # of errors that are about processes

    def __init__(self, dataset, keys, outputs, tolerant):
        self.dataset, self.keys, self.outputs, self.tolerant = dataset, keys, outputs, tolerant
        self.__name__ = type(dataset).__name__

    def __call__(self, index):
        index = int(index)
        try:
            return tuple(self._values(self.dataset[index]))
        except Exception as error:
            kind = _core.DataError if self.tolerant else DatasetError
            said = f"sample {index} of the data set: {type(error).__name__}: {error}"
            raise kind(said).with_traceback(error.__traceback__) from error

    def _values(self, sample):
        if self.keys is not None:
            if not isinstance(sample, dict) or not set(self.keys) <= set(sample):
                raise TypeError(f"expected a dict with {', '.join(map(repr, self.keys))}, got {_shown(sample)}")
            sample = [sample[k] for k in self.keys]
        elif self.outputs == 1 and not isinstance(sample, (tuple, list)):
            sample = [sample]
        if not isinstance(sample, (tuple, list)) or len(sample) != self.outputs:
            raise TypeError(f"expected {self.outputs} values, got {_shown(sample)}")
        return [_array(v) for v in sample]


def _shown(sample):
    if isinstance(sample, dict):
        return f"a dict with {', '.join(map(repr, sample))}"
    return f"{len(sample)} values" if isinstance(sample, (tuple, list)) else type(sample).__name__


def _array(value):
    import numpy

    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return numpy.frombuffer(bytes(value), numpy.uint8)
    if isinstance(value, numpy.ndarray):
        return value
    if type(value).__module__.partition(".")[0] == "torch":
        return _core.tensor(value)  # with the layout that its extents show
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{type(value).__name__} is not an array, a number, text or bytes")
    return array


def _check(dataset):
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise TypeError(f"[readers.dataset] a data set has __len__ and __getitem__, {type(dataset).__name__} lacks one")
    if len(dataset) < 1:
        raise ValueError("[readers.dataset] the data set is empty")


def _keys_and_number(dataset):
    """The keys of its samples, None if they are not dicts, and how many values each has, as its first sample shows."""
    with graph.outside():
        first = dataset[0]
    keys = list(first) if isinstance(first, dict) else None
    return keys, len(first) if isinstance(first, (tuple, list, dict)) else 1


def dataset(
    dataset: Any,
    *,
    num_outputs: int | None = None,
    output_layouts: Any = None,
    num_workers: int = 1,
    processes: bool = False,
    bucket_by: Any = None,
    name: str | None = None,
    **arguments: Any,
) -> Any:
    """Reads samples of an object with __len__ and __getitem__, such as a map-style data set of torch.

    A sample is an array, a tensor on the CPU, a number (int64, float64), a picture of Pillow, text or bytes (uint8,
    1-D), a tuple of such, or a dict of them. Order, checkpoints and epochs are those of a reader.

    Args:
        dataset: The data set.
        num_outputs: Values of a tuple; None: as many as sample 0 has, which is read once when the pipeline is
            defined.
        output_layouts: Layouts of the values, one or one for each; of a dict a dict.
        num_workers: Threads that call __getitem__; with processes=True processes.
        processes: Uses processes, which start as the py_start_method of the pipeline says.
        bucket_by: Forms batches of samples of near length. The lengths: an array or list with a number for each
            sample; a function of the number of a sample; or the name of a column, where dataset[name] gives one.
            With max_cost the longest sample of a batch times its number of samples is at most that.
        name: The name of the reader.
        **arguments: Those of every reader: random_shuffle, shard_id, num_shards, max_cost, bucket_width ...

    Returns:
        A value of the pipeline, a list or a dict of values.

    Raises:
        TypeError: The object has no __len__ or __getitem__.
        ValueError: The data set is empty, or bucket_by has another number of lengths.
        DatasetError: A run: __getitem__ raised; with on_error="skip" the sample is left out instead.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def pairs(data):
        ...     image, label = fn.readers.dataset(data)
        ...     return fn.resize(image, size=[8, 8]), label
        >>> images, labels = pairs([(np.zeros((4, 6, 3), np.uint8), k) for k in range(4)]).run()
        >>> labels.as_array().tolist()
        [0, 1]
    """
    pipeline = graph.required("fn.readers.dataset(...)")
    _check(dataset)
    keys = None
    if num_outputs is None:
        keys, num_outputs = _keys_and_number(dataset)
    items = Items(dataset, keys, int(num_outputs), pipeline.on_error != "raise")
    if bucket_by is not None:
        arguments["lengths"] = lengths_of(dataset, bucket_by)
    index = _core.operator_function("readers.indices")(size=len(dataset), name=name, **arguments)
    if isinstance(output_layouts, dict):
        output_layouts = [output_layouts.get(k, "") for k in keys or ()]
    made = python_function(
        index,
        function=items,
        num_outputs=items.outputs,
        output_layouts=output_layouts,
        num_workers=num_workers,
        processes=processes,
    )
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    if keys is not None:
        return dict(zip(keys, made))
    return made[0] if items.outputs == 1 else made
