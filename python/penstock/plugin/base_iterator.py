# SPDX-License-Identifier: Apache-2.0
"""What the frameworks' iterators share: epochs, the last batch, resets."""

from __future__ import annotations

import contextlib
from enum import Enum

from .._pipeline.driver import checkpoint_of, counters_of, warn_of_plugin, with_counters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NO_RESET = "the iterator does not support resetting while the epoch is not finished: reset() does nothing"


class LastBatchPolicy(Enum):
    """Names what the last batch of an epoch is when the samples do not fill it.

    FILL: full, with samples of the next epoch or repeated ones. DROP: there is none. PARTIAL: shorter.
    """

    FILL = 0
    DROP = 1
    PARTIAL = 2


class _FilledEpochs:
    """How many batches an epoch has where all of them are full, and each shard's epoch begins where the one
    before has ended: as many as the shard with the most samples left needs, the same for all. sizes: of the shards."""

    def __init__(self, sizes, batch_size, moving):
        self._sizes, self._batch_size, self._moving = sizes, batch_size, moving
        self._ahead = [0] * len(sizes)  # samples of this epoch that the one before gave
        self._count()

    def _count(self):
        self.batches = -(-max(size - ahead for size, ahead in zip(self._sizes, self._ahead)) // self._batch_size)

    def counters(self):
        return {"sizes": self._sizes, "ahead": self._ahead}

    def restore(self, counters):
        self._sizes, self._ahead = list(counters["sizes"]), list(counters["ahead"])
        self._count()

    def advance(self):
        given = self.batches * self._batch_size
        self._ahead = [ahead + given - size for size, ahead in zip(self._sizes, self._ahead)]
        if self._moving:
            self._sizes = [self._sizes[-1], *self._sizes[:-1]]
        self._count()
        if self.batches < 1:  # the epoch is skipped: all of it was given
            self._ahead = [0] * len(self._sizes)
            self._count()


_COUNTERS = ("epochs", "taken", "batches", "ended", "over")  # of BaseIterator, which say where it is


def _check_epoch(output_map, size, reader_name, last_batch_padded, pipelines):
    assert len(set(output_map)) == len(output_map), f"output_map names an output twice: {output_map}"
    assert size != 0, "size must not be 0"
    assert size < 0 or reader_name is None, "give size or reader_name, not both"
    assert not (last_batch_padded and reader_name is not None), "last_batch_padded is for size, the reader says its own"
    assert size >= 0 or reader_name is not None or pipelines == 1, "several pipelines need size or reader_name"


def _common_batch_size(pipelines):
    sizes = {p.max_batch_size for p in pipelines}
    assert len(sizes) == 1, f"the pipelines differ in batch size: {sorted(sizes)}"
    assert len({p.enable_checkpointing for p in pipelines}) == 1, (
        "enable_checkpointing must be the same for all pipelines"
    )
    return sizes.pop()


def _check_choices(last_batch_policy, auto_reset):
    if getattr(type(last_batch_policy), "__name__", "") != "LastBatchPolicy":
        raise ValueError(f"last_batch_policy must be a LastBatchPolicy, got {last_batch_policy!r}")
    if auto_reset not in (False, None, "no", True, "yes"):
        raise ValueError(f"auto_reset must be 'no', 'yes' or a bool, got {auto_reset!r}")


def _drivers_of(pipelines, epochs, refill, output_map):
    drivers = []
    for p in pipelines:
        drivers.append(p.driver(epochs=epochs, refill=refill))
        assert p.num_outputs == len(output_map), (
            f"output_map names {len(output_map)} outputs, the pipeline has {p.num_outputs}"
        )
    return drivers


class BaseIterator:
    """Runs epochs over one or more pipelines; subclasses turn batches into arrays.

    Args:
        pipelines: A Pipeline or a list of them.
        output_map: Names of the outputs.
        size: Samples of an epoch; -1: until StopIteration.
        reader_name: The reader whose epochs count.
        auto_reset: False or "no": reset() begins the next epoch. True or "yes": the next loop does.
        fill_last_batch: Deprecated: True means FILL, False PARTIAL.
        dynamic_shape: Accepted without effect.
        last_batch_padded: With `size`: the source repeats samples to fill the last batch.
        last_batch_policy: FILL (full, with samples of the next epoch or, with pad_last_batch of the reader, repeated
            ones), DROP, or PARTIAL (shorter, without repeated ones). Epochs of all shards have as many batches,
            whatever their sizes: with PARTIAL the last one of a shard that has ended before others has no samples.
        prepare_first_batch: Makes the first batch in the constructor.
        refill: Where fn.filter, fn.expand and their kind change how many samples there are: False: batches have the
            sizes that result. True: the samples are put together to full batches. Epochs count the samples of the
            source either way.

    Raises:
        AssertionError: Arguments do not fit together.
        ValueError: An argument has a value that it cannot have.
        RuntimeError: prepare_first_batch found no data.
    """

    def __init__(
        self,
        pipelines,
        output_map,
        size=-1,
        reader_name=None,
        auto_reset=False,
        fill_last_batch=None,
        dynamic_shape=False,
        last_batch_padded=False,
        last_batch_policy=LastBatchPolicy.FILL,
        prepare_first_batch=True,
        refill=False,
    ):
        assert pipelines is not None, "the number of pipelines must be at least 1"
        self._pipes = list(pipelines) if isinstance(pipelines, (list, tuple)) else [pipelines]
        assert self._pipes, "the number of pipelines must be at least 1"
        _check_epoch(output_map, size, reader_name, last_batch_padded, len(self._pipes))
        batch_size = _common_batch_size(self._pipes)
        if fill_last_batch is not None:
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        _check_choices(last_batch_policy, auto_reset)
        self.output_map = list(output_map)
        self.batch_size = self._batch_size = batch_size
        self._policy = LastBatchPolicy[last_batch_policy.name]
        self._auto_reset = auto_reset in (True, "yes")
        reader_name = self.reader_named(reader_name)
        self._size, self._reader, self._padded = size, reader_name, last_batch_padded
        epochs = {"FILL": "stream", "DROP": "drop", "PARTIAL": "even"}[
            self._policy.name
        ]  # as the reader cuts them itself
        self._drivers = _drivers_of(self._pipes, None if reader_name is None else epochs, refill, self.output_map)
        self._epochs = 0  # that reset() has ended
        self._taken = 0  # samples a pipeline, in this epoch
        self._batches = 0  # of the source
        self._ended = False
        self._first = None  # (batches of each pipeline, what each took of its source)
        self._last = None  # batches of each pipeline that were handed out
        self._over = [False] * len(self._pipes)  # where the reader cuts epochs: pipelines whose epoch has ended
        self._filled = None  # _FilledEpochs, with FILL and a reader
        self._repeats = None  # PARTIAL: positions from this one on are those of repeated samples
        self._most = (
            None  # DROP: batches of an epoch that every shard fills with its own samples: all ranks give as many
        )
        if reader_name is not None:
            self._plan_epochs()
        self._continue_epoch()
        if prepare_first_batch:
            try:
                self._states = self._driver_states() if self._pipes[0].enable_checkpointing else None
                self._first = self._next_outputs()
            except StopIteration as error:
                raise RuntimeError("prepare_first_batch found no data") from error

    @property
    def pipelines(self) -> list[Any]:
        """The pipelines, in the order in which they were given."""
        return list(self._pipes)

    def reader_named(self, name):
        """Returns the reader that a name means; a plug-in may override it.

        Args:
            name: The reader_name that was given; None: none.
        """
        return name

    # --- how long an epoch is -----------------------------------------------------------------------------------------

    def _plan_epochs(self):
        metas = [p.reader_meta(self._reader) for p in self._pipes]
        assert len({m["epoch_size"] for m in metas}) == 1, "the pipelines' readers differ in the size of their epochs"
        m = metas[0]
        if "batches" in m:
            raise ValueError(
                f"the reader '{self._reader}' forms batches by length, but this iterator counts samples of batches of one "
                "size: use penstock.torch.DataLoader, or omit bucket_by and lengths"
            )
        if "deal" in m:
            raise ValueError(
                f"the reader '{self._reader}' deals batches to the shards, but this iterator counts samples of shards: use "
                "penstock.torch.DataLoader, or omit deal"
            )
        n, shards = m["epoch_size"], m["number_of_shards"]
        if self._policy is LastBatchPolicy.PARTIAL:
            self._repeats = n
        if self._policy is LastBatchPolicy.DROP:
            self._most = n // shards // self._batch_size
            if not self._most:
                raise RuntimeError(
                    f"last_batch_policy=DROP leaves nothing: {n} samples in {shards} shards do not fill a batch of "
                    f"{self._batch_size} in each"
                )
        self._size = m["epoch_size_padded"] if m["pad_last_batch"] else n
        if self._policy is LastBatchPolicy.FILL:
            bounds = [n * i // shards for i in range(shards + 1)]
            sizes = [end - begin for begin, end in zip(bounds, bounds[1:])]
            if m["pad_last_batch"]:  # the last batch is filled, the next epoch begins with a batch
                sizes = [-(-max(sizes) // self._batch_size) * self._batch_size] * shards
            self._filled = _FilledEpochs(sizes, self._batch_size, not m["stick_to_shard"])

    def _epoch_over(self):
        if self._reader is not None and self._policy is not LastBatchPolicy.FILL:
            if self._policy is LastBatchPolicy.DROP:
                return any(self._over) or self._batches >= self._most
            return all(self._over)
        if self._filled is not None:
            return self._batches >= self._filled.batches
        if self._size < 0:
            return False
        if self._policy is LastBatchPolicy.DROP:
            return self._taken + self._batch_size > self._share()
        return self._taken >= self._share()

    def _share(self):
        return -(-self._size // len(self._pipes))

    # --- iterating ----------------------------------------------------------------------------------------------------

    def __next__(self) -> Any:
        if self._ended or self._epoch_over():
            self._end()
        while True:
            try:
                outputs, consumed, own = self._first if self._first is not None else self._next_outputs()
            except StopIteration:
                outputs, consumed, own = self._begun_again()
            self._first, self._last = None, outputs if len(outputs) > 1 else None
            ran = [k for k, over in enumerate(self._over) if not over]
            taken, batches, ends = consumed[ran[0]]
            if self._reader is not None and self._policy is not LastBatchPolicy.FILL:
                self._over = [end for _, _, end in consumed]
            size = max(len(outputs[k][0]) for k in ran)
            self._taken += taken
            self._batches += batches
            if size or not ends:
                break
            if self._epoch_over():  # fn.filter left nothing of the end of the epoch
                self._end()
        keeps = [own[k] if k in ran else 0 for k in range(len(outputs))]
        if self._reader is None and self._size >= 0 and self._policy is LastBatchPolicy.PARTIAL and size == taken:
            keeps = [size - max(0, self._taken - self._share())] * len(outputs)
        return self.convert_all(outputs, keeps)

    def _peeked(self):
        """What the next __next__() converts, for plug-ins that describe their batches; it is kept for that."""
        if self._first is None:
            self._states = self._driver_states()
            try:
                self._first = self._next_outputs()
            except StopIteration as error:
                raise RuntimeError("there is no first batch to describe: the pipeline has no data") from error
        return self._first

    def _next_outputs(self):
        """The next batches of each pipeline; for one whose epoch has ended its last batches, which do not count."""
        outputs, consumed, own = [], [], []
        for step, over in zip(self._steps(), self._over):
            outputs.append(None if over else step.outputs)
            consumed.append((0, 0, True) if over else (step.samples, step.batches, step.ends_epoch))
            own.append(0 if over else self._own(step.origins))
        if any(self._over):
            last = self._last or [next(made for made in outputs if made is not None)] * len(outputs)
            outputs = [kept if made is None else made for made, kept in zip(outputs, last)]
        return outputs, consumed, own

    def _steps(self):
        """The next Step of each pipeline, None for one whose epoch has ended. After an error of one of them all have gone
        on by a batch, which counts: the next batch follows."""
        steps, failed, error = [], [], None
        for k, (driver, over) in enumerate(zip(self._drivers, self._over)):
            try:
                steps.append(None if over else driver.run())
            except StopIteration:
                raise
            except Exception as raised:
                steps.append(None)
                failed.append(k)
                error = error or raised
        if error is None:
            return steps
        self._batches += 1
        self._taken += self._batch_size
        if self._reader is not None and self._policy is not LastBatchPolicy.FILL:
            ends = [over or (step is not None and step.ends_epoch) for over, step in zip(self._over, steps)]
            self._over = [end or (k in failed and self._drivers[k].at_end_of_epoch()) for k, end in enumerate(ends)]
        raise error

    def _begun_again(self):
        """Restarts a source whose data end at the end of an epoch, if there is a size."""
        if self._reader is not None or self._size < 0 or not self._epochs:
            self._end()
        for p in self._pipes:
            p.reset()
        try:
            return self._next_outputs()
        except StopIteration:
            self._end()

    def _own(self, origin):
        """The number of samples before repeated ones; None: no sample is repeated."""
        if self._repeats is None or not origin or origin[-1][1] < self._repeats:
            return None
        return sum(position < self._repeats for _, position, *_ in origin)

    def next(self) -> Any:
        """Returns the next batches; the built-in next() does the same."""
        return self.__next__()

    def _end(self):
        self._ended = True
        if self._auto_reset:
            self.reset()
        raise StopIteration

    def __iter__(self) -> Any:
        if self._batches and (self._ended or self._epoch_over()):
            self.reset()
        return self

    def reset(self) -> None:
        """Begins the next epoch; in the middle of one it only gives a warning."""
        if self._size < 0 and self._reader is None:
            if not self._ended:
                warn_of_plugin(_NO_RESET)
                return
            for p in self._pipes:
                p.reset()
        elif not self._epoch_over():
            if self._batches:
                warn_of_plugin(_NO_RESET)
            return
        if self._reader is not None and self._policy is LastBatchPolicy.DROP:
            for driver, over in zip(self._drivers, self._over):  # shards may be larger by a batch
                while not over:
                    over = driver.run().ends_epoch
        elif self._policy is LastBatchPolicy.DROP and self._size >= 0 and self._share() % self._batch_size:
            with contextlib.suppress(StopIteration):  # where the data end there
                self._steps()  # the batch that is dropped
        self._over = [False] * len(self._pipes)
        self._ended = False
        self._batches = 0
        if self._reader is None and self._size >= 0:
            self._taken = (
                self._taken - self._share() if self._policy is LastBatchPolicy.FILL and not self._padded else 0
            )
        else:
            self._taken = 0
        if self._filled is not None:
            self._filled.advance()
        self._epochs += 1

    @property
    def size(self) -> int:
        """Samples of an epoch, as it was given."""
        return self._size

    def __len__(self) -> int:
        """Returns the number of batches of this epoch; before reset(), of the one that has ended."""
        if self._reader is not None and self._policy is not LastBatchPolicy.FILL:
            if self._policy is LastBatchPolicy.DROP:
                return self._most
            return max(driver.batches_per_epoch() for driver in self._drivers)
        if self._filled is not None:
            return self._filled.batches
        if self._size < 0:
            return 0
        samples = self._share()
        return samples // self._batch_size if self._policy is LastBatchPolicy.DROP else -(-samples // self._batch_size)

    def checkpoints(self) -> list[bytes]:
        """Returns the state of each pipeline after the last batch that was handed out.

        An iterator over pipelines that were made with them (`checkpoint=`) goes on in the same epoch, if its batch
        size, policy and shards are the same; after the last batch of an epoch it goes on with the next one.
        """
        if self._first is not None and self._states is not None:
            made = [checkpoint_of(state) for state in self._states]
        else:
            made = [p.checkpoint() for p in self._pipes]
        return [with_counters(checkpoint, self._form(), self._counters()) for checkpoint in made]

    def _form(self):
        """What an iterator must have in common with another one to go on with its counters."""
        sizes = None if self._filled is None else len(self._filled.counters()["sizes"])
        return [self._policy.name, self._batch_size, self._size, sizes, len(self._pipes)]

    def _counters(self):
        counters = {name: getattr(self, f"_{name}") for name in _COUNTERS}
        return {**counters, "filled": None if self._filled is None else self._filled.counters()}

    def _restore_counters(self, counters):
        for name in _COUNTERS:
            setattr(self, f"_{name}", counters[name])
        if self._filled is not None:
            self._filled.restore(counters["filled"])

    def _continue_epoch(self):
        """Takes the counters of the checkpoint that the pipelines resume from, of checkpoints() of such an iterator."""
        counters = counters_of(self._pipes[0], self._form())
        if counters is None:
            return
        try:
            self._restore_counters(counters)
            fits = len(self._over) == len(self._pipes) and min(self._epochs, self._taken, self._batches) >= 0
        except (KeyError, TypeError):
            fits = False
        if not fits:
            raise ValueError("the counters of the iterator in the checkpoint are damaged")
        if self._ended or self._epoch_over():
            self.reset()

    def _driver_states(self):
        return [driver.state() for driver in self._drivers]

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out, in the form that all plug-ins share.

        Returns:
            {"version": 2, "pipelines": the state of each pipeline, "iterator": the counters of the iterator}, which
            JSON takes.

        Raises:
            RuntimeError: No batch was handed out, and the first one is prepared.
        """
        if self._first is not None and self._states is None:
            raise RuntimeError(
                "the first batch is prepared: state() before it needs enable_checkpointing=True of the pipelines, or "
                "prepare_first_batch=False"
            )
        states = self._states if self._first is not None else self._driver_states()
        return {"version": 2, "pipelines": states, "iterator": self._counters()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continues from a state of an iterator with the same arguments.

        Args:
            state: What state() returned.

        Raises:
            ValueError: It is not a state of such an iterator.
        """
        given = state if isinstance(state, dict) else {}
        pipelines, counters = given.get("pipelines"), given.get("iterator")
        known = isinstance(pipelines, (list, tuple)) and isinstance(counters, dict)
        same = known and (counters.get("filled") is None) == (self._filled is None)
        if not same or len(pipelines) != len(self._pipes) or not set(_COUNTERS) <= set(counters):
            raise ValueError("this is not a state of an iterator with these pipelines and this last_batch_policy")
        for driver, own in zip(self._drivers, pipelines):
            driver.load_state(own)
        self._restore_counters(counters)
        self._first = self._last = None

    def convert_all(self, outputs, keeps):
        """Makes what next() returns; a plug-in may override it.

        Args:
            outputs: For each pipeline a tuple of batches.
            keeps: For each pipeline how many samples count, None for all.
        """
        return [
            {name: self.convert(batch, keep) for name, batch in zip(self.output_map, batches)}
            for batches, keep in zip(outputs, keeps)
        ]

    def convert(self, batch, keep):
        """Makes the framework's array of a batch; a plug-in writes it.

        Args:
            batch: The batch.
            keep: How many samples count, from the first; None: all.
        """
        raise NotImplementedError
