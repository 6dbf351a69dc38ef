# SPDX-License-Identifier: Apache-2.0
"""A loader for PyTorch's training loops."""

import json

from . import _core, sources
from .pipeline import Pipeline
from .torch_forms import Forms

_WHERE = {  # arguments of torch's DataLoader, and what does their work here
    "batch_size": "batch_size is an argument of pipeline_def and of Pipeline",
    "shuffle": "random_shuffle=True of the reader shuffles, each epoch anew",
    "sampler": "the reader has the order: random_shuffle, shard_id and num_shards",
    "batch_sampler": "the reader has the order: random_shuffle, shard_id and num_shards",
    "num_workers": "num_threads of pipeline_def says how many threads work; py_num_workers how many processes run Python sources",
    "collate_fn": "outputs are whole batches; pad= and ragged= say what becomes of samples of different shapes",
    "pin_memory": "batches of a GPU are made there: device='mixed' of decoders, or .gpu()",
    "pin_memory_device": "batches of a GPU are made there: device='mixed' of decoders, or .gpu()",
    "drop_last": "last_batch='drop' does it",
    "timeout": "nothing waits for a process here",
    "worker_init_fn": "threads need none; py_num_workers processes get the source itself",
    "multiprocessing_context": "py_start_method of pipeline_def says it for Python sources",
    "generator": "seed of pipeline_def, or of the reader, decides the order",
    "prefetch_factor": "prefetch_queue_depth of pipeline_def says how many batches are made ahead",
    "persistent_workers": "threads and processes of a pipeline stay from epoch to epoch",
    "in_order": "batches always come in the order of the data",
    "dataset": "fn.readers.dataset(...) reads a torch data set in a pipeline",
}


_SHORT = 'an external source ended before the epoch of the reader beside it: cycle="quiet" makes it start over'


def _check_pipeline(pipeline):
    if isinstance(pipeline, Pipeline):
        return
    if callable(pipeline) and hasattr(pipeline, "__name__"):
        name = pipeline.__name__
        if getattr(pipeline, "_is_pipeline_def", False):
            raise TypeError(f"DataLoader takes a Pipeline, and '{name}' makes one: call it, DataLoader({name}(...))")
        raise TypeError(
            f"DataLoader takes a Pipeline, got the function '{name}': decorate it with @penstock.pipeline_def(batch_size=...) "
            f"and call it, DataLoader({name}(...))"
        )
    hint = f"; {_WHERE['dataset']}" if hasattr(pipeline, "__getitem__") else ""
    raise TypeError(f"DataLoader takes a Pipeline, got {type(pipeline).__name__}{hint}")


