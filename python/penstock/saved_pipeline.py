# SPDX-License-Identifier: Apache-2.0
"""Pipelines from their saved form."""

import json

from . import _core, limits
from .sources import FedNode, without_unread
from .video import FedVideo


def text_of_saved(data, what, path=None):
    """Of a saved pipeline or checkpoint."""
    try:
        return bytes(data).decode()
    except UnicodeDecodeError as e:
        raise ValueError(
            f"this is not a saved {what}: byte {e.start} is not UTF-8 text" + (f" (file: {path})" if path else "")
        ) from None


def text_of_checkpoint(checkpoint):
    """Of bytes, a path or the text itself."""
    if isinstance(checkpoint, (bytes, bytearray)):
        return text_of_saved(checkpoint, "checkpoint")
    if isinstance(checkpoint, str) and not checkpoint.lstrip().startswith("{"):
        with open(checkpoint, "rb") as file:
            return text_of_saved(file.read(), "checkpoint", checkpoint)
    return checkpoint


def with_declared(text, declared):
    """The saved form with output_dtype, output_ndim and output_layout, where there are any; C++ has no use for them."""
    if all(value is None for value in declared.values()):
        return text
    return json.dumps({**json.loads(text), "declared": declared}, indent=1)


def load(make, serialized_pipeline, filename, arguments):
    """make(**options) with the graph of the saved form, which is text, bytes or a file; `arguments` override what was stored."""
    if (serialized_pipeline is None) == (filename is None):
        raise ValueError("give either serialized_pipeline or filename")
    if filename is not None:
        with open(filename, "rb") as file:
            serialized_pipeline = file.read()
    text = (
        serialized_pipeline
        if isinstance(serialized_pipeline, str)
        else text_of_saved(serialized_pipeline, "pipeline", filename)
    )
    loaded = _core.Pipeline.from_json(text)
    options, stored = loaded.options(), loaded.graph()
    loaded.close()
    mode = options.pop("epoch_mode")
    options = {
        k: (
            None
            if k in ("num_threads", "memory_limit", *limits.NAMES) and v == 0
            else None
            if k == "error_budget" and v < 0
            else v
        )
        for k, v in options.items()
    }
    declared = json.loads(text).get("declared")
    if isinstance(declared, dict):
        options.update({f"output_{what}": declared.get(what) for what in ("dtype", "ndim", "layout")})
    seed = arguments.get("seed")
    pipeline = make(**{**options, "seed": json.loads(text)["graph"]["seed"] if seed is None else seed, **arguments})
    pipeline._graph = stored
    if seed is not None and seed >= 0:
        stored.set_seed(seed)
    pipeline._epoch_mode = mode
    nodes = json.loads(text)["graph"]["nodes"]
    for index in range(stored.nodes()):
        if stored.fed(index) == "batches":
            pipeline._fed[stored.name_of(index)] = FedNode(index, stored.outputs_of(index), False)
        elif stored.fed(index) == "video":
            pipeline._fed[stored.name_of(index)] = FedVideo(
                index, nodes[index].get("constants", {}).get("blocking", False)
            )
    without_unread(pipeline)
    pipeline._start()
    return pipeline


def seed_of(checkpoint, otherwise):
    """The seed of the pipeline that the checkpoint is of; what is wrong with a checkpoint restore() says."""
    try:
        seed = json.loads(text_of_checkpoint(checkpoint))["seed"]
        return seed if isinstance(seed, int) and 0 <= seed < 2**64 else otherwise
    except (ValueError, TypeError, KeyError, RecursionError):
        return otherwise
