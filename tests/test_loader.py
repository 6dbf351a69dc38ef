# SPDX-License-Identifier: Apache-2.0
"""penstock.torch.DataLoader as users of torch.utils.data.DataLoader expect it: loops, labels, shards, padding, hints."""

import itertools
import json
import random
import subprocess
import sys

import numpy as np
import pytest
import torch

import penstock
from penstock import fn, pipeline_def
from penstock.torch import DataLoader


@pipeline_def(num_threads=2, seed=5)
def numbers(n, rank=0, ranks=1, shuffle=True, pad=False, stick=False):
    return fn.readers.indices(
        size=n,
        random_shuffle=shuffle,
        shard_id=rank,
        num_shards=ranks,
        pad_last_batch=pad,
        stick_to_shard=stick,
        name="reader",
    )


def epoch(loader):
    return [batch.tolist() for (batch,) in loader]


def flat(batches):
    return sorted(n for batch in batches for n in batch)


# --- loops ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last_batch, sizes", [("partial", [4, 4, 3]), ("drop", [4, 4]), ("fill", [4, 4, 4])])
@pytest.mark.parametrize("depth", [1, 3])
def test_each_loop_is_a_whole_epoch(last_batch, sizes, depth):
    """However the loops before were left: by break, next(iter()), an error of the body, at the last batch, or not begun."""
    make = lambda: DataLoader(numbers(11, batch_size=4, prefetch_queue_depth=depth), last_batch=last_batch)
    loader, order = make(), []
    for left_after in (None, 1, 0, 2, None, len(sizes), 1, None, None):
        seen = []
        for (batch,) in itertools.islice(loader, left_after):
            seen.append(batch.tolist())
        assert [len(b) for b in seen] == sizes[:left_after]
        if last_batch == "partial" and left_after is None:
            assert flat(seen) == list(range(11))
        order.append(tuple(map(tuple, seen)))
    whole = [o for o in order if len(o) == len(sizes)]
    assert len(set(whole)) == len(whole), "shuffled anew"
    assert next(iter(loader))[0].tolist() != next(iter(loader))[0].tolist()
    with pytest.raises(KeyError):
        for _ in loader:
            raise KeyError
    assert [len(b) for b in epoch(loader)] == sizes
    if last_batch != "fill":  # the stream of "fill" has gone on
        again = make()
        assert epoch(again) == [list(b) for b in order[0]]


def test_an_epoch_that_was_left_does_not_change_the_next_ones():
    one, other = DataLoader(numbers(11, batch_size=4)), DataLoader(numbers(11, batch_size=4))
    next(iter(one))
    epoch(other)
    assert [epoch(one) for _ in range(2)] == [epoch(other) for _ in range(2)]


def test_a_loop_that_was_followed_by_another_says_so():
    loader = DataLoader(numbers(11, batch_size=4))
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(RuntimeError, match="newer loop"):
        next(first)
    assert len(list(second)) == 3
    with pytest.raises(StopIteration):
        next(second)


def test_a_mix_starts_again():
    @pipeline_def(batch_size=4, num_threads=2, seed=3)
    def mixed():
        return fn.readers.mix([fn.readers.indices(size=9, random_shuffle=True), fn.readers.indices(size=5)], name="mix")

    loader, whole = DataLoader(mixed()), DataLoader(mixed())
    next(iter(loader))
    epoch(whole)
    assert epoch(loader) == epoch(whole)


def test_next_continues_after_a_batch_that_failed():
    @pipeline_def(batch_size=4, num_threads=1, seed=1)
    def failing(bad):
        def function(x):
            if int(x) in bad:
                raise KeyError("bad")
            return x

        return fn.python_function(fn.readers.indices(size=11), function=function, num_outputs=1)

    for bad, want in (({1}, [None, 4, 3]), ({5, 10}, [4, None, None]), ({10}, [4, 4, None])):
        loader = DataLoader(failing(bad))
        for _ in range(2):
            loop, got = iter(loader), []
            while True:
                try:
                    got.append(len(next(loop)[0]))
                except StopIteration:
                    break
                except penstock._python_function.FunctionError:
                    got.append(None)
            assert got == want


