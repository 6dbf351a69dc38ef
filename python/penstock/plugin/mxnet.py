# SPDX-License-Identifier: Apache-2.0
"""Iterators that yield batches of MXNet."""

from __future__ import annotations

from typing import Any

from .interface import BaseIterator, LastBatchPolicy

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIGluonIterator",
    "LastBatchPolicy",
    "array_of",
    "feed_ndarray",
]

_TAKEN = ("uint8", "int8", "int32", "int64", "float16", "float", "float64")


def array_of(batch: Any, name: str = "the output") -> Any:
    """An array of MXNet over the memory of a batch, without a copy where its samples lie one after the other.

    Args:
        batch: A Batch of samples of one shape.
        name: What messages call it.

    Returns:
        An mxnet.nd.NDArray.

    Raises:
        TypeError: MXNet has no such element type.
        ValueError: The samples differ in shape, or there are no elements.
    """
    import mxnet

    _name_of(batch.dtype, name)
    if not batch.is_uniform():
        raise ValueError(
            f"the samples of {name} differ in shape: fn.resize, fn.crop or fn.pad in the pipeline makes them equal"
        )
    if not all(batch.as_tensor().shape()):
        raise ValueError(f"{name} has no elements, which MXNet's arrays cannot say")
    return mxnet.nd.from_dlpack(batch.as_tensor().__dlpack__())


def _name_of(dtype, what):
    """NumPy's name of an element type that MXNet has."""
    kind = dtype.name.lower()
    if kind not in _TAKEN:
        raise TypeError(
            f"{what} is {kind}, which MXNet does not have: fn.cast(x, dtype=types.INT32) or another of "
            f"{', '.join(_TAKEN)} in the pipeline"
        )
    return {"float": "float32"}.get(kind, kind)


def feed_ndarray(dali_tensor: Any, arr: Any, cuda_stream: Any = None) -> Any:
    """Copies a Tensor or a Batch to an array of MXNet.

    Args:
        dali_tensor: A Tensor, or a Batch of samples of one shape.
        arr: An NDArray of this shape and type.
        cuda_stream: The stream of the copy, where the data is on a GPU.

    Returns:
        arr.

    Raises:
        ValueError: The shapes or types differ.
    """
    import ctypes

    import mxnet

    shape = dali_tensor.as_tensor().shape() if hasattr(dali_tensor, "as_tensor") else dali_tensor.shape()
    kind = dali_tensor.dtype.name.lower()
    if tuple(shape) != tuple(arr.shape) or {"float": "float32"}.get(kind, kind) != arr.dtype.__name__:
        raise ValueError(f"the array is {arr.dtype.__name__}{tuple(arr.shape)}, the data {kind}{tuple(shape)}")
    arr.wait_to_read()  # MXNet may still write it
    pointer = ctypes.c_void_p()
    mxnet.base.check_call(mxnet.base._LIB.MXNDArrayGetData(arr.handle, ctypes.byref(pointer)))
    dali_tensor.copy_to_external(pointer.value, cuda_stream)
    return arr


class _Step(list):
    """A DataBatch for each pipeline, and what Module asks a batch for: the shapes of all of them together, with which it
    binds anew where they differ from those before, and how many samples at the end do not count.

    Args:
        batches: The DataBatches.
        data, label: Their DataDescs.
    """

    def __init__(self, batches, data, label):
        super().__init__(batches)
        self.provide_data, self.provide_label = data, label
        self.pad, self.index = batches[-1].pad, None


def _pair_of(entry, tag):
    """The name and the tag of an entry of output_map."""
    if isinstance(entry, str):
        return entry, tag
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise ValueError(f"an entry of output_map is a name, or a pair of a name and a tag, got {entry!r}")
    return tuple(entry)


