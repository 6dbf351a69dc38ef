# SPDX-License-Identifier: Apache-2.0
"""debug=True: the bytes of the same program without it, values while the body runs, times, errors."""

import numpy as np
import pytest
from control_reference import Value  # noqa: F401  the random programs are those of test_control_programs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_control_programs import COUNT, INPUTS, _giver, inputs, loaded, programs

import penstock
from penstock import Pipeline, fn, pipeline_def, types
from penstock._control_flow import statements

IMAGES = [np.random.default_rng(i).integers(0, 256, (20 + i, 30, 3), dtype=np.uint8) for i in range(6)]


def flat(out):
    if isinstance(out, dict):
        out = list(out.values())
    return [b for o in out for b in flat(o)] if isinstance(out, (tuple, list)) else [out]


def assert_same(a, b):
    a, b = flat(a), flat(b)
    assert len(a) == len(b)
    for k, (x, y) in enumerate(zip(a, b)):
        assert len(x) == len(y) and x.layout() == y.layout(), k
        for i, (s, t) in enumerate(zip(x, y)):
            s, t = s.numpy(), t.numpy()
            assert s.dtype == t.dtype and s.shape == t.shape and s.tobytes() == t.tobytes(), (k, i, s, t)


def both(body, batches=3, batch_size=6, **options):
    """Runs the body with and without debug; returns the one with it."""
    plain = pipeline_def(body)(batch_size=batch_size, num_threads=2, seed=7, **options)
    debug = pipeline_def(body)(batch_size=batch_size, num_threads=2, seed=7, debug=True, **options)
    for _ in range(batches):
        assert_same(plain.run(), debug.run())
    return debug


def images():
    return fn.external_source(lambda: IMAGES, layout="HWC", dtype=types.UINT8)


def test_operators_and_random_numbers():
    def body():
        x = images()
        r = fn.random.uniform(range=[0, 1])
        y = fn.brightness_contrast(x, brightness=r + 0.5, contrast=fn.random.normal(mean=1, stddev=0.1))
        y = fn.random_resized_crop(y, size=(16, 18))
        return fn.crop_mirror_normalize(y, mirror=fn.random.coin_flip(), mean=[1, 2, 3], std=[4, 5, 6]), {
            "r": r,
            "s": x.shape(),
        }

    both(body)


def test_conditions_loops_and_assignment():
    def body():
        y = images()
        n = fn.cast(fn.random.uniform(range=[0, 5]), dtype=types.INT32)
        k = 0.0
        for i in range(n):
            if fn.random.uniform(range=[0, 1]) > 0.5:
                y = fn.gaussian_blur(y, sigma=1.0)
                k = k + fn.random.uniform(range=[0, 1])
            else:
                y = fn.flip(y, horizontal=fn.random.coin_flip())
            y[0:4] = i * 10
        while k < 2.0:
            k = k + fn.random.uniform(range=[0.5, 1])
            if k > 1.5:
                break
        if k > 1.7:
            z = fn.resize(y, size=(10, 10))
        elif k > 1.6 or n == 3:
            z = fn.python_function(y, function=lambda v: v[:4], output_layouts="HWC")
        else:
            z = y
        return y, k, z, n, fn.random.uniform(range=[0, 1])

    both(body, 5)


def test_branches_and_loops_that_no_sample_takes():
    def body():
        x = images()
        n = fn.reductions.mean(x)
        k = 0
        if n > 1000:
            x = fn.flip(x, horizontal=fn.random.coin_flip())
            for _ in range(fn.cast(fn.random.uniform(range=[0, 5]), dtype=types.INT32)):
                k = k + 1
        while n < 0:
            n = n + fn.random.uniform(range=[0, 1])
        return x, n, k, fn.random.uniform(range=[0, 1])

    both(body)


@settings(
    max_examples=400 if COUNT else 30,
    deadline=None,
    phases=[Phase.generate],
    derandomize=not COUNT,
    suppress_health_check=list(HealthCheck),
)
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_programs(text, seed):
    data = list(zip(*inputs(seed)))
    program = loaded(
        text.replace("0.5", "draw()"),
        {"copy": lambda v: v, "join": lambda a, b: fn.cat(a, b), "draw": lambda: fn.random.uniform(range=[0, 1])},
    )

    def body():
        given = [
            fn.external_source(_giver(list(values)), dtype=dtype, ndim=ndim)
            for values, (dtype, ndim) in zip(data, INPUTS, strict=True)
        ]
        return statements.convert(program)(*given)

    both(body, 2, batch_size=5, max_trips=1000)


