# SPDX-License-Identifier: Apache-2.0
"""What functions of sound share: a sample at a time, lengths, levels, and numbers that are drawn."""

from __future__ import annotations

import functools

from .. import _core, fn
from .._graph import DataNode
from ..sample import Sample
from . import draws
from .numbers import greatest
from .samples import checked_probability, checked_range, choose


def of_samples(function):
    """A function of one sample as one of a value of the pipeline, an array, a Tensor or a Batch, whose samples
    draw for themselves."""

    @functools.wraps(function)
    def called(sound, *args, **kwargs):
        if isinstance(sound, Sample):
            raise TypeError(f"{function.__name__} takes sound or features, not a Sample: call it with one part, as in "
                            f"augment.{function.__name__}(sample['{next(iter(sound))}'])")  # fmt: skip
        if isinstance(sound, (list, tuple)):
            sound = _core.batch(sound)
        if not isinstance(sound, _core.Batch):
            return function(sound, *args, **kwargs)
        of = lambda value, i: value[i] if isinstance(value, _core.Batch) else value
        made = [
            function(x, *[of(a, i) for a in args], **{k: of(v, i) for k, v in kwargs.items()})
            for i, x in enumerate(sound)
        ]
        return _core.batch(made) if made else sound

    return called


def is_value(x):
    """Whether x is a value of a pipeline, whose shape is not known yet."""
    return isinstance(x, DataNode)


def length(sound):
    """Samples of sound."""
    shape = sound.shape() if callable(sound.shape) else sound.shape
    return shape[0]


def number(value):
    """The number that a reduction gave."""
    return value.item() if hasattr(value, "item") else value


def peak(sound):
    """The largest magnitude."""
    return greatest(number(fn.reductions.max(sound)), -number(fn.reductions.min(sound)))


def like(made, sound):
    """In the type of the sound."""
    return made if not is_value(made) and made.dtype == sound.dtype else fn.cast_like(made, sound)


def perhaps(sound, changed, p):
    """What changed() makes with probability p, else the sound."""
    if checked_probability(p) == 1:
        return changed()
    return choose(draws.coin(1 - p), [changed, lambda: sound])


def drawn(name, value, low=None, high=None):
    """A number, or one that is drawn from a range (low, high); or a value of the pipeline."""
    if isinstance(value, (list, tuple)):
        return draws.uniform(*checked_range(name, value, low, high))
    return value
