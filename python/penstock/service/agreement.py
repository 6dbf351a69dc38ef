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


_MOST_ARGUMENTS = 4096  # characters


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
    from .. import __version__

    pipeline.seek(batch=0)
    state = pipeline.state()["pipeline"]
    nodes = json.loads(pipeline.definition.graph.to_json())["nodes"]
    options = pipeline.definition.options
    return {
        "versions of Penstock": __version__,
        "seed": state["seed"],
        "batch_size": pipeline.max_batch_size,
        "epochs": epochs,
        "on_error": options["on_error"],
        "operators": program_of(nodes),
        "arguments of readers": _if_short(_arguments_of_sources(nodes)),
        "data": state["sources"],
    }


def compare(trainer: dict[str, Any], worker: dict[str, Any]) -> None:
    """Refuses a worker whose batches would be others.

    Raises:
        ServiceError: The jobs differ; the text says in what.
    """
    for what, value in worker.items():
        other = trainer.get(what)
        if other != value:
            where, value, other = _first_difference(value, other)
            remedy = (
                "install one version on all machines: another one may compute other values"
                if what.startswith("versions")
                else "start `penstock serve` with the same script and arguments"
            )
            raise ServiceError(
                f"the pipeline of the worker is not that of the trainer: {what} differ{where}, {_short(value)} at the worker and "
                f"{_short(other)} at the trainer; {remedy}"
            )


def _if_short(value):
    """The value, or a sum of one that is too long for a message: lists of files and of labels are arguments, too."""
    text = json.dumps(value, sort_keys=True)
    return value if len(text) <= _MOST_ARGUMENTS else hashlib.sha256(text.encode()).hexdigest()[:16]


def _first_difference(ours, theirs):
    """Which argument of which reader differs, where that is known, and its two values."""
    try:
        if len(ours) == len(theirs):
            for (name, one), (other_name, other) in zip(ours, theirs):
                for key in sorted({*one, *other}) if name == other_name else ():
                    if one.get(key) != other.get(key):
                        return f" ({name}: {key})", one.get(key), other.get(key)
    except (TypeError, ValueError, AttributeError):  # texts, numbers, or what a stranger sent
        pass
    return "", ours, theirs


def _short(value):
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "…"


def key_of_job(job: dict[str, Any]) -> str:
    """A short text that is equal for equal jobs."""
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
