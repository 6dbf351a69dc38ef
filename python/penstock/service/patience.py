# SPDX-License-Identifier: Apache-2.0
"""How long a trainer waits for a batch that it has asked for before it asks another worker too."""


class Patience:
    """A few times what batches take, between two bounds.

    Args:
        least, most: Seconds.
        times: How many times the usual wait is too long.
    """

    def __init__(self, least: float = 0.5, most: float = 10.0, times: float = 4.0) -> None:
        self.least, self.most, self.times = least, most, times
        self.usual = None  # a running mean of the waits

    def saw(self, waited: float) -> None:
        """Takes how long a batch took, from the first request for it to its arrival."""
        self.usual = waited if self.usual is None else self.usual + 0.1 * (waited - self.usual)

    def limit(self, asked_before: int) -> float:
        """Seconds to wait for a batch after `asked_before` requests for it: twice as long after each time, so that a lack of
        workers is not made worse by what they make twice."""
        usual = self.most if self.usual is None else self.times * self.usual
        return min(max(usual, self.least) * 2 ** min(asked_before - 1, 16), max(self.most, self.least))
