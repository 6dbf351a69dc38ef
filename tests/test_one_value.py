# SPDX-License-Identifier: Apache-2.0
"""A value that is equal for all samples is computed once: what reads it, what it is given to, and that nobody changes it."""

import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.torch import DataLoader

TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)


def run(function, batches=3, **options):
    pipe = pipeline_def(**{"batch_size": 4, "num_threads": 2, **options})(function)()
    return [[np.array(b.as_array()) for b in pipe.run()] for _ in range(batches)]


def numbers():
    return fn.external_source(
        lambda info: np.full((3, 4), info.idx_in_epoch, np.float32), batch=False, ndim=2, dtype=np.float32
    )


def test_operators_read_it():
    def function():
        x = numbers()
        table = fn.constant(fdata=TABLE.ravel().tolist(), shape=[3, 4])
        return x + table, fn.cat(x, table), fn.transpose(table, perm=[1, 0]) * 2, fn.reshape(table, shape=[2, 6])

    for k, (added, joined, turned, shaped) in enumerate(run(function)):
        x = np.arange(4 * k, 4 * k + 4, dtype=np.float32)[:, None, None] + np.zeros((3, 4), np.float32)
        np.testing.assert_array_equal(added, x + TABLE)
        np.testing.assert_array_equal(joined, np.concatenate([x, np.broadcast_to(TABLE, x.shape)], axis=1))
        np.testing.assert_array_equal(turned, np.broadcast_to(TABLE.T * 2, (4, 4, 3)))
        np.testing.assert_array_equal(shaped, np.broadcast_to(TABLE.reshape(2, 6), (4, 2, 6)))


@pytest.mark.parametrize("read_too", [False, True])
def test_an_assignment_writes_to_memory_of_its_own(read_too):
    def function():
        index = fn.readers.indices(size=3)
        x = fn.constant(fdata=[0.0] * 12, shape=[3, 4])
        before = x + 1.0 if read_too else None
        x[index] = 5.0
        return (x, before + 0.0) if read_too else (x,)

    for k, made in enumerate(run(function, batch_size=1)):
        want = np.zeros((1, 3, 4))
        want[0, k] = 5
        np.testing.assert_array_equal(made[0], want)
        if read_too:
            assert (made[1] == 1).all()


def test_who_gets_it_may_write_to_it():
    """Outputs, also through branches and changes of the batch, and what functions of the program return."""

    def shared(form):
        def function():
            table = fn.constant(fdata=TABLE.ravel().tolist(), shape=[3, 4])
            index = fn.readers.indices(size=8, name="reader")
            if form == "output":
                return table, table + index
            if form == "filter":
                return fn.filter(table, index, index >= 0)
            if form == "branch":
                if index % 2 == 0:
                    out = table
                else:
                    out = table + 0.0
                return out, index
            return fn.python_function(table, function=lambda a: a), index

        return function

    for form in ("output", "filter", "branch", "function"):
        pipe = pipeline_def(batch_size=4, num_threads=1)(shared(form))()
        for _ in range(2):
            seen = 0
            for table, _ in DataLoader(pipe):
                for sample in table:
                    np.testing.assert_array_equal(sample.numpy(), TABLE)
                    seen += 1
                for sample in table:
                    sample.fill_(-1)
            assert seen == 8
            pipe = pipeline_def(batch_size=4, num_threads=1)(shared(form))()


def peak_of_memory():
    """Of this process, in KB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def test_many_samples_need_no_more_memory():
    """A hundred samples of a table of 4 MB: the step holds one."""

    def function():
        table = fn.constant(fdata=[1.5], shape=[1000, 1000])
        return fn.reductions.mean(table) + fn.readers.indices(size=100)

    pipe = pipeline_def(batch_size=100, num_threads=1, prefetch_queue_depth=1)(function)()
    pipe.build()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counts from here
    before = peak_of_memory()
    (made,) = pipe.run()
    np.testing.assert_array_equal(made.as_array(), np.arange(100) + 1.5)
    assert peak_of_memory() - before < 100 * 1024  # a table for each sample is 400 MB
