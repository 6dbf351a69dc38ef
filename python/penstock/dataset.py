# SPDX-License-Identifier: Apache-2.0
"""readers.dataset: a data set that is an object of the program, with __len__ and __getitem__."""

from . import _core, graph


class DatasetError(RuntimeError):
    """__getitem__ raised an exception, which is __cause__; the message names the index."""


class Items:
    """Samples by number. Picklable where the data set is; a process of its own gets it once."""

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
        return _core.tensor(value)  # with its layout, as far as its extents tell
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{type(value).__name__} is not an array, a number, text or bytes")
    return array


def dataset(dataset, *, num_outputs=None, output_layouts=None, num_workers=1, processes=False, name=None, **arguments):
    """Samples of an object with __len__ and __getitem__, such as a map-style data set of torch.

    A sample is an array, a tensor on the CPU, a number (int64, float64), a picture of Pillow, text or bytes (uint8, 1-D), a
    tuple of such, or a dict of them; the result is a value of the pipeline, a list or a dict of values. num_outputs: of a
    tuple; None: what sample 0 has, which is asked for once where the pipeline is defined. output_layouts: one, or one each.
    num_workers: threads that call __getitem__, with processes=True processes (py_start_method: "fork" or "spawn").
    name and the other arguments are those of every reader: random_shuffle, shard_id, num_shards, pad_last_batch ...;
    order, checkpoints and epochs are a reader's. An exception names the index and keeps its traceback; with
    on_error="skip" the sample is left out instead.
    """
    pipeline = graph.required("fn.readers.dataset(...)")
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise TypeError(f"[readers.dataset] a data set has __len__ and __getitem__, {type(dataset).__name__} has not")
    keys = None
    if len(dataset) < 1:
        raise ValueError("[readers.dataset] the data set is empty")
    if num_outputs is None:
        with graph.outside():
            first = dataset[0]
        if isinstance(first, dict):
            keys = list(first)
        num_outputs = len(first) if isinstance(first, (tuple, list, dict)) else 1
    items = Items(dataset, keys, int(num_outputs), pipeline._given["on_error"] != "raise")
    from . import fn

    index = fn.readers.indices(size=len(dataset), name=name, **arguments)
    if isinstance(output_layouts, dict):
        output_layouts = [output_layouts.get(k, "") for k in keys or ()]
    made = fn.python_function(
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
