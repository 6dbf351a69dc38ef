# SPDX-License-Identifier: Apache-2.0
"""Iterators that yield tensors of PaddlePaddle."""

from __future__ import annotations

from typing import Any

from .interface import BaseIterator, LastBatchPolicy

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "LastBatchPolicy", "feed_ndarray", "tensor_of"]

_REFUSED = ("uint16",)  # Paddle's DLPack takes it for bfloat16


def tensor_of(batch: Any, name: str = "the output") -> Any:
    """A tensor of Paddle over the memory of a batch, without a copy where its samples lie one after the other.

    Args:
        batch: A Batch of samples of one shape.
        name: What messages call it.

    Returns:
        A paddle.Tensor; with paddle.enable_static() a DenseTensor, which `Executor.run(feed=...)` takes.

    Raises:
        TypeError: Paddle has no such element type.
        ValueError: The samples differ in shape.
    """
    from paddle.utils import dlpack

    if batch.dtype.name.lower() in _REFUSED:
        raise TypeError(
            f"{name} is uint16, which Paddle would take for bfloat16: fn.cast(x, dtype=types.INT32) in the pipeline"
        )
    if not batch.is_uniform():
        raise ValueError(
            f"the samples of {name} differ in shape: fn.resize, fn.crop or fn.pad in the pipeline makes them equal"
        )
    return dlpack.from_dlpack(batch.as_tensor())


def feed_ndarray(dali_tensor: Any, ptr: int, cuda_stream: Any = None, non_blocking: bool = False) -> None:
    """Copies a Tensor or a Batch to memory of the program.

    Args:
        dali_tensor: A Tensor, or a Batch of samples of one shape.
        ptr: The address, such as `tensor.data_ptr()`; there must be room.
        cuda_stream: The stream of the copy, where the data is on a GPU.
        non_blocking: Do not wait for the copy.
    """
    dali_tensor.copy_to_external(ptr, cuda_stream, non_blocking)


class DALIGenericIterator(BaseIterator):
    """Gives a list with one dict for each pipeline, from the names of output_map to tensors of Paddle.

    A tensor is a whole batch and shares the memory of the pipeline. With paddle.enable_static() the dict fits
    `Executor.run(feed=...)`.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch, refill: As those of BaseIterator. An entry of output_map
            may be a pair (name, level of detail) as DALI has it; only level 0 exists.

    Example:
        from penstock.plugin.paddle import DALIGenericIterator
        for batch, in DALIGenericIterator(pipe, ["images", "labels"], reader_name="reader"):
            loss = step(batch["images"], batch["labels"])
    """

    def __init__(self, pipelines, output_map, *args, **kwargs):
        super().__init__(pipelines, [_name_of(entry) for entry in output_map], *args, **kwargs)

    def convert_all(self, outputs, keeps):
        """Makes tensors of batches.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        return [
            {
                name: _cut(tensor_of(batch, f"the output '{name}'"), keep, len(batch))
                for name, batch in zip(self.output_map, batches)
            }
            for batches, keep in zip(outputs, keeps)
        ]


class DALIClassificationIterator(DALIGenericIterator):
    """DALIGenericIterator with the outputs "data" and "label".

    Args:
        pipelines, size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded, last_batch_policy,
            prepare_first_batch: As those of BaseIterator.
    """

    def __init__(
        self,
        pipelines,
        size=-1,
        reader_name=None,
        auto_reset=False,
        fill_last_batch=None,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
    ):
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )


def _name_of(entry):
    if not isinstance(entry, (tuple, list)):
        return entry
    if len(entry) != 2:
        raise ValueError(f"an entry of output_map is a name, or a pair of a name and a level of detail, got {entry!r}")
    name, level = entry
    if level:
        raise ValueError(
            f"output_map asks for {name!r} with level of detail {level}, which Paddle 3 has no longer: fn.pad in the pipeline, "
            "and the lengths as an output of their own"
        )
    return name


def _cut(tensor, keep, count):
    if keep is None or keep >= count:
        return tensor
    if hasattr(tensor, "_slice") and not hasattr(tensor, "stop_gradient"):  # of a static program
        return tensor._slice(0, keep) if keep else _empty(tensor)
    return tensor[:keep]


def _empty(tensor):
    import numpy

    import paddle

    made = paddle.base.core.DenseTensor()
    array = numpy.asarray(tensor)
    made.set(array[:0], paddle.CPUPlace())
    return made
