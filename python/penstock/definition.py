# SPDX-License-Identifier: Apache-2.0
"""What surrounds the run of a pipeline's function: options that are wrong, numbers that Python draws once, and tracebacks that
show the user's lines alone."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import types as python_types
import warnings

from . import control_flow_ast, graph
from .settings import setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, overload

    from .pipeline import Pipeline

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_drawn = set()  # what was warned of: the code of a function, and the generators


# --- options ----------------------------------------------------------------------------------------------------------


def check_options(options):
    """Raises for values of Pipeline's arguments that later code would refuse in its own words."""
    device, seed, policy = options["device_id"], options["seed"], options["on_error"]
    if device is not None and not hasattr(device, "__index__"):
        raise TypeError(f"device_id is the number of a GPU or None, got {device!r}")
    if seed is not None and not hasattr(seed, "__index__"):
        raise TypeError(f"seed is an integer or None, got {seed!r}")
    if policy not in ("raise", "skip", "replace"):
        raise ValueError(f"on_error must be 'raise', 'skip' or 'replace', got {policy!r}")


# --- numbers that are drawn once ---------------------------------------------------------------------------------------


def _generators():
    """The states of the random generators that Python programs share, of modules that are imported."""
    states = {}
    for name, state_of in _STATES.items():
        module = sys.modules.get(name)
        if module is not None:
            try:
                states[name] = state_of(module)
            except Exception:  # another generator than the module's own: nothing can be said of it
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


def _user_level():
    """The stacklevel, for the caller, of the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _warn_of_draws(function, before):
    code = getattr(function, "__code__", None)
    after = _generators()
    names = [name for name, state in after.items() if before.get(name, state) != state]
    if (
        "numpy.random" in after and "numpy.random" not in before
    ):  # NumPy loads it late: the place of one that gave no number
        if after["numpy.random"][2] != sys.modules["numpy.random"].RandomState().get_state()[2]:
            names.append("numpy.random")
    if not names or (code, *names) in _drawn:
        return
    _drawn.add((code, *names))
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    warnings.warn(
        f"'{getattr(function, '__name__', function)}'{where} drew numbers of {' and '.join(names)}: the function of a "
        "pipeline runs once, so all samples of all batches get the same ones; fn.random.uniform(range=[a, b]) and similar "
        "operators draw one for each sample",
        UserWarning,
        stacklevel=_user_level(),
    )


# --- tracebacks -------------------------------------------------------------------------------------------------------


def pruned(error):
    """The exception with the frames of user code alone; all of them where PENSTOCK_TRACEBACK=full."""
    if setting("PENSTOCK_TRACEBACK") == "full":
        return error
    frames, last = [], None
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        made = code.co_filename.startswith(_PACKAGE) or (
            code.co_name.startswith(("_penstock", "<lambda>")) and control_flow_ast.is_made(code) and last is not None
        )
        place = code.co_filename, step.tb_lineno
        if not made or (not code.co_filename.startswith(_PACKAGE) and place != last):
            frames.append(step)
            last = place
        step = step.tb_next
    if not frames:
        return error
    chain = None
    for step in reversed(frames):
        chain = python_types.TracebackType(chain, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return error.with_traceback(chain)


@contextlib.contextmanager
def defining(pipeline):
    """While the program's function makes nodes of the pipeline."""
    graph.push(pipeline)
    try:
        yield
    except TypeError as error:
        if not ("DataNode" in str(error) and "itera" in str(error)):  # Python's own words where a value is taken apart
            raise
        trace, line = error.__traceback__, ""
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
                line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        raise TypeError(
            "a value of the pipeline cannot be iterated while the pipeline is defined; `for x in value` works inside "
            f"functions that pipeline_def converts\n  at {line}"
        ) from error
    finally:
        graph.pop()


def made_by(function, args, keywords, options, make=None):
    """The Pipeline(**options) whose outputs function(*args, **keywords) returns. make: a class of pipelines."""
    if make is None:
        from .pipeline import Pipeline as make
    pipeline = make(**options)
    converted = control_flow_ast.convert(function)
    if pipeline._given["debug"]:
        pipeline._function = functools.partial(converted, *args, **keywords)
        return pipeline
    before = _generators()
    try:
        with defining(pipeline):
            outputs = pipeline._as_outputs(converted(*args, **keywords))
    except Exception as error:
        raise pruned(error)
    _warn_of_draws(function, before)
    pipeline.set_outputs(*outputs)
    return pipeline


if TYPE_CHECKING:

    class _Definition:
        """A function that makes a Pipeline. It takes the function's arguments and those of Pipeline, which are not
        checked."""

        __name__: str

        def __call__(self, *args: Any, **kwargs: Any) -> Pipeline: ...

    @overload
    def pipeline_def(fn: Callable[..., Any], /) -> _Definition: ...
    @overload
    def pipeline_def(
        *, enable_conditionals: bool = False, **pipeline_kwargs: Any
    ) -> Callable[[Callable[..., Any]], _Definition]: ...


def pipeline_def(
    fn: Callable[..., Any] | None = None, *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Any:
    """Turns a function that returns values of a pipeline into one that returns a Pipeline.

    It works with and without parentheses. `if`, `while`, `for`, `and`, `or` and `not` on values of the pipeline work
    inside the function.

    Args:
        fn: The function, where the decorator has no parentheses.
        enable_conditionals: Accepted without effect: conditions always work.
        **pipeline_kwargs: Arguments of Pipeline. Those of the call go before those of the decorator; other arguments
            of the call go to the function.

    Returns:
        A function that makes a Pipeline.

    Raises:
        TypeError: Pipeline has no such argument.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers(factor):
        ...     return fn.external_source([[np.int32(1), np.int32(2)]]) * factor
        >>> batch, = numbers(10).run()
        >>> batch.as_array().tolist()
        [10, 20]
    """
    import inspect

    known = _parameters()
    for name in pipeline_kwargs:
        if name not in known:
            raise TypeError(f"pipeline_def() got an argument '{name}' that Pipeline does not have")

    def decorate(function):
        own = set()
        try:
            own = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            pass

        @functools.wraps(function)
        def create(*args, **kwargs):
            kwargs.pop("enable_conditionals", None) if "enable_conditionals" not in own else None
            both = own & known & set(kwargs)
            if both:
                raise ValueError(f"the argument '{sorted(both)[0]}' belongs to the function and to Pipeline")
            options = {**pipeline_kwargs, **{k: v for k, v in kwargs.items() if k in known}}
            rest = {k: v for k, v in kwargs.items() if k not in known}
            pipeline = made_by(function, args, rest, options)
            pipeline._definition = create, args, kwargs
            return pipeline

        create._is_pipeline_def = True
        return create

    return decorate if fn is None else decorate(fn)


@functools.lru_cache(None)
def _parameters():
    import inspect

    from .pipeline import Pipeline

    return frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}
