# SPDX-License-Identifier: Apache-2.0
"""Readers as classes, pictures of files, and sources of the program."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .... import _core
from ....plugin.base_iterator import BaseIterator, LastBatchPolicy
from ...pipeline import Pipeline
from . import generators, later
from .batches import Batch, as_batch
from .devices import EvalContext, device
from .groups import call, operator_of
from .tensors import Tensor, as_tensor

_CLASSES = {
    "readers": {
        **{
            n: f"readers.{n.lower()}"
            for n in ("File", "COCO", "Caffe", "Caffe2", "MXNet", "Numpy", "Video", "Webdataset")
        },
        "NemoAsr": "readers.nemo_asr",
        "TFRecord": "readers.tfrecord",
        "VideoResize": "readers.video_resize",
    },
    "experimental.readers": {"Fits": "experimental.readers.fits", "Video": "experimental.readers.video"},
}
_TOGETHER = 16  # samples that are read at once where the program takes one after the other


class _Epochs(BaseIterator):
    def convert(self, batch, keep):
        return batch if keep is None or keep >= len(batch) else _core.batch([batch[k] for k in range(keep)])


class Reader:
    """Reads a data set. The classes of ndd.readers derive from it.

    Args:
        max_batch_size: The default of next_epoch()'s batch_size; without both, samples come one by one.
        name: A name for messages.
        device: "cpu" or "gpu", where the reader has a form for it.
        num_inputs: Accepted without effect.
        enable_checkpointing: get_state() works between the samples of an epoch as well, which then come slower.
        **arguments: Those of the operator.
    """

    _path = ""

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: str = "cpu",
        num_inputs: int | None = None,
        enable_checkpointing: bool = False,
        **arguments: Any,
    ) -> None:
        self._batch_size, self._device, self._name = max_batch_size, device, name or "reader"
        self._arguments = {n: v for n, v in arguments.items() if v is not None}
        self._seed = self._arguments.pop("seed", None)
        self._epochs: Any = None
        self._together = 1 if enable_checkpointing else _TOGETHER
        self._state: Any = None  # where to begin
        self._mode: Any = None
        self._keys: list[str] | None = None
        self._pipeline(1)  # its errors belong to the line that makes the reader

    def _pipeline(self, batch_size):
        context = EvalContext.current()
        seed = generators.get_default_rng()() if self._seed is None else self._seed
        self._seed = seed  # the same samples for each pipeline of this reader
        on_gpu = device(self._device).device_type == "gpu"
        made = Pipeline(
            batch_size, context.num_threads, context.device_id if on_gpu else None, seed=seed, prefetch_queue_depth=2
        )
        with made:
            where = {"device": "gpu"} if on_gpu else {}
            outputs = operator_of(self._path)(name=self._name, **where, **self._arguments)
            if isinstance(outputs, dict):
                self._keys, outputs = list(outputs), list(outputs.values())
            outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            made.set_outputs(*outputs)
        self._count = len(outputs)
        return made

    def _iterator(self, batch_size):
        if self._epochs is None:
            self._mode = batch_size
            names = [str(k) for k in range(self._count)]
            self._epochs = _Epochs(
                self._pipeline(batch_size or self._together),
                names,
                reader_name=self._name,
                auto_reset=True,
                last_batch_policy=LastBatchPolicy.FILL if batch_size else LastBatchPolicy.PARTIAL,
                prepare_first_batch=False,
            )
            if self._state is not None:
                self._epochs.load_state(self._state)
        elif self._mode != batch_size:
            raise RuntimeError(
                f"this reader gives {_words(self._mode)}, and not {_words(batch_size)}: make another one for it"
            )
        return self._epochs

    def next_epoch(self, batch_size: int | None = None, ctx: Any = None, capture: bool = False) -> Any:
        """Iterates over the next epoch of the reader, or of its shard.

        Args:
            batch_size: The samples of a Batch. Default: that of the constructor; without both, Tensors of one sample.
            ctx: Accepted without effect.
            capture: Refused: a pipeline's function is the captured form.

        Yields:
            A tuple of Batches or Tensors, one for each output of the reader; a dict where the operator gives one.
            Batches are full: the last one of an epoch goes on with samples of the next.

        Raises:
            RuntimeError: The reader was iterated in the other way, or with another batch_size.
            NotImplementedError: capture is True.
        """
        if capture:
            raise NotImplementedError("capture=True is not here: a function with @pipeline_def is the captured form")
        return self._steps(self._iterator(batch_size or self._batch_size))

    def _steps(self, epochs):
        for (outputs,) in epochs:
            batches = list(outputs.values())
            if self._mode is not None:
                yield self._named([Batch(b) for b in batches])
                continue
            for k in range(len(batches[0])):
                yield self._named([Tensor(b[k]) for b in batches])

    def _named(self, values):
        return tuple(values) if self._keys is None else dict(zip(self._keys, values))

    def get_state(self) -> dict[str, Any]:
        """Where the reader is, for set_state() of another one with the same arguments and batch_size.

        Raises:
            RuntimeError: The reader has not begun an epoch.
        """
        if self._epochs is None:
            raise RuntimeError("the reader has no state before the first sample")
        return {"seed": self._seed, "iterator": self._epochs.state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues where another reader was. Comes before the first epoch.

        Args:
            state: What get_state() gave.

        Raises:
            RuntimeError: The reader has begun already.
        """
        if self._epochs is not None:
            raise RuntimeError("set_state() comes before the first epoch: make a new reader")
        self._seed, self._state = state["seed"], state["iterator"]

    def get_metadata(self) -> dict[str, Any]:
        """The sizes of the data set and of the shard."""
        return self._pipeline(1).reader_meta(self._name)