class DataLoader:
    """Epochs of a pipeline as torch tensors that share the pipeline's memory.

        loader = penstock.torch.DataLoader(pipeline, ["images", "labels"])
        for batch in loader:
            loss = model(batch["images"])...

    pipeline: a Pipeline that has not run yet. output_map: names of the outputs; then a batch is a dict, else a tuple.
    last_batch: "partial" (shorter), "drop", or "fill" (full: it goes on with the next epoch's samples). All shards of a reader
    give as many batches, whatever their sizes: with "partial" a shard that would have one fewer repeats a sample, unless
    uneven=True says that each sample comes exactly once, and shards may differ by a batch.
    labels: an output that holds one integer in each sample, of shape () or (1,), becomes int64 (N,), as torch's losses take it.
    The first batch decides. False: outputs stay as they are; names: only of these.
    A batch of samples that differ in shape is a list of tensors, unless pad or ragged say otherwise, each for all outputs or a
    dict by name (by number, without output_map). pad: a number: one tensor, filled up with it after each sample to the batch's
    largest extents. ragged: "list": a list, also where shapes are equal; "pad" or a number: as pad, and "<name>_lengths" has
    the samples' extents, int64. Outputs that pad or ragged name are not taken for labels.
    A tensor keeps its batch's memory until it dies; the pipeline makes new memory for the next one.
    Epochs are those of the pipeline's reader; without a reader they end where the external source ends. Each `for` is a whole
    epoch, the next one also where the loop before was left early. After an error next() goes on after the batch.
    state_dict() is the position after the last batch that was handed out. After load_state_dict() the next loop goes on from it,
    to the end of its epoch, also with another batch size or number of shards.
    """

    def __init__(
        self,
        pipeline,
        output_map=None,
        *,
        last_batch="partial",
        uneven=False,
        labels=True,
        pad=None,
        ragged=None,
        **others,
    ):
        for name in others:
            raise TypeError(f"DataLoader has no argument '{name}'" + (f": {_WHERE[name]}" if name in _WHERE else ""))
        _check_pipeline(pipeline)
        if isinstance(output_map, (int, str)):
            what = f": {_WHERE['batch_size']}" if isinstance(output_map, int) else f", such as [{output_map!r}]"
            raise TypeError(f"output_map is a list of the outputs' names, got {output_map!r}{what}")
        modes = {"partial": "partial" if uneven else "even", "drop": "drop", "fill": "stream"}
        if last_batch not in modes:
            raise ValueError(f"last_batch must be 'partial', 'drop' or 'fill', got {last_batch!r}")
        if uneven and last_batch != "partial":
            raise ValueError("uneven=True is for last_batch='partial': the other ones give all shards as many batches")
        self.pipeline, self.last_batch = pipeline, last_batch
        self.output_map = None if output_map is None else list(output_map)
        sources.begin_anew(pipeline)
        pipeline._set_epoch_mode(modes[last_batch])
        pipeline.build()
        if self.output_map is not None and len(self.output_map) != pipeline.num_outputs:
            raise ValueError(
                f"output_map names {len(self.output_map)} outputs, the pipeline has {pipeline.num_outputs}"
            )
        if self.output_map is not None and len(set(self.output_map)) != len(self.output_map):
            raise ValueError(f"output_map names an output twice: {self.output_map}")
        names = self.output_map if self.output_map is not None else list(range(pipeline.num_outputs))
        self._forms = Forms(names, self.output_map is not None, labels, pad, ragged)
        self._epochs = None  # of _Epochs, once it is asked for
        self._loop = 0  # the number of the newest loop

    @property
    def batch_size(self):
        return self.pipeline.max_batch_size

    def __len__(self):
        """Batches of a whole epoch, the same for all shards (uneven=True: of the largest one)."""
        n = self.pipeline._pipeline.batches_per_epoch()
        if n < 0:
            raise TypeError("the length is not known: the pipeline has no reader")
        return n

    def __iter__(self):
        self._loop += 1
        self._position().begin()
        return _Loop(self, self._loop)

    def _position(self):
        if self._epochs is None:
            without = self.pipeline._pipeline.batches_per_epoch() < 0
            self._epochs = (_OfSource if without else _Filled if self.last_batch == "fill" else _Cut)(self.pipeline)
        return self._epochs

    def _tensors(self, outputs):
        made = self._forms.of(outputs)
        return self.pipeline._formed(tuple(made.values())) if self.output_map is None else made

    def state_dict(self):
        """A dict of a few integers and short texts, which JSON and torch.save take."""
        state = json.loads(self.pipeline.checkpoint())
        state["sources"] = {name: _unpacked(text) for name, text in state["sources"].items()}
        return {"version": 2, "pipeline": state, "left": self._position().left_over_all()}

    def load_state_dict(self, state):
        if state.get("version") not in (1, 2):
            raise ValueError("this is not a state of this version's DataLoader")
        text = state["pipeline"]
        if not isinstance(text, str):  # version 1 had the text
            packed = {
                name: part if isinstance(part, str) else json.dumps(part) for name, part in text["sources"].items()
            }
            text = json.dumps({**text, "sources": packed})
        self.pipeline._restart(text)
        self._epochs = None
        self._position().resume(state.get("left", 0))

    def stats(self):
        return self.pipeline.stats()


def _unpacked(text):
    """A source's state as what it says, where that is JSON."""
    try:
        made = json.loads(text)
    except ValueError:
        return text
    return made if isinstance(made, dict) else text


