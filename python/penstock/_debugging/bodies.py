# SPDX-License-Identifier: Apache-2.0
"""Conditions and loops with debug=True: which samples a body runs for, and what their values are after it."""

from .. import _core, _graph as graph
from .._base.element_types import DType
from .values import Value


class TooFew(BaseException):
    """A filter leaves the batch out."""


class LoopEnds(BaseException):
    """No sample makes another trip."""


class _Loop:
    def __init__(self, samples):
        self.samples, self.inside, self.index = samples, samples, None
        self.trip, self.results, self.arguments = 0, [], 0


class Bodies:
    """The part of DebugGraph that begins and ends bodies. A loop's body is made once for each trip, with the same nodes."""

    @property
    def nobody(self):
        return self.active == ()

    def begin_region(self, kind):
        self._begin_batch()
        region = self.real.begin_region(kind)
        self.stack.append((self.active, region))
        self.sets[region] = self.active
        return region

    def end_region(self):
        self.active, _ = self.stack.pop()
        return self.real.end_region()

    def _scalars(self, ref, what, samples=None):
        numbers = {}
        samples = self.active if samples is None else samples
        for s, t in zip(samples, self._value(ref, samples).tensors(samples)):
            array = t.cpu().numpy()
            if array.size != 1:
                raise ValueError(f"{what} must be one number, got one of shape {array.shape}\n  at {graph.user_line()}")
            numbers[s] = array.reshape(()).item()
        return numbers

    def choose(self, kind, condition=None, count=None):
        """In a body that has begun: which samples are in it."""
        loop = self.loops[-1] if self.loops else None
        stay = self.active
        if count is not None:
            if kind == "loop" and not loop.trip:
                loop.samples = loop.inside = stay = self._samples_of([count])
            counts = self._scalars(count, "the number of a loop's trips", stay)
            stay = tuple(s for s in stay if counts[s] > loop.trip)
        if condition is not None:
            if kind in ("then", "else"):
                stay = self._samples_of([condition])
            truth = self._scalars(condition, "a condition", stay)
            stay = tuple(s for s in stay if bool(truth[s]) != (kind == "else"))
        if kind in ("loop", "body") and not stay and loop.trip:
            raise LoopEnds
        most = self.run.given["max_trips"]
        if kind == "body" and stay and loop.trip >= most:
            epoch, position, *_ = self.origins[stay[0]]
            raise ValueError(
                f"[loop] the loop has made {most} trips and has not ended, for sample {stay[0]} of the batch (position {position} "
                f"of epoch {epoch}); Pipeline(max_trips=...) allows more\n  at {graph.user_line()}"
            )
        self.active = self.sets[self.stack[-1][1]] = stay

    def add_branch(self, condition, then_region, else_region, then, otherwise, names, line):
        index = self.real.add_branch(condition, then_region, else_region, then, otherwise, names, line)
        yes, no = self.sets[then_region], self.sets[else_region]
        whole = self._samples_of([condition])
        places = {s: i for i, s in enumerate(whole)}

        def place(sample):
            while sample not in places:
                sample = self.parents[sample]
            return places[sample]

        for k, (x, y) in enumerate(zip(then, otherwise)):
            found, given = {}, []
            for node, samples in ((x, yes), (y, no)):
                if node is not None and samples:
                    value = self._value(node, samples)
                    if not set(samples) <= set(value.samples):  # what the body has made of them
                        samples = value.samples
                    found.update(zip(samples, value.tensors(samples)))
                given.extend(samples)
            given = tuple(sorted(given, key=place))
            if not given and whole and not self.stack and self.leaves_out:
                raise TooFew
            self._store(index, k, [found.get(s) for s in given], given)
        return index

    def _store(self, index, k, tensors, samples):
        value = Value(samples, tensors)
        layout = self._layout_of(index, k)
        kinds = {(t.dtype, t.ndim(), t.layout()) for t in tensors if t is not None}
        if len({kind[:2] for kind in kinds}) > 1:
            why = "where ways meet, values have types that differ: " + " and ".join(
                f"{DType(d).name} with {n} dimensions" for d, n, _ in sorted(kinds)
            )
            self.values[index, k] = Value(samples, error=TypeError(f"{why}\n  at {graph.user_line()}"))
            return
        named = {layout for _, _, layout in kinds if layout}
        if not layout and len(named) == 1:  # a body may have named the axes
            (layout,) = named
        if layout and any(kind[2] != layout and kind[1] == len(layout) for kind in kinds):
            value = Value(samples, [t if t is None else _core.tensor(t, layout=layout) for t in tensors])
        self.values[index, k] = value

    def add_unset(self, line):
        index = self.real.add_unset(line)
        self.values[index, 0] = Value(self.active, [None] * len(self.active))
        return index

    def loop(self, trace):
        """Runs a loop: trace() makes its nodes and, each time, one trip of the samples that are in it."""
        self._begin_batch()
        loop, outside, depth = _Loop(self.active), self.active, len(self.stack)
        self.loops.append(loop)
        before, result = self.real.copy(), None
        try:
            while True:
                self.active, loop.arguments = loop.inside, 0
                if loop.trip:
                    after, self.real = self.real, before.copy()
                try:
                    result = trace()
                except LoopEnds:
                    self.real = after
                    break
                loop.trip += 1
        finally:
            self.loops.pop()
            self.active = outside
            del self.stack[depth:]
        for k, found in enumerate(loop.results):
            self._store(loop.index, k, [found[s] for s in loop.samples], loop.samples)
        return result

    def add_argument(self, first, line):
        index, loop = self.real.add_argument(first, line), self.loops[-1]
        k, loop.arguments = loop.arguments, loop.arguments + 1
        if loop.trip == 0:
            loop.results.append(dict(zip(loop.samples, self._value(first, loop.samples).tensors(loop.samples))))
        self.values[index, 0] = Value(self.active, [loop.results[k][s] for s in self.active])
        return index

    def add_trip(self, dtype, line):
        index = self.real.add_trip(dtype, line)
        import numpy

        number = numpy.asarray(self.loops[-1].trip, numpy.int32 if dtype == DType.INT32 else numpy.int64)
        self.values[index, 0] = Value(self.active, [_core.tensor(number)] * len(self.active))
        return index

    def add_loop(self, count, first, arguments, trip, going, following, outer, inner, names, most, line):
        loop = self.loops[-1]
        loop.index = self.real.add_loop(
            count, first, arguments, trip, going, following, outer, inner, names, most, line
        )
        loop.inside = self.sets[inner]
        for k, node in enumerate(following):
            loop.results[k].update(zip(loop.inside, self._value(node).tensors(loop.inside) if loop.inside else ()))
        return loop.index