def test_resuming_is_explicit_and_exact():
    """state_dict() at every place; then the loop continues, and in the same program a new loop starts a new epoch."""
    for last_batch in ("partial", "drop", "fill"):
        make = lambda size=3: DataLoader(numbers(11, batch_size=size), last_batch=last_batch)
        reference = make()
        whole = [epoch(reference) for _ in range(4)]
        for done, taken in itertools.product((0, 1), range(len(whole[0]) + 1)):
            loader = make()
            for _ in range(done):
                epoch(loader)
            loop = iter(loader)
            for _ in range(taken):
                next(loop)
            state = json.loads(json.dumps(loader.state_dict()))
            again = make()
            next(iter(again))
            again.load_state_dict(state)
            iter(again), iter(again)  # Lightning does so
            want = [b for e in whole[done:] for b in e][taken:]
            rest = epoch(again)
            assert rest == (whole[done][taken:] or whole[done + 1]), (last_batch, done, taken)
            assert rest + epoch(again) == want[: len(rest) + len(whole[0])]
    old = make().state_dict()
    old = {"version": 1, "pipeline": make().pipeline.checkpoint().decode()}
    make().load_state_dict(old)
    with pytest.raises(ValueError, match="not a state of this version"):
        make().load_state_dict({"version": 9})


def test_the_state_is_a_few_integers_and_short_texts():
    loader = DataLoader(numbers(11, batch_size=4))
    next(iter(loader))
    state = loader.state_dict()
    assert (
        state["pipeline"]["sources"]["reader"]["epoch"] == 0 and state["pipeline"]["sources"]["reader"]["consumed"] == 4
    )

    def check(value):
        assert isinstance(value, (dict, list, int, str))
        for v in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(v)

    check(state)


def test_the_state_between_two_loops_is_that_of_the_next_epoch():
    loader, other = DataLoader(numbers(11, batch_size=4)), DataLoader(numbers(11, batch_size=4))
    next(iter(loader))
    iter(loader)
    other.load_state_dict(loader.state_dict())
    assert epoch(other) == epoch(loader)


# --- shards ---------------------------------------------------------------------------------------------------------------


def test_all_ranks_have_as_many_batches():
    """80 samples over 3 ranks in batches of 13 were [3, 3, 2]; then random sizes."""
    rng = random.Random(1)
    cases = [(80, 3, 13)] + [(n, rng.randint(1, min(n, 5)), rng.randint(1, 9)) for n in rng.choices(range(2, 40), k=40)]
    for n, ranks, batch_size in cases:
        last_batch, options = (
            rng.choice(["partial", "drop", "fill"]),
            {"shuffle": rng.random() < 0.5, "stick": rng.random() < 0.3},
        )
        if last_batch == "drop" and n // ranks < batch_size:
            last_batch = "partial"
        loaders = [
            DataLoader(numbers(n, r, ranks, batch_size=batch_size, **options), last_batch=last_batch)
            for r in range(ranks)
        ]
        for _ in range(3):
            epochs = [epoch(loader) for loader in loaders]
            said = (n, ranks, batch_size, last_batch, options)
            assert {len(e) for e in epochs} == {len(loaders[0])}, said
            assert all(e and all(e) for e in epochs), said
            seen = sum(map(flat, epochs), [])
            if last_batch == "partial":
                assert set(seen) == set(range(n)), said
                longest = -(-n // ranks)
                assert (
                    len(seen) == n if longest % batch_size != 1 % batch_size else n <= len(seen) <= longest * ranks
                ), said
            elif last_batch == "drop":
                assert len(set(seen)) == len(seen) == len(loaders[0]) * ranks * batch_size, said


def test_ranks_agree_after_resuming_with_other_ranks():
    """A few samples of an epoch are left for many ranks; each gets the same number of batches, and all samples are used."""
    for n, left in itertools.product((23, 24), range(1, 9)):
        one = DataLoader(numbers(n, batch_size=1))
        seen = [b for b in itertools.islice((b.tolist() for (b,) in one), n - left)]
        ranks = [DataLoader(numbers(n, r, 4, batch_size=2)) for r in range(4)]
        for loader in ranks:
            loader.load_state_dict(one.state_dict())
        rest = [epoch(loader) for loader in ranks]
        assert len({len(e) for e in rest}) == 1 and set(sum(map(flat, rest), flat(seen))) == set(range(n))
        assert len({json.dumps(loader.state_dict()) for loader in ranks}) == 1
        uneven = [DataLoader(numbers(n, r, 4, batch_size=2), uneven=True) for r in range(4)]
        for loader in uneven:
            loader.load_state_dict(one.state_dict())
        assert sorted(sum((flat(epoch(loader)) for loader in uneven), flat(seen))) == list(range(n))
        assert sorted(sum((flat(epoch(loader)) for loader in uneven), [])) == list(range(n))


# --- labels, padding, lists -----------------------------------------------------------------------------------------------


def from_lists(*columns, **options):
    """A pipeline whose batches are given: a list of batches for each output."""

    @pipeline_def(batch_size=max(len(b) for column in columns for b in column), num_threads=1)
    def pipe():
        return tuple(fn.external_source([list(b) for b in column]) for column in columns)

    return DataLoader(pipe(), **options)


def test_labels_are_what_torchs_losses_take(tmp_path):
    for kind in "ab":
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "x.jpg").write_bytes(b"123")

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.readers.file(file_root=str(tmp_path), name="reader")

    (batch,) = DataLoader(pipe(), ["data", "label"])
    assert batch["label"].dtype == torch.int64 and batch["label"].tolist() == [0, 1] and batch["data"].shape == (2, 3)
    torch.nn.functional.cross_entropy(torch.zeros(2, 4), batch["label"])
    (batch,) = DataLoader(pipe(), ["data", "label"], labels=False)
    assert batch["label"].dtype == torch.int32 and batch["label"].shape == (2, 1)
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        for shape in ((), (1,)):
            ((out,),) = from_lists([[np.full(shape, k, dtype) for k in (1, 2)]])
            assert out.dtype == torch.int64 and out.tolist() == [1, 2]
    for dtype, shape in (("float32", (1,)), ("bool", (1,)), ("int32", (2,)), ("int32", (1, 1))):
        ((out,),) = from_lists([[np.zeros(shape, dtype)] * 2])
        assert str(out.dtype) == f"torch.{dtype}" and out.shape == (2, *shape)


