# SPDX-License-Identifier: Apache-2.0
"""What was drawn for samples, as plain data, and how other samples draw it again."""

from __future__ import annotations

import hashlib
import json

from .. import _core
from .step_log import step_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

_DRAWS = ("program", "seed", "epoch", "position")
_OF_CONTROL = ("control", "bodies", "arguments", "counted", "trips")


def _place(ref):
    return ref[:2]  # without the device: both draw the same


def _described(node, sources):
    """What of a node decides which numbers are drawn and what becomes of them, whatever the data and the device are."""
    op = node["op"]
    made = {name: node[name] for name in (*_OF_CONTROL, "seed", "draws_of", "region", "outputs") if name in node}
    made["inputs"] = [_place(ref) for ref in node.get("inputs", [])]
    made["results"] = [_place(ref) for ref in node.get("results", [])]
    made["test"] = _place(node.get("test", []))
    made["op"] = "source" if op in sources else op
    if op not in sources:
        made["constants"] = node.get("constants", {})
        made["per_sample"] = {name: _place(ref) for name, ref in node.get("per_sample", {}).items()}
    return made


def program_of(nodes):
    """A short hash of a program: programs with the same one draw the same numbers for the same sample."""
    names = {node["op"] for node in nodes if "control" not in node}
    sources = {op for op in names if _core.operator_schema(op)["family"] == "source"}
    text = json.dumps([_described(node, sources) for node in nodes], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def params_of(origins, graph, nodes, seed):
    """The params of the samples of a batch."""
    program, made = program_of(nodes), []
    for k in range(len(origins)):
        epoch, position, path = origins.draws(k)
        own = dict(zip(_DRAWS, (program, seed, epoch, position)))
        if path:
            own["source"] = path
        steps = origins.steps(k)
        if steps is not None:
            own["steps"] = [
                step_of(graph, nodes, node, list(trips), child, logged, (epoch, position))
                for node, trips, child, logged in steps
            ]
        made.append(own)
    return made


def _check(name, entry, program):
    of_sample = entry[0] if isinstance(entry, (list, tuple)) and entry else entry
    if isinstance(of_sample, dict) and "op" in of_sample:
        raise TypeError(f"replay(): {name} is of Sample.params, outside a pipeline: Sample.replay() takes them")
    if not isinstance(entry, dict):
        raise TypeError(f"replay(): {name} must be one of Pipeline.params, got {type(entry).__name__}")
    for key in _DRAWS:
        if key not in entry:
            raise ValueError(f"replay(): {name} has no '{key}': give what Pipeline.params gave")
        if key != "program" and (type(entry[key]) is not int or not 0 <= entry[key] < 2**64):
            raise ValueError(f"replay(): '{key}' of {name} must be a number of 64 bits, got {entry[key]!r}")
    if entry["program"] != program:
        raise ValueError(
            f"replay(): {name} is of the program {entry['program']}, and this one is {program}: operators, their "
            "constant arguments and their order must be the same; only sources and devices may differ"
        )


def draws_of(params, program):
    """(the seed, the (epoch, position) of each) of what Pipeline.params gave."""
    entries = [params] if isinstance(params, dict) else params
    if not isinstance(entries, (list, tuple)):
        raise TypeError(f"replay() takes Pipeline.params or some of them, got {type(params).__name__}")
    if not entries:
        raise ValueError("replay() needs the params of at least one sample; None ends a replay")
    for k, entry in enumerate(entries):
        _check("params" if isinstance(params, dict) else f"params[{k}]", entry, program)
    first = entries[0]["seed"]
    for k, entry in enumerate(entries):
        if entry["seed"] != first:
            raise ValueError(
                f"replay(): params[{k}] is of the seed {entry['seed']} and params[0] of {first}: replay those of one seed "
                "at a time"
            )
    return first, [(entry["epoch"], entry["position"]) for entry in entries]


class Replays:
    """What a Pipeline says and takes of its draws."""

    @property
    def params(self) -> list[dict[str, Any]]:
        """What was drawn for each sample of the last batch: plain values, which json.dumps() takes.

        Each has "program", "seed", "epoch" and "position", by which replay() draws the same again; "source", where the
        sample came from a file; and after log_steps() "steps", for people to read: operators with their arguments, and
        conditions. A sample that fn.expand or fn.flatten_batch made has those of the sample that it was made of.

        Raises:
            RuntimeError: No batch has been returned yet.
            TypeError: The pipeline has debug=True.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=7)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0])
            >>> pipe = numbers()
            >>> first, second = pipe.run()[0].as_array().tolist()
            >>> numbers().replay(pipe.params[1]).run()[0].as_array().tolist() == [second, second]
            True
        """
        if "params" in self.__dict__:
            return self.__dict__["params"]
        self._refuse_debug("params")
        if not self._returned:
            raise RuntimeError("params are those of the last batch: call run() first")
        if not self._origin:
            return []
        return params_of(self._origin, self.definition.graph, self._nodes(), self._seed())

    @params.setter
    def params(self, value: Any) -> None:  # scripts derive from Pipeline and have attributes of their own
        self.__dict__["params"] = value

    def params_at(self, position: int, epoch: int = 0) -> dict[str, Any]:
        """Returns what params would have for a sample of the source, without a run.

        Args:
            position: Its place in the order of the epoch, over all shards.
            epoch: The epoch of the reader.

        Returns:
            "program", "seed", "epoch" and "position", for replay().

        Raises:
            TypeError: The pipeline has debug=True, or a number is not an integer.
            ValueError: A number is negative.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=7)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0])
            >>> pipe = numbers()
            >>> _ = pipe.run()
            >>> pipe.params_at(1) == pipe.params[1]
            True
        """
        self._refuse_debug("params_at()")
        self.build()
        for name, value in (("position", position), ("epoch", epoch)):
            if not hasattr(value, "__index__"):
                raise TypeError(f"params_at(): {name} must be an integer, got {type(value).__name__}")
            if not 0 <= int(value) < 2**64:
                raise ValueError(f"params_at(): {name} must be a number of 64 bits from 0, got {value}")
        return dict(zip(_DRAWS, (program_of(self._nodes()), self._seed(), int(epoch), int(position))))

    def replay(self, params: Sequence[dict[str, Any]] | dict[str, Any] | None) -> Self:
        """Lets the samples that come next draw what others drew, bit for bit, on the CPU and on a GPU.

        The first sample of the source draws by the first of `params`, and so on; after the last one it begins again
        with the first. Only draws are replayed: data come from the sources of this pipeline, which may be others.

        Args:
            params: `params` of a pipeline of the same program: the same operators in the same order, with the same
                constant arguments. Or one of them, for all samples. None: samples draw their own numbers again.

        Returns:
            This pipeline.

        Raises:
            TypeError: It is something else, or the pipeline has debug=True.
            ValueError: It is of another program, or of several seeds; or batches have been made ahead, which have drawn
                their numbers.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=7)
            ... def rotated():
            ...     images = fn.external_source(name="images")
            ...     return fn.rotate(images, angle=fn.random.uniform(range=[-90.0, 90.0]), fill_value=0)
            >>> pipe = rotated()
            >>> image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
            >>> first = pipe.run(images=[image, image])[0]
            >>> again = pipe.replay(pipe.params[::-1]).run(images=[image, image])[0]
            >>> bool((again[0].numpy() == first[1].numpy()).all())
            True
        """
        self._refuse_debug("replay()")
        self.build()
        if params is None:
            self._replays = []
            self._pipeline.replay([])
            return self
        seed, draws = draws_of(params, program_of(self._nodes()))
        self._pipeline.replay([])  # refuses while batches are in flight
        if seed != self._seed():
            if self._checkpoint is not None:
                raise ValueError(
                    f"replay(): params are of the seed {seed} and the checkpoint is of {self._seed()}: replay in a pipeline "
                    "without a checkpoint"
                )
            self.definition.set_seed(seed)
            self._replays = draws
            self._start_again()
        else:
            self._replays = draws
            self._pipeline.replay(draws)
        return self

    def log_steps(self) -> Self:
        """Lets `params` say which steps operators made for each sample; say it before the pipeline is built.

        "steps" is a list of {"op", "arguments", "line"}: an operator whose arguments differ between samples or that
        draws by itself, or a condition, "if". "window" is what random_resized_crop drew: [left, top, right, bottom] in
        pixels. "trips" are the numbers of the trips of the loops around it. Numbers that are on a GPU are None. This
        takes time for each sample; leave it off in training.

        Returns:
            This pipeline.

        Raises:
            RuntimeError: The pipeline is built.
            TypeError: The pipeline has debug=True.

        Example:
            >>> @pipeline_def(batch_size=1, num_threads=1, seed=7)
            ... def rotated():
            ...     return fn.rotate(np.zeros((4, 4, 3), np.uint8), angle=fn.random.uniform(range=[5.0, 6.0]))
            >>> pipe = rotated().log_steps()
            >>> _ = pipe.run()
            >>> step = pipe.params[0]["steps"][0]
            >>> print(step["op"], 5 <= step["arguments"]["angle"] <= 6)
            rotate True
        """
        self._refuse_debug("log_steps()")
        if self.definition.built:
            raise RuntimeError("the pipeline is built: log_steps() must be said before, as in make().log_steps()")
        self._logs_steps = True
        return self

    def _refuse_debug(self, what):
        if self.definition.options["debug"]:
            raise TypeError(f"{what}: a pipeline with debug=True has its values at once; make it without debug")

    def _graph_that_runs(self):
        """The graph; where steps are logged, one with the same draws that also gives what the log needs."""
        graph = self.definition.graph
        if self._logs_steps:
            graph = graph.copy()
            graph.give_sizes()
        return graph

    def _nodes(self):
        return json.loads(self.definition.graph.to_json())["nodes"]

    def _seed(self):
        return json.loads(self.definition.graph.to_json())["seed"]
