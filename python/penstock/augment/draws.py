# SPDX-License-Identifier: Apache-2.0
"""Random numbers: values of the pipeline that is being defined, or at once a number of Python."""

from .. import fn
from .._base.element_types import DType
from .._graph import DataNode
from .numbers import floor, least


def _number(drawn):
    return drawn if isinstance(drawn, DataNode) else drawn.item()


def uniform(low, high):
    """A number from low to high; low itself if they are equal."""
    if not isinstance(low, DataNode) and not isinstance(high, DataNode) and not low < high:
        return float(low)
    return _number(fn.random.uniform(range=[0.0, 1.0])) * (high - low) + low


def normal():
    """A number of mean 0 and deviation 1."""
    return _number(fn.random.normal(mean=0.0, stddev=1.0))


def coin(p):
    """1 with probability p, else 0."""
    return _number(fn.random.coin_flip(probability=p))


def sign():
    """1 or -1."""
    return _number(fn.random.uniform(values=[-1.0, 1.0]))


def below(n):
    """An integer from 0 to n - 1."""
    if isinstance(n, DataNode):
        return least(floor(fn.random.uniform(range=[0.0, 1.0]) * n), n - 1)  # the product may be rounded up to n
    return _number(fn.random.uniform(values=list(range(n)), dtype=DType.INT32))


def beta(alpha, other):
    return _number(fn.random.beta(alpha=alpha, beta=other))


def shares(n, alpha):
    """n numbers whose sum is 1, from a symmetric Dirichlet distribution: parts of a stick, broken one after the other."""
    parts, rest = [], 1.0
    for k in range(n - 1):
        part = beta(alpha, alpha * (n - 1 - k)) * rest
        parts.append(part)
        rest = rest - part
    return [*parts, rest]
