# SPDX-License-Identifier: Apache-2.0
"""Sources that are objects of the program: callables, iterables, generators."""

import functools
import json
from types import GeneratorType

from .. import _core
from .._base.element_types import BatchInfo, SampleInfo, to_numpy_type
from .fed import as_batch


def _positional_count(function):
    """How many positional arguments a callable must get: 0 or 1."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind == p.VAR_POSITIONAL for p in parameters) and not positional:
        return 1
    required = [p for p in positional if p.default is p.empty]
    count = len(required) if required else min(len(positional), 1)
    if count > 1:
        raise TypeError(f"[external_source] a source takes no or one argument, this one needs {count}")
    return count


def make_source(source, outputs, cycle, per_batch, batch_info):
    import inspect

    if cycle not in (None, False, True, "no", "quiet", "raise"):
        raise ValueError(f"[external_source] cycle must be None, 'no', 'quiet', 'raise' or a bool, got {cycle!r}")
    cycle = {None: "no", False: "no", True: "quiet"}.get(cycle, cycle)
    options = (outputs, per_batch)
    if inspect.isgenerator(source) and cycle != "no":
        raise TypeError("[external_source] a generator object cannot start over: give the generator function")
    if inspect.isgeneratorfunction(source) or (
        not isinstance(source, type) and inspect.isgeneratorfunction(getattr(source, "__call__", None))
    ):
        if _positional_count(source):
            raise TypeError("[external_source] a generator function takes no argument")
        return IterableSource(source, source, source(), cycle, *options)
    iterable = hasattr(source, "__iter__") or hasattr(source, "__getitem__")  # an object that is both gives its items
    if callable(source) and (isinstance(source, type) or not iterable):
        if cycle != "no":
            raise ValueError("[external_source] cycle is for iterables and generator functions, not for callables")
        return CallableSource(source, _positional_count(source), batch_info, *options)
    try:
        iterator = iter(source)
    except TypeError:
        raise TypeError(
            f"[external_source] a source is a callable or an iterable, not {type(source).__name__}"
        ) from None
    return IterableSource(source, functools.partial(iter, source), iterator, cycle, *options)


class Source:
    """Makes batches of what the user's object gives. The executor calls next(), one thread at a time, under the
    GIL."""

    resumable = False
    numbered = 0  # 1: next() depends only on its arguments; 2: and its batches are full
    read, types = (), ()  # by output: whether anything reads it, what was declared. What nothing reads may be None

    def __init__(self, outputs, per_batch):
        self.outputs, self.per_batch = outputs, per_batch

    def _as_batches(self, given):
        made = [None if self._is_left_out(k, g) else as_batch(g) for k, g in enumerate(given)]
        size = next((len(m) for m in made if m is not None), 0)
        return [_nothing(size, self.types[k]) if m is None else m for k, m in enumerate(made)]

    def _is_left_out(self, output, given):
        if output >= len(self.read) or self.read[output]:
            return False
        return given is None or (isinstance(given, list) and any(g is None for g in given))

    def _split(self, items):
        """A list of samples for each output; items are tuples if there are several outputs."""
        if self.outputs is None:
            return [items]
        columns = []
        for k in range(self.outputs):
            column = []
            for item in items:
                if not hasattr(item, "__getitem__") or len(item) <= k:
                    raise IndexError(f"[external_source] the source gave {len(item)} items, {self.outputs} are needed")
                column.append(item[k])
            columns.append(column)
        return columns

    def batches(self, given):
        """The batches of the outputs, from what a source per batch gives."""
        if self.outputs is None:
            return [as_batch(given)]
        if len(given) < self.outputs:
            raise IndexError(f"[external_source] the source gave {len(given)} items, {self.outputs} are needed")
        return self._as_batches([given[k] for k in range(self.outputs)])

    def reset(self):
        pass

    def state(self):
        return ""

    def restore(self, text):
        pass


def _nothing(samples, type):
    """A batch in the place of one that nothing reads."""
    import numpy

    dtype, ndim, layout = type
    return _core.batch([numpy.zeros((1,) * max(ndim, 0), to_numpy_type(max(dtype, 0)))] * samples, layout=layout)


class _StatefulSource(Source):
    """Sources with state_dict() and load_state_dict(); what they return must be JSON."""

    owner = None

    def state(self):
        return json.dumps(self.owner.state_dict()) if self.owner is not None else ""

    def restore(self, text):
        if self.owner is not None and text:
            self.owner.load_state_dict(json.loads(text))


def _stateful(source):
    return source if hasattr(source, "state_dict") and hasattr(source, "load_state_dict") else None


class CallableSource(_StatefulSource):
    def __init__(self, function, arguments, batch_info, outputs, per_batch):
        super().__init__(outputs, per_batch)
        self.function, self.arguments, self.batch_info = function, arguments, bool(batch_info)
        self.owner = _stateful(function) or _stateful(getattr(function, "__self__", None))
        self.resumable = arguments == 1 or self.owner is not None
        self.numbered = (1 if per_batch else 2) if arguments == 1 and self.owner is None else 0

    def requests(self, in_epoch, epoch, batch_size):
        """The arguments of the calls that make one batch."""
        if not self.arguments:
            return [()] * (1 if self.per_batch else batch_size)
        if self.per_batch:
            return [(BatchInfo(in_epoch, epoch) if self.batch_info else in_epoch,)]
        return [(SampleInfo(in_epoch * batch_size + i, i, in_epoch, epoch),) for i in range(batch_size)]

    def assemble(self, given):
        return self.batches(given[0]) if self.per_batch else self._as_batches(self._split(given))

    def next(self, iteration, in_epoch, epoch, batch_size):
        return self.assemble([self.function(*r) for r in self.requests(in_epoch, epoch, batch_size)])


class IterableSource(_StatefulSource):
    anew = False  # reset() begins the iterable from its start, as a new `for` would; a loader's epochs do

    def __init__(self, whole, restart, iterator, cycle, outputs, per_batch):
        super().__init__(outputs, per_batch)
        self.whole, self.begin, self.cycle, self.ended, self.spent = whole, restart, cycle, False, False
        self._iterate(iterator)
        self.resumable = self.owner is not None

    def _iterate(self, iterator):
        self.iterator = iterator
        self.owner = _stateful(iterator) or _stateful(self.whole)

    def item(self):
        if self.spent:
            raise RuntimeError(
                "[external_source] the source is a generator object, which has one epoch: give the generator function, "
                "which each epoch calls again"
            )
        if self.ended:
            raise StopIteration
        try:
            return next(self.iterator)
        except StopIteration:
            if self.cycle != "quiet":
                self.ended = True
                raise
            self._iterate(iter(self.begin()))
            return next(self.iterator)

    def next(self, iteration, in_epoch, epoch, batch_size):
        if self.per_batch:
            return self.batches(self.item())
        return self._as_batches(self._split([self.item() for _ in range(batch_size)]))

    def reset(self):
        """Without a cycle the same iterator is asked again: it may have begun its next epoch."""
        if self.anew or (self.ended and self.cycle == "raise"):
            self._iterate(iter(self.begin()))
            self.spent = isinstance(self.whole, GeneratorType)
        self.ended = False
