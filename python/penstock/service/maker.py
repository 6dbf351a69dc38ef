# SPDX-License-Identifier: Apache-2.0
"""Makes the batches of a pipeline by their numbers, and works ahead over those that it was given."""

from __future__ import annotations

from collections import deque

from .._pipeline.options import depth_of
from .contents import Content
from .errors import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._pipeline.driver import Driver, Step


class Ended:
    """Stands for a batch after the last one of the data."""


class Maker:
    """Makes batches with a pipeline.

    Args:
        driver: Runs the pipeline, which nothing else does.
    """

    def __init__(self, driver: Driver) -> None:
        self.driver, self.given = driver, deque()
        self.depth = depth_of(driver.pipeline.definition.options)  # batches that the pipeline works on at once

    def give(self, numbers: Iterable[int]) -> None:
        """Adds batches to those that run() makes, in this order."""
        numbers = list(numbers)
        if numbers:
            self.driver.pipeline.schedule(numbers)
            self.given.extend(numbers)

    def clear(self) -> None:
        """Drops what was given."""
        if self.given:
            self.driver.pipeline.seek(batch=0)
            self.given.clear()

    def run(self) -> tuple[int, Step | Exception | Ended]:
        """Makes the next of the batches that were given.

        Returns:
            Its number, and the batch or the error that stands in its place.
        """
        number = self.given.popleft()
        try:
            return number, self.driver.run()
        except StopIteration:
            self.again()
            return number, Ended()
        except Exception as error:
            self.again()
            return number, error

    def again(self):
        """After an error: what was given before it is made as if there had been none."""
        rest = list(self.given)
        self.driver.pipeline.seek(batch=0)
        self.given.clear()
        self.give(rest)


def content_of(made: Step | Exception | Ended) -> Content | dict[str, str] | None:
    """What a worker sends: a batch, the texts of an error, None for the end of the data."""
    if isinstance(made, Ended):
        return None
    if isinstance(made, Exception):
        return told(made)
    try:
        return Content(made.outputs, {"samples": made.samples, "ends_epoch": made.ends_epoch})
    except Exception as error:
        return told(error)
