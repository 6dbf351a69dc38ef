# SPDX-License-Identifier: Apache-2.0
"""fn.filter, fn.expand, fn.flatten_batch and fn.rebatch against plain lists of NumPy arrays."""

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types
from penstock.plugin.numpy import LastBatchPolicy, NumpyIterator

ROWS = [np.arange(12, dtype=np.float32).reshape(3, 4)[: k % 3 + 1] + 100 * k for k in range(40)]


class Counted:
    """External source of samples k: (rows, k); StopIteration after the last."""

    def __init__(self, samples=40):
        self.samples = samples

    def __call__(self, info):
        if info.idx_in_epoch >= self.samples:
            raise StopIteration
        return ROWS[info.idx_in_epoch], np.int32(info.idx_in_epoch)


def make(body, batch_size=8, samples=40, **options):
    @pipeline_def(batch_size=batch_size, num_threads=2, seed=5, **options)
    def pipe():
        rows, k = fn.external_source(
            Counted(samples), batch=False, num_outputs=2, dtype=[types.FLOAT, types.INT32], ndim=[2, 0]
        )
        return body(rows, k)

    return pipe()


def batches(pipe, most=100):
    got = []
    for _ in range(most):
        try:
            got.append([[np.array(t.numpy()) for t in b.as_cpu()] for b in pipe.run()])
        except StopIteration:
            return got
    raise AssertionError("does not end")


def same(got, expected):
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and a.shape == np.shape(b)


def test_filter_drops_samples_of_several_values():
    got = batches(make(lambda rows, k: fn.filter(rows * 2, k, keep=k % 3 == 1)))
    for i, (rows, k) in enumerate(got):
        kept = [j for j in range(8 * i, 8 * i + 8) if j % 3 == 1]
        same(rows, [ROWS[j] * 2 for j in kept])
        same(k, [np.int32(j) for j in kept])
    assert len(got) == 5


def test_filter_keeps_the_form_of_what_it_gets():
    def body(rows, k):
        got = fn.filter({"rows": rows, "more": (k, [k + 1, rows])}, keep=k > 3)
        assert list(got) == ["rows", "more"] and isinstance(got["more"][1], list)
        return got["more"][1][0]

    same(batches(make(body))[0][0], [np.int32(k + 1) for k in range(4, 8)])


def test_two_filters_by_one_value_have_the_same_samples():
    def body(rows, k):
        keep = k % 2 == 0
        return fn.filter(rows, keep) + fn.filter(k, keep)

    same(batches(make(body))[0][0], [ROWS[k] + k for k in range(0, 8, 2)])


def test_a_filter_of_filtered_values():
    def body(rows, k):
        rows, k = fn.filter(rows, k, keep=k % 2 == 0)
        k = k + 1
        return fn.filter(rows + k, k, keep=k > 3)

    rows, k = batches(make(body))[0]
    same(k, [np.int32(j + 1) for j in (4, 6)])
    same(rows, [ROWS[j] + j + 1 for j in (4, 6)])


