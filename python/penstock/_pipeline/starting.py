# SPDX-License-Identifier: Apache-2.0
"""From a definition to what runs: the executor, the user's functions and the sources of data."""

import sys

from .. import _core
from .._base import limits
from .._base.log import INFO, logger
from ..progress import listen
from . import options as options_of
from . import tuning


def _current_gpu():
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_initialized() else -1


def executor_of(graph, threads, depth, epoch_mode, options):
    """Returns the executor of a graph.

    Args:
        graph: The graph.
        threads: The number of threads; 0: as many as the process may use.
        depth: Batches that are made ahead.
        epoch_mode: How the reader cuts its epochs into batches.
        options: The options of the pipeline.
    """
    listen()
    budget, device = options["error_budget"], options["device_id"]
    return _core.Pipeline(
        graph,
        int(options["batch_size"]),
        threads,
        depth,
        int(options["memory_limit"] or 0),
        epoch_mode,
        options["on_error"],
        -1 if budget is None else int(budget),
        bool(options["uneven"]),
        options["late"],
        options["entropy_index"],
        _current_gpu() if device is None else int(device),
        getattr(options["stream_policy"], "name", "") == "SINGLE",
        bool(options["set_affinity"]),
        *(int(options[name] or 0) for name in limits.NAMES),
    )


def start_functions(definition):
    """Starts what calls the functions of the program; before the threads of the executor.

    Args:
        definition: The definition of the pipeline.
    """
    for node, (function, line) in definition.functions.items():
        function.start(definition.graph.name_of(node), line, definition.options)


def threads_of(options):
    """Returns the number of threads that an executor makes; 0: as many as the process may use.

    Args:
        options: The options of the pipeline.
    """
    given = options["num_threads"]
    return tuning.most_threads(_core.usable_cores()) if given == tuning.AUTO else int(given or 0)


def depth_of(options, graph):
    """Returns how many batches an executor may make ahead.

    Args:
        options: The options of the pipeline.
        graph: Its graph. On a GPU the depth is not tuned: room there is made for the depth that the executor has first.
    """
    auto = options["prefetch_queue_depth"] == tuning.AUTO
    asks_for_gpu = auto and any(word in graph.to_json() for word in ('"gpu"', '"mixed"', '"on_gpu"'))
    return tuning.FIRST_DEPTH if asks_for_gpu else options_of.depth_of(options)


def tuner_of(pipeline, executor):
    """Returns what tunes a pipeline that has "auto" among its options, else None.

    Args:
        pipeline: The pipeline.
        executor: Its executor.
    """

    def tune(threads, depth):
        executor.tune(threads, depth)
        pipeline._depth = depth  # of what the program feeds

    made = executor.statistics()["threads"]
    return tuning.tuner_of(pipeline.definition.options, tune, _core.usable_cores(), made, pipeline._depth)


def log_start(executor, options, depth):
    """Writes what was chosen to the log.

    Args:
        executor: The executor.
        options: The options of the pipeline.
        depth: Batches that are made ahead.
    """
    to = logger("pipeline")
    if to is None or not to.isEnabledFor(INFO):
        return
    threads, given = executor.statistics()["threads"], options["num_threads"]
    to.info(
        "a pipeline starts: batches of %s, %s threads (%s, %s cores may be used), %s batches ahead, seed %s, loops for %s",
        options["batch_size"],
        threads,
        "at most, auto" if given == tuning.AUTO else "as given" if given else "as many as cores",
        _core.usable_cores(),
        depth,
        options["seed"],
        _core.cpu_target(),
    )
    to.debug("its plan:\n%s", executor.plan_text())


def attach(executor, definition):
    """Gives an executor the sources and the functions that its nodes ask and call.

    Args:
        executor: The executor.
        definition: The definition of the pipeline.
    """
    for node, source in definition.sources.items():
        executor.set_source(node, source)
    for node, (function, _) in definition.functions.items():
        give = executor.set_compiled if hasattr(function, "run_address") else executor.set_callback
        give(node, function)