class _Loop:
    """What `for` asks for batches. An error of a batch ends neither the loop nor the epoch: next() goes on."""

    def __init__(self, loader, number):
        self._loader, self._number, self._ended = loader, number, False

    def __iter__(self):
        return self

    def __next__(self):
        loader = self._loader
        if self._ended:
            raise StopIteration
        if loader._loop != self._number:
            raise RuntimeError(
                "a newer loop over this DataLoader has begun, and a pipeline has one position: make a loader for each"
            )
        try:
            outputs = loader._position().next()
        except StopIteration:
            self._ended = True
            raise
        return loader._tensors(outputs)


class _Epochs:
    """Where a loader stands. fresh: nothing of the epoch, or of the rest of it after resuming, was asked for yet."""

    def __init__(self, pipeline):
        self.pipeline, self.fresh = pipeline, True

    def begin(self):
        """A loop begins: what is left of an epoch that was left early is let go of."""
        if self.fresh:
            return
        if not self.complete():
            self.leave()
        self.start()

    def leave(self):
        self.pipeline._ended, self.pipeline._scheduled = False, 0
        self.pipeline._pipeline.begin_epoch()

    def complete(self):
        """Whether all batches of the epoch were handed out."""
        return False

    def resume(self, left):
        """After a checkpoint was restored."""

    def left_over_all(self):
        """Samples that this loop still hands out over all shards, where the pipeline's state does not say it; 0: it does."""
        return 0


class _Cut(_Epochs):
    """The reader cuts its epochs: into a shorter last batch, or none."""

    ended = resumed = False

    def start(self):
        self.fresh, self.ended, self.resumed = True, False, False

    def complete(self):
        return self.ended

    def run(self):
        """The next batch. An external source beside the reader may end with its epoch, and begins anew with the next one."""
        first, self.fresh = self.fresh, False
        try:
            return self.pipeline._run()
        except StopIteration:
            if not first or self.resumed:
                raise RuntimeError(_SHORT) from None
        self.leave()
        try:
            return self.pipeline._run()
        except StopIteration:
            raise RuntimeError(_SHORT) from None

    def resume(self, left):
        own, _ = self.pipeline._pipeline.first_epoch()
        self.resumed = True
        self.ended = own == 0 and self.pipeline._epoch_mode == "partial"  # the other shards end the epoch

    def next(self):
        while not self.ended:
            try:
                outputs = self.run()
            except Exception:
                self.ended = self.pipeline._pipeline.at_end_of_epoch()
                raise
            self.ended = self.pipeline._consumed[2]
            if len(outputs[0]) or not self.ended:  # fn.filter may leave nothing of the end
                return outputs
        self.start()
        raise StopIteration


class _Filled(_Epochs):
    """Full batches of the reader's stream, as many as its largest shard needs for an epoch."""

    def __init__(self, pipeline):
        super().__init__(pipeline)
        self.start()

    def start(self):
        self.fresh, self.left = True, self.pipeline._pipeline.batches_per_epoch()

    def complete(self):
        return self.left <= 0

    def resume(self, left):
        if left:
            self.left = -(-left // self._round())

    def left_over_all(self):
        return 0 if self.left == self.pipeline._pipeline.batches_per_epoch() else self.left * self._round()

    def _round(self):
        """Samples of a batch of each shard."""
        return self.pipeline.max_batch_size * self.pipeline._pipeline.reader_meta("")["number_of_shards"]

    def next(self):
        if self.left <= 0:
            self.start()
            raise StopIteration
        self.fresh = False
        try:
            outputs = self.pipeline._run()
        except StopIteration:
            raise RuntimeError(_SHORT) from None
        except Exception:
            self.left -= 1
            raise
        self.left -= self.pipeline._consumed[1]
        return outputs


class _OfSource(_Epochs):
    """Until the external sources end."""

    before, count = 0, 0  # batches of the epoch before, and of this one

    def start(self):
        self.fresh, self.count = True, 0

    def next(self):
        self.fresh = False
        try:
            outputs = self.pipeline._run()
        except StopIteration:
            if self.before and not self.count:
                raise RuntimeError(
                    f"the external source gave {self.before} batches in the epoch before and none in this one: a source that has ended "
                    "must begin again, as a generator function, a list or an object with __iter__ does"
                ) from None
            self.before = self.count
            self.pipeline.reset()
            self.start()
            raise
        self.count += 1
        return outputs


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
