# SPDX-License-Identifier: Apache-2.0
"""x[...] = v writes only the part if nothing reads the old x: the bytes of x that an assignment copies are counted."""

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

SIDE, RUNS = 64, 2
COUNTS = [np.int32(n) for n in (3, 0, 5, 1)]
GIVEN = [np.full((2, SIDE, SIDE), i, np.float32) for i in range(len(COUNTS))]
SAMPLE = GIVEN[0].nbytes
ALL = len(COUNTS) * SAMPLE


def empty(device):
    return fn.constant(fdata=0.0, shape=(2, SIDE, SIDE), device=device)


# Each body gets n and the device; after it, the number of bytes that an iteration copies.


def squares(n, device):
    x = empty(device)
    for k in range(n):
        y = 3 * k
        x[:, y : y + 9, k : k + 9] = k + 0.5
    return x


def squares_by_a_condition(n, device):
    x, k = empty(device), 0
    while k < n:
        x[:, k : k + 9] += 1.0
        k = k + 1
    return x


def branches(n, device):
    x = empty(device)
    if n > 2:
        x[0] = 1.0
        x[1, 3] = 2.0
    elif n > 0:
        x[1, :5] = 3.0
    else:
        x[...] = 4.0
    x[0, 0] = 5.0
    return x


def branches_in_loops_in_branches(n, device):
    x, total = empty(device), 0
    if n > 0:
        for k in range(n):
            if k % 2 == 0:
                x[0, k] = 1.0
            for j in range(k):
                x[1, k, j] = 2.0
                total = total + 1
        x[0, 60] = 3.0
    return x, total


def passed_through(n, device):
    """Branches and loops that do not change x for some samples."""
    x = empty(device)
    for k in range(n):
        if k == 1:
            x = x * 2.0
        for j in range(n - 2):
            x = x + 1.0
        x[0, k] = 3.0
    return x


def of_a_stage(n, device):
    x = empty(device) * 2.0 + n
    x[0, 0] = 5.0
    return x


def two_names_trade_places(n, device):
    x, y = empty(device), empty(device) + 1.0
    for k in range(n):
        x[0, k] = 7.0
        x, y = y, x
    return x, y


def old_is_returned(n, device):
    x = empty(device)
    old = x
    x[0, n] = 1.0
    return x, old


def old_is_read(n, device):
    x = empty(device)
    old = x
    x[0, n] = 1.0
    return x + old


def old_of_before_the_loop(n, device):
    x = empty(device)
    old = x
    for k in range(n):
        x[0, k] = 1.0
    return x, old


def old_of_each_trip(n, device):
    x = empty(device)
    old = x
    for k in range(n):
        old = x
        x[0, k] = 1.0
    return x, old


def old_of_a_branch(n, device):
    x = empty(device)
    old = x
    if n > 2:
        old = empty(device) + 1.0
    x[0, 0] = 1.0
    return x, old


def begun_anew_in_each_trip(n, device):
    x = empty(device)
    total = x[0, 0, 0]
    for k in range(n):
        y = x
        y[0, 0] = 1.0
        total = total + y[0, 0, 0] + x[0, 0, 0]
    return total


def of_the_program(n, device):
    x = fn.external_source(lambda: GIVEN, dtype=types.FLOAT, ndim=3)
    if device == "gpu":
        x = x.gpu()
    x[0, n] = 9.0
    x[1, n] = 9.0
    return x


def expanded(n, device):
    (x,) = (fn.expand(empty(device) + n, k=2),)
    x[0] = 1.0
    return x


BODIES = {
    squares: 0,
    squares_by_a_condition: 0,
    branches: 0,
    branches_in_loops_in_branches: 0,
    passed_through: 0,
    of_a_stage: 0,
    two_names_trade_places: 0,
    old_is_returned: ALL,
    old_is_read: ALL,
    old_of_before_the_loop: 3 * SAMPLE,
    old_of_each_trip: 9 * SAMPLE,
    old_of_a_branch: ALL,
    begun_anew_in_each_trip: 9 * SAMPLE,
    of_the_program: ALL,
    expanded: 2 * ALL,
}


def run(body, device):
    """What an iteration copies, and the outputs of the last one. The source ends, so that no other iteration is counted."""
    batches = iter([COUNTS] * RUNS)

    @pipeline_def(batch_size=len(COUNTS), num_threads=2, prefetch_queue_depth=1)
    def pipe():
        n = fn.external_source(batches, dtype=types.INT32, ndim=0)
        return body(n, device)

    p = pipe()
    out = [[np.array(t.numpy()) for t in batch.as_cpu()] for batch in [p.run() for _ in range(RUNS)][-1]]
    with pytest.raises(StopIteration):
        p.run()
    bytes_copied = sum(s["copied_bytes"] for s in p.stats()["stages"])
    p.close()
    return bytes_copied / RUNS, out


@pytest.mark.parametrize("body", BODIES)
def test_what_is_copied(body, monkeypatch):
    monkeypatch.delenv("PENSTOCK_EXEC", raising=False)
    bytes_copied, out = run(body, "cpu")
    assert bytes_copied == BODIES[body]
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")  # which copies always
    for value, expected in zip(out, run(body, "cpu")[1], strict=True):
        for a, b in zip(value, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    for i, given in enumerate(GIVEN):
        assert (given == i).all()


def test_the_mask_that_a_loop_makes():
    _, (masks,) = run(squares, "cpu")
    for n, mask in zip(COUNTS, masks, strict=True):
        expected = np.zeros((2, SIDE, SIDE), np.float32)
        for k in range(n):
            expected[:, 3 * k : 3 * k + 9, k : k + 9] = k + 0.5
        np.testing.assert_array_equal(mask, expected)


def test_children_of_a_sample_on_both_sides_of_a_condition_keep_their_own_values():
    @pipeline_def(batch_size=2, num_threads=1, seed=1)
    def pipe():
        x = fn.external_source(lambda: [np.zeros(4, np.float32)] * 2, dtype=types.FLOAT, ndim=1) * 1.0
        x, side = fn.flatten_batch(fn.stack(0, 1), repeat=x)[::-1]
        if side == 0:
            x[0] = 5.0
        else:
            x[1] = 7.0
        return x

    expected = [[5, 0, 0, 0], [0, 7, 0, 0]] * 2
    assert [t.numpy().tolist() for t in pipe().run()[0]] == expected
