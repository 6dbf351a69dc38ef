# SPDX-License-Identifier: Apache-2.0
"""The graph of a pipeline with debug=True: a node runs as soon as it stands in the graph.

The same graph is made as without debug, so that every node has its number and with it its random numbers. _core.SteppingGraph
runs a node by the steps that the pipeline has for it. Values remember which samples they have.
"""

import time

from .. import _core, _graph as graph
from .bodies import Bodies, TooFew
from .values import Value

_mixed = _core.mixed


class DebugGraph(Bodies):
    """A graph whose nodes are evaluated when they are added. What it does not know itself is answered by the graph that it stands for."""

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
        self.parents = {}  # of samples that fn.expand and its kind made
        self.active, self.stack, self.sets, self.loops = None, [], {}, []
        self.of_body = False  # whether a node of a body is computed after the body, when its value is needed

    # --- nodes --------------------------------------------------------------------------------------------------------

    def add(self, op, inputs, arguments, name="", seed=-1, user_line="", outputs=0, types=(), device="", draws_of=-1):
        by_values = self.run.value_forms(op) and any(isinstance(v, graph.DataNode) for v in arguments.values())
        if by_values and all(self.run.has_argument(op, k) for k in arguments):  # else the graph says which is unknown
            return self._add_by_values(op, arguments, name, seed, user_line, device)
        index = self.real.add(op, inputs, arguments, name, seed, user_line, outputs, list(types), device, draws_of)
        self.records[index] = (op, inputs, arguments, name, seed, user_line, outputs, list(types), device)
        reads = self._reads(index)
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

    def _add_by_values(self, op, arguments, name, seed, user_line, device):
        """The two nodes that the graph makes of a source with values for single samples."""
        names, values = self.run.value_forms(op)
        known, read = (
            {k: v for k, v in arguments.items() if self.run.has_argument(form, k)} for form in (names, values)
        )
        paths = self.add(names, [], known, name, seed, user_line, device="cpu")
        return self.add(values, [_core.NodeRef(paths, 0)], read, "", -1, user_line, device=device)

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
                self.origins = [(*origins.draws(i), 0) for i in range(size)]
            if self.samples is not None and len(self.samples) != size:
                raise ValueError(
                    f"the sources of the pipeline differ in their number of samples: {len(self.samples)} and {size}"
                )
            self._begin_samples(size)
            for k, batch in enumerate(batches):
                self.values[index, k] = Value(self.samples, batch=batch)
        if self.samples is None:
            size, number = self.run.given["batch_size"], self.run.number
            self.origins = [(0, number * size + i, "", 0) for i in range(size)]
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
            before = self.loops, self.of_body
            own = self.samples if active is None else active
            bound = ref.node in self.open and samples and (made or not (self.stack or self.of_body))
            self.loops, self.of_body = around, self.of_body or active is not None
            try:
                self._compute(ref.node, samples if bound else own)
            finally:
                self.loops, self.of_body = before
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

    def outputs(self, nodes):
        """The batches of the outputs, and the samples of the first one. Outputs that no node has used are of the samples of the
        first one that is bound to some."""
        bound = [n.node not in self.waiting and not self._fits_all(n.node) for n in nodes]
        shared = self._samples_of([n for n, own in zip(nodes, bound) if own][:1])
        samples = [self._samples_of([n]) if own else shared for n, own in zip(nodes, bound)]
        return tuple(self.get(n, s) for n, s in zip(nodes, samples)), samples[0]

    def evaluate(self, index):
        self._begin_batch()
        self._compute(index, self._samples_of(self._reads(index)))

    def _reads(self, index):
        _, inputs, arguments, *_ = self.records[index]
        return [*inputs, *(v for v in arguments.values() if isinstance(v, graph.DataNode))]

    def _compute(self, index, samples):
        op, line = self.records[index][0], self.records[index][5]
        made, _, _ = self._stepped(index, op, self._reads(index), samples, line)
        self._keep(index, made, samples)

    def _keep(self, index, made, samples):
        for k, batch in enumerate(made):
            self.values[index, k] = Value(samples, batch=batch) if samples else Value((), [])

    def _stepped(self, index, op, refs, samples, line):
        """What the steps of a node make for samples (src/exec/stepping_graph.h); None: a filter leaves too few."""
        if not samples:
            return [None] * self.real.outputs_of(index), (), ()
        values = [(ref, self.get(ref, samples)) for ref in refs if not self._fits_all(ref.node)]
        values = [(ref, batch) for ref, batch in values if len(batch)]  # others have no value here
        function, begin = self.run.function_of(index), time.perf_counter()
        with graph.outside():
            made = self.run.stepping.run(
                self.real,
                index,
                values,
                [self.origins[s] for s in samples],
                list(samples),
                self._trips_key(),
                bool(self.stack),
                function,
            )
        self.run.timed(index, op, line, time.perf_counter() - begin, len(samples))
        return made

    def _layout_of(self, index, k):
        return self.real.type_of(graph.DataNode(self.run.pipeline, index, k))[2]

    def _trips_key(self):
        key = 0
        for loop in self.loops:
            key = _mixed(key ^ _mixed(loop.trip))
        return key

    def add_change(self, kind, values, constants, line):
        index = self.real.add_change(kind, values, constants, line)
        if kind == "rebatch":  # DebugRun gathers them
            self.batch_size = constants["batch_size"]
        self._begin_batch()
        samples = self._samples_of(values)
        self.leaves_out |= bool(kind == "filter" and self.stack and constants["min_batch"])
        made = self._stepped(index, kind, values, samples, line)
        if made is None:
            raise TooFew
        batches, parents, origins = made
        given = tuple(samples[p] for p in parents)
        if kind not in ("filter", "rebatch"):
            first = len(self.origins)
            self.origins.extend(origins)
            self.parents.update((first + k, parent) for k, parent in enumerate(given))
            given = tuple(range(first, first + len(given)))
        self._keep(index, batches, given)
        return index
