# SPDX-License-Identifier: Apache-2.0
"""Which random numbers an operator draws: only its own seed decides, input sets share, others differ."""

import numpy as np
import pytest
from random_calls import CALLS, RANDOM, SIZE, batches, bytes_of, call, layouts

import penstock
from penstock import Pipeline, fn, pipeline_def


def pipeline_of(name, **options):
    """run(), which gives per batch: the outputs of two calls of one seed, of two calls without a seed, and of the two input
    sets of one call."""
    samples, parts = CALLS[name][0], []

    @pipeline_def(batch_size=SIZE, num_threads=2, **{"seed": 3, **options})
    def pipe():
        made = [
            fn.external_source(lambda info, x=x: x, batch=False, layout=layout)
            for x, layout in zip(samples, layouts(name))
        ]
        calls = [
            call(name, made, seed=11),
            [fn.random.uniform()],
            call(name, made, seed=11),
            call(name, made),
            call(name, made),
        ]
        if samples:
            sets = call(name, [[x, x] for x in made])
            calls += [list(s) for s in zip(*sets)] if isinstance(sets[0], list) else [[x] for x in sets]
        parts.clear()
        parts.extend(len(c) for c in calls)
        return tuple(x for c in calls for x in c)

    built = pipe()

    def run():
        out, got = list(built.run()), []
        for n in parts:
            got.append(bytes_of(out[:n]))
            del out[:n]
        return got

    return run


@pytest.mark.parametrize("name", RANDOM)
def test_draws_of_a_pipeline(name):
    run, debug = pipeline_of(name), pipeline_of(name, debug=True)
    batches_seen = []
    for number in range(2):
        got = run()
        first, _, second, alone, other, *sets = got
        assert first == second
        assert len(sets) == (2 if CALLS[name][0] else 0) and sets[:1] == sets[1:]
        different = [first, alone, other, *sets[:1]]
        assert len({str(x) for x in different}) == len(different)
        assert debug() == got
        batches_seen.append(first)
    assert batches_seen[0] != batches_seen[1]
    assert bytes_of(call(name, batches(name), seed=11, immediate=True)) == batches_seen[0]


@pytest.mark.parametrize("name", RANDOM)
def test_draws_of_immediate_calls(name):
    inputs = batches(name)

    def at_once(**more):
        return bytes_of(call(name, inputs, immediate=True, **more))

    assert at_once(seed=5) == at_once(seed=5) != at_once(seed=6)
    penstock.seed(7)
    first = at_once()
    assert first != at_once()
    penstock.seed(7)
    assert at_once() == first
    if inputs:
        penstock.seed(7)
        sets = call(name, [[b, b] for b in inputs])
        for k in range(2):
            assert bytes_of([s[k] for s in sets] if isinstance(sets[0], list) else [sets[k]]) == first


def test_lists_of_inputs_have_one_length():
    b = penstock.batch([np.zeros(3, np.float32)])
    with pytest.raises(ValueError, match="lists of inputs must have one length, got 2 and 3"):
        fn.random.choice([b] * 2, [b] * 3)


def run_once(define, batches=1, **options):
    pipe = Pipeline(**{"batch_size": SIZE, "num_threads": 2, "seed": 3, **options})
    with pipe:
        pipe.set_outputs(*define())
    got = [bytes_of([b]) for _ in range(batches) for b in pipe.run()]
    pipe.close()
    return got


def encoded():
    return fn.external_source(lambda info: CALLS["decoders.image_random_crop"][0][0], batch=False)


@pytest.mark.parametrize("mode", [{}, {"PENSTOCK_PUSH_DOWN": "0"}, {"PENSTOCK_EXEC": "simple"}], ids=str)
def test_all_random_windows_of_one_seed_are_one_window(mode, monkeypatch):
    for key, value in mode.items():
        monkeypatch.setenv(key, value)

    def define():
        file = encoded()
        image = fn.decoders.image(file)
        anchor, shape = fn.random_crop_generator(image.shape(), seed=8)
        kept = fn.slice(image, anchor, shape, axes=[0, 1], normalized_anchor=False, normalized_shape=False)
        cut = fn.decoders.image_random_crop(file, seed=8)
        nearest = dict(size=[9, 10], interp_type=penstock.types.INTERP_NN)
        return (
            kept,
            cut,
            fn.resize(cut, **nearest),
            fn.random_resized_crop(image, seed=8, **nearest),
            fn.random_resized_crop(fn.decoders.image(file), seed=8, **nearest),
        )

    kept, cut, resized, at_once, in_decoder = run_once(define)
    assert kept == cut and len({str(x) for x in cut}) > SIZE // 2
    assert resized == at_once == in_decoder


def test_operators_of_one_pass_draw_by_their_own_seeds(monkeypatch):
    def define():
        return [
            fn.random_resized_crop(fn.decoders.image_random_crop(encoded(), seed=1), size=[9, 10], seed=s)
            for s in (2, 3, 2)
        ]

    fused = run_once(define)
    assert fused[0] == fused[2] != fused[1]
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    assert run_once(define) == fused


