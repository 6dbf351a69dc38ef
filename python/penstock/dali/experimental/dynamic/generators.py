# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the dynamic mode: each call that draws takes its seed from a generator."""

from __future__ import annotations

import secrets

_MASK = (1 << 64) - 1


class RNG:
    """Gives seeds to calls that draw. Equal seeds give equal sequences of draws.

    Args:
        seed: The seed; default: another one each time.
        state: What get_state() of another generator gave, instead of a seed.

    Raises:
        ValueError: seed and state are both given.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> first, second = ndd.random.RNG(seed=3), ndd.random.RNG(seed=3)
        >>> float(ndd.random.uniform(rng=first)) == float(ndd.random.uniform(rng=second))
        True
    """

    def __init__(self, seed: int | None = None, state: tuple[int, int] | None = None) -> None:
        if seed is not None and state is not None:
            raise ValueError("give a seed or a state, not both")
        self.set_state(state or ((secrets.randbits(64) if seed is None else seed) & _MASK, 0))

    @property
    def seed(self) -> int:
        """The seed."""
        return self._seed

    @property
    def state(self) -> tuple[int, int]:
        """The seed, and how many calls have drawn."""
        return self._seed, self._drawn

    def get_state(self) -> tuple[int, int]:
        """The seed, and how many calls have drawn."""
        return self.state

    def set_state(self, state: tuple[int, int]) -> None:
        """Continues where another generator was.

        Args:
            state: What get_state() gave.
        """
        self._seed, self._drawn = int(state[0]), int(state[1])

    def advance(self, count: int = 1) -> None:
        """Skips the draws of so many calls.

        Args:
            count: How many.
        """
        self._drawn += count

    def clone(self) -> RNG:
        """Another generator that continues alike."""
        return RNG(state=self.state)

    def __call__(self) -> int:
        """The seed of the next call that draws: SplitMix64 of the number of the call."""
        self._drawn += 1
        x = (self._seed + self._drawn * 0x9E3779B97F4A7C15) & _MASK
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = ((x ^ (x >> shift)) * factor) & _MASK
        return (x ^ (x >> 31)) >> 33


_default = RNG()


def get_default_rng() -> RNG:
    """The generator of calls without `rng`."""
    return _default


def set_seed(seed: int) -> None:
    """Begins the draws of calls without `rng` anew.

    Args:
        seed: The seed.
    """
    _default.set_state((seed & _MASK, 0))
