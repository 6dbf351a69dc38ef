# SPDX-License-Identifier: Apache-2.0
"""A decoder that takes regions makes what the next stage reads, without a visible effect: the bytes are those of the whole
picture, cut."""

import numpy as np
import pytest

import penstock
from decoded import batches, equal, run
from penstock import fn, pipeline_def, types
from test_decoding import EMULATED, files  # noqa: F401  (a fixture)

MEAN, STD = [123.0, 116.0, 103.0], [58.0, 57.0, 57.0]
WINDOWS = {  # of an image
    "crop": lambda x: fn.crop(x, crop=[32, 40], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]), crop_pos_y=0.3),
    "slice": lambda x: fn.slice(x, fn.random.uniform(range=[0.0, 0.3], shape=[2]), [0.5, 0.6], axis_names="HW"),
    "crop filled": lambda x: fn.crop(x, crop=[300, 50], out_of_bounds_policy="constant", fill_values=[1.0, 2.0, 3.0]),
    "crop outside": lambda x: fn.slice(x, start=[400, 400], end=[420, 420], axes=[0, 1], out_of_bounds_policy="pad"),
    "crop repeated": lambda x: fn.crop(x, crop=[300, 50], out_of_bounds_policy="reflect"),
    "random_resized_crop": lambda x: fn.random_resized_crop(x, size=[24, 28]),
    "antialiased": lambda x: fn.random_resized_crop(x, size=[9, 7], antialias=True),
    "nearest": lambda x: fn.random_resized_crop(x, size=[31, 33], interp_type=types.INTERP_NN),
    "resize of a region": lambda x: fn.resize(
        x, size=[20, 20], roi_start=[0.2, 0.1], roi_end=[0.7, 0.9], roi_relative=True
    ),
    "mirrored region": lambda x: fn.resize(
        x, size=[20, 20], roi_start=[0.9, 0.1], roi_end=[0.2, 0.9], roi_relative=True
    ),
    "crop and resize": lambda x: fn.resize(fn.crop(x, crop=[40, 50]), size=[30, 20]),
    "flip and crop": lambda x: fn.crop(fn.flip(x, horizontal=fn.random.coin_flip()), crop=[31, 33], crop_pos_x=0.1),
    "crop_mirror_normalize": lambda x: fn.crop_mirror_normalize(
        x, crop=[40, 41], mirror=fn.random.coin_flip(), mean=MEAN, std=STD, dtype=types.FLOAT16
    ),
    "planar": lambda x: fn.crop_mirror_normalize(
        fn.random_resized_crop(x, size=[32, 32]),
        mean=MEAN,
        std=STD,
        mirror=fn.random.coin_flip(),
        dtype=types.FLOAT,
        output_layout="CHW",
    ),
    "blurred": lambda x: fn.gaussian_blur(fn.crop(x, crop=[40, 44]), window_size=5),
    "rotated": lambda x: fn.rotate(fn.crop(x, crop=[40, 44]), angle=20.0),
    "bright and cut": lambda x: fn.crop(
        fn.brightness(x, brightness=fn.random.uniform(range=[0.5, 1.5])), crop=[33, 35]
    ),
}
DECODERS = {  # with a window of their own
    "image_crop": lambda d, **o: fn.decoders.image_crop(
        d, crop=[32, 40], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]), **o
    ),
    "image_slice": lambda d, **o: fn.decoders.image_slice(
        d, fn.random.uniform(range=[0.0, 0.4], shape=[2]), [0.5, 0.6], **o
    ),
    "image_random_crop": lambda d, **o: fn.decoders.image_random_crop(d, **o),
    "image_random_crop, resized": lambda d, **o: fn.resize(fn.decoders.image_random_crop(d, **o), size=[20, 30]),
    "image_slice, cut again": lambda d, **o: fn.crop(
        fn.decoders.image_slice(d, [0.1, 0.2], [0.7, 0.6], **o), crop=[9, 11]
    ),
}


@pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=11)
def cut(files, what, device="mixed", decoder="auto", whole=False):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), name="reader")
    if what in DECODERS:
        return DECODERS[what](data, device=device, decoder=decoder), number
    images = fn.decoders.image(data, device=device, decoder=decoder)
    return WINDOWS[what](images), number


@pytest.mark.parametrize("what", [*WINDOWS, *DECODERS])
def test_a_region_equals_the_whole_picture_cut(files, what):
    region = cut(files, what)
    assert "what the next step reads" in str(region.plan())
    got = batches(region)
    if EMULATED:
        whole = cut(files, what, decoder="hardware")  # takes no regions, and gives the CPU's pixels only here
        assert "what the next step reads" not in str(whole.plan())
        equal(got, batches(whole))
    if what not in ("rotated", "blurred"):  # stencils and warps may differ by a step
        equal(got, batches(cut(files, what, device="cpu")))


def test_what_the_decoder_fails_on_in_regions(files):
    if not EMULATED:
        pytest.skip("machine: a real decoder does not fail when it is told to")
    script = f"""
files = {files!r}
for what in ("planar", "image_random_crop", "crop filled"):
    equal(batches(cut(files, what)), batches(cut(files, what, "cpu")))
"""
    run(script, __name__, PENSTOCK_EMULATED_DECODER_FAILS="2", PENSTOCK_EMULATED_LATENCY="300")


def test_a_window_that_leaves_a_picture_is_the_same_error(files):
    for decoder in ("cuda", "hardware") if EMULATED else ("cuda",):
        with pytest.raises((ValueError, penstock.DataError), match="out_of_bounds_policy"):
            cut_too_large(files[:12], decoder).run()


@pipeline_def(num_threads=3, device_id=0, batch_size=12)
def cut_too_large(files, decoder):
    data, _ = fn.readers.file(files=files)
    return fn.crop(fn.decoders.image(data, device="mixed", decoder=decoder), crop=[1000, 10])


def test_pictures_that_others_read_too_are_whole(files):
    @pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=11)
    def both(device):
        data, number = fn.readers.file(files=files, labels=list(range(len(files))))
        images = fn.decoders.image(data, device=device)
        return fn.crop(images, crop=[20, 20]), images, number

    pipe = both("mixed")
    assert "what the next step reads" not in str(pipe.plan())
    for got, want in zip(pipe.run(), both("cpu").run()):
        for a, b in zip(got.as_cpu(), want.as_cpu(), strict=True):
            np.testing.assert_array_equal(np.array(a), np.array(b))


def test_pictures_that_only_a_body_hands_on(files):  # noqa: F811
    """No step reads them but the one that ends the body: the plan looked for a stage among none."""

    def pictures(device):
        @pipeline_def(batch_size=4, num_threads=2, device_id=0, prefetch_queue_depth=1)
        def pipe():
            jpegs, _ = fn.readers.file(files=files)
            images = fn.decoders.image_crop(jpegs, crop=[8, 9], device=device)
            for _ in range(fn.random.uniform(range=[0, 2], dtype=types.INT32, seed=3)):
                images = fn.decoders.image(jpegs, device=device)
            if fn.random.coin_flip(seed=4):
                images = fn.decoders.image_crop(jpegs, crop=[7, 5], device=device)
            return images

        return [np.array(t.numpy()) for t in pipe().run()[0].cpu()]

    for a, b in zip(pictures("mixed"), pictures("cpu"), strict=True):
        np.testing.assert_array_equal(a, b)