def test_iterations_without_samples_are_left_out():
    got = batches(make(lambda rows, k: fn.filter(k, keep=(k // 8) % 2 == 1)))
    assert [[int(k) for k in b[0]] for b in got] == [list(range(8, 16)), list(range(24, 32))]


def test_min_batch():
    body = lambda least, policy: lambda rows, k: fn.filter(k, keep=(k < 10) | (k > 35), min_batch=least, too_few=policy)  # noqa: E731
    assert [len(b[0]) for b in batches(make(body(1, "skip")))] == [8, 2, 4]
    assert [len(b[0]) for b in batches(make(body(3, "skip")))] == [8, 4]
    assert [len(b[0]) for b in batches(make(body(0, "error")))] == [8, 2, 0, 0, 4]
    with pytest.raises(ValueError, match=r"2 of 8 samples remain, fewer than min_batch=3"):
        batches(make(body(3, "error")))


def test_operators_run_on_batches_without_samples():
    def body(rows, k):
        rows, k = fn.filter(rows, k, keep=k > 100, min_batch=0)
        x = fn.flip(rows * 2, horizontal=1)
        if k > 3:
            x = x + 1.0
        for _ in range(k):
            x = x * 2.0
        return fn.reductions.mean(x), x, fn.expand(k, 3)

    for got in batches(make(body, mixed_outputs=True)):
        assert [len(b) for b in got] == [0, 0, 0]


def test_expand_by_a_constant_and_per_sample():
    rows, k = batches(make(lambda rows, k: fn.expand(rows, k, k=3)))[1]
    same(rows, [ROWS[j] for j in range(8, 16) for _ in range(3)])
    same(k, [np.int32(j) for j in range(8, 16) for _ in range(3)])
    rows, k = batches(make(lambda rows, k: fn.expand(rows, k, k=k % 3)))[1]
    same(rows, [ROWS[j] for j in range(8, 16) for _ in range(j % 3)])


def test_flatten_batch():
    def body(rows, k):
        (a, b), label = fn.flatten_batch(rows, rows * 2, repeat=k)
        return a, b, label

    a, b, label = batches(make(body))[2]
    same(a, [row for j in range(16, 24) for row in ROWS[j]])
    same(b, [row * 2 for j in range(16, 24) for row in ROWS[j]])
    same(label, [np.int32(j) for j in range(16, 24) for _ in ROWS[j]])
    (one,) = batches(make(lambda rows, k: fn.flatten_batch(rows)))[2]
    same(one, a)


def test_flatten_batch_takes_a_letter_off_the_layout():
    frames = [np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3) + k for k in range(3)]

    @pipeline_def(batch_size=3, num_threads=1)
    def pipe():
        x = fn.external_source(lambda: frames, dtype=types.UINT8, layout="FHWC")
        x = fn.flatten_batch(x)
        assert x.layout == "HWC" and x.ndim == 3
        return fn.flip(x, horizontal=1)

    (got,) = pipe().run()
    same([t.numpy() for t in got], [f[:, ::-1] for x in frames for f in x])


def children(batch_size, first_constant=False):
    def body(rows, k):
        if first_constant:
            k = k + types.Constant(np.int32([0]))[0]
        k = fn.expand(k, 4)
        r = fn.random.uniform(range=[0.0, 1.0], name="r")
        return k, r + k * 0

    pipe = make(body, batch_size, 16)
    return [(int(k), float(r)) for b in batches(pipe) for k, r in zip(*b)]


def test_children_draw_their_own_numbers_whatever_the_batch_is():
    small, large = children(2), children(8)
    assert small == large
    assert len({r for _, r in small}) == len(small) == 64


def test_random_numbers_of_what_stays_are_those_without_the_filter():
    def body(filtered):
        def make_body(rows, k):
            r = fn.random.uniform(
                range=[0.0, 1.0]
            )  # an operator's number, which keys it, is the order in which they are made
            if filtered:
                k = fn.filter(k, keep=k % 2 == 1)
            return k, r + k * 0

        return make_body

    every = [(int(k), float(r)) for b in batches(make(body(False))) for k, r in zip(*b)]
    kept = [(int(k), float(r)) for b in batches(make(body(True))) for k, r in zip(*b)]
    assert kept == [x for x in every if x[0] % 2]


def test_values_without_inputs_join_what_they_are_used_with():
    def body(rows, k):
        early = fn.random.uniform(range=[0.0, 1.0])  # made before the samples that it is for
        twice = early * 2
        k2 = fn.expand(k, 2)
        c = types.Constant(np.float32([1, 2]))
        x = k2 + c + twice * 0
        y = fn.expand(k, 3) + c
        return x, k2, y

    x, k2, y = batches(make(body, mixed_outputs=True))[0]
    same(x, [np.float32([j + 1, j + 2]) for j in range(8) for _ in range(2)])
    same(y, [np.float32([j + 1, j + 2]) for j in range(8) for _ in range(3)])


def test_control_flow_on_the_new_samples():
    def body(rows, k):
        rows, k = fn.filter(rows, k, keep=k % 2 == 0)
        rows, k = fn.expand(rows, k, k=2)
        y = rows
        if k % 4 == 0:
            y = y + 1.0
        for i in range(k % 3):
            y = y * 2.0
        y[0] = 5
        return y, k

    def plain(j):
        y = ROWS[j] + (1 if j % 4 == 0 else 0)
        y = y * 2.0 ** (j % 3)
        y[0] = 5
        return y.astype(np.float32)

    y, k = batches(make(body))[1]
    same(y, [plain(j) for j in range(8, 16, 2) for _ in range(2)])


def test_saved_pipelines_keep_it():
    def body(rows, k):
        rows, k = fn.filter(rows, k, keep=k % 3 == 1)
        r = fn.random.uniform(range=[0.0, 1.0])
        return fn.flatten_batch(fn.flip(rows + r, horizontal=0), repeat=k)

    pipe = make(body)
    assert penstock.Pipeline.deserialize(pipe.to_json().encode()).text() == pipe.text()


# --- rebatch and iterators --------------------------------------------------------------------------------------------


def test_rebatch_refills():
    for size in (1, 5, 8, 11, 64):
        got = batches(make(lambda rows, k: fn.rebatch(*fn.filter(rows, k, keep=k % 3 != 0), batch_size=size)))  # noqa: B023
        kept = [k for k in range(40) if k % 3]
        assert [len(b[0]) for b in got] == [min(size, len(kept) - i) for i in range(0, len(kept), size)]
        same([x for b in got for x in b[0]], [ROWS[k] for k in kept])
        same([x for b in got for x in b[1]], [np.int32(k) for k in kept])


def test_checkpoints_count_returned_samples():
    def body(rows, k):
        k = fn.filter(k, keep=k % 3 != 0)
        k = fn.expand(k, 2)
        return fn.rebatch(k, fn.random.uniform(range=[0.0, 1.0]) + k * 0, batch_size=5)

    pipe = make(body, enable_checkpointing=True)
    states, all_batches = [], []
    try:
        while True:
            states.append(pipe.checkpoint())
            all_batches.append([[float(t.numpy()) for t in b] for b in pipe.run()])
    except StopIteration:
        pass
    assert len(all_batches) == 11
    for at in (0, 1, 2, 4, 7, 10):
        again = make(body, enable_checkpointing=True, checkpoint=states[at])
        assert [[[float(t) for t in b] for b in got] for got in batches(again)] == all_batches[at:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from PIL import Image

    root = tmp_path_factory.mktemp("pictures")
    for label in range(2):
        (root / str(label)).mkdir()
        for k in range(11):
            Image.fromarray(np.full((16, 16, 3), 10 * k + label, np.uint8)).save(root / str(label) / f"{k:02}.png")
    return root


def reader_pipe(folder, **options):
    @pipeline_def(batch_size=4, num_threads=2, seed=1, **options)
    def pipe():
        files, label = fn.readers.file(file_root=str(folder), name="reader")
        files, label = fn.filter(files, label, keep=label > 0)
        return fn.decoders.image(files), label

    return pipe()


@pytest.mark.parametrize("policy,sizes", [(LastBatchPolicy.PARTIAL, [1, 4, 4, 2]), (LastBatchPolicy.DROP, [1, 4, 4])])
def test_iterators_give_the_sizes_that_result(folder, policy, sizes):
    it = NumpyIterator(
        reader_pipe(folder), ["image", "label"], reader_name="reader", last_batch_policy=policy, auto_reset=True
    )
    for _ in range(2):
        got = list(it)
        assert [len(d[0]["label"]) for d in got] == sizes
        assert all((d[0]["label"] == 1).all() for d in got)
        assert [int(i[0, 0, 0]) for d in got for i in d[0]["image"]] == [10 * k + 1 for k in range(sum(sizes))]


@pytest.mark.parametrize("policy,sizes", [(LastBatchPolicy.PARTIAL, [4, 4, 3]), (LastBatchPolicy.DROP, [4, 4])])
def test_iterators_refill(folder, policy, sizes):
    it = NumpyIterator(
        reader_pipe(folder),
        ["image", "label"],
        reader_name="reader",
        last_batch_policy=policy,
        auto_reset=True,
        refill=True,
    )
    for _ in range(2):
        got = list(it)
        assert [len(d[0]["label"]) for d in got] == sizes
        assert [int(i[0, 0, 0]) for d in got for i in d[0]["image"]] == [10 * k + 1 for k in range(sum(sizes))]


def test_iterators_refill_over_the_end_of_epochs(folder):
    it = NumpyIterator(reader_pipe(folder), ["image", "label"], reader_name="reader", auto_reset=True, refill=True)
    values = [[int(i[0, 0, 0]) for d in it for i in d[0]["image"]] for _ in range(3)]
    flat = [v for epoch in values for v in epoch]
    assert all(len(epoch) % 4 == 0 for epoch in values)
    assert flat == [10 * (k % 11) + 1 for k in range(len(flat))]


def test_files_that_only_decoders_after_a_filter_need_are_not_read(folder):
    text = reader_pipe(folder).text(planned=True)
    assert "read:" not in text and "reads files" in text, text


def test_samples_that_cannot_be_decoded_after_a_filter(folder, tmp_path):
    import shutil

    root = tmp_path / "with_damage"
    shutil.copytree(folder, root)
    (root / "1" / "03.png").write_bytes(b"no picture")
    with pytest.raises(penstock.DataError, match="03.png"):
        pipe = reader_pipe(root)
        [pipe.run() for _ in range(5)]
    pipe = reader_pipe(root, on_error="skip")
    values = [int(i.numpy()[0, 0, 0]) for _ in range(4) for i in pipe.run()[0]]
    assert values == [10 * k + 1 for k in range(11) if k != 3]
    assert [x[3] for x in pipe.left_out()] and "03.png" in pipe.left_out()[0][2]


def test_policies_of_dalis_dynamic_executor_are_accepted():
    for policy in (None, *types.StreamPolicy):
        for concurrency in (None, *types.OperatorConcurrency):
            pipe = make(lambda rows, k: k, stream_policy=policy, concurrency=concurrency, exec_dynamic=True)
            same(batches(pipe)[1][0], [np.int32(k) for k in range(8, 16)])
            assert pipe.stream_policy is policy and pipe.concurrency is concurrency
    with pytest.raises(
        TypeError,
        match="stream_policy must be one of types.StreamPolicy: SINGLE, PER_BACKEND, PER_OPERATOR, UNSPECIFIED; got 'x'",
    ):
        make(lambda rows, k: k, stream_policy="x")
    make(lambda rows, k: k, experimental_exec_dynamic=True).run()

    @pipeline_def(batch_size=2, num_threads=1, enable_conditionals=True)
    def pipe():
        return fn.random.uniform(range=[0.0, 1.0])

    pipe().run()


# --- samples that leave -----------------------------------------------------------------------------------------------


def damaged(folder, root, *labels_and_numbers):
    import shutil

    shutil.copytree(folder, root)
    for label, k in labels_and_numbers:
        (root / str(label) / f"{k:02}.png").write_bytes(b"no picture")
    return root


def decoding_pipe(root, body, **options):
    @pipeline_def(batch_size=4, num_threads=2, seed=1, **options)
    def pipe():
        files, label = fn.readers.file(file_root=str(root), name="reader")
        return body(files, label)

    return pipe()


def in_branch(files, label):
    image = types.Constant(np.zeros((1, 1, 3), np.uint8), dtype=types.UINT8, layout="HWC")
    late = label * 2
    if label[0] > 0:
        image = fn.decoders.image(files)
        image = fn.cast(image + label[0], dtype=types.UINT8)
    return image, label, late


def in_loop(files, label):
    image = types.Constant(np.zeros((1, 1, 3), np.uint8), dtype=types.UINT8, layout="HWC")
    late = label * 2
    total = label[0] * 0
    for k in range(label[0] + 1):
        if label[0] > 0:
            if k > 0:
                image = fn.decoders.image(files)
        total = total + k + 1
    return image, label, late + total * 0


@pytest.mark.parametrize("body", [in_branch, in_loop])
@pytest.mark.parametrize("gone", [((1, 3),), ((1, 1), (1, 2), (1, 4)), ((1, 1), (1, 2), (1, 3), (1, 4), (1, 5))])
def test_samples_leave_from_inside_of_bodies(folder, tmp_path, body, gone):
    root = damaged(folder, tmp_path / "x", *gone, (0, 0))  # those of label 0 are never decoded
    with pytest.raises(penstock.DataError, match=r"1/0\d.png"):
        pipe = decoding_pipe(root, body)
        [pipe.run() for _ in range(6)]
    pipe = decoding_pipe(root, body, on_error="skip")
    got = []
    for _ in range(6):
        image, label, late = pipe.run()
        assert len(image) == len(label) == len(late)
        got += [(int(i.numpy()[0, 0, 0]), int(n.numpy()[0]), int(t.numpy()[0])) for i, n, t in zip(image, label, late)]
    ones = [10 * k + 1 + (body is in_branch) for k in range(11) if (1, k) not in gone]
    assert [g for g in got if g[1] == 1][: len(ones)] == [(v, 1, 2) for v in ones]
    assert [g for g in got if g[1] == 0][:11] == [(0, 0, 0)] * 11
    assert {x[2][-8:] for x in pipe.left_out()} == {f"/1/{k:02}.png"[-8:] for _, k in gone}


def test_samples_leave_with_their_children(folder, tmp_path):
    def body(files, label):
        image = fn.decoders.image(files)
        twice, both = fn.expand(files, label, k=2)
        kept, number = fn.filter(label, fn.random.uniform(range=[0.0, 1.0]), keep=label == 1, min_batch=0)
        return image, label, fn.decoders.image(twice), both, kept

    root = damaged(folder, tmp_path / "y", (1, 3))
    pipe = decoding_pipe(root, body, on_error="skip", mixed_outputs=True)
    sizes = [[len(b) for b in pipe.run()] for _ in range(5)]
    assert sum(image for image, *_ in sizes) == 19 and sum(kept for *_, kept in sizes) == 8
    for image, label, twice, both, kept in sizes:
        assert image == label and twice == both == 2 * image and kept <= label
