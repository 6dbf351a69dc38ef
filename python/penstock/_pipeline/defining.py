# SPDX-License-Identifier: Apache-2.0
"""What surrounds the run of a pipeline's function: numbers that Python draws once, and tracebacks that show the user's lines
alone."""

from __future__ import annotations

import contextlib
import sys
import types as python_types

from .. import _graph as graph
from .._base.converted_code import is_made
from .._base.errors import is_ours
from .._base.frames import PACKAGE
from .._base.log import warn
from .._settings import setting

_drawn = set()  # reported already: the code of a function, and the generators


# --- numbers that are drawn once ---------------------------------------------------------------------------------------


def generators():
    """The states of the global random generators of modules that are imported."""
    states = {}
    for name, state_of in _STATES.items():
        module = sys.modules.get(name)
        if module is not None:
            try:
                states[name] = state_of(module)
            except Exception:  # not the module's own generator: its state is not known
                pass
    return states


def _state_of_numpy(module):
    kind, keys, place, *rest = module.get_state()
    return kind, keys.tobytes(), place, *rest


_STATES = {
    "random": lambda module: module.getstate(),
    "numpy.random": _state_of_numpy,
    "torch": lambda module: module.get_rng_state().numpy().tobytes(),
}


def warn_of_draws(function, before):
    code = getattr(function, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    _warn_of_draws(
        f"'{getattr(function, '__name__', function)}'{where}", "the function of a pipeline runs", code, before
    )


def warn_of_draws_at(line, before):
    """For a block `with pipeline:` at this line."""
    _warn_of_draws(f"the block `with pipeline:` ({line})", "it runs", line, before)


def _warn_of_draws(who, runs, key, before):
    after = generators()
    names = [name for name, state in after.items() if before.get(name, state) != state]
    if (
        "numpy.random" in after and "numpy.random" not in before
    ):  # NumPy loads it late: compare with a generator that gave no number
        if after["numpy.random"][2] != sys.modules["numpy.random"].RandomState().get_state()[2]:
            names.append("numpy.random")
    if not names or (key, *names) in _drawn:
        return
    _drawn.add((key, *names))
    warn(
        "pipeline",
        f"{who} drew numbers of {' and '.join(names)}: {runs} once, so all samples of all batches get the same ones; "
        "fn.random.uniform(range=[a, b]) and similar operators draw one for each sample",
    )


# --- tracebacks -------------------------------------------------------------------------------------------------------


# What our own code raises only by mistake: where no frame of user code is there, a report needs our frames.
_FAULTS_OF_OURS = (AssertionError, AttributeError, ImportError, NameError)


def pruned(error):
    """The exception with the frames of user code alone; all of them where PENSTOCK_TRACEBACK=full."""
    if setting("PENSTOCK_TRACEBACK") == "full":
        return error
    error._penstock_raised = is_ours(error)  # which its frames do not say any more
    frames, last = [], None
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        made = code.co_filename.startswith(PACKAGE) or (
            code.co_name.startswith(("_penstock", "<lambda>")) and is_made(code) and last is not None
        )
        place = code.co_filename, step.tb_lineno
        if not made or (not code.co_filename.startswith(PACKAGE) and place != last):
            frames.append(step)
            last = place
        step = step.tb_next
    if not frames and isinstance(error, _FAULTS_OF_OURS):
        return error
    chain = None
    for step in reversed(frames):
        chain = python_types.TracebackType(chain, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return error.with_traceback(chain)


@contextlib.contextmanager
def defining(pipeline):
    """Surrounds the function of the program that makes the nodes of the pipeline."""
    graph.push(pipeline)
    try:
        yield
    except TypeError as error:
        if not ("DataNode" in str(error) and "itera" in str(error)):  # Python's own words where a value is taken apart
            raise
        trace, line = error.__traceback__, ""
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
                line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        raise TypeError(
            "a value of the pipeline cannot be iterated while the pipeline is defined; `for x in value` works inside "
            f"functions that pipeline_def converts\n  at {line}"
        ) from error
    finally:
        graph.pop()
