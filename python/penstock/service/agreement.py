# SPDX-License-Identifier: Apache-2.0
"""What a trainer and a worker must agree on: two pipelines with the same job make the same batch for the same number."""

from __future__ import annotations

import hashlib
import json

from .. import _core
from .._pipeline.replay import program_of
from .errors import ServiceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._pipeline import Pipeline


def _is_path(value):
    """Machines may have the same data in different folders."""
    return isinstance(value, str) and "/" in value or (isinstance(value, list) and any(map(_is_path, value)))


def _arguments_of_sources(nodes):
    """The arguments of readers but for paths, as far as they decide what a batch has."""
    made = []
    for node in nodes:
        if "control" not in node and _core.operator_schema(node["op"])["family"] == "source":
            constants = node.get("constants", {})
            made.append([node["op"], {k: v for k, v in constants.items() if not _is_path(v)}])
    return made


def job_of(pipeline: Pipeline[Any], epochs: str) -> dict[str, Any]:
    """What the pipeline makes, as JSON takes it. `state` says which data: the counters, the seed, the fingerprint of the list.

    Raises:
        ValueError: The batches of the pipeline have no numbers, see Pipeline.seek().
    """
    pipeline.seek(batch=0)
    state = pipeline.state()["pipeline"]
    nodes = json.loads(pipeline.definition.graph.to_json())["nodes"]
    sources = json.dumps(_arguments_of_sources(nodes), sort_keys=True)
    options = pipeline.definition.options
    return {
        "seed": state["seed"],
        "batch_size": pipeline.max_batch_size,
        "epochs": epochs,
        "on_error": options["on_error"],
        "operators": program_of(nodes),
        "arguments of readers": hashlib.sha256(sources.encode()).hexdigest()[:16],
        "data": state["sources"],
    }


def compare(trainer: dict[str, Any], worker: dict[str, Any]) -> None:
    """Refuses a worker whose batches would be others.

    Raises:
        ServiceError: The jobs differ; the text says in what.
    """
    for what, value in worker.items():
        if trainer.get(what) != value:
            raise ServiceError(
                f"the pipeline of the worker is not that of the trainer: {what} differ, {_short(value)} at the worker and "
                f"{_short(trainer.get(what))} at the trainer; start `penstock serve` with the same script and arguments"
            )


def _short(value):
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "…"


def key_of_job(job: dict[str, Any]) -> str:
    """A short text that is equal for equal jobs."""
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