def test_readers_and_decoders(tmp_path):
    import cv2

    for c in "ab":
        (tmp_path / c).mkdir()
        for i in range(5):
            cv2.imwrite(
                str(tmp_path / c / f"{i}.jpg"),
                np.random.default_rng(i).integers(0, 255, (40 + i, 60, 3), dtype=np.uint8),
            )

    def body():
        jpegs, labels = fn.readers.file(file_root=str(tmp_path), random_shuffle=True, name="files")
        x = fn.decoders.image_random_crop(jpegs)
        return fn.resize(x, size=(20, 20)), labels, fn.decoders.image(jpegs)

    debug = both(body, 6, batch_size=4)
    assert debug.reader_meta("files")["epoch_size"] == 10 and debug.epoch_size("files") == 10
    assert len(list(debug)) == 3


def test_iterator_and_epochs():
    from penstock.plugin.pytorch import DALIGenericIterator

    def source(i):
        if i == 2:
            raise StopIteration
        return IMAGES

    def body():
        return fn.resize(fn.external_source(source, layout="HWC"), size=(8, 8))

    made = [
        DALIGenericIterator(pipeline_def(body)(batch_size=6, num_threads=1, debug=d), ["x"], auto_reset=True)
        for d in (False, True)
    ]
    for _ in range(2):
        plain, debug = ([b[0]["x"].numpy() for b in it] for it in made)
        assert len(plain) == len(debug) == 2 and all((x == y).all() for x, y in zip(plain, debug))


def test_fed_sources():
    def body():
        return fn.external_source(name="x", dtype=types.UINT8) + fn.external_source(name="y")

    made = [pipeline_def(body)(batch_size=2, num_threads=1, debug=d, prefetch_queue_depth=1) for d in (False, True)]
    for k in range(3):
        for p in made:
            p.feed_input("x", np.full((2, 3), k, np.uint8))
            p.feed_input("y", np.ones((2, 3), np.uint8))
        assert_same(made[0].run(), made[1].run())


def test_values_are_there(capsys):
    seen = []

    @pipeline_def(batch_size=6, num_threads=1, debug=True)
    def p():
        x = images()
        print(x)
        seen.append(
            (x.get()[2].numpy() == IMAGES[2]).all() and len(x.get().shape()) == 6 and (x.at(1) == IMAGES[1]).all()
        )
        m = fn.reductions.mean(fn.cast(x, dtype=types.FLOAT))
        seen.append(m.as_array().shape == (6,))
        big = x
        if m > float(np.median([i.mean() for i in IMAGES])):
            seen.append(len(big.get()))
            big = fn.flip(x)
        y = fn.flip(penstock.batch([v[:5] for v in x.get()]))  # the program's result is used from there on
        return big, y

    out, y = p().run()
    assert seen == [True, True, 3] and "Batch(6 samples, uint8" in capsys.readouterr().out
    assert (y[3].numpy() == IMAGES[3][:5, ::-1]).all()


def test_a_body_that_fails_where_no_sample_is():
    @pipeline_def(batch_size=6, num_threads=1, debug=True)
    def p():
        x = images()
        if fn.reductions.mean(x) > 1000:
            x = fn.flip(x) if x.get()[0].shape()[0] > 3 else x
        return x

    assert (p().run()[0][1].numpy() == IMAGES[1]).all()


def test_times(capsys):
    @pipeline_def(batch_size=6, num_threads=1, debug="times")
    def p():
        return fn.flip(images())

    q = p()
    q.run()
    text = capsys.readouterr().err
    assert "operator" in text and "flip" in text and "test_debug.py:" in text
    stats = q.stats()
    assert (
        [s["name"] for s in stats.stages] == ["external_source", "flip"] and "flip" in str(stats) and stats.samples == 6
    )


def test_errors():
    @pipeline_def(batch_size=6, num_threads=1, debug=True)
    def refuses():
        return fn.gaussian_blur(images(), sigma=-1.0)

    with pytest.raises(ValueError, match=r"\[gaussian_blur\] sigma must be from 0 to"):
        refuses().run()

    @pipeline_def(batch_size=6, num_threads=1, debug=True)
    def function():
        return fn.python_function(images(), function=lambda v: v[100, 0])

    with pytest.raises(penstock.FunctionError, match="for sample 0 of the batch"):
        function().run()

    @pipeline_def(batch_size=6, num_threads=1, debug=True, max_trips=10)
    def endless():
        k = fn.random.uniform(range=[0, 1])
        while k < 2:
            k = k * 1
        return k

    with pytest.raises(ValueError, match="the loop has made 10 trips and has not ended, for sample 0"):
        endless().run()

    @pipeline_def(batch_size=6, num_threads=1)
    def without():
        return images().get()

    with pytest.raises(RuntimeError, match="only with debug=True"):
        without()
    with pytest.raises(ValueError, match="debug must be True, False or 'times'"):
        Pipeline(batch_size=1, debug="loud")
    with pytest.raises(ValueError, match="a pipeline with debug=True has no checkpoint"):
        refuses().checkpoint()


def numbers():
    k = fn.external_source(lambda info: np.int32(info.idx_in_epoch), batch=False, dtype=types.INT32, ndim=0)
    tiles = fn.external_source(
        lambda info: np.full((info.idx_in_epoch % 3 + 1, 2), info.idx_in_epoch, np.float32),
        batch=False,
        dtype=types.FLOAT,
        ndim=2,
    )
    return k, tiles


