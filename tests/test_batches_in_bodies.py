# SPDX-License-Identifier: Apache-2.0
"""fn.filter, fn.expand and fn.flatten_batch inside conditions and loops, against plain lists; as stages and one operator at
a time, and under debug=True."""

import numpy as np
import pytest
from test_batches import ROWS, batches, damaged, decoding_pipe, folder, in_branch, in_loop, make, same  # noqa: F401

import penstock
from penstock import fn, pipeline_def, types


def both(body, **options):
    """What the pipeline gives, which is what debug mode gives, and what its saved form gives."""
    got = batches(make(body, **options))
    for name, pipe in (("debug", make(body, debug=True, **options)),):
        again = batches(pipe)
        assert len(again) == len(got), name
        for a, b in zip(again, got):
            for x, y in zip(a, b, strict=True):
                same(x, y)
    pipe = make(body, **options)
    assert penstock.Pipeline.deserialize(pipe.to_json().encode()).text() == pipe.text()
    return got


def filtered(rows, k):
    x = rows
    if k % 2 == 0:
        x, k = fn.filter(rows * 2, k, keep=k % 4 == 0)
    return x, k


def test_a_branch_drops_some_of_its_samples():
    for i, (x, k) in enumerate(both(filtered)):
        left = [j for j in range(8 * i, 8 * i + 8) if j % 4 != 2]
        same(k, [np.int32(j) for j in left])
        same(x, [ROWS[j] * 2 if j % 2 == 0 else ROWS[j] for j in left])


def expanded(rows, k):
    if k % 3 == 0:
        k, rows = fn.expand(k, rows, k=k % 4)
        k = k + 100
    else:
        k = k - 1
    return k, rows


def test_a_branch_gives_more_or_fewer_than_it_got():
    for i, (k, rows) in enumerate(both(expanded)):
        plain = [
            (j + 100 if j % 3 == 0 else j - 1, ROWS[j])
            for j in range(8 * i, 8 * i + 8)
            for _ in range(j % 4 if j % 3 == 0 else 1)
        ]
        same(k, [np.int32(n) for n, _ in plain])
        same(rows, [x for _, x in plain])


def flattened(rows, k):
    if k % 2 == 0:
        row, k = fn.flatten_batch(rows, repeat=k)
        if row[0] > 700.0:
            k = k + 1000
    else:
        row, k = fn.expand(rows[0], k, k=2)
    return row, k


def test_both_sides_make_samples_with_conditions_over_them():
    for i, (row, k) in enumerate(both(flattened)):
        plain = []
        for j in range(8 * i, 8 * i + 8):
            if j % 2 == 0:
                plain += [(r, j + 1000 * bool(r[0] > 700)) for r in ROWS[j]]
            else:
                plain += [(ROWS[j][0], j)] * 2
        same(row, [r for r, _ in plain])
        same(k, [np.int32(n) for _, n in plain])


def nested(rows, k):
    if k % 2 == 0:
        k = fn.filter(k, keep=k > 1)
        if k % 4 == 0:
            k = fn.expand(k, k=3)
            k = fn.filter(k + 1, keep=k > 7)
    return k


def test_samples_of_samples():
    for i, (k,) in enumerate(both(nested)):
        plain = []
        for j in range(8 * i, 8 * i + 8):
            if j % 2:
                plain.append(j)
            elif j > 1:
                plain += ([j + 1] * 3 if j > 7 else []) if j % 4 == 0 else [j]
        same(k, [np.int32(n) for n in plain])


def three_ways(rows, k):
    if k % 3 == 0:
        k, rows = fn.expand(k, rows, k=4)
        rows = rows + 1.0
    elif k % 3 == 1:
        k, rows = fn.filter(k, rows, keep=k > 10)
    return k, rows


def test_three_ways():
    for i, (k, rows) in enumerate(both(three_ways)):
        plain = [j for j in range(8 * i, 8 * i + 8) for _ in range(4 if j % 3 == 0 else j % 3 == 2 or j > 10)]
        same(k, [np.int32(j) for j in plain])
        same(rows, [ROWS[j] + 1 if j % 3 == 0 else ROWS[j] for j in plain])


