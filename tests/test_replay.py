# SPDX-License-Identifier: Apache-2.0
"""Samples of a pipeline draw again what others drew: with other data, in another order, process, shard and pipeline."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from augment_calls import CALLS as AUGMENTATIONS
from random_calls import RANDOM, SIZE, batches, call, layouts

import penstock
from penstock import Pipeline, augment, fn, pipeline_def
from penstock.sample import Boxes, Mask, Sample

CHAINS = 3 if os.environ.get("PENSTOCK_TEST_COUNT") is None else 100


def through_text(params):
    return json.loads(json.dumps(params))


def samples_of(outputs, k):
    return [(b[k].shape(), str(b[k].dtype), b[k].cpu().numpy().tobytes()) for b in outputs]


def replayed(make, params, order, feed):
    """What a new pipeline of another seed gives that draws what the samples `order` drew."""
    pipe = make(seed=1234567).replay(through_text([params[k] for k in order]))
    return pipe.run(**feed)


@pytest.mark.parametrize("name", [name for name in RANDOM if name != "batch_permutation"])
def test_every_random_operator_draws_again(name):
    @pipeline_def(batch_size=SIZE, num_threads=1)
    def drawn():
        made = [fn.external_source(name=f"in{k}", layout=layout) for k, layout in enumerate(layouts(name))]
        return tuple(x for more in ({}, {"seed": 11}) for x in call(name, made, **more))

    feed = {f"in{k}": batch for k, batch in enumerate(batches(name))}
    first = drawn(seed=5)
    first.run(**feed)
    expected = first.run(**feed)  # not from position 0
    params = first.params
    order = [3, 0, 3, *range(SIZE - 3)]
    again = replayed(drawn, params, order, feed)
    for k, of in enumerate(order):
        assert samples_of(again, k) == samples_of(expected, of)
    assert len({str(samples_of(expected, k)) for k in range(SIZE)}) > 1


def test_augmentations_with_conditions_and_loops():
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (23 + k, 31, 3), np.uint8) for k in range(5)]

    @pipeline_def(batch_size=5, num_threads=1)
    def augmented():
        image = fn.external_source(name="images", layout="HWC", dtype=penstock.types.UINT8)
        return tuple(make(image) for make in AUGMENTATIONS.values())

    first = augmented(seed=8)
    expected = first.run(images=images)
    order = [4, 1, 1, 0]
    again = replayed(augmented, first.params, order, {"images": [images[k] for k in order]})
    for name, x, y in zip(AUGMENTATIONS, expected, again):
        for k, of in enumerate(order):
            np.testing.assert_array_equal(y[k].numpy(), x[of].numpy(), err_msg=name)


def geometric(rng, sample):
    """A random step that moves all parts."""
    uniform = fn.random.uniform
    return rng.choice(
        [
            lambda s: fn.rotate(s, angle=uniform(range=[-40.0, 40.0]), fill_value=0, keep_size=True),
            lambda s: fn.random_resized_crop(s, size=[40, 44]),
            lambda s: augment.maybe(s, lambda t: fn.flip(t, horizontal=1), p=0.5),
            lambda s: fn.crop(s, crop=[32, 36], crop_pos_x=uniform(range=[0.0, 1.0]), crop_pos_y=0.5),
            lambda s: fn.elastic_transform(s, alpha=30.0, sigma=5.0),
            lambda s: augment.random_affine(s, degrees=10, translate=(0.1, 0.1)),
            lambda s: augment.one_of(s, [lambda t: fn.rotate(t, angle=90.0, fill_value=0), lambda t: fn.flip(t)]),
            lambda s: augment.repeat(s, lambda t: augment.random_horizontal_flip(t), times=(0, 3)),
        ]
    )(sample)


def photometric(rng, sample):
    return rng.choice(
        [
            lambda s: fn.noise.gaussian(s, stddev=fn.random.uniform(range=[1.0, 30.0])),
            lambda s: augment.color_jitter(s, 0.4, 0.4, 0.4),
            lambda s: augment.some_of(s, [fn.invert, lambda t: augment.random_grayscale(t)], n=(1, 2)),
        ]
    )(sample)


@pytest.mark.parametrize("chain", range(CHAINS))
def test_chains_on_parts_of_a_sample(chain):
    @pipeline_def(batch_size=4, num_threads=2)
    def moved():
        rng = np.random.default_rng(chain)
        image, mask, boxes, labels = (fn.external_source(name=n) for n in ("image", "mask", "boxes", "labels"))
        image, mask = fn.reshape(image, layout="HWC"), fn.reshape(mask, layout="HW")
        sample = Sample(image=image, mask=Mask(mask), boxes=Boxes(boxes), labels=labels)
        for _ in range(3):
            sample = photometric(rng, geometric(rng, sample))
        return tuple(sample[name] for name in ("image", "mask", "boxes", "labels"))

    rng = np.random.default_rng([chain, 1])
    feed = {
        "image": [rng.integers(0, 256, (48, 56, 3), np.uint8) for _ in range(4)],
        "mask": [rng.integers(0, 5, (48, 56), np.uint8) for _ in range(4)],
        "boxes": [np.float32([[4, 4, 30, 30], [20, 10, 50, 40]]) for _ in range(4)],
        "labels": [np.int32([1, 2]) for _ in range(4)],
    }
    first = moved(seed=chain)
    expected = first.run(**feed)
    params = first.params
    order = [2, 0, 3, 2]
    shuffled = {name: [values[k] for k in order] for name, values in feed.items()}
    again = replayed(moved, params, order, shuffled)
    for k, of in enumerate(order):
        assert samples_of(again, k) == samples_of(expected, of)
    # Another image moves its own mask as the first did.
    other = {**shuffled, "image": [255 - image for image in shuffled["image"]]}
    moved_masks = replayed(moved, params, order, other)[1]
    for k, of in enumerate(order):
        np.testing.assert_array_equal(moved_masks[k].numpy(), expected[1][of].numpy())


@pipeline_def(batch_size=4, num_threads=2)
def of_indices(shards=1, shard=0, size=24):
    index = fn.readers.indices(size=size, name="reader", shuffle_after_epoch=True, num_shards=shards, shard_id=shard)
    noise = fn.noise.gaussian(np.zeros((6, 5), np.float32), stddev=fn.random.uniform(range=[1.0, 2.0]))
    return noise + fn.random.normal(shape=[1]), index


def by_index(pipe, count):
    """{index: (bytes, params)} of the next batches."""
    found = {}
    for _ in range(count):
        values, index = pipe.run()
        for k, params in enumerate(pipe.params):
            found[int(index[k].numpy().item()), params["epoch"]] = values[k].numpy().tobytes(), params
    return found


def check_again(found):
    made = list(found.values())
    pipe = of_indices(seed=77).replay(through_text([params for _, params in made]))
    got = []
    while len(got) < len(made):
        got += [x.numpy().tobytes() for x in pipe.run()[0]]
    assert got[: len(made)] == [values for values, _ in made]


def test_params_of_several_epochs():
    found = by_index(of_indices(seed=4), 9)
    assert {epoch for _, epoch in found} == {0, 1}
    check_again(found)


def test_params_of_shards():
    check_again({**by_index(of_indices(3, 0, seed=4), 2), **by_index(of_indices(3, 2, seed=4), 3)})


def test_params_after_a_resume():
    whole = by_index(of_indices(seed=4), 6)
    first = of_indices(seed=4)
    by_index(first, 2)
    resumed = by_index(of_indices(seed=99, checkpoint=first.checkpoint()), 4)
    assert all(whole[key] == value for key, value in resumed.items())
    check_again(resumed)


def test_params_of_a_pipeline_that_was_loaded(tmp_path):
    first = of_indices(seed=4)
    first.save(tmp_path / "saved.json")
    found = by_index(first, 2)
    loaded = Pipeline.load(filename=tmp_path / "saved.json")
    assert by_index(loaded, 2) == found


def test_another_process_draws_again():
    code = """
        import json, sys
        import numpy as np
        from penstock import fn, pipeline_def
        {source}
        params = json.load(sys.stdin)
        pipe = of_indices(seed=1)
        made = [x.numpy().tobytes().hex() for x in pipe.replay(params).run()[0]]
        print(json.dumps([made, [[p["epoch"], p["position"]] for p in pipe.params]]))
    """
    source = """
        @pipeline_def(batch_size=4, num_threads=2)
        def of_indices():
            index = fn.readers.indices(size=9, name="reader")
            noise = fn.noise.gaussian(np.zeros((6, 5), np.float32), stddev=fn.random.uniform(range=[1.0, 2.0]))
            return noise + fn.random.normal(shape=[1]), index
    """
    found = [(values, params) for values, params in by_index(of_indices(seed=4), 1).values()]
    params = [params for _, params in found]
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code).replace("{source}", textwrap.dedent(source))],
        input=json.dumps(params),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    drawn = [[p["epoch"], p["position"]] for p in params]
    assert json.loads(run.stdout) == [[values.hex() for values, _ in found], drawn]


def numbers(**options):
    @pipeline_def(batch_size=4, num_threads=1, **options)
    def made():
        return fn.random.uniform(range=[0.0, 1.0], shape=[3])

    return made()


def rows(pipe, count=1):
    return [x.numpy().tolist() for _ in range(count) for x in pipe.run()[0]]


def test_params_begin_again_and_end():
    first = numbers(seed=3)
    values = rows(first)
    again = numbers(seed=3, prefetch_queue_depth=1).replay(first.params[1:])
    assert rows(again, 3) == (values[1:] * 4)[:12]
    one = numbers(seed=9).replay(first.params[2])
    assert rows(one) == [values[2]] * 4
    assert one.params == [first.params[2]] * 4
    assert rows(numbers(seed=3).replay(first.params).replay(None)) == values


def test_params_of_samples_that_were_not_seen():
    found = by_index(of_indices(seed=4), 7)
    pipe = of_indices(seed=4)
    for values, params in found.values():
        at = pipe.params_at(params["position"], epoch=params["epoch"])
        assert at == {key: params[key] for key in ("program", "seed", "epoch", "position")}
    refused(TypeError, "position must be an integer, got float", lambda: pipe.params_at(1.5))
    refused(ValueError, "epoch must be .* from 0, got -1", lambda: pipe.params_at(1, epoch=-1))


def test_children_draw_again():
    @pipeline_def(batch_size=2, num_threads=1)
    def crops():
        image = fn.external_source(name="images", layout="HWC")
        more = fn.expand(image, k=fn.random.uniform(range=[1.0, 4.0], dtype=penstock.types.INT32))
        return fn.random_resized_crop(more, size=[5, 5])

    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (16, 20, 3), np.uint8) for _ in range(2)]
    first = crops(seed=4)
    expected = first.run(images=images)[0]
    parents = sorted({p["position"] for p in first.params})
    params = [next(p for p in first.params if p["position"] == at) for at in parents]
    again = replayed(crops, params, [1, 0], {"images": images[::-1]})[0]
    count = sum(p["position"] == 0 for p in first.params)
    turned = [*list(expected)[count:], *list(expected)[:count]]
    assert [x.numpy().tolist() for x in again] == [x.numpy().tolist() for x in turned]


def drawn_by_numpy(value):
    return value + np.random.rand(2)


def test_functions_in_worker_processes_draw_again():
    @pipeline_def(batch_size=3, num_threads=1, py_num_workers=1)
    def called():
        value = fn.external_source(name="values")
        return fn.python_function(value, function=drawn_by_numpy, processes=True)

    feed = {"values": [np.zeros(2)] * 3}
    first = called(seed=4)
    first.run(**feed)
    expected = first.run(**feed)
    again = replayed(called, first.params, [2, 0, 0], feed)
    for k, of in enumerate([2, 0, 0]):
        assert samples_of(again, k) == samples_of(expected, of)


def test_a_mix_of_the_same_batch_draws_again():
    @pipeline_def(batch_size=5, num_threads=1)
    def mixed():
        image = fn.external_source(name="images", layout="HWC")
        image, labels = augment.mixup(image, fn.external_source(name="labels"), num_classes=4)
        return image, labels, fn.batch_permutation()

    rng = np.random.default_rng(0)
    feed = {
        "images": [rng.integers(0, 256, (6, 7, 3), np.uint8) for _ in range(5)],
        "labels": [np.int32(k % 4) for k in range(5)],
    }
    first = mixed(seed=4)
    first.run(**feed)
    expected = first.run(**feed)
    again = replayed(mixed, first.params, range(5), feed)
    for k in range(5):
        assert samples_of(again, k) == samples_of(expected, k)


def test_samples_that_are_left_out_keep_their_params(tmp_path):
    """The k-th sample of the source draws by the k-th params, whatever the error policy does with others."""
    for k in range(4):
        np.save(tmp_path / f"{k}.npy", np.full((3,), k, np.float32))
    (tmp_path / "1.npy").write_bytes(b"no array")

    @pipeline_def(batch_size=4, num_threads=1, on_error="skip")
    def read():
        data = fn.readers.numpy(file_root=str(tmp_path), file_filter="*.npy", name="reader")
        return data, fn.random.uniform(data, range=[0.0, 1.0])

    first = read(seed=2)
    data, drawn = first.run()
    assert [x.numpy()[0] for x in data] == [0, 2, 3]
    assert [p["position"] for p in first.params] == [0, 2, 3]
    assert [os.path.basename(p["source"]) for p in first.params] == ["0.npy", "2.npy", "3.npy"]
    params = [first.params[k] for k in (2, 0, 1, 0)]
    again = read(seed=2).replay(params).run()[1]
    assert [x.numpy().tolist() for x in again] == [drawn[k].numpy().tolist() for k in (2, 1, 0)]


def test_steps_say_what_was_drawn():
    @pipeline_def(batch_size=6, num_threads=1, seed=5)
    def turned():
        image = fn.external_source(name="images", layout="HWC")
        angle = fn.random.uniform(range=[-30.0, 30.0])
        image = fn.rotate(image, angle=angle, fill_value=0, keep_size=True)
        coin = fn.random.coin_flip()
        if coin:
            image = fn.crop(image, crop=[8, 8], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))
        trip = fn.random.uniform(range=[0.0, 3.0], dtype=penstock.types.INT32)
        for _ in range(trip):
            image = fn.brightness(image, brightness=fn.random.uniform(range=[0.5, 1.5]))
        return fn.noise.gaussian(image, stddev=1.0), angle, coin, trip

    pipe = turned().log_steps()
    images = [np.full((12 + k, 16, 3), 9, np.uint8) for k in range(6)]
    for _ in range(2):
        _, angles, coins, trips = pipe.run(images=images)
        for k, params in enumerate(through_text(pipe.params)):
            first, condition, *rest = params["steps"]
            assert (first["op"], first["arguments"]["keep_size"]) == ("rotate", True)
            assert first["arguments"]["angle"] == angles[k].numpy().item()
            assert "test_replay.py:" in first["line"] and "trips" not in first
            assert (condition["op"], condition["arguments"]) == ("if", {"condition": coins[k].numpy().item()})
            crop = ["crop"] * coins[k].numpy().item()
            loop = ["brightness"] * trips[k].numpy().item()
            assert [s["op"] for s in rest] == [*crop, *loop, "noise.gaussian"]
            assert [s["trips"] for s in rest if s["op"] == "brightness"] == [[i] for i in range(len(loop))]
            assert rest[-1]["arguments"] == {"stddev": 1.0}
    plain = turned()
    plain.run(images=images)
    assert all("steps" not in p for p in plain.params)


@pytest.mark.parametrize("loops", [0, 2])
def test_steps_have_the_window_of_a_crop(loops):
    """The pixels of the image say where they are."""

    def crop(image):
        return fn.random_resized_crop(image, size=[20, 30], random_area=[0.2, 0.6], interp_type=1, antialias=False)

    @pipeline_def(batch_size=8, num_threads=2, seed=4)
    def cropped():
        image = fn.resize(fn.external_source(name="images", layout="HWC"), size=[40, 60])
        if not loops:
            return crop(image)
        made = fn.resize(image, size=[20, 30])
        for _ in range(fn.random.coin_flip(probability=1.0) + 1):
            made = crop(image)
        return made

    y, x = np.mgrid[:40, :60].astype(np.float32) + 0.5
    pipe = cropped().log_steps()
    (batch,) = pipe.run(images=[np.stack([x, y], -1)] * 8)
    windows = set()
    for picture, params in zip(batch, pipe.params):
        steps = [step for step in params["steps"] if step["op"] == "random_resized_crop"]
        assert len(steps) == max(loops, 1)
        left, top, right, bottom = steps[-1]["window"]
        inside = picture.numpy()[5:15, 5:25]
        columns = left + (np.arange(5, 25) + 0.5) * (right - left) / 30
        rows_ = top + (np.arange(5, 15) + 0.5) * (bottom - top) / 20
        np.testing.assert_allclose(inside[..., 0], np.broadcast_to(columns, (10, 20)), atol=1e-3)
        np.testing.assert_allclose(inside[..., 1], np.broadcast_to(rows_[:, None], (10, 20)), atol=1e-3)
        windows |= {tuple(step["window"]) for step in steps}
    assert len(windows) == 8 * max(loops, 1)


def test_params_in_a_torch_loader():
    from penstock.torch import DataLoader

    pipe = of_indices(seed=4)
    found = by_index(of_indices(seed=4), 2)
    seen = []
    for values, index in DataLoader(pipe):
        seen += zip(index.flatten().tolist(), (v.numpy().tobytes() for v in values), pipe.params)
    assert len(seen) == 24
    for index, values, params in seen[:8]:
        assert found[index, 0] == (values, params)


def refused(error, what, call):
    with pytest.raises(error, match=what):
        call()


def test_what_is_refused():
    first = numbers(seed=3)
    refused(RuntimeError, "run\\(\\) first", lambda: first.params)
    first.run()
    params = first.params
    other = of_indices(seed=3)
    refused(ValueError, "params\\[0\\] is of the program .*same", lambda: other.replay(params))
    refused(ValueError, "batches are in flight", lambda: first.replay(params))
    new = numbers(seed=3)
    refused(TypeError, "takes Pipeline.params", lambda: new.replay(7))
    refused(ValueError, "at least one", lambda: new.replay([]))
    refused(TypeError, "got int", lambda: new.replay([7]))
    refused(ValueError, "params\\[1\\] has no 'seed'", lambda: new.replay([params[0], {"program": "x"}]))
    refused(ValueError, "'epoch'.*64 bits, got -1", lambda: new.replay({**params[0], "epoch": -1}))
    refused(ValueError, "'seed'.*64 bits, got True", lambda: new.replay({**params[0], "seed": True}))
    refused(ValueError, "one seed", lambda: new.replay([params[0], {**params[1], "seed": 4}]))
    sample = fn.flip(Sample(image=np.zeros((4, 4, 3), np.uint8)))
    refused(TypeError, "Sample.replay", lambda: new.replay(sample.params))
    refused(TypeError, "Sample.replay", lambda: new.replay([sample.params]))
    refused(TypeError, "Pipeline.replay", lambda: sample.replay(params))
    refused(TypeError, "Pipeline.replay", lambda: sample.replay(params[0]))
    refused(RuntimeError, "log_steps.*before", first.log_steps)
    debug = numbers(seed=3, debug=True)
    for call_ in (lambda: debug.params, lambda: debug.replay(params), debug.log_steps):
        refused(TypeError, "debug=True", call_)
    resumed = numbers(checkpoint=first.checkpoint())
    refused(ValueError, "checkpoint is of 3", lambda: resumed.replay([{**params[0], "seed": 4}]))


def test_a_subclass_may_have_params_of_its_own():
    class Script(Pipeline):
        def __init__(self):
            super().__init__(batch_size=1, num_threads=1)
            self.params = {"low": 2.0}

        def define_graph(self):
            return fn.random.uniform(range=[self.params["low"], 3.0])

    assert 2 <= Script().run()[0].as_array().item() <= 3


def test_a_change_of_an_argument_is_another_program():
    def made(**arguments):
        @pipeline_def(batch_size=2, num_threads=1, seed=1)
        def images():
            image = fn.external_source(name="images", layout="HWC")
            return fn.rotate(image, angle=fn.random.uniform(range=[0.0, 9.0]), fill_value=0, **arguments)

        return images()

    image = [np.zeros((4, 5, 3), np.uint8)] * 2
    first = made()
    first.run(images=image)
    made(name="mine", device="cpu").replay(first.params)
    refused(ValueError, "is of the program", lambda: made(keep_size=True).replay(first.params))
    refused(ValueError, "is of the program", lambda: made(seed=3).replay(first.params))
