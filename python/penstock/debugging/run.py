# SPDX-License-Identifier: Apache-2.0
"""Pipeline(debug=True): the body runs for each batch, operator by operator, with its values there at once.

The same graph is made as without debug, so that every node has its number and with it its random numbers; a node is
evaluated as soon as it stands in the graph. Values remember which samples they have: bodies of conditions and loops run with
those that take them.
"""

import collections
import sys
import time

from .. import _core, graph
from ..base.element_types import DType
from ..base.limits import NAMES as limit_names
from ..control_flow.statements import call as converted
from .values import FullBatches, Value, entry

_MASK = (1 << 64) - 1
_mixed = _core.mixed


class TooFew(BaseException):
    """A filter leaves the batch out."""


class LoopEnds(BaseException):
    """No sample makes another trip."""


class _Loop:
    def __init__(self, samples):
        self.samples, self.inside, self.trip, self.results, self.arguments, self.index = (
            samples,
            samples,
            0,
            [],
            0,
            None,
        )


class DebugGraph:
    """A graph whose nodes are evaluated when they are added. What it does not know itself the graph behind it answers."""

    def __init__(self, run):
        self.run, self.real = run, _core.Graph()
        self.begin(None)

    def __getattr__(self, name):
        return getattr(self.real, name)

    def begin(self, seed):
        """The graph of the next batch, without nodes."""
        if seed is not None:
            self.real = _core.Graph()
            self.real.set_seed(seed)
        self.values, self.records, self.waiting = {}, {}, []
        self.open = {}  # nodes of random numbers alone: the samples and the loops that they stand in
        self.batch_size, self.leaves_out = 0, False  # of rebatch; whether a filter in a body may leave the batch out
        self.samples, self.origins = None, []  # of the batch, when they are known
        self.parents, self.children = (
            {},
            {},
        )  # of samples that fn.expand and its kind made: of which, and what changes their numbers
        self.active, self.stack, self.sets, self.loops = None, [], {}, []

    # --- nodes --------------------------------------------------------------------------------------------------------

    def add(self, op, inputs, arguments, name="", seed=-1, user_line="", outputs=0, types=(), device="", draws_of=-1):
        index = self.real.add(op, inputs, arguments, name, seed, user_line, outputs, list(types), device, draws_of)
        self.records[index] = (op, inputs, arguments, name, seed, user_line, outputs, list(types), device)
        reads = [*inputs, *(v for v in arguments.values() if isinstance(v, graph.DataNode))]
        drawn = (
            not self.run.calls_back(op)
            and all(v.node in self.open for v in reads)
            and (reads or self.run.is_random(op))
        )
        if drawn:
            self.open[index] = self.active if self.stack else None, list(self.loops)
            for key in [key for key in self.values if key[0] == index]:  # of an earlier trip
                del self.values[key]
        if inputs and self.run.is_source(op):  # a mix reads its readers itself
            self.waiting = [i for i in self.waiting if i not in {v.node for v in inputs}]
        if self.run.is_source(op) or (self.run.fits_all(op) and not inputs) or drawn:
            if index not in self.waiting:
                self.waiting.append(index)  # it is of the samples that it is first used with
        elif not self.run.calls_back(op):  # the function is not known yet: graph.add_call() says evaluate()
            self.evaluate(index)
        return index

    def add_value(self, batch):
        """A node for a batch that the program has, in debug mode alone."""
        self._begin_batch()
        if len(batch) != len(self.active):
            raise ValueError(
                f"a batch of {len(batch)} samples where the pipeline has {len(self.active)}\n  at {graph.user_line()}"
            )
        shape = [0] * batch.ndim()
        index = self.real.add(
            "constant",
            [],
            {"idata": [] if shape else [0], "dtype": batch.dtype, "shape": shape},
            "",
            -1,
            graph.user_line(),
        )
        self.values[index, 0] = Value(self.active, batch=batch)
        return graph.DataNode(self.run.pipeline, index, 0)

    def _begin_batch(self):
        """Asks the sources that stand in the graph by now; the first says what the samples are."""
        for index in [i for i in self.waiting if self.run.is_source(self.records[i][0])]:
            self.waiting.remove(index)
            batches, origins, reader = self.run.next_of(index, self.records[index])
            size = len(origins)
            if self.samples is None or reader:
                self.origins = [o[:2] for o in origins]
            if self.samples is not None and len(self.samples) != size:
                raise ValueError(
                    f"the sources of the pipeline differ in their number of samples: {len(self.samples)} and {size}"
                )
            self._begin_samples(size)
            for k, batch in enumerate(batches):
                self.values[index, k] = Value(self.samples, batch=batch)
        if self.samples is None:
            size, number = self.run.given["batch_size"], self.run.number
            self.origins = [(0, number * size + i) for i in range(size)]
            self._begin_samples(size)

    def _begin_samples(self, size):
        if self.samples is None:
            self.samples = tuple(range(size))
            self.active = self.samples

    def _value(self, ref, samples=()):
        key = ref.node, ref.output
        if key not in self.values:
            self._begin_batch()
        made = any(s in self.parents for s in samples)
        if key not in self.values and ref.node in self.waiting:
            self.waiting.remove(ref.node)
            active, around = self.open.get(ref.node, (None, []))
            loops, self.loops = self.loops, around
            own = self.samples if active is None else active
            self._compute(ref.node, samples if made and ref.node in self.open else own)
            self.loops = loops
        value = self.values[key]
        if made and self._fits_all(ref.node) and not set(samples) <= set(value.samples):
            return Value(samples, value.tensors([self._root(s) for s in samples]))
        return value

    def _fits_all(self, node):
        return node in self.records and self.run.fits_all(self.records[node][0])

    def _root(self, sample):
        while sample in self.parents:
            sample = self.parents[sample]
        return sample

    def _samples_of(self, refs):
        """Whose samples an operator on these values works on."""
        for ref in refs:
            value = self.values.get((ref.node, ref.output))
            if value is None or self._fits_all(ref.node):
                continue
            if not self.stack or not set(self.active) <= set(value.samples):  # made in the body
                return value.samples
        return self.active

    def get(self, ref, samples=None):
        """The batch of a value: of the samples that are here."""
        self._begin_batch()
        if samples is None:
            samples = self._samples_of([ref])
        batch = self._value(ref, samples).of(samples)
        if not len(batch) or not self.run.has_gpu:
            return batch
        if self.real.on_gpu(ref):
            return batch if batch.device_type == "gpu" else batch.gpu(self.run.gpu)
        return batch.cpu() if batch.device_type == "gpu" else batch

    def evaluate(self, index):
        self._begin_batch()
        _, inputs, arguments, *_ = self.records[index]
        self._compute(
            index, self._samples_of([*inputs, *(v for v in arguments.values() if isinstance(v, graph.DataNode))])
        )

    def _compute(self, index, samples):
        op, inputs, arguments, _, _, line, *_ = self.records[index]
        count = self.real.outputs_of(index)
        if not samples:
            for k in range(count):
                self.values[index, k] = Value((), [])
            return
        ins = [self.get(i, samples) for i in inputs]
        named = {k: self.get(v, samples) if isinstance(v, graph.DataNode) else v for k, v in arguments.items()}
        begin = time.perf_counter()
        if self.run.calls_back(op):
            key = self._trips_key()
            made = self.run.call(
                index, op, ins, [(*self.origins[s], s, key ^ self.children.get(s, 0)) for s in samples], line
            )
        else:
            made = self._operator(index, op, ins, named, line, samples)
        self.run.timed(index, op, line, time.perf_counter() - begin, len(samples))
        for k, batch in enumerate(made[:count]):
            layout = self.real.type_of(graph.DataNode(self.run.pipeline, index, k))[2]
            if layout and layout != batch.layout() and len(layout) == batch.ndim():
                batch = _core.batch(batch, layout=layout)
            self.values[index, k] = Value(samples, batch=batch)

    def _trips_key(self):
        key = 0
        for loop in self.loops:
            key = _mixed(key ^ _mixed(loop.trip))
        return key

    def _operator(self, index, op, ins, arguments, line, samples):
        on_gpu = self.run.has_gpu and self.real.on_gpu(graph.DataNode(self.run.pipeline, index, 0))
        gpu = self.run.gpu if on_gpu else -1
        key, draws = self._trips_key(), self.real.draws_of(index)
        limits = {name: self.run.given[name] for name in limit_names}  # which other operators do not have
        arguments = {**limits, **{k: v for k, v in arguments.items() if v is not None}}
        if not self.run.is_random(op):
            epoch, position = self.origins[samples[0]]
            return _core.run_operator(op, ins, arguments, key, epoch, position, draws, len(samples), gpu, line)
        parts = []  # samples whose positions follow one another are drawn in one call
        first = 0
        for i in range(1, len(samples) + 1):
            epoch, position = self.origins[samples[first]]
            child = self.children.get(samples[first], 0)
            if (
                i < len(samples)
                and not child
                and self.origins[samples[i]] == (epoch, position + i - first)
                and samples[i] not in self.children
            ):
                continue
            whole = first == 0 and i == len(samples)
            cut = (lambda b: b) if whole else (lambda b: _core.batch([b[k] for k in range(first, i)]))
            parts.append(
                _core.run_operator(
                    op,
                    [cut(b) for b in ins],
                    {k: cut(v) if isinstance(v, _core.Batch) else v for k, v in arguments.items()},
                    key ^ child,
                    epoch,
                    position,
                    draws,
                    i - first,
                    gpu,
                    line,
                )
            )
            first = i
        if len(parts) == 1:
            return parts[0]
        return [_core.batch([t for part in parts for t in part[k]]) for k in range(len(parts[0]))]

    # --- control flow -------------------------------------------------------------------------------------------------

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
            epoch, position = self.origins[stay[0]]
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
        layout = self.real.type_of(graph.DataNode(self.run.pipeline, index, k))[2]
        kinds = {(t.dtype, t.ndim(), t.layout()) for t in tensors if t is not None}
        if len({kind[:2] for kind in kinds}) > 1:
            raise TypeError(
                "where ways meet, values have types that differ: "
                + " and ".join(f"{DType(d).name} with {n} dimensions" for d, n, _ in sorted(kinds))
                + f"\n  at {graph.user_line()}"
            )
        if layout and any(kind[2] != layout and kind[1] == len(layout) for kind in kinds):
            value = Value(samples, [t if t is None else _core.tensor(t, layout=layout) for t in tensors])
        self.values[index, k] = value

    def add_change(self, kind, values, constants, line):
        index = self.real.add_change(kind, values, constants, line)
        if kind == "rebatch":
            self.batch_size = constants["batch_size"]
        deciding = 1 if kind == "filter" or (kind == "expand" and "k" not in constants) else 0
        self._begin_batch()
        samples, refs = self._samples_of(values), values[deciding:]
        tensors = [self._value(v, samples).tensors(samples) for v in refs]
        if kind == "filter":
            keep = self._scalars(values[0], "keep", samples)
            made = [(s, i, None) for i, s in enumerate(samples) if keep[s]]
            self.leaves_out |= bool(self.stack and constants["min_batch"])
            if len(made) < constants["min_batch"] and not self.stack:
                if constants["too_few"] == "error":
                    raise ValueError(
                        f"[filter] {len(made)} of {len(samples)} samples remain, fewer than min_batch="
                        f"{constants['min_batch']}\n  at {line}"
                    )
                raise TooFew
        elif kind == "rebatch":  # DebugRun gathers them
            made = [(s, i, None) for i, s in enumerate(samples)]
        else:
            flat = constants.get("flattened", 0)
            if flat:
                counts = [t.shape()[0] for t in tensors[0]]
            elif deciding:
                counts = [int(k) for k in self._scalars(values[0], "k", samples).values()]
            else:
                counts = [constants["k"]] * len(samples)
            made = [(self._child(s, k), i, k) for i, s in enumerate(samples) for k in range(counts[i])]
        for o, found in enumerate(tensors):
            parts = kind == "flatten_batch" and o < constants["flattened"]
            self.values[index, o] = Value(
                tuple(s for s, _, _ in made), [entry(found[i], k) if parts else found[i] for _, i, k in made]
            )
        return index

    def _child(self, sample, k):
        """A sample of its own, as the step of expand makes it (src/exec/steps/change.cpp)."""
        self.origins.append(self.origins[sample])
        child = len(self.origins) - 1
        self.parents[child], self.children[child] = sample, _mixed((self.children.get(sample, 0) + 1 + k) & _MASK)
        return child

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


