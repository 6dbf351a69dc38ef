# SPDX-License-Identifier: Apache-2.0
"""Where a pipeline is: batches by their numbers, and states."""

from __future__ import annotations

import operator

from .driver import checkpoint_of, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Self


def _number(what, value):
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, got {type(value).__name__}") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"{what} must not be negative and be below 2**63, got {number}")
    return number


class Positions:
    """The positions of a Pipeline."""

    def seek(self, *, epoch: int = 0, batch: int = 0, replay: bool = False) -> Self:
        """Makes batch number `batch` of `epoch` the next one, and goes on from there.

        It has the bytes that it has in a pipeline that runs from its beginning, whatever this one has run or resumed
        from before. Nothing before it is read or decoded, and what was made ahead is dropped.

        Batches count on through the epochs after it, so `seek(batch=n)` is the n-th batch of the whole run. In a
        pipeline that is run by hand, whose batches go across the ends of epochs, batch 0 is the first one that begins
        in the epoch. With an iterator or loader (`last_batch="partial"` and others) each epoch begins with its batch 0.

        Args:
            epoch: The epoch of the reader; without one, how often the external source has begun again.
            batch: The number of the batch, from 0.
            replay: Where only the data say which batch is number `batch`, makes those before it and drops them. That
                takes the time of a run over them. It has no effect elsewhere.

        Returns:
            This pipeline.

        Raises:
            TypeError: `epoch` or `batch` is not a whole number, or the pipeline has debug=True.
            ValueError: One of them is negative. Or a source has no numbers: it is fed, an iterable, a generator, or has
                a state of its own. Or, without `replay`, only the data say where the batch begins: fn.filter leaves out
                batches, fn.rebatch or an iterator divides samples anew, or a callable of an external source returns
                batches of any size.
            DataError: A batch that `replay` makes has a file or record that cannot be read.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=3)
            ... def numbers():
            ...     return fn.readers.indices(size=7, random_shuffle=True, name="reader")
            >>> pipe = numbers()
            >>> batches = [pipe.run()[0].as_array().tolist() for _ in range(5)]
            >>> pipe.seek(batch=2).run()[0].as_array().tolist() == batches[2]
            True
        """
        self._refuse_debug("seek()")
        epoch, batch = _number("epoch", epoch), _number("batch", batch)
        self.build()
        self._pipeline.seek(epoch, batch, bool(replay))
        self._scheduled, self._held, self._ended = 0, None, False
        return self

    def schedule(self, batches: Iterable[int], *, epoch: int = 0) -> Self:
        """Makes run() return these batches, in this order, and works ahead over them.

        Each has the bytes that it has in a run from the beginning. A second call adds to the list. When all have been
        returned, run() raises StopIteration; schedule() goes on then, and seek() returns to batches in their order.

        Args:
            batches: Numbers of batches, as seek() takes them, in any order.
            epoch: Of which epoch they are.

        Returns:
            This pipeline.

        Raises:
            TypeError: A number is not a whole one, or the pipeline has debug=True.
            ValueError: A number is negative, or batches have no numbers: see seek().

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.readers.indices(size=8, name="reader")
            >>> pipe = numbers().schedule([3, 0])
            >>> [pipe.run()[0].as_array().tolist() for _ in range(2)]
            [[6, 7], [0, 1]]
        """
        self._refuse_debug("schedule()")
        numbers = [_number("a batch", batch) for batch in batches]
        epoch = _number("epoch", epoch)
        self.build()
        self._pipeline.schedule_batches(epoch, numbers)
        self._scheduled, self._held, self._ended = 0, None, False
        return self

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that was returned, in the form that all plug-ins share.

        It is there before the first run too. docs/reference/state.md says what each number is.

        Returns:
            A dict of numbers and short texts, which JSON, torch.save and checkpoints of TensorFlow take.

        Raises:
            ValueError: A source has given a batch and cannot be resumed.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1, seed=3)
            ... def numbers():
            ...     return fn.readers.indices(size=6, name="reader")
            >>> first, second = numbers(), numbers()
            >>> _ = first.run()
            >>> second.load_state(first.state()).run()[0].as_array().tolist()
            [2, 3]
            >>> numbers().state()["pipeline"]["sources"]["reader"]["consumed"]
            0
        """
        self._refuse_debug("state()")
        return state_of(self)

    def load_state(self, state: Any) -> Self:
        """Continues from a state, bit for bit, whether the pipeline has run or not.

        Args:
            state: What state() returned, of any version; also what checkpoint() returned or wrote to a file.

        Returns:
            This pipeline.

        Raises:
            TypeError: The pipeline has debug=True.
            ValueError: It is not a state, or it is of other data.
        """
        self._refuse_debug("load_state()")
        self._restart(checkpoint_of(state) if isinstance(state, dict) else state)
        return self
