# SPDX-License-Identifier: Apache-2.0
"""Arguments in pipelines that have one value a sample: penstock.per_sample([...]) and lists with values of the pipeline."""

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, types

IMAGES = [np.random.default_rng(k).integers(0, 256, (9 + k, 12, 3)).astype(np.uint8) for k in range(7)]


def run(define, batch_size=3, inputs=IMAGES[:3], times=1):
    """The outputs of `define(image)` as lists of arrays."""
    pipe = Pipeline(batch_size, 2, seed=3)
    with pipe:
        image = fn.external_source(lambda: list(inputs), layout="HWC")
        out = define(image)
        pipe.set_outputs(*(out if isinstance(out, tuple) else (out,)))
    for _ in range(times):
        result = pipe.run()
    return [[t.numpy() for t in b] for b in result]


def same(got, expected):
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_per_sample_values_are_those_of_the_immediate_call():
    flips, angles = [1, 0, 1], [10.0, 20.5, -30.0]
    out = run(
        lambda x: (
            fn.flip(x, horizontal=penstock.per_sample(flips)),
            fn.rotate(x, angle=penstock.per_sample(angles)),
            fn.crop(x, crop=penstock.per_sample([[3, 4], [5, 6], [7, 8]])),
        ),
        times=3,
    )
    batch = penstock.batch(IMAGES[:3], layout="HWC")
    same(out[0], [t.numpy() for t in fn.flip(batch, horizontal=penstock.per_sample(flips))])
    same(out[1], [t.numpy() for t in fn.rotate(batch, angle=penstock.per_sample(angles))])
    assert [a.shape for a in out[2]] == [(3, 4, 3), (5, 6, 3), (7, 8, 3)]


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"]
)
def test_per_sample_tensors_keep_type_shape_and_values(dtype):
    values = [(np.arange(n * 2).reshape(n, 2) * 1.5 - 3).astype(dtype) for n in (1, 0, 3)]
    out, total = run(lambda x: (fn.copy(penstock.per_sample(values)), penstock.per_sample(values)))
    same(out, values)
    same(total, values)


def test_operand_of_arithmetic():
    (out,) = run(lambda x: x * penstock.per_sample([1, 2, 3]))
    same(out, [(x.astype(np.int32) * (k + 1)) for k, x in enumerate(IMAGES[:3])])


def test_a_partial_batch_takes_the_first_values(tmp_path):
    from PIL import Image

    for k in range(5):
        Image.fromarray(np.full((4, 4, 3), 10 * k, np.uint8)).save(tmp_path / f"{k}.png")

    @pipeline_def(batch_size=3, num_threads=2)
    def pipe():
        data, _ = fn.readers.file(files=sorted(map(str, tmp_path.iterdir())), name="r")
        return fn.decoders.image(data) + penstock.per_sample([1, 2, 3]), penstock.per_sample([7, 8, 9])

    p = pipe()
    p._set_epoch_mode("partial")
    seen = [([int(t.numpy()[0, 0, 0]) for t in x], [int(t.numpy()) for t in y]) for x, y in p]
    assert seen == [([1, 12, 23], [7, 8, 9]), ([31, 42], [7, 8])]


def test_wrong_numbers_of_values():
    with pytest.raises(
        ValueError, match=r"has 2 values for a batch of 3 samples\n  at \S*test_pipeline_arguments.py:\d+"
    ):
        run(lambda x: fn.flip(x, horizontal=penstock.per_sample([1, 0])))
    pipe = Pipeline(2, 1)
    with pipe:
        pipe.set_outputs(penstock.per_sample([5, 6]))
    saved = pipe.serialize()
    assert [int(t.numpy()) for t in Pipeline.deserialize(saved).run()[0]] == [5, 6]
    with pytest.raises(ValueError, match="values for 2 samples, and the batch has more"):
        Pipeline.deserialize(saved, batch_size=3).run()


def test_an_argument_that_is_one_for_all():
    with pytest.raises(TypeError, match="must be the same for all samples"):
        run(lambda x: fn.transpose(x, perm=penstock.per_sample([[0, 1, 2]] * 3)))


