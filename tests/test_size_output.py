# SPDX-License-Identifier: Apache-2.0
"""resize(save_attrs=True): a second output with the extents of the input, from calls, pipelines and decoders."""

import io
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import random_sample
from PIL import Image
from test_fusion import ALONE, FUSED, SIMPLE, assert_same

import penstock
from penstock import Pipeline, fn, types

LAYOUTS = ["HWC", "CHW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "FDHWC", ""]


def picture(height, width, orientation=1):
    exif = Image.Exif()
    exif[0x0112] = orientation
    noise = np.random.default_rng(height).integers(0, 256, (5, 7, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(noise).resize((width, height), Image.BICUBIC).save(data, "JPEG", quality=90, exif=exif)
    return np.frombuffer(data.getvalue(), np.uint8)


PICTURES = [picture(40, 60), picture(80, 50, orientation=6), picture(33, 47)]
UPRIGHT = [[40, 60], [50, 80], [33, 47]]


def encoded():
    return fn.external_source(lambda: penstock.batch(PICTURES))


@given(st.integers(0, 2**32 - 1))
def test_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout = pick.choice(LAYOUTS)
    letters = layout or pick.choice(["HWC", "FHWC"])
    xs = [random_sample(pick, letters, pick.choice(["uint8"]), extents=(2, 7, 16, 33)) for _ in range(3)]
    arguments = {"resize_x": float(pick.randint(1, 20))}
    if pick.random() < 0.3:
        arguments |= {
            "roi_start": [0.1] * sum(c in "DHW" for c in letters),
            "roi_end": [0.6] * sum(c in "DHW" for c in letters),
            "roi_relative": True,
        }
    images, sizes = oracle.call("resize", xs, layout=layout or None, save_attrs=True, **arguments)
    layouts = list(oracle.layouts)
    got, attributes = fn.resize(penstock.batch(xs, layout=layout), save_attrs=True, **arguments)
    assert [got.layout(), attributes.layout()] == layouts
    alone = fn.resize(penstock.batch(xs, layout=layout), **arguments)
    for i, x in enumerate(xs):
        assert attributes[i].numpy().dtype == sizes[i].dtype == np.int32
        np.testing.assert_array_equal(attributes[i].numpy(), sizes[i])
        assert list(sizes[i]) == [x.shape[d] for d, c in enumerate(letters) if c in "DHW"]
        assert got[i].numpy().shape == images[i].shape
        np.testing.assert_array_equal(got[i].numpy(), alone[i].numpy())


def test_a_call_gives_the_kind_that_it_was_given():
    x = np.zeros((5, 8, 3), np.uint8)
    image, size = fn.resize(x, size=[2, 3], save_attrs=True)
    assert type(image) is type(size) is np.ndarray and image.shape == (2, 3, 3)
    np.testing.assert_array_equal(size, np.int32([5, 8]))
    assert fn.resize(x, size=[2, 3], save_attrs=False).shape == (2, 3, 3)


def test_the_decoder_is_still_in_the_same_stage():
    """The size is that of the upright picture, which the header gives; an earlier crop changes it."""

    def whole():
        image, size = fn.resize(fn.decoders.image(encoded()), size=[20, 20], save_attrs=True)
        return [fn.crop_mirror_normalize(image, dtype=types.FLOAT), size]

    def cropped():
        return fn.resize(fn.crop(fn.decoders.image(encoded()), crop=(30, 40)), resize_shorter=12.0, save_attrs=True)

    for define, expected in ((whole, UPRIGHT), (cropped, [[30, 40]] * 3)):
        assert_same(define, [FUSED, ALONE, SIMPLE])
        pipe = Pipeline(batch_size=3, num_threads=2)
        with pipe:
            pipe.set_outputs(*define())
        for _ in range(2):
            images, sizes = pipe.run()
            assert sizes.as_array().tolist() == expected and sizes.layout() == ""
        stages = [line for line in pipe.text(planned=True).splitlines() if line.startswith("stage")]
        assert len(stages) == 1, stages
        pipe.close()


@pytest.mark.parametrize("mode", [FUSED, SIMPLE], ids=["fused", "simple"])
def test_what_follows_may_read_the_size(mode):
    """A reader between the operators of a stage, one that the stage itself would need, and one that reads only the size."""

    def between():
        image, size = fn.resize(fn.decoders.image(encoded()), size=[20, 20], save_attrs=True)
        area = size[0] * size[1]
        return [fn.brightness(image, brightness=0.5), area]

    def argument():
        image, size = fn.resize(fn.decoders.image(encoded()), size=[20, 20], save_attrs=True)
        return [fn.brightness(image, brightness=fn.cast(size[0], dtype=types.FLOAT) / 50.0)]

    def alone():
        return [fn.resize(fn.decoders.image(encoded()), size=[20, 20], save_attrs=True)[1] + 1]

    def back():
        image, size = fn.resize(fn.decoders.image(encoded()), size=[20, 20], save_attrs=True)
        return [fn.resize(image, size=fn.cast(size, dtype=types.FLOAT), save_attrs=True)[k] for k in (0,)]

    for define in (between, argument, alone, back):
        assert_same(define, [mode, ALONE, SIMPLE])
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        pipe.set_outputs(*back(), *alone(), between()[1])
    images, more, area = pipe.run()
    assert [list(i.shape()[:2]) for i in images] == UPRIGHT
    assert more.as_array().tolist() == (np.array(UPRIGHT) + 1).tolist()
    assert area.as_array().ravel().tolist() == [h * w for h, w in UPRIGHT]


def test_two_of_them_in_a_row():
    def twice():
        x, first = fn.resize(fn.decoders.image(encoded()), size=[20, 30], save_attrs=True)
        x, second = fn.resize(x, size=[5, 6], save_attrs=True)
        return [x, first, second]

    assert_same(twice, [FUSED, ALONE, SIMPLE])
    pipe = Pipeline(batch_size=3, num_threads=2)
    with pipe:
        pipe.set_outputs(*twice())
    x, first, second = pipe.run()
    assert first.as_array().tolist() == UPRIGHT and second.as_array().tolist() == [[20, 30]] * 3


def test_frames_with_their_own_values():
    xs = [
        random_sample(random.Random(i), "FHWC", "uint8", channels=(3,), extents=(9, 16), frames=(3,)) for i in range(3)
    ]
    factors = penstock.batch([np.float32([0.5, 1, 2])] * 3, layout="F")

    def define(reverse):
        x = fn.external_source(lambda: penstock.batch(xs, layout="FHWC"), layout="FHWC")
        x, size = fn.resize(x, size=[7, 7], save_attrs=True)
        x = fn.brightness(x[::-1] if reverse else x, brightness=fn.external_source(lambda: factors, layout="F"))
        return [x, size]

    for reverse in (False, True):
        assert_same(lambda: define(reverse), [FUSED, SIMPLE])


def test_saved_and_loaded(tmp_path):
    (tmp_path / "a").mkdir()
    for i, p in enumerate(PICTURES):
        (tmp_path / "a" / f"{i}.jpg").write_bytes(p.tobytes())
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        images, size = fn.resize(
            fn.decoders.image(fn.readers.file(file_root=str(tmp_path))[0]), size=[20, 20], save_attrs=True
        )
        pipe.set_outputs(images, size)
    loaded = Pipeline.deserialize(pipe.to_json())
    for a, b in zip(pipe.run(), loaded.run()):
        np.testing.assert_array_equal(a.as_array(), b.as_array())


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_samples_that_are_left_out(tmp_path, on_error):
    (tmp_path / "a").mkdir()
    for i, p in enumerate(PICTURES):
        (tmp_path / "a" / f"{i}.jpg").write_bytes(p.tobytes()[: 100 if i == 1 else None])
    pipe = Pipeline(batch_size=3, num_threads=1, on_error=on_error)
    with pipe:
        images, size = fn.resize(
            fn.decoders.image(fn.readers.file(file_root=str(tmp_path))[0]), size=[20, 20], save_attrs=True
        )
        pipe.set_outputs(images, size)
    images, size = pipe.run()
    sizes = size.as_array().tolist()
    if on_error == "skip":
        assert len(images) == 2 and sizes == [UPRIGHT[0], UPRIGHT[2]]
    else:
        assert (
            len(images) == 3 and sizes[0] == UPRIGHT[0] and sizes[2] == UPRIGHT[2] and sizes[1] in (sizes[0], sizes[2])
        )