def _words(batch_size):
    return "single samples" if batch_size is None else f"batches of {batch_size}"


def classes(group: str) -> dict[str, type[Reader]]:
    """The readers of a group, by their names."""
    made = {}
    for name, path in _CLASSES[group].items():
        text = (operator_of(path).__doc__ or "").partition("\n")[0]
        module = f"{__package__}.{group}"
        made[name] = type(name, (Reader,), {"_path": path, "__doc__": text, "__module__": module})
    return made


later.functions["readers"] = classes


class ExternalSource:
    """Takes data from a function or an iterable of the program; each call gives the next.

    Args:
        source: A function without arguments, or an iterable, of arrays (Tensors) and lists of arrays (Batches).
        num_outputs: The source gives tuples of so many.
        cycle: What happens at the end of an iterable: False or "no": StopIteration; True or "quiet": it begins anew; "raise":
            StopIteration, and it begins anew.
        dtype, device, layout: As those of as_tensor() and as_batch().

    Raises:
        ValueError: There is no such cycle, or the source is a function and cannot begin anew.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> source = ndd.ExternalSource([np.zeros(2), np.ones(3)])
        >>> source().shape, source().shape
        ((2,), (3,))
    """

    def __init__(
        self,
        source: Any,
        num_outputs: int = 1,
        cycle: Any = None,
        dtype: Any = None,
        device: Any = None,
        layout: str | None = None,
    ) -> None:
        if cycle not in (None, False, True, "no", "quiet", "raise"):
            raise ValueError(f'cycle must be a bool, "no", "quiet" or "raise", got {cycle!r}')
        if callable(source) and cycle in (True, "quiet", "raise"):
            raise ValueError("a function cannot begin anew: cycle is for iterables")
        self._source, self._outputs, self._cycle = source, num_outputs, cycle
        self._given = {"dtype": dtype, "device": device, "layout": layout}
        self._items = None if callable(source) else iter(source)

    def __call__(self) -> Any:
        found = self._next()
        if self._outputs == 1:
            return self._made(found)
        if len(found) != self._outputs:
            raise ValueError(f"the source must give tuples of {self._outputs}, got {len(found)} values")
        return tuple(self._made(part) for part in found)

    def _made(self, value):
        return (as_batch if isinstance(value, (list, Batch)) else as_tensor)(value, **self._given)

    def _next(self):
        if self._items is None:
            return self._source()
        try:
            return next(self._items)
        except StopIteration:
            if self._cycle in (True, "quiet", "raise"):
                self._items = iter(self._source)
            if self._cycle in (True, "quiet"):
                return next(self._items)
            raise


def imread(filepaths: Any, /, *, device: Any = "cpu", **arguments: Any) -> Any:
    """Reads and decodes pictures.

    Args:
        filepaths: A path gives a Tensor, a list of paths a Batch. Tensors and Batches may hold the bytes of paths.
        device: Where the pixels shall be.
        **arguments: Those of decoders.image.

    Returns:
        A Tensor or a Batch, HWC.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A file is not a picture.

    Example:
        pixels = ndd.imread("photo.jpg")
    """
    several = isinstance(filepaths, (list, tuple, Batch))
    paths = [_path(p) for p in (filepaths if several else [filepaths])]
    files = [_core.tensor(np.fromfile(path, np.uint8)) for path in paths]
    try:
        made = call("decoders.image", Batch(_core.batch(files)) if several else Tensor(files[0]), **arguments)
    except (ValueError, _core.DataError) as error:
        raise type(error)(f"{', '.join(map(str, paths))}: {error}") from None
    return made.to_device(device)


def _path(value):
    return os.fsdecode(np.asarray(value).tobytes()) if isinstance(value, Tensor) else os.fspath(value)


__all__ = ["ExternalSource", "Reader", "classes", "imread"]
