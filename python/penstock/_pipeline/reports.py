# SPDX-License-Identifier: Apache-2.0
"""What a pipeline reports about itself: sizes, options, statistics, its graph as text."""

from __future__ import annotations

import json
import os

from .. import _core
from .advice import Script
from .driver import infos_of
from .script_lines import short
from .statistics import LeftOut, Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any, TypeAlias

    from .._base.element_types import DType
    from ..pictures.diagram import Diagram
    from .driver import OutputInfo

    Path: TypeAlias = str | PathLike[str]


class PipelineReports:
    """The questions that a Pipeline answers."""

    def epoch_size(self, name: str | None = None) -> Any:
        """Returns the number of samples of an epoch, with those that pad_last_batch repeats.

        Args:
            name: The reader.

        Returns:
            An integer; without a name a dict of all readers.

        Raises:
            RuntimeError: There is no such reader.
        """
        if name is None:
            return {n: m["epoch_size_padded"] for n, m in self._readers().items()}
        return self.reader_meta(name)["epoch_size_padded"]

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """Returns the sizes and the shards of a reader.

        Args:
            name: The reader.

        Returns:
            A dict of numbers; without a name a dict of such dicts of all readers.

        Raises:
            RuntimeError: There is no such reader.
        """
        metas = self._readers()
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(f"there is no reader '{name}' in this pipeline")
        return metas[name]

    def _readers(self):
        self.build()
        if self.definition.options["debug"]:
            self._pipeline.begin()
        graph = self.definition.graph
        names = [
            graph.name_of(i)
            for i in range(graph.nodes())
            if "readers." in graph.op_of(i) and _core.operator_schema(graph.op_of(i))["family"] == "source"
        ]
        return {n: self._pipeline.reader_meta(n) for n in names}

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        self.build()
        if self.definition.options["debug"]:
            self._pipeline.begin()
        return self.definition.graph.num_outputs()

    @property
    def output_spec(self) -> list[OutputInfo]:
        """Type, shape, layout and device of each output, as far as they are known before a run.

        Each has `dtype` (types.NO_TYPE: not known), `ndim` (None: not known), `layout`, `device` and `shape`: the
        extents of a sample, None for one that is not known or may differ between samples.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def photos(files):
            ...     encoded, labels = fn.readers.file(files=files)
            ...     images = fn.resize(fn.decoders.image(encoded), size=[224, 224])
            ...     return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), output_layout="CHW"), labels
            >>> images, labels = photos(["a.jpg", "b.jpg"]).output_spec
            >>> images.shape, images.dtype.name, images.layout, labels.shape
            ((3, 224, 224), 'FLOAT', 'CHW', (1,))
        """
        self._refuse_debug("output_spec")
        self.build()
        return infos_of(self)

    def output_dtype(self) -> list[DType | None]:
        """Returns the declared types of the outputs."""
        return self._declared_list("dtype")

    def output_ndim(self) -> list[int | None]:
        """Returns the declared numbers of dimensions of the outputs."""
        return self._declared_list("ndim")

    def output_layout(self) -> list[str | None]:
        """Returns the declared layouts of the outputs."""
        return self._declared_list("layout")

    def _declared_list(self, what):
        declared = self._declared[what]
        return list(declared) if isinstance(declared, (list, tuple)) else [declared] * self.num_outputs

    @property
    def max_batch_size(self) -> int:
        """Samples of a full batch."""
        return self.definition.options["batch_size"]

    @property
    def prefetch_queue_depth(self) -> int | dict[str, int]:
        """Batches that are made ahead."""
        return self.definition.options["prefetch_queue_depth"]

    @property
    def cpu_queue_size(self) -> int:
        """Batches that are made ahead, as a number."""
        return self._depth

    @property
    def gpu_queue_size(self) -> int:
        """Batches that are made ahead, as a number."""
        return self._depth

    @property
    def exec_separated(self) -> bool:
        """Whether prefetch_queue_depth was given as a dict."""
        return isinstance(self.definition.options["prefetch_queue_depth"], dict)

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline resumes from a checkpoint."""
        return self._checkpoint is not None

    def stats(self) -> Statistics:
        """Returns where the time went.

        Returns:
            Stages, waits and memory; printed, a table, one line that names what the loop waits for, and one that says
            what to change and in which line of the program.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[3])
            >>> pipe = numbers()
            >>> _ = [pipe.run() for _ in range(3)]
            >>> pipe.stats().samples
            6
        """
        self.build()
        numbers = self._pipeline.statistics()
        return Statistics(numbers, self.left_out(), self._script(numbers))

    def _script(self, numbers):
        """Where the lines of the program are; None where there is no advice."""
        if self.definition.options["debug"]:
            return None
        place = numbers["bottleneck_stage"]
        if place >= 0:
            stage = numbers["stages"][place]
            nodes = json.loads(self.definition.graph.to_json())["nodes"]
            number = stage["nodes"][0]
            first = nodes[number] if number < len(nodes) else {}  # the planner adds nodes of its own
            stage["first_line"] = first.get("line", stage["line"])
            stage["fed"] = first.get("name") in self.definition.fed
        code = getattr(getattr(self._made_by[0], "__wrapped__", None), "__code__", None) if self._made_by else None
        decorated = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        return Script(self._made_at, decorated, self.definition.options)

    def report(self, path: Path, title: str | None = None) -> Statistics:
        """Writes a page that shows where the time went: one file of HTML, which needs no network.

        It has what stats() has: the verdict with the line to change, time by stage and thread, how many batches were
        ready, how long samples and batches take, the slowest samples with their files, and what the rate could be.

        Args:
            path: The file to write, such as "report.html".
            title: The head of the page; None: the name of the script.

        Returns:
            The Statistics of the page.

        Raises:
            OSError: The file cannot be written.
            TypeError: The pipeline has debug=True, or `path` is not a path.

        Example:
            >>> import os, tempfile
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[3])
            >>> pipe = numbers()
            >>> _ = [pipe.run() for _ in range(3)]
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     pipe.report(os.path.join(folder, "report.html")).samples
            6
        """
        self._refuse_debug("report()")
        return self._report(self.stats(), path, title)

    def _report(self, stats, path, title):
        from .report_page import page  # late: few programs need it

        text = page(stats, title or f"Pipeline of {short(self._made_at) or 'another program'}")
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(text)
        return stats

    def executor_statistics(self) -> dict[str, Any]:
        """Returns the numbers of stats() as a dict."""
        self.build()
        return self._pipeline.statistics()

    def external_source_shm_statistics(self) -> dict[str, Any]:
        """Returns how many bytes of shared memory worker processes have written to.

        Returns:
            "capacities" and "per_sample_capacities".
        """
        from .._sources.parallel import capacities  # late: it loads multiprocessing

        return capacities(self.definition.sources.values())

    def left_out(self, last_batch: bool = False) -> list[LeftOut]:
        """Returns the samples that on_error="skip" or "replace" left out, at most 10,000.

        Args:
            last_batch: Only those of the last batch.

        Returns:
            A LeftOut for each: a tuple (epoch, position, file or record, why) with `number`, its number in the batch
            that the source gave, and `batch`.
        """
        self.build()
        return [LeftOut(*entry) for entry in self._pipeline.left_out(last_batch)]

    def trace(self, path: Path | None = None) -> None:
        """Starts recording on the first call, and writes what was recorded.

        Args:
            path: The file to write, a Chrome trace; None: nothing is written.
        """
        if not self._tracing:
            self._tracing = True
            if self._pipeline is not None:
                self._pipeline.start_trace()
        if path is not None:
            self.build()
            with open(path, "w") as file:
                file.write(self._pipeline.trace_json())

    def start_trace(self) -> None:
        """Starts recording what trace(path) writes."""
        self.trace()

    def plan(self) -> str:
        """Returns the steps that the executor runs, one line each: which operators share a pass."""
        return self.text(planned=True)

    def passes(self) -> dict[str, str]:
        """Returns the text after each pass of the planner, in their order.

        Returns:
            A dict. The first entry, "trace", is the graph as it was written; the last, "last_use", the steps with
            the values whose memory is free after them.
        """
        self.build()
        return dict(self._pipeline.pass_texts())

    def __repr__(self) -> str:
        given = self.definition.options
        defined = f", {self.num_outputs} outputs" if self.definition.built else ", not built"
        return f"Pipeline(batch_size={given['batch_size']}, num_threads={given['num_threads']}{defined})"

    def _repr_html_(self) -> str:
        """The pipeline's graph, for notebooks."""
        import html

        try:
            text = self.text()
        except RuntimeError:  # nothing is defined yet
            return f"<pre>{html.escape(repr(self))}</pre>"
        if self.definition.options["debug"]:
            return f"<pre>{html.escape(text)}</pre>"
        return f"{self.show_graph().svg}<details><summary>as text</summary><pre>{html.escape(text)}</pre></details>"

    def show_graph(self, path: Path | None = None) -> Diagram:
        """Makes a picture of the pipeline: operators with their arguments, in what they run in.

        A box is what runs as one pass or as one kernel on a GPU. Blue boxes run on the CPU, green ones on a GPU, orange
        ones copy between them. A dashed box is a condition or a loop around its steps.

        Args:
            path: A file to write the picture to, as SVG.

        Returns:
            A Diagram: a notebook shows it, `svg` is its text, save(path) writes it.

        Raises:
            TypeError: The pipeline has debug=True, so that nothing is planned.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def turned():
            ...     return fn.rotate(np.zeros((4, 4, 3), np.uint8), angle=fn.random.uniform(range=[-9.0, 9.0]))
            >>> turned().show_graph().svg[:4]
            '<svg'
        """
        from ..pictures.diagram import diagram_of  # late: few programs need it

        if self.definition.options["debug"]:
            raise TypeError("show_graph(): with debug=True nothing is planned; make the pipeline without debug")
        self.build()
        graph = json.loads(self.definition.graph.to_json())
        made = diagram_of(
            self._pipeline.plan_steps(), graph["nodes"], graph["outputs"], self.definition.graph.outputs_on_gpu()
        )
        if path is not None:
            made.save(path)
        return made

    def text(self, planned: bool = False) -> str:
        """Returns the graph, one line for each node.

        Args:
            planned: The steps that the executor runs instead.
        """
        self.build()
        return self._pipeline.plan_text() if planned else self.definition.graph.text()
