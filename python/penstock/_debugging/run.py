# SPDX-License-Identifier: Apache-2.0
"""Pipeline(debug=True): the body runs for each batch, operator by operator, with its values there at once.

DebugRun stands where other pipelines have an executor; nodes.py runs the nodes."""

import collections
import sys
import time

from .. import _core, _graph as graph
from .._base.limits import NAMES as limit_names
from .._control_flow.statements import call as converted
from .bodies import TooFew
from .nodes import DebugGraph
from .values import FullBatches

__all__ = ["DebugGraph", "DebugRun"]


class DebugRun:
    """What a pipeline with debug=True has in the place of the executor."""

    def __init__(self, pipeline, function, executor_of):
        self.pipeline, self.function, self.executor_of = pipeline, function, executor_of
        self.definition = pipeline.definition
        self.given = self.definition.options
        self.gpu = 0 if self.given["device_id"] is None or self.given["device_id"] < 0 else int(self.given["device_id"])
        self.has_gpu = not _core.gpu_why_not()
        device = -1 if self.given["device_id"] is None else int(self.given["device_id"])
        limits = (int(self.given[name] or 0) for name in limit_names)
        self.stepping = _core.SteppingGraph(self.given["batch_size"], device, *limits)
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

    def value_forms(self, op):
        """What names the samples of a source whose arguments may have a value for each, and what loads them."""
        return self._schema(op).get("value_forms")

    def has_argument(self, op, name):
        return any(a["name"] == name for a in self._schema(op)["args"])

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

    def function_of(self, index):
        """What a node calls, or None."""
        function, line = self.definition.functions.get(index, (None, ""))
        if function is not None and not hasattr(function, "run_address"):
            function.name, function.line = self.definition.graph.name_of(index), line
        return function

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
                raise ValueError(
                    "the pipeline has no outputs: its function returns what a batch has, as in `return images`"
                )
            made.real.set_outputs(nodes, self.given["mixed_outputs"])
            batches, samples = made.outputs(nodes)
        finally:
            definition.built = True
            graph.pop()
        self.number += 1
        self.seconds += time.perf_counter() - begin
        self.count += len(batches[0])
        if self.given["debug"] == "times":
            print(self._table(self.now), file=sys.stderr)
        return batches, [(*made.origins[s][:2], -1) for s in samples], self.consumed or (len(made.samples), 1, False)

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
                "cache": {"hits": 0, "misses": 0, "pictures": 0, "bytes": 0},
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