def in_a_loop(rows, k):
    total = k
    for trip in range(k % 4):
        some, number = fn.expand(k, k + trip, k=2)
        more = fn.filter(number, keep=some > 3)
        for _ in range(more % 3):
            more = more + 1
        total = total + trip
    return total


def test_new_samples_stay_in_a_loop():
    for i, (total,) in enumerate(both(in_a_loop)):
        same(total, [np.int32(j + sum(range(j % 4))) for j in range(8 * i, 8 * i + 8)])


def returned_early(rows, k):
    if k % 2 == 0:
        return fn.filter(k, keep=k > 3)
    return k + 50


def test_an_early_return():
    for i, (k,) in enumerate(both(returned_early)):
        same(k, [np.int32(j if j % 2 == 0 else j + 50) for j in range(8 * i, 8 * i + 8) if j % 2 or j > 3])


def test_batches_of_which_nothing_is_left():
    def body(least):
        def make_body(rows, k):
            if k < 16:
                k = fn.filter(k, keep=k > 100, min_batch=least)
            return k

        return make_body

    assert [len(b[0]) for b in both(body(1))] == [8, 8, 8]
    assert [len(b[0]) for b in both(body(0))] == [0, 0, 8, 8, 8]


def drawing(rows, k):
    if k % 2 == 0:
        k = fn.expand(k, 3)
        r = fn.random.uniform(range=[0.0, 1.0])
        x = r + k * 0
    else:
        x = fn.random.uniform(range=[0.0, 1.0]) + k * 0
    return x, k


def test_children_of_a_body_draw_their_own_numbers_whatever_the_batch_is():
    found = [[(int(k), float(x)) for b in batches(make(drawing, size, 16)) for x, k in zip(*b)] for size in (2, 8, 16)]
    assert found[0] == found[1] == found[2]
    assert len({x for _, x in found[0]}) == len(found[0]) == 32
    both(drawing)


def rebatched(rows, k):
    if k % 2 == 0:
        k, rows = fn.filter(k, rows, keep=k % 4 == 0)
    return fn.rebatch(k, rows, batch_size=5)


def test_rebatch_after_a_body():
    got = both(rebatched)
    left = [j for j in range(40) if j % 4 != 2]
    assert [len(k) for k, _ in got] == [5] * 6
    same([k for b in got for k in b[0]], [np.int32(j) for j in left])
    same([x for b in got for x in b[1]], [ROWS[j] for j in left])


def test_one_operator_at_a_time(monkeypatch):
    bodies = (filtered, expanded, flattened, nested, in_a_loop)
    fast = [batches(make(b)) for b in bodies]
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    for body, expected in zip(bodies, fast):
        for got, want in zip(batches(make(body)), expected, strict=True):
            for a, b in zip(got, want, strict=True):
                same(a, b)


# --- what a body may not do -------------------------------------------------------------------------------------------


def carried(rows, k):
    for _ in range(k):
        k = fn.expand(k, 2)
    return k


def mixed(rows, k):
    if k > 2:
        k = fn.expand(k, 2) + k
    return k


def trip_with_children(rows, k):
    for trip in range(k):
        some = fn.expand(k, 2)
        k = k + 0 * trip
        some = some + trip
    return k


def hidden_number(rows, k):
    r = fn.random.uniform(range=[0.0, 1.0])
    if k > 2:
        k = fn.cast(fn.expand(k, 2) + r, dtype=types.INT32)
    return k


def cut(rows, k):
    if k > 2:
        k = fn.rebatch(k, batch_size=2)
    return k


def too_few(rows, k):
    if k > 2:
        k = fn.filter(k, keep=k > 3, min_batch=2)
    return k


