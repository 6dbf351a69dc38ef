# SPDX-License-Identifier: Apache-2.0
"""A loader for PyTorch's training loops."""
from . import _core


class DataLoader:
    """Epochs of a pipeline as torch tensors that share the pipeline's memory.

        loader = penstock.torch.DataLoader(pipeline, ["images", "labels"])
        for batch in loader:
            loss = model(batch["images"])...

    pipeline: a Pipeline that has not run yet. output_map: names of the outputs; then a batch is a dict, else a tuple.
    last_batch: "partial" (shorter), "drop", or "fill" (full: it goes on with the next epoch's samples).
    A batch of samples that differ in shape is a list of tensors. A tensor keeps its batch's memory until it dies; the
    pipeline makes new memory for the next one.
    Epochs are those of the pipeline's reader; without a reader they end where the external source ends.
    state_dict() is the position behind the last batch that was handed out; load_state_dict() goes on from it, also with
    another batch size or number of shards.
    """

    def __init__(self, pipeline, output_map=None, *, last_batch="partial"):
        modes = {"partial": "partial", "drop": "drop", "fill": "stream"}
        if last_batch not in modes:
            raise ValueError(f"last_batch must be 'partial', 'drop' or 'fill', got {last_batch!r}")
        self.pipeline, self.last_batch = pipeline, last_batch
        self.output_map = None if output_map is None else list(output_map)
        pipeline._set_epoch_mode(modes[last_batch])
        pipeline.build()
        if self.output_map is not None and len(self.output_map) != pipeline.num_outputs:
            raise ValueError(f"output_map names {len(self.output_map)} outputs, the pipeline has {pipeline.num_outputs}")
        if self.output_map is not None and len(set(self.output_map)) != len(self.output_map):
            raise ValueError(f"output_map names an output twice: {self.output_map}")
        self._resumed = False   # in the middle of an epoch: how much is left follows from the data
        self._waiting = None    # (outputs, origin, state before it): the first batch of the next epoch
        self._epoch_done = 0

    @property
    def batch_size(self):
        return self.pipeline.max_batch_size

    def __len__(self):
        """Batches of a whole epoch."""
        n = self.pipeline._pipeline.batches_per_epoch()
        if n < 0:
            raise TypeError("the length is not known: the pipeline has no reader")
        return n

    def __iter__(self):
        if self.pipeline._pipeline.batches_per_epoch() < 0:
            return self._until_the_end()
        if self._resumed:
            self._resumed = False
            return self._rest_of_epoch()
        return self._whole_epoch()

    def _tensors(self, outputs):
        tensors = [b.torch() if b.is_uniform() else [t.torch() for t in b] for b in outputs]
        return self.pipeline._formed(tuple(tensors)) if self.output_map is None else dict(zip(self.output_map, tensors))

    def _until_the_end(self):
        while True:
            try:
                outputs = self.pipeline._run()
            except StopIteration:
                self.pipeline.reset()
                return
            yield self._tensors(outputs)

    def _next(self):
        if self._waiting is not None:
            outputs, self._waiting = self._waiting[0], None
            return outputs
        return self.pipeline._run()

    def _whole_epoch(self):
        if self.last_batch != "fill":  # shards may differ by a batch, and change places from epoch to epoch
            return self._to_the_end_of_epoch()
        return (self._tensors(self._next()) for _ in range(len(self)))

    def _to_the_end_of_epoch(self):
        ended = False
        while not ended:
            outputs = self._next()
            ended = self.pipeline._consumed[2]
            if len(outputs[0]) or not ended:  # fn.filter may leave nothing of the end
                yield self._tensors(outputs)

    def _rest_of_epoch(self):
        first = None
        while True:
            state = self.pipeline.checkpoint()
            outputs = self.pipeline._run()
            epoch = self.pipeline._origin[0][0]
            if first is None:
                first = epoch
            elif epoch != first:
                self._waiting = (outputs, state)
                return
            yield self._tensors(outputs)

    def state_dict(self):
        state = self._waiting[1] if self._waiting is not None else self.pipeline.checkpoint()
        return {"pipeline": state.decode(), "version": 1}

    def load_state_dict(self, state):
        if state.get("version") != 1:
            raise ValueError("this is no state of this version's DataLoader")
        self.pipeline._restart(state["pipeline"])
        self._waiting, self._resumed = None, True

    def stats(self):
        return self.pipeline.stats()


def to_torch(value):
    """A torch tensor over the memory of a Tensor, or of a Batch whose samples have one shape.

    Memory of a GPU is ordered before what torch enqueues on its current stream; it is not freed before what that stream
    has been given by the time the tensor dies. Nothing waits on the host.
    """
    return value.torch() if isinstance(value, (_core.Batch, _core.Tensor)) else _core.tensor(value).torch()


def use_torch_allocator(device=None):
    """Takes the memory of a GPU (of all of them: device=None) from torch's caching allocator, so that both share one pool.

    penstock.set_device_allocator() goes back to Penstock's own.
    """
    import torch

    def allocate(nbytes, device, stream):
        return torch.cuda.caching_allocator_alloc(nbytes, device, stream)

    def free(address, nbytes, device, stream):
        torch.cuda.caching_allocator_delete(address)

    _core.set_device_allocator(allocate, free, device)
