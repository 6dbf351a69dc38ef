# SPDX-License-Identifier: Apache-2.0
"""The position of a DataLoader in its epochs."""

_SHORT = 'an external source ended before the epoch of the reader beside it: cycle="quiet" makes it start over'


class Epochs:
    """The position of a loader. fresh: no batch of the epoch, or of the rest of it after resuming, was requested yet."""

    def __init__(self, driver):
        self.driver, self.fresh = driver, True

    def begin(self):
        """A loop begins. The rest of an epoch that ended early is dropped."""
        if self.fresh:
            return
        if not self.complete():
            self.leave()
        self.start()

    def leave(self):
        self.driver.begin_epoch()

    def complete(self):
        """Whether all batches of the epoch were handed out."""
        return False

    def resume(self, left):
        """After a checkpoint was restored."""

    def left_over_all(self):
        """Samples that this loop still hands out over all shards, where the pipeline's state does not say it; 0: it
        does."""
        return 0


class CutEpochs(Epochs):
    """The reader cuts its epochs: into a shorter last batch, or none."""

    ended = resumed = False

    def start(self):
        self.fresh, self.ended, self.resumed = True, False, False

    def complete(self):
        return self.ended

    def run(self):
        """The next batch. An external source beside the reader may end with its epoch, and begins again with the next
        one."""
        first, self.fresh = self.fresh, False
        try:
            return self.driver.run()
        except StopIteration:
            if not first or self.resumed:
                raise RuntimeError(_SHORT) from None
        self.leave()
        try:
            return self.driver.run()
        except StopIteration:
            raise RuntimeError(_SHORT) from None

    def resume(self, left):
        self.resumed = True
        self.ended = self.driver.epochs == "partial" and self.driver.nothing_left_of_epoch()  # the other shards end it

    def next(self):
        while not self.ended:
            try:
                step = self.run()
            except Exception:
                self.ended = self.driver.at_end_of_epoch()
                raise
            self.ended = step.ends_epoch
            if len(step.outputs[0]) or not self.ended:  # fn.filter may leave nothing of the end
                return step.outputs
        self.start()
        raise StopIteration


class FilledEpochs(Epochs):
    """Full batches of the reader's stream, as many as its largest shard needs for an epoch."""

    def __init__(self, driver):
        super().__init__(driver)
        self.start()

    def start(self):
        self.fresh, self.left = True, self.driver.batches_per_epoch()

    def complete(self):
        return self.left <= 0

    def resume(self, left):
        if left:
            self.left = -(-left // self._round())

    def left_over_all(self):
        return 0 if self.left == self.driver.batches_per_epoch() else self.left * self._round()

    def _round(self):
        """Samples of a batch of each shard."""
        return self.driver.pipeline.max_batch_size * self.driver.number_of_shards()

    def next(self):
        if self.left <= 0:
            self.start()
            raise StopIteration
        self.fresh = False
        try:
            step = self.driver.run()
        except StopIteration:
            raise RuntimeError(_SHORT) from None
        except Exception:
            self.left -= 1
            raise
        self.left -= step.batches
        return step.outputs


class EpochsOfSource(Epochs):
    """Until the external sources end."""

    before, count = 0, 0  # batches of the epoch before, and of this one

    def start(self):
        self.fresh, self.count = True, 0

    def next(self):
        self.fresh = False
        try:
            step = self.driver.run()
        except StopIteration:
            if self.before and not self.count:
                raise RuntimeError(
                    f"the external source gave {self.before} batches in the epoch before and none in this one: a source that has ended "
                    "must begin again, as a generator function, a list or an object with __iter__ does"
                ) from None
            self.before = self.count
            self.driver.restart()
            self.start()
            raise
        self.count += 1
        return step.outputs
