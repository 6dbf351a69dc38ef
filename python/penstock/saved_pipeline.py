# SPDX-License-Identifier: Apache-2.0
"""Pipelines from their saved form."""
import json

from . import _core
from .sources import FedNode
from .video import FedVideo


def load(make, serialized_pipeline, filename, arguments):
    """make(**options) with the graph of the saved form, which is text, bytes or a file; `arguments` override what was stored."""
    if (serialized_pipeline is None) == (filename is None):
        raise ValueError("give either serialized_pipeline or filename")
    if filename is not None:
        with open(filename, "rb") as file:
            serialized_pipeline = file.read()
    text = serialized_pipeline.decode() if isinstance(serialized_pipeline, bytes) else serialized_pipeline
    loaded = _core.Pipeline.from_json(text)
    options, stored = loaded.options(), loaded.graph()
    loaded.close()
    mode = options.pop("epoch_mode")
    options = {k: (None if k in ("num_threads", "memory_limit") and v == 0 else
                   None if k == "error_budget" and v < 0 else v) for k, v in options.items()}
    seed = arguments.get("seed")
    pipeline = make(**{**options, "seed": json.loads(text)["graph"]["seed"] if seed is None else seed, **arguments})
    pipeline._graph = stored
    if seed is not None and seed >= 0:
        stored.set_seed(seed)
    pipeline._epoch_mode = mode
    nodes = json.loads(text)["graph"]["nodes"]
    for index in range(stored.nodes()):
        if stored.op_of(index) == "external_source":
            pipeline._fed[stored.name_of(index)] = FedNode(index, stored.outputs_of(index), False)
        elif stored.op_of(index) == "experimental.inputs.video":
            pipeline._fed[stored.name_of(index)] = FedVideo(index, nodes[index].get("constants", {}).get("blocking", False))
    pipeline._start()
    return pipeline


def text_of(checkpoint):
    """Of a checkpoint as text, bytes or a file."""
    if isinstance(checkpoint, (bytes, bytearray)):
        return bytes(checkpoint).decode()
    if isinstance(checkpoint, str) and not checkpoint.lstrip().startswith("{"):
        with open(checkpoint, "rb") as file:
            return file.read().decode()
    return checkpoint


def seed_of(checkpoint, otherwise):
    """The seed of the pipeline that the checkpoint is of; what is wrong with a checkpoint restore() says."""
    try:
        seed = json.loads(text_of(checkpoint))["seed"]
        return seed if isinstance(seed, int) and 0 <= seed < 2**64 else otherwise
    except (ValueError, TypeError, KeyError, RecursionError):
        return otherwise