class DALIGenericIterator(BaseIterator):
    """Gives a list with one mxnet.io.DataBatch for each pipeline.

    `data` and `label` are lists of arrays in the order of output_map; `pad` says how many repeated samples at the end do not
    count. With LastBatchPolicy.PARTIAL the last batch may have fewer samples; Module binds its new shape by itself. With
    several pipelines a Module has a context for each, and `provide_data` has the shapes of all of them together.

    Args:
        pipelines: A Pipeline or a list of them.
        output_map: A pair (name, DATA_TAG or LABEL_TAG) for each output. A name alone is data.
        squeeze_labels: Omit axes of extent 1 of labels.
        size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded, last_batch_policy,
            prepare_first_batch: As those of BaseIterator.

    Raises:
        ValueError: There is no such tag.

    Example:
        from penstock.plugin.mxnet import DALIGenericIterator as Iterator
        batches = Iterator(pipe, [("data", Iterator.DATA_TAG), ("label", Iterator.LABEL_TAG)], reader_name="reader")
        module.fit(batches, ...)
    """

    DATA_TAG, LABEL_TAG = "data", "label"

    def __init__(
        self,
        pipelines,
        output_map,
        size=-1,
        reader_name=None,
        data_layout="NCHW",
        fill_last_batch=None,
        auto_reset=False,
        squeeze_labels=True,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
    ):
        entries = [_pair_of(entry, self.DATA_TAG) for entry in output_map]
        for name, tag in entries:
            if tag not in (self.DATA_TAG, self.LABEL_TAG):
                raise ValueError(f"the tag of {name!r} must be {self.DATA_TAG!r} or {self.LABEL_TAG!r}, got {tag!r}")
        self._tags, self._layout, self._squeeze = [tag for _, tag in entries], data_layout, squeeze_labels
        super().__init__(
            pipelines,
            [name for name, _ in entries],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        self.batch_size = self.pipelines[0].max_batch_size * len(self.pipelines)
        self._described = None

    def convert_all(self, outputs, keeps):
        """Makes batches of MXNet.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        made = [self._batch(batches, keep) for batches, keep in zip(outputs, keeps)]
        self._described = {tag: self._of_all(made, tag) for tag in (self.DATA_TAG, self.LABEL_TAG)}
        return _Step(made, self._described[self.DATA_TAG], self._described[self.LABEL_TAG])

    def _of_all(self, made, tag):
        """The DataDescs of the batches of all pipelines as one."""
        import mxnet

        ours = [batch.provide_data if tag == self.DATA_TAG else batch.provide_label for batch in made]
        return [
            mxnet.io.DataDesc(
                parts[0].name,
                (sum(part.shape[0] for part in parts), *parts[0].shape[1:]),
                parts[0].dtype,
                parts[0].layout,
            )
            for parts in zip(*ours)
        ]

    def _batch(self, batches, keep):
        import mxnet

        parts: dict[str, list[Any]] = {self.DATA_TAG: [], self.LABEL_TAG: []}
        described: dict[str, list[Any]] = {self.DATA_TAG: [], self.LABEL_TAG: []}
        for name, tag, batch in zip(self.output_map, self._tags, batches):
            array = array_of(batch, f"the output '{name}'")
            if tag == self.LABEL_TAG and self._squeeze and len(array.shape) > 1:
                array = array.reshape([e for k, e in enumerate(array.shape) if k == 0 or e != 1])
            parts[tag].append(array)
            layout = self._layout if tag == self.DATA_TAG else "NCHW"[: len(array.shape)]  # N: Module divides it
            described[tag].append(mxnet.io.DataDesc(name, array.shape, array.dtype, layout))
        count = len(batches[0])
        return mxnet.io.DataBatch(
            data=parts[self.DATA_TAG],
            label=parts[self.LABEL_TAG],
            pad=0 if keep is None else count - keep,
            index=None,
            provide_data=described[self.DATA_TAG],
            provide_label=described[self.LABEL_TAG],
        )

    def _describe(self, tag):
        if self._described is None:  # the first batch tells; it is kept for the loop
            outputs, _, keeps = self._peeked()
            self.convert_all(outputs, keeps)
        return self._described[tag]

    @property
    def provide_data(self) -> list[Any]:
        """Names, shapes and types of the data, as Module.bind() takes them."""
        return self._describe(self.DATA_TAG)

    @property
    def provide_label(self) -> list[Any]:
        """Names, shapes and types of the labels."""
        return self._describe(self.LABEL_TAG)


class DALIClassificationIterator(DALIGenericIterator):
    """DALIGenericIterator with one output of data and one of labels.

    Args:
        pipelines, size, reader_name, data_layout, fill_last_batch, auto_reset, squeeze_labels, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch: As those of DALIGenericIterator.
        data_name, label_name: Their names.
    """

    def __init__(
        self,
        pipelines,
        size=-1,
        reader_name=None,
        data_name="data",
        label_name="softmax_label",
        data_layout="NCHW",
        fill_last_batch=None,
        auto_reset=False,
        squeeze_labels=True,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
    ):
        super().__init__(
            pipelines,
            [(data_name, self.DATA_TAG), (label_name, self.LABEL_TAG)],
            size,
            reader_name,
            data_layout,
            fill_last_batch,
            auto_reset,
            squeeze_labels,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )


class DALIGluonIterator(BaseIterator):
    """Gives a list with one list of outputs for each pipeline, for loops of Gluon.

    Args:
        pipelines: A Pipeline or a list of them.
        size: Samples of an epoch; -1: until StopIteration.
        reader_name: The reader whose epochs count.
        output_types: For each output DENSE_TAG (one array) or SPARSE_TAG (a list of arrays, which may differ in shape).
            Default: all dense.
        auto_reset, fill_last_batch, dynamic_shape, last_batch_padded, last_batch_policy, prepare_first_batch: As those of
            BaseIterator.
    """

    DENSE_TAG, SPARSE_TAG = "dense", "sparse"

    def __init__(
        self,
        pipelines,
        size=-1,
        reader_name=None,
        output_types=None,
        auto_reset=False,
        fill_last_batch=None,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
    ):
        first = pipelines[0] if isinstance(pipelines, (list, tuple)) else pipelines
        self._types = list(output_types or [self.DENSE_TAG] * first.num_outputs)
        if len(self._types) != first.num_outputs:
            raise ValueError(f"output_types has {len(self._types)} tags, the pipeline has {first.num_outputs} outputs")
        for tag in self._types:
            if tag not in (self.DENSE_TAG, self.SPARSE_TAG):
                raise ValueError(f"output_types has {self.DENSE_TAG!r} and {self.SPARSE_TAG!r}, got {tag!r}")
        super().__init__(
            pipelines,
            [str(k) for k in range(len(self._types))],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def convert_all(self, outputs, keeps):
        """Makes arrays of batches.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        return [[self._made(k, b, keep) for k, b in enumerate(batches)] for batches, keep in zip(outputs, keeps)]

    def _made(self, k, batch, keep):
        count = len(batch) if keep is None else keep
        if self._types[k] == self.DENSE_TAG:
            made = array_of(batch, f"output {k}")
            return made if count == len(batch) else made[:count]
        return [_of_one(batch[i], f"output {k}") for i in range(count)]


def _of_one(sample, name):
    """The array of one sample. One without elements, such as the boxes of a picture that has none, is a new array."""
    import mxnet
    import numpy as np

    from .interface import batch

    shape = sample.shape()
    if all(shape):
        return array_of(batch([sample]), name).reshape(shape)
    return mxnet.nd.array(np.empty(shape), dtype=_name_of(sample.dtype, name))
