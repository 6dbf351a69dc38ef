# SPDX-License-Identifier: Apache-2.0
"""What a pipeline with debug=True knows of a value: its samples, by their places in the batch; and what it hands out of them."""

import collections

from .. import _core, _graph as graph


class Empty:
    """A batch without samples: what values are in a branch that no sample takes, where nothing is evaluated."""

    device_type = "cpu"

    def __len__(self):
        return 0

    def __iter__(self):
        return iter(())

    def shape(self):
        return []

    def as_cpu(self):
        return self

    def __repr__(self):
        return "Batch(0 samples)"


class Value:
    """Samples of one value, by their places in the pipeline's batch.

    error: why there are none; a pipeline that does not use the value does not know of it, either."""

    def __init__(self, samples, tensors=None, batch=None, error=None):
        self.samples, self.batch, self._tensors, self.error = samples, batch, tensors, error

    def tensors(self, samples):
        if self.error is not None:
            raise self.error
        if self._tensors is None:
            self._tensors = [self.batch[i] for i in range(len(self.samples))]
        if samples == self.samples:
            return self._tensors
        places = {s: i for i, s in enumerate(self.samples)}
        if not places.keys() >= set(samples):
            raise NotImplementedError(
                "debug=True runs `while` loops over the samples of the sources alone, not over those that "
                f"fn.filter and its kind give\n  at {graph.user_line()}"
            )
        return [self._tensors[places[s]] for s in samples]

    def of(self, samples):
        """The batch of some of the samples."""
        if samples == self.samples and self.batch is not None:
            return self.batch
        tensors = self.tensors(samples)
        if not tensors or any(t is None for t in tensors):
            return Empty()
        if len({t.device_type for t in tensors}) > 1:  # of ways that meet; DebugGraph.get() moves the batch
            tensors = [t.cpu() for t in tensors]
        batch = _core.batch(tensors)
        if samples == self.samples:
            self.batch = batch
        return batch


class FullBatches:
    """With rebatch: as many samples as it asks for, of as many batches as that takes; fewer at the end of the data."""

    def __init__(self, size):
        self.size = size  # samples of a batch; 0: batches are handed out as they are
        self.clear()

    def clear(self):
        self.parts, self.ended = collections.deque(), None  # samples that wait; what ended the data

    def next(self, make):
        """make(): (batches, origins, (samples of the sources, batches of the sources, whether an epoch ends))"""
        if not self.parts and not self.ended:
            made = self._made(make)
            if made is not None and not self.size():
                return made
        rows, origins, taken, count, ends = [], [], 0, 0, False
        while (
            len(rows) < self.size() and not ends and (self.parts or (not self.ended and self._made(make) is not None))
        ):
            left, consumed = self.parts[0]
            while left and len(rows) < self.size():
                row, origin = left.popleft()
                rows.append(row)
                origins.append(origin)
            if not left:
                self.parts.popleft()
                taken, count, ends = taken + consumed[0], count + consumed[1], consumed[2]
        if not rows and self.ended:
            end, self.ended = self.ended, None
            raise end
        return tuple(_core.batch(list(column)) for column in zip(*rows)), origins, (taken, count, ends)

    def _made(self, make):
        try:
            batches, origins, consumed = made = make()
        except StopIteration as end:
            self.ended = end
            return None
        if self.size():
            rows = zip(*(list(b) for b in batches)) if origins else ()
            self.parts.append([collections.deque(zip(rows, origins, strict=True)), consumed])
        return made
