# SPDX-License-Identifier: Apache-2.0
"""Iterators that yield torch tensors."""

from enum import Enum

from ...torch.forms import dense, put_ragged, ragged_wishes
from ..base_iterator import BaseIterator, LastBatchPolicy
from ..torch_function import fn as fn

__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "DALIRaggedIterator", "LastBatchPolicy", "feed_ndarray"]


class DALIGenericIterator(BaseIterator):
    """Gives a list with one dict for each pipeline, from the names of output_map to torch tensors.

    A tensor is a whole batch and shares the memory of the pipeline; where that lies on a GPU it is a CUDA tensor, in
    the order of the current stream of torch.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch, refill: As those of BaseIterator.
        ragged: What outputs become whose samples differ in shape, a dict from their names, or one value for all
            outputs. None: an error. "list": a list of tensors, one for each sample. "pad" or a number: one tensor,
            filled up after each sample with 0 or that number, and under "<name>_lengths" the extents of the samples,
            int64: (N) for samples with one dimension, else (N, dimensions). "packed": one tensor of all samples, one
            after another along their first dimension, and "<name>_offsets", "<name>_positions" and "<name>_longest"
            as penstock.torch.DataLoader gives them. It holds for every batch, also for one whose samples happen to
            have one shape.

    Example:
        >>> from penstock.plugin.pytorch import DALIGenericIterator
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=4, name="reader")
        >>> for batch, in DALIGenericIterator(numbers(), ["index"], reader_name="reader"):
        ...     print(batch["index"].tolist())
        [0, 1]
        [2, 3]
    """

    def __init__(
        self,
        pipelines,
        output_map,
        size=-1,
        reader_name=None,
        auto_reset=False,
        fill_last_batch=None,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
        refill=False,
        *,
        ragged=None,
    ):
        self._ragged = ragged_wishes(ragged, output_map)
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            refill,
        )

    def convert_all(self, outputs, keeps):
        """Makes tensors of batches.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        made = []
        for batches, keep in zip(outputs, keeps):
            made.append(entry := {})
            for name, batch in zip(self.output_map, batches):
                if name in self._ragged:
                    put_ragged(entry, name, batch, keep, self._ragged[name])
                else:
                    entry[name] = dense(batch, keep)
        return made


class DALIClassificationIterator(DALIGenericIterator):
    """Gives what DALIGenericIterator gives, with the outputs "data" and "label".

    Args:
        pipelines, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch, refill: As those of BaseIterator.
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
        refill=False,
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
            refill,
        )


class DALIRaggedIterator(BaseIterator):
    """Gives what DALIGenericIterator gives, with a kind of tensor for each output.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch, refill: As those of BaseIterator.
        output_types: For each output DENSE_TAG, SPARSE_LIST_TAG or SPARSE_COO_TAG: one tensor, a list of tensors, or
            a sparse tensor.
    """

    class Type(Enum):
        DENSE_TAG = "dense"
        SPARSE_LIST_TAG = "sparse_list"
        SPARSE_COO_TAG = "sparse_coo"

    DENSE_TAG, SPARSE_LIST_TAG, SPARSE_COO_TAG = Type.DENSE_TAG, Type.SPARSE_LIST_TAG, Type.SPARSE_COO_TAG

    def __init__(
        self,
        pipelines,
        output_map,
        size=-1,
        reader_name=None,
        output_types=None,
        auto_reset=False,
        fill_last_batch=None,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
        refill=False,
    ):
        tags = list(output_types) if output_types is not None else [self.DENSE_TAG] * len(output_map)
        assert len(tags) == len(output_map), "output_types must name every output"
        kinds = {kind.value: kind for kind in self.Type} | {kind: kind for kind in self.Type}
        assert all(tag in kinds for tag in tags), "output_types are DENSE_TAG, SPARSE_LIST_TAG and SPARSE_COO_TAG"
        self._tags = {name: kinds[tag] for name, tag in zip(output_map, tags)}
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            refill,
        )

    def convert_all(self, outputs, keeps):
        """Makes tensors of batches.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """

        def convert(name, batch, keep):
            tag = self._tags[name]
            if tag is self.DENSE_TAG:
                return dense(batch, keep)
            tensors = [t.torch() for t in batch][:keep]
            return tensors if tag is self.SPARSE_LIST_TAG else _coo(tensors)

        return [
            {n: convert(n, b, keep) for n, b in zip(self.output_map, batches)} for batches, keep in zip(outputs, keeps)
        ]


def _coo(tensors):
    """All elements of tensors of different shapes in one sparse tensor."""
    import torch

    indices, values = [], []
    for k, t in enumerate(tensors):
        at = torch.ones(t.shape, dtype=torch.bool, device=t.device).nonzero()
        indices.append(torch.cat([torch.full((len(at), 1), k, device=at.device), at], dim=1))
        values.append(t.reshape(-1))
    size = [len(tensors), *(max(extents) for extents in zip(*(t.shape for t in tensors)))]
    return torch.sparse_coo_tensor(torch.cat(indices).T, torch.cat(values), size, check_invariants=False)


def feed_ndarray(penstock_tensor, arr, cuda_stream=None, non_blocking=False):
    """Copies a Tensor, or a Batch of one shape, into a torch tensor.

    On a GPU the copy is enqueued. What reads `arr` on another stream must wait for it.

    Args:
        penstock_tensor: The Tensor or the Batch.
        arr: The torch tensor; it has the same shape and type.
        cuda_stream: A torch stream or its handle; None: the current one of torch.
        non_blocking: Accepted without effect.

    Returns:
        `arr`.

    Raises:
        AssertionError: The shapes or the types differ.
    """
    if cuda_stream is not None and arr.is_cuda:
        import torch

        if not isinstance(cuda_stream, torch.cuda.Stream):
            cuda_stream = torch.cuda.ExternalStream(int(getattr(cuda_stream, "value", cuda_stream)), arr.device)
        with torch.cuda.stream(cuda_stream):
            return feed_ndarray(penstock_tensor, arr)
    source = penstock_tensor.torch()
    assert list(arr.shape) == list(source.shape), f"the shapes differ: {list(arr.shape)} and {list(source.shape)}"
    assert arr.dtype == source.dtype, f"the types differ: {arr.dtype} and {source.dtype}"
    arr.copy_(source)
    return arr
