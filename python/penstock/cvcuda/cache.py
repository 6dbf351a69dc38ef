# SPDX-License-Identifier: Apache-2.0
"""CV-CUDA's cache of memory: there is none here, because memory comes from a pool."""

from .._base.limits import integer

_limit = [0]


def clear_cache(scope: object = None) -> None:
    """Accepted without effect.

    Args:
        scope: A ThreadScope.
    """


def cache_size(scope: object = None) -> int:
    """0: nothing is kept.

    Args:
        scope: A ThreadScope.
    """
    return 0


def get_cache_limit_inbytes() -> int:
    """The number that set_cache_limit_inbytes() got."""
    return _limit[0]


def set_cache_limit_inbytes(limit: int) -> None:
    """Accepted without effect.

    Args:
        limit: Bytes.
    """
    limit = integer("limit", limit)
    if limit < 0:
        raise ValueError(f"the limit must not be negative, got {limit}")
    _limit[0] = limit


def current_cache_size_inbytes() -> int:
    """0: nothing is kept."""
    return 0
