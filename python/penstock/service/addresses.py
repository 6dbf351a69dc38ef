# SPDX-License-Identifier: Apache-2.0
"""Addresses of workers that a function of the program says, again and again: workers come at addresses that nobody knew before."""

from __future__ import annotations

import threading
import time

from .worker_link import address_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAUSE = 1.0  # seconds between calls
EARLY = 10.0  # seconds in which workers may still be starting


class Addresses:
    """Calls the function in a thread of its own. Where it fails, the workers that are known stay.

    Args:
        function: Returns "host:port" of each worker.
        say: Gets them as (host, port).
    """

    def __init__(self, function: Callable[[], Iterable[str]], say: Callable[[Iterable[tuple[str, int]]], None]) -> None:
        self.function, self.say, self.trouble = function, say, ""
        self.begun, self.ends = time.monotonic(), threading.Event()

    def start(self) -> None:
        """Begins."""
        threading.Thread(target=self._run, name="penstock.service: addresses", daemon=True).start()

    def _run(self):
        while not self.ends.is_set():
            try:
                self.say([address_of(address) for address in self.function()])
                self.trouble = ""
            except Exception as error:  # of the program; it may work the next time
                self.trouble = f"{type(error).__name__}: {error}"
            self.ends.wait(PAUSE)

    def early(self) -> bool:
        """Whether no worker has to be there yet."""
        return not self.trouble and time.monotonic() - self.begun < EARLY

    def close(self) -> None:
        """Calls it no more."""
        self.ends.set()
