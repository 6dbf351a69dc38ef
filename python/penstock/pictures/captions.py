# SPDX-License-Identifier: Apache-2.0
"""What stands below a sample: its label, and the steps that were made with it."""

import numbers

from .marks import name_of

_MOST_STEPS = 8


def _short(value):
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, numbers.Real):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(_short(v) for v in value) + "]"
    return str(value)


def _line(step):
    """A step as a line; what was drawn comes first."""
    drawn = {"window": step["window"]} if "window" in step else {}
    arguments = {**drawn, **dict(reversed(step["arguments"].items()))}
    return " ".join([step["op"], *(f"{k}={_short(v)}" for k, v in arguments.items() if v is not None)])


def _steps_of(entry, k):
    if isinstance(entry, dict):
        if "steps" not in entry:
            raise ValueError(f"show(): params[{k}] has no steps: the pipeline needs log_steps() before it is built")
        return entry["steps"]
    if not isinstance(entry, (list, tuple)) or not all(isinstance(step, dict) and "op" in step for step in entry):
        raise TypeError("show(): params takes what Pipeline.params or Sample.params gave")
    return entry


def _lines(entry, k):
    lines = [_line(step) for step in _steps_of(entry, k) if step["op"] != "if"]
    return (
        lines if len(lines) <= _MOST_STEPS else [*lines[: _MOST_STEPS - 1], f"and {len(lines) - _MOST_STEPS + 1} more"]
    )


def captions_of(labels, names, params):
    """The lines below each sample.

    Args:
        labels: The label of each; None: there are none.
        names: Names of classes.
        params: The params of each; None: there are none.
    """
    count = len(labels if labels is not None else params)
    made = [[] for _ in range(count)]
    for k, lines in enumerate(made):
        if labels is not None:
            lines.append(name_of(labels[k], names))
        if params is not None:
            lines += _lines(params[k], k)
    return made