def test_the_first_batch_decides_what_is_a_label():
    one, three = [np.int32([7])], [np.int32([1, 2, 3])]
    out = [b.tolist() for (b,) in from_lists([three, one])]
    assert out == [[[1, 2, 3]], [[7]]]
    loop = iter(from_lists([one, three], output_map=["tokens"]))
    assert next(loop)["tokens"].tolist() == [7]
    with pytest.raises(RuntimeError, match="'tokens' had one integer in each sample(.|\n)*pad= and ragged="):
        next(loop)
    loader = from_lists([one, three], [one, one], output_map=["tokens", "label"], pad={"tokens": 0})
    assert [(b["tokens"].tolist(), b["label"].tolist()) for b in loader] == [([[7]], [7]), ([[1, 2, 3]], [7])]
    loader = from_lists([one, one], [one, one], output_map=["a", "b"], labels=["b"])
    assert [(b["a"].shape, b["b"].shape) for b in loader] == [((1, 1), (1,))] * 2


def test_padding_and_lists():
    boxes = [np.full((2, 3), 1, np.float32), np.full((1, 3), 2, np.float32), np.full((0, 3), 3, np.float32)]
    label = [np.int32([k]) for k in range(3)]
    (plain,) = from_lists([boxes], [label], output_map=["boxes", "label"])
    assert [tuple(t.shape) for t in plain["boxes"]] == [(2, 3), (1, 3), (0, 3)]
    (padded,) = from_lists([boxes], [label], output_map=["boxes", "label"], pad={"boxes": -1})
    assert (
        padded["boxes"].shape == (3, 2, 3)
        and set(padded) == {"boxes", "label"}
        and padded["label"].tolist() == [0, 1, 2]
    )
    assert padded["boxes"][:, :, 0].tolist() == [[1, 1], [2, -1], [-1, -1]]
    (all_padded,) = from_lists([boxes], [label], output_map=["boxes", "label"], pad=5)
    assert all_padded["boxes"][1, 1].tolist() == [5, 5, 5] and all_padded["label"].tolist() == [0, 1, 2]
    short = [np.int32([7])] * 2, [np.int32([]), np.int32([4])]
    assert [b.tolist() for (b,) in from_lists(short[::-1], pad=-1)] == [[[-1], [4]], [[7], [7]]]
    (long,) = from_lists([boxes], [label], output_map=["boxes", "label"], ragged={"boxes": "pad"})
    assert long["boxes_lengths"].tolist() == [[2, 3], [1, 3], [0, 3]] and long["boxes"][2].abs().sum() == 0
    (lists,) = from_lists([boxes[:1] * 2], output_map=["boxes"], ragged="list")
    assert [tuple(t.shape) for t in lists["boxes"]] == [(2, 3)] * 2
    ((by_number, _),) = from_lists([boxes], [label], pad={0: 9})
    assert by_number[1, 1].tolist() == [9, 9, 9]
    for options, said in (
        (dict(pad={"other": 1}), "pad names 'other'"),
        (dict(ragged="dense"), "ragged must be"),
        (dict(pad="x"), "pad must be"),
        (dict(pad=1, ragged="list"), "both say"),
        (dict(labels=["z"]), "labels names"),
    ):
        with pytest.raises(ValueError, match=said):
            from_lists([boxes], output_map=["boxes"], **options)
    with pytest.raises(ValueError, match="needs output_map"):
        from_lists([boxes], ragged="pad")