@pytest.mark.parametrize("debug", [False, True])
def test_one_seed_in_branches_and_loops(debug):
    @pipeline_def(batch_size=SIZE, num_threads=2, seed=3, debug=debug)
    def pipe():
        outside = fn.random.uniform(seed=4)
        if fn.random.coin_flip(seed=5):
            x = fn.random.uniform(seed=4)
        else:
            x = fn.random.uniform(seed=4) + 100
        a = b = before = fn.random.uniform(seed=9) * 0
        differs = before > 1
        for _ in range(fn.random.uniform(range=[2, 4], seed=6, dtype=penstock.types.INT32)):
            a = fn.random.uniform(seed=4)
            b = fn.random.uniform(seed=4)
            differs = a != before
            before = a
        return outside, x, a, b, differs

    outside, x, a, b, differs = [np.array([float(t.numpy()) for t in o]) for o in pipe().run()]
    inside = x < 50
    assert inside.any() and not inside.all()
    np.testing.assert_array_equal(outside[inside], x[inside])
    np.testing.assert_allclose(outside[~inside] + 100, x[~inside], atol=1e-4)
    np.testing.assert_array_equal(a, b)
    assert differs.all() and not (a == outside).any()


def test_a_pipelines_seed_and_an_operators_are_two():
    """seed=42 for the pipeline and for an operator does not join that operator with those without a seed."""
    drawn = run_once(lambda: [fn.random.uniform(), fn.random.uniform(seed=42), fn.random.uniform()], seed=42)
    assert len({str(x) for x in drawn}) == 3


# --- saved forms ---------------------------------------------------------------------------------------------------------


def test_a_saved_pipeline_draws_the_same():
    def make():
        pipe = Pipeline(batch_size=SIZE, num_threads=1, seed=3)
        with pipe:
            x = fn.random.uniform(range=[1, 9], seed=5)
            sets = fn.noise.gaussian([x, x])
            pipe.set_outputs(x, *sets, fn.random.uniform())
        return pipe

    want = [bytes_of([b]) for b in make().run()]
    assert want[1] == want[2]
    text = make().to_json()
    assert [bytes_of([b]) for b in Pipeline.deserialize(text).run()] == want
    assert '"penstock_graph": 2' in text
    for form, said in (
        (1, "an older version of Penstock, which drew other random numbers"),
        (3, "a newer version of Penstock"),
    ):
        with pytest.raises(ValueError, match=f"this pipeline was saved by {said}"):
            Pipeline.deserialize(text.replace('"penstock_graph": 2', f'"penstock_graph": {form}'))


@pytest.mark.parametrize("seed", [7, None])
@pytest.mark.parametrize("source", ["none", "reader", "callable"])
def test_a_checkpoint_restores_the_random_numbers(seed, source, tmp_path):
    for k in range(10):
        (tmp_path / f"{k}.bin").write_bytes(bytes([k]))

    @pipeline_def(batch_size=4, num_threads=2, enable_checkpointing=True)
    def pipe():
        made = [fn.random.uniform(), fn.random.uniform(seed=5), fn.batch_permutation()]
        if source == "reader":
            made += fn.readers.file(file_root=str(tmp_path), files=[f"{k}.bin" for k in range(10)], random_shuffle=True)
        if source == "callable":
            made.append(fn.external_source(lambda i: [np.full(2, i, np.int32)] * 4))
        return tuple(made)

    for runs in (0, 1, 3, 4):
        first = pipe(seed=seed)
        for _ in range(runs):
            first.run()
        state = first.checkpoint()
        other = pipe(seed=seed, checkpoint=state)
        assert other.checkpoint() == state and other.seed == first.seed
        for _ in range(4):
            assert bytes_of(other.run()) == bytes_of(first.run())


def test_a_checkpoint_without_a_reader_resumes_with_another_batch_size():
    def draws(batch_size, runs, checkpoint=None):
        pipe = Pipeline(batch_size=batch_size, num_threads=1, seed=7, checkpoint=checkpoint)
        with pipe:
            pipe.set_outputs(fn.random.uniform())
        return [x for _ in range(runs) for x in bytes_of(pipe.run())], pipe

    whole, _ = draws(4, 6)
    begun, pipe = draws(4, 3)
    assert begun + draws(6, 2, pipe.checkpoint())[0] == whole


def test_checkpoints_of_other_versions_and_pipelines_are_refused(tmp_path):
    def make(checkpoint=None, reader=False):
        pipe = Pipeline(batch_size=4, num_threads=1, seed=7, checkpoint=checkpoint)
        with pipe:
            (tmp_path / "a.bin").write_bytes(b"a")
            more = fn.readers.file(file_root=str(tmp_path), files=["a.bin"]) if reader else []
            pipe.set_outputs(fn.random.uniform(), *more)
        pipe.build()
        return pipe

    state = make().checkpoint()
    with pytest.raises(
        ValueError, match="this checkpoint was saved by an older version of Penstock, which drew other random numbers"
    ):
        make(state.replace(b'"penstock_checkpoint":2', b'"penstock_checkpoint":1'))
    with pytest.raises(ValueError, match="the checkpoint is from a pipeline without sources"):
        make(state, reader=True)