def filtered(k, tiles):
    k, tiles, r = fn.filter(k, tiles, fn.random.uniform(range=[0, 1]), keep=k % 3 != 1)
    return k * 2, tiles + fn.random.uniform(range=[0, 1]), r


def filtered_twice(k, tiles):
    a = fn.filter(k, keep=k % 3 != 1)
    b = fn.filter({"k": a, "x": a + 1}, keep=a % 2 == 0, min_batch=0)
    return b["x"], b["k"]


def left_out(k, tiles):
    return fn.filter(k, keep=k > 8, min_batch=4)


def expanded(k, tiles):
    r = fn.random.uniform(range=[0, 1])
    k, r = fn.expand(k, r, k=k % 3)
    return k, r + fn.random.uniform(range=[0, 1]), fn.random.normal(shape=(2,)) * 1.0 + fn.cast(k, dtype=types.FLOAT)


def expanded_twice(k, tiles):
    k = fn.expand(fn.expand(k, k=2), k=2)
    return k, fn.random.uniform(range=[0, 9]) + k, k + types.Constant(np.int32(7))


def flattened(k, tiles):
    rows, k = fn.flatten_batch(tiles, repeat=k)
    return rows, k, rows[0] + fn.random.uniform(range=[0, 1])


def a_draw_of_filtered_samples(k, tiles):
    k = fn.filter(k, keep=k % 3 != 1)
    r = fn.random.uniform(range=[0, 1])
    return r, k + r


def outputs_that_nothing_uses(k, tiles):
    k = fn.expand(fn.filter(k, keep=k % 3 != 1), k=2)
    return fn.random.uniform(range=[0, 1]), fn.random.uniform(range=[0, 1]) * 2.0, types.Constant(np.int32(7)), k


@pytest.mark.parametrize(
    "body",
    [
        filtered,
        filtered_twice,
        left_out,
        expanded,
        expanded_twice,
        flattened,
        outputs_that_nothing_uses,
        a_draw_of_filtered_samples,
    ],
)
def test_batches_that_change(body):
    both(lambda: body(*numbers()), 3)


def test_values_of_a_filtered_batch_can_be_looked_at():
    seen = []

    def body():
        k, _ = numbers()
        k = fn.filter(k, keep=k % 2 == 0)
        seen.append([int(t.numpy()) for t in k.get()])
        return k

    pipeline_def(body)(batch_size=6, num_threads=1, debug=True).run()
    assert seen[0] == [0, 2, 4]


def test_what_debug_cannot_do_with_batches_that_change():
    def run(body):
        return pipeline_def(body)(batch_size=6, num_threads=1, debug=True).run()

    def too_few():
        k, _ = numbers()
        return fn.filter(k, keep=k > 3, min_batch=5, too_few="error")

    def branches():
        k, _ = numbers()
        k = fn.filter(k, keep=k > 3)
        while k < 7:
            k = k + 1
        return k

    with pytest.raises(ValueError, match="2 of 6 samples remain, fewer than min_batch=5"):
        run(too_few)
    with pytest.raises(NotImplementedError, match="runs `while` loops over the samples of the sources alone"):
        run(branches)


def test_numbers_that_bodies_alone_use_are_drawn_for_the_whole_batch():
    def body():
        x = fn.random.uniform(shape=[3], seed=4)
        y = fn.random.normal(shape=[2], seed=5)
        if fn.random.coin_flip(seed=6):
            x = x * 2
        for _ in range(fn.random.uniform(range=[0, 3], dtype=types.INT32, seed=7)):
            if fn.random.coin_flip():
                y = y + 1
            else:
                y = y - x[0]
        return x, y

    both(body, batch_size=9)


def test_a_value_that_nobody_uses_may_have_two_types_after_a_condition():
    """Where the types are not known until the samples are there."""

    def body(used):
        y = fn.external_source(lambda: IMAGES, layout="HWC")
        mean = fn.reductions.mean(y)
        if mean > 127:
            y = fn.cast(y, dtype=types.FLOAT)
        return (mean, y) if used else mean

    both(lambda: body(False))
    for debug in (False, True):
        pipe = pipeline_def(lambda: body(True))(batch_size=6, num_threads=2, seed=7, debug=debug)
        with pytest.raises(TypeError, match="types that differ|must have one type"):
            pipe.run()


def test_axes_that_a_body_names():
    def body():
        x = fn.external_source(lambda: [np.full((2, 3), k, np.uint8) for k in range(6)])
        y = z = w = x
        mean = fn.reductions.mean(x)
        if mean > 2:
            y = fn.flip(x)
        if mean <= 2:
            z = fn.flip(x)
        if mean > 9:
            w = fn.flip(x)
        return y, z, w

    both(body)