# --- hints ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argument, said",
    [
        ("batch_size", "pipeline_def"),
        ("shuffle", "random_shuffle"),
        ("num_workers", "num_threads"),
        ("drop_last", "last_batch='drop'"),
        ("sampler", "num_shards"),
        ("batch_sampler", "num_shards"),
        ("collate_fn", "pad="),
        ("pin_memory", "mixed"),
        ("worker_init_fn", "threads"),
        ("prefetch_factor", "prefetch_queue_depth"),
        ("persistent_workers", "stay"),
        ("generator", "seed"),
        ("timeout", "process"),
        ("multiprocessing_context", "py_start_method"),
        ("pin_memory_device", "mixed"),
        ("in_order", "order"),
    ],
)
def test_arguments_of_torchs_loader_are_refused_with_their_place_here(argument, said):
    with pytest.raises(TypeError, match=f"no argument '{argument}': .*{said}"):
        DataLoader(numbers(3, batch_size=1), **{argument: 1})


def test_every_argument_of_torchs_loader_has_a_hint():
    import inspect

    from penstock._base.other_names import OF_LOADERS

    theirs = set(inspect.signature(torch.utils.data.DataLoader.__init__).parameters) - {"self"}
    assert theirs <= set(OF_LOADERS)


def test_an_object_that_is_not_a_pipeline():
    def plain():
        pass

    with pytest.raises(TypeError, match=r"'numbers' makes one: call it, DataLoader\(numbers"):
        DataLoader(numbers)
    with pytest.raises(TypeError, match="the function 'plain': decorate it with @penstock.pipeline_def"):
        DataLoader(plain)
    with pytest.raises(TypeError, match="got list; fn.readers.dataset"):
        DataLoader([1, 2])
    with pytest.raises(TypeError, match="got int$"):
        DataLoader(3)
    with pytest.raises(TypeError, match="no argument 'colour'$"):
        DataLoader(numbers(3, batch_size=1), colour=1)
    with pytest.raises(ValueError, match="uneven=True is for"):
        DataLoader(numbers(3, batch_size=1), uneven=True, last_batch="drop")


# --- external sources -----------------------------------------------------------------------------------------------------


def generator():
    for k in range(3):
        yield [np.float32([k]), np.float32([k])]


class Epochs:
    """The iterator of DALI's tutorials: StopIteration at the end of an epoch, and then it continues."""

    def __init__(self):
        self.k = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 3:
            self.k = 0
            raise StopIteration
        self.k += 1
        return [np.float32([self.k - 1])] * 2


class Restarting(Epochs):
    def __iter__(self):
        self.k = 0
        return self


def loader_of(source, **options):
    @pipeline_def(batch_size=2, num_threads=1, py_start_method="fork")
    def pipe():
        return fn.external_source(source, **options)

    return DataLoader(pipe())


@pytest.mark.parametrize("options", [{}, {"cycle": "raise"}, {"cycle": "no"}, {"parallel": True}])
@pytest.mark.parametrize(
    "source",
    [generator, lambda: list(generator()), lambda: tuple(generator()), Epochs, Restarting],
    ids=["generator", "list", "tuple", "iterator", "restarting"],
)
def test_sources_give_every_epoch(source, options):
    made = source if source is generator else source()
    loader = loader_of(made, **options)
    want = [0, 1, 2]
    first = lambda batches: [int(b[0, 0]) for (b,) in batches]
    assert first(loader) == want and first(loader) == want
    if not options and source is not Epochs:

        @pipeline_def(batch_size=2, num_threads=1, debug=True)
        def pipe():
            return fn.external_source(made)

        in_steps = DataLoader(pipe())
        assert first(in_steps) == want and first(itertools.islice(in_steps, 1)) == [0] and first(in_steps) == want
    if source is not Epochs:  # which continues where it is
        assert first(itertools.islice(loader, 2)) == want[:2]
        assert first(loader) == want


def test_sources_that_have_one_epoch_say_so():
    loader = loader_of(generator())
    assert len(list(loader)) == 3
    with pytest.raises(RuntimeError, match="generator object, which has one epoch: give the generator function"):
        list(loader)
    for made in (iter(list(generator())), map(lambda b: b, generator())):
        loader = loader_of(made)
        assert len(list(loader)) == 3
        with pytest.raises(RuntimeError, match="gave 3 batches in the epoch before and none in this one"):
            list(loader)
    ended = generator()
    loader = loader_of(lambda: next(ended))
    assert len(list(loader)) == 3
    with pytest.raises(RuntimeError, match="none in this one"):
        list(loader)