class DebugRun:
    """What a pipeline with debug=True has in the place of the executor."""

    def __init__(self, pipeline, function, executor_of):
        self.pipeline, self.function, self.executor_of = pipeline, function, executor_of
        self.definition = pipeline.definition
        self.given = self.definition.options
        self.gpu = 0 if self.given["device_id"] is None or self.given["device_id"] < 0 else int(self.given["device_id"])
        self.has_gpu = not _core.gpu_why_not()
        self.number, self.scheduled, self.ahead = 0, 0, collections.deque()
        self.sources, self.feeds, self.primary, self.names = {}, collections.defaultdict(collections.deque), None, {}
        self.times, self.now, self.seconds, self.count = {}, {}, 0.0, 0
        self.schemas = {}
        self.gathered = FullBatches(lambda: self.definition.graph.batch_size)

    def _schema(self, op):
        if op not in self.schemas:
            self.schemas[op] = _core.operator_schema(op)
        return self.schemas[op]

    def is_source(self, op):
        return self._schema(op)["family"] == "source" and not self.calls_back(op)

    def calls_back(self, op):
        return self._schema(op)["calls_back"]

    def fits_all(self, op):
        return self._schema(op)["fits_all"]

    def is_random(self, op):
        return self._schema(op)["random"]

    # --- sources ------------------------------------------------------------------------------------------------------

    def next_of(self, index, record):
        """(batches, origins, whether its samples name those of the pipeline) of a source: a pipeline of its own."""
        begin = time.perf_counter()
        op, line = record[0], record[5]
        if index not in self.sources:
            alone = _core.Graph()
            alone.set_seed(self.given["seed"])
            last = self._add_alone(alone, record)
            alone.set_outputs([_core.NodeRef(last, k) for k in range(alone.outputs_of(last))])
            source = self.executor_of(alone, 1, 1)
            if index in self.definition.sources:
                source.set_source(0, self.definition.sources[index])
            reader = self._schema(op)["fed"] != "batches"
            if self.primary is None or (reader and not self.primary[1]):
                self.primary = index, reader, source
            self.sources[index] = source
            self.names[self.definition.graph.name_of(index)] = index
        source, name = self.sources[index], self.definition.graph.name_of(index)
        if name in self.definition.fed:
            if not self.feeds[name]:
                raise IndexError(f"external source '{name}' was not fed: call feed_input() before run()")
            source.feed(0, self.feeds[name].popleft())
        source.schedule()
        batches, origins, consumed = source.outputs()
        if self.primary[0] == index:
            self.consumed = consumed
        self.timed(index, op, line, time.perf_counter() - begin, len(origins))
        return batches, origins, self.primary[0] == index

    def _add_alone(self, alone, record):
        """The node of a source in a graph of its own, with the readers that it mixes."""
        op, inputs, *rest = record
        made = {
            n: self._add_alone(alone, self.definition.graph.records[n]) for n in dict.fromkeys(v.node for v in inputs)
        }
        return alone.add(op, [_core.NodeRef(made[v.node], v.output) for v in inputs], *rest)

    def feed(self, node, batches):
        self.feeds[node if isinstance(node, str) else self.definition.graph.name_of(node)].append(batches)

    # --- functions ----------------------------------------------------------------------------------------------------

    def call(self, index, op, inputs, origins, line):
        function, _ = self.definition.functions[index]
        if hasattr(function, "run_address"):
            return _core.call_compiled(function, inputs, origins, line)
        function.name, function.line = self.definition.graph.name_of(index), line
        with graph.outside():
            batches, bad = function.call(inputs, origins)
        if bad:
            raise _core.DataError(f"[{function.op}] {bad[0][1]}\n  at {line}")
        return batches

    # --- what the executor does -----------------------------------------------------------------------------------------

    def schedule(self, soon=False):
        self.scheduled += 1

    def outputs(self):
        return self.run()

    def run(self):
        if self.ahead:
            return self.ahead.popleft()
        return self.gathered.next(self._batch_with_samples)

    def _batch_with_samples(self):
        for _ in range(1000):
            try:
                return self._batch()
            except TooFew:
                continue
        raise ValueError("[filter] left too few samples in 1000 consecutive iterations")

    def _batch(self):
        definition, made = self.definition, self.definition.graph
        made.begin(self.given["seed"])
        definition.functions.clear()
        self.now, self.consumed, begin = {}, None, time.perf_counter()
        graph.push(self.pipeline)
        definition.built = False
        try:
            nodes = graph.as_outputs(converted(self.function)(), self.pipeline)
            made._begin_batch()
            if not nodes:
                raise ValueError("the pipeline has no outputs")
            made.real.set_outputs(nodes, self.given["mixed_outputs"])
            batches = tuple(made.get(n) for n in nodes)
        finally:
            definition.built = True
            graph.pop()
        self.number += 1
        self.seconds += time.perf_counter() - begin
        self.count += len(batches[0])
        if self.given["debug"] == "times":
            print(self._table(self.now), file=sys.stderr)
        samples = made._samples_of(nodes[:1])
        return batches, [(*made.origins[s], -1) for s in samples], self.consumed or (len(made.samples), 1, False)

    def begin(self):
        """Runs the first batch ahead, for questions that only a graph answers."""
        if self.number == 0 and not self.ahead:
            self.ahead.append(self.gathered.next(self._batch_with_samples))

    def timed(self, index, op, line, seconds, samples):
        for times in (self.times, self.now):
            entry = times.setdefault((index, op, line), [0.0, 0])
            entry[0] += seconds
            entry[1] += samples

    def _table(self, times):
        lines = [f"{'operator':<28} {'ms':>9} {'samples':>8}  line"]
        for (_, op, line), (seconds, samples) in times.items():
            lines.append(f"{op[:28]:<28} {seconds * 1e3:>9.3f} {samples:>8}  {line}")
        return "\n".join(lines)

    def statistics(self):
        stages = [
            {
                "name": op,
                "seconds": t,
                "samples": n,
                "read": 0.0,
                "decode": 0.0,
                "pixels": 0.0,
                "copied_bytes": 0,
                "line": line,
            }
            for (_, op, line), (t, n) in self.times.items()
        ]
        slowest = max(stages, key=lambda s: s["seconds"], default=None)
        return {
            "iterations": self.number,
            "samples": self.count,
            "threads": 1,
            "seconds": self.seconds,
            "loop_waits": self.seconds,
            "threads_idle": 0.0,
            "threads_blocked": 0.0,
            "bytes_held": 0,
            "bytes_in_use": 0,
            "device_bytes_in_use": 0,
            "stages": stages,
            "entropy_index": {"made": 0, "used": 0, "stale": 0, "path": "", "note": ""},
            "verdict": "debug mode runs one operator after the other"
            + (f"; most time in {slowest['name']}" if slowest else ""),
        }

    def reset(self):
        self.gathered.clear()
        for source in self.sources.values():
            source.reset()

    def begin_epoch(self):
        self.gathered.clear()
        self.ahead.clear()
        for source in self.sources.values():
            source.begin_epoch()

    def close(self):
        for source in self.sources.values():
            source.close()

    def reader_meta(self, name):
        self.begin()
        if not name:
            return self.primary[2].reader_meta("") if self.primary else None
        if name not in self.names:
            raise ValueError(f"there is no reader '{name}' in this pipeline")
        return self.sources[self.names[name]].reader_meta(name)

    def batches_per_epoch(self):
        self.begin()
        return self.primary[2].batches_per_epoch() if self.primary else -1

    def first_epoch(self):
        self.begin()
        return self.primary[2].first_epoch() if self.primary else None

    def at_end_of_epoch(self):
        return False

    def set_epoch_mode(self, mode):
        for source in self.sources.values():
            source.set_epoch_mode(mode)

    def left_out(self, last_batch=False):
        return [x for source in self.sources.values() for x in source.left_out(last_batch)]

    def output_shapes(self):
        return [None] * len(self.definition.graph.outputs_on_gpu())  # known when they are there

    def start_trace(self):
        pass

    def __getattr__(self, name):
        raise ValueError(f"a pipeline with debug=True has no {name.replace('_', ' ')}")