@pytest.mark.parametrize(
    "body,message",
    [
        (
            carried,
            r"\[loop\] the variable 'k' has the samples that expand returned \(.*\) after a trip, but a loop keeps the samples that it started",
        ),
        (mixed, r"\[_add\] works on values of different samples: one has the samples that expand returned"),
        (
            trip_with_children,
            r"\[_add\] works on values of different samples: one has the samples that expand returned",
        ),
        (
            hidden_number,
            r"\[_add\] works on values of different samples: one has the samples that expand returned .*another has the samples around",
        ),
        (
            cut,
            r"\[rebatch\] divides the pipeline's outputs into batches, which do not exist in a condition or loop: call it after",
        ),
        (
            too_few,
            r"\[filter\] inside a condition or loop there is only a part of the batch, so min_batch must be 0 or 1 there",
        ),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_what_is_refused(body, message, debug):
    with pytest.raises(ValueError, match=message):
        make(body, debug=debug).run()


# --- samples that cannot be read --------------------------------------------------------------------------------------


def decoding_children(files, label):
    image = types.Constant(np.zeros((1, 1, 3), np.uint8), dtype=types.UINT8, layout="HWC")
    if label[0] > 0:
        files, label, image = fn.expand(files, label, image, k=2)
        r = fn.random.uniform(range=[0.0, 1.0])
        if r >= 0.0:
            image = fn.decoders.image(files)
    return image, label


def test_children_of_a_body_leave_alone(folder, tmp_path):  # noqa: F811
    root = damaged(folder, tmp_path / "z", (1, 3), (1, 7))
    with pytest.raises(penstock.DataError, match=r"1/0[37].png"):
        pipe = decoding_pipe(root, decoding_children)
        [pipe.run() for _ in range(6)]
    pipe = decoding_pipe(root, decoding_children, on_error="skip")
    got = [(int(i.numpy()[0, 0, 0]), int(n.numpy()[0])) for _ in range(6) for i, n in zip(*pipe.run())]
    assert [g for g in got if g[1] == 0][:11] == [(0, 0)] * 11
    assert [v for v, n in got if n == 1][:18] == [10 * k + 1 for k in range(11) if k not in (3, 7) for _ in range(2)]


@pytest.mark.parametrize(
    "body",
    [
        in_branch,
        in_loop,
        decoding_children,
        lambda files, label: (fn.decoders.image(fn.filter(files, keep=label[0] > 0)),),
    ],
)
@pytest.mark.parametrize("gone", [((1, 3),), ((1, 1), (1, 2), (1, 4), (1, 9))])
def test_another_sample_takes_the_place_of_one_in_a_body(folder, tmp_path, body, gone):  # noqa: F811
    """The label is the replacement's, and so is what follows from it."""
    root = damaged(folder, tmp_path / "r", *gone)
    pipe = decoding_pipe(root, body, on_error="replace")
    whole = decoding_pipe(folder, body)
    seen = 0
    for _ in range(6):
        got, expected = pipe.run(), whole.run()
        if body in (in_branch, in_loop):
            assert [len(b) for b in got] == [len(b) for b in expected]
        for sample in zip(*got):
            image, label = sample[0].numpy(), int(sample[1].numpy()[0]) if len(sample) > 1 else 1
            if body in (in_branch, in_loop) and label == 0:
                assert image.shape == (1, 1, 3)
            value = int(image[0, 0, 0]) - (label if body is in_branch else 0)
            if label:
                assert value % 10 == 1 and (1, value // 10) not in gone
                seen += 1
            if body in (in_branch, in_loop):
                assert int(sample[2].numpy()[0]) == 2 * label
    assert seen >= 8
    assert {x[2][-8:] for x in pipe.left_out()} == {f"/1/{k:02}.png"[-8:] for _, k in gone}


def refuse_three(v):
    if v == 3:
        raise ArithmeticError("three")
    return v


@pytest.mark.parametrize("mode", ["", "stepping"])
def test_a_function_among_repeated_samples_names_the_sample_of_the_batch(monkeypatch, mode):
    monkeypatch.setenv("PENSTOCK_EXEC", mode)

    @pipeline_def(batch_size=4, num_threads=1, mixed_outputs=True)
    def pipe():
        k = fn.external_source(lambda: [np.int32(i) for i in range(4)], dtype=types.INT32, ndim=0)
        if k > 1:
            k = fn.expand(k, k=500)
            if k > 2:
                k = fn.reshape(fn.cast(fn.python_function(k, function=refuse_three), dtype=types.INT32), shape=[])
        return k

    with pipe() as made, pytest.raises(penstock.FunctionError, match="three, for sample 3 of the batch"):
        made.run()