def test_a_callable_starts_again():
    def source(i):
        if i == 3:
            raise StopIteration
        return [np.float32([i])] * 2

    loader = loader_of(source)
    next(iter(loader))
    for _ in range(2):
        assert [int(b[0, 0]) for (b,) in loader] == [0, 1, 2]
        state = loader.state_dict()
    again = loader_of(source)
    again.load_state_dict(state)
    assert [int(b[0, 0]) for (b,) in again] == [0, 1, 2]


def test_a_source_beside_a_reader():
    """It may end where the reader's epoch does; if it ends before, that is an error, not a shorter epoch."""

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe(batches, **options):
        weights = [[np.float32([10 * k])] * size for k, size in zip(range(batches), (4, 4, 3))]
        return fn.readers.indices(size=11, shuffle=False), fn.external_source(weights, **options)

    for options in ({}, {"cycle": "raise"}):
        loader = DataLoader(pipe(3, **options))
        for stop in (None, 2, None, None):
            got = [(n.tolist(), int(w[0, 0])) for n, w in itertools.islice(loader, stop)]
            assert got == [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 10), ([8, 9, 10], 20)][:stop]
    for options in ({}, {"last_batch": "drop"}):
        loop = iter(DataLoader(pipe(1), **options))
        next(loop)
        with pytest.raises(RuntimeError, match="external source ended before the epoch of the reader"):
            next(loop)


def test_epoch_size_counts_what_pad_last_batch_repeats():
    pipe = numbers(7, 0, 2, pad=True, batch_size=2)
    assert (
        pipe.epoch_size("reader") == 8 == pipe.epoch_size()["reader"] and pipe.reader_meta("reader")["epoch_size"] == 7
    )
    assert numbers(7, 0, 2, batch_size=2).epoch_size("reader") == 7
    assert penstock.Pipeline.epoch_size.__doc__


def test_an_epoch_is_left_while_the_memory_limit_holds_batches_back(tmp_path):
    """Finished batches give their memory back, so that work that waits for it can end."""
    program = """
import numpy as np
from penstock import fn, pipeline_def
from penstock.torch import DataLoader

@pipeline_def(batch_size=8, num_threads=2, prefetch_queue_depth=4, memory_limit=900_000, seed=1)
def pictures():
    numbers = fn.readers.indices(size=80)
    return fn.cast(fn.full(numbers, shape=[64, 64, 3]), dtype="uint8"), numbers

loader = DataLoader(pictures())
for epoch in range(6):
    for k, batch in enumerate(loader):
        if k == epoch % 3:
            break
print(sum(len(numbers) for _, numbers in loader))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and done.stdout.split() == ["80"], done.stdout + done.stderr


def test_shards_take_turns_over_dealt_batches():
    @pipeline_def(batch_size=4, num_threads=1, seed=7)
    def dealt(**given):
        return fn.readers.indices(size=25, random_shuffle=True, name="reader", **given)

    def made(last_batch, uneven=False, **given):
        return DataLoader(dealt(**given), ["n"], last_batch=last_batch, uneven=uneven)

    def of(loader):
        return [batch["n"].tolist() for batch in loader]

    for last_batch, uneven in (("partial", True), ("partial", False), ("drop", False)):
        loader = made(last_batch)
        whole = [of(loader) for _ in range(2)]
        for w in range(3):
            loader, again = (made(last_batch, uneven, num_shards=3, shard_id=w, deal="batch") for _ in range(2))
            rounds = 3 if last_batch == "partial" else 2
            assert len(loader) == rounds
            for batches in whole:
                expected = batches[w::3][:rounds]
                if not uneven and len(expected) < rounds:
                    expected.append(batches[-1])
                assert of(loader) == expected
            iterator = iter(loader)
            next(iterator)
            again.load_state_dict(loader.state_dict())
            assert of(again) == of(iterator)
    filled = made("fill", num_shards=3, shard_id=1, deal="batch")
    assert [len(batch) for batch in of(filled)] == [4, 4, 4]
    with pytest.raises(ValueError, match="deals batches to the shards"):
        from penstock.plugin.pytorch import DALIGenericIterator

        DALIGenericIterator([dealt(num_shards=3, deal="batch")], ["n"], reader_name="reader")