def test_constant_of_several_samples():
    pick = lambda **a: [t.numpy() for t in fn.constant(batch_size=2, **a)]
    same(pick(idata=[1, 2, 3], shape=[1, 2], samples=2), [np.int32([1]), np.int32([2, 3])])
    same(pick(fdata=[1.5, 2.5], shape=[], samples=2), [np.float32(1.5), np.float32(2.5)])
    for bad in (
        {"samples": -1},
        {"samples": 2},
        {"samples": 2, "shape": [1, 2, 3]},
        {"samples": 2, "shape": [2, 2]},
        {"samples": 2, "shape": [1, 2], "layout": "HW"},
    ):
        with pytest.raises(ValueError, match=r"\[constant\]"):
            fn.constant(idata=[1, 2, 3], **bad)


HEIGHTS = [3, 5, 8]


def heights(dtype=np.int32):
    return fn.external_source(lambda: [dtype(h) for h in HEIGHTS])


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64, np.uint8])
def test_lists_of_numbers_and_values(dtype):
    def define(x):
        h = heights(dtype)
        return (
            fn.resize(x, size=[h, 7]),
            fn.crop(x, crop=(4, h)),
            fn.slice(x, start=[h - 3, 0], shape=[2, 5], axes=[0, 1]),
        )

    resized, cropped, sliced = run(define)
    for k, h in enumerate(HEIGHTS):
        np.testing.assert_array_equal(resized[k], fn.resize(IMAGES[k], size=[h, 7]))
        np.testing.assert_array_equal(cropped[k], fn.crop(IMAGES[k], crop=[4, h]))
        np.testing.assert_array_equal(sliced[k], IMAGES[k][h - 3 : h - 1, :5])


def test_lists_of_fractions_and_nested_lists():
    def define(x):
        h = heights()
        return fn.slice(x, rel_start=[0.25, h / 16], rel_shape=[0.5, 0.5], axes=[0, 1]), fn.warp_affine(
            x, matrix=[[h / 4.0, 0, 1], [0, np.float32(0.5), types.Constant(2)]]
        )

    sliced, warped = run(define)
    for k, h in enumerate(HEIGHTS):
        np.testing.assert_array_equal(
            sliced[k], fn.slice(IMAGES[k], rel_start=[0.25, h / 16], rel_shape=[0.5, 0.5], axes=[0, 1])
        )
        np.testing.assert_array_equal(warped[k], fn.warp_affine(IMAGES[k], matrix=[[h / 4, 0, 1], [0, 0.5, 2]]))


def test_lists_of_random_numbers_differ_between_samples():
    (out,) = run(lambda x: fn.crop(x, crop=[fn.random.uniform(range=[2, 8]), 5]), inputs=IMAGES, batch_size=7)
    assert len({a.shape[0] for a in out}) > 1 and {a.shape[1:] for a in out} == {(5, 3)}


def test_lists_that_are_refused():
    vector = lambda: fn.external_source(lambda: [np.float32([1, 2])] * 3, ndim=1)
    for define, message in [
        (lambda x: fn.crop(x, crop=[vector(), 2]), "not one with 1 dimensions"),
        (lambda x: fn.crop(x, crop=[heights(), "a"]), "not str"),
        (lambda x: fn.transpose(x, perm=[heights(), 1, 2]), "must be the same for all samples"),
    ]:
        with pytest.raises(TypeError, match=message):
            run(define)


def test_saved_pipeline_with_both():
    pipe = Pipeline(3, 2)
    with pipe:
        x = fn.external_source(name="x", layout="HWC")
        pipe.set_outputs(
            fn.crop(
                fn.flip(x, horizontal=penstock.per_sample([1, 0, 1])),
                crop=[fn.cast(x[0, 0, 0] % 3 + 2, dtype=types.INT32), 4],
            )
        )
    again = Pipeline.deserialize(pipe.serialize())
    batch = penstock.batch(IMAGES[:3], layout="HWC")
    same([t.numpy() for t in pipe.run(x=batch)[0]], [t.numpy() for t in again.run(x=batch)[0]])
