# SPDX-License-Identifier: Apache-2.0
"""decoders.image and its variants called by themselves on a GPU."""

import warnings

import numpy as np
import pytest

import penstock
from decoded import run
from penstock import fn, types
from test_decoding import files  # noqa: F401  (a fixture)

CALLS = {
    "image": lambda d, **o: fn.decoders.image(d, **o),
    "image to BGR": lambda d, **o: fn.decoders.image(d, output_type=types.BGR, **o),
    "image to gray": lambda d, **o: fn.decoders.image(d, output_type=types.GRAY, **o),
    "image_crop": lambda d, **o: fn.decoders.image_crop(d, crop=[32, 40], crop_pos_x=0.2, **o),
    "image_slice": lambda d, **o: fn.decoders.image_slice(d, start=[3, 5], end=[40, 50], axes=[0, 1], **o),
    "image_random_crop": lambda d, **o: fn.decoders.image_random_crop(d, seed=5, **o),
}


@pytest.fixture
def encoded(files):
    return [open(f, "rb").read() for f in files[:12]]


def equal(got, want):
    for a, b in zip(got.as_cpu(), want, strict=True):
        np.testing.assert_array_equal(np.array(a), np.array(b))


@pytest.mark.parametrize("device", ["gpu", "mixed", "gpu:1"])
@pytest.mark.parametrize("what", CALLS)
def test_a_list_of_files(encoded, what, device, real):
    if real and device == "gpu:1":
        pytest.skip("machine: one GPU")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = CALLS[what](encoded, device=device)
    assert isinstance(got, penstock.Batch) and got.device == ("gpu:1" if device == "gpu:1" else "gpu:0")
    if what == "image_random_crop":  # the key is the call's number: the windows differ from call to call
        assert len(got) == len(encoded)
    else:
        equal(got, CALLS[what](encoded))


@pytest.mark.parametrize("decoder", ["cuda", "hardware", "cpu"])
def test_decoders_by_name(encoded, decoder, real):
    if real and decoder != "cpu":
        pytest.skip("machine: a real GPU has what it has")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        equal(fn.decoders.image(encoded, device="gpu", decoder=decoder), fn.decoders.image(encoded))


def test_one_file_and_what_follows(encoded):
    one = fn.decoders.image(np.frombuffer(encoded[0], np.uint8), device="gpu")
    want = fn.decoders.image(np.frombuffer(encoded[0], np.uint8))
    assert one.device == "gpu:0" and np.array(one.cpu()).shape == want.shape
    small = fn.resize(fn.decoders.image(encoded, device="gpu"), size=[20, 20])
    assert small.device == "gpu:0"


def test_errors_are_those_of_the_sample(encoded, real):
    cut = [*encoded[:3], encoded[3][: len(encoded[3]) // 2], *encoded[4:]]
    with pytest.raises(penstock.DataError, match="decoders.image"):
        fn.decoders.image(cut, device="gpu")
    with pytest.raises(penstock.DataError):
        fn.decoders.image([encoded[0], b"no picture at all"], device="gpu")
    with pytest.raises(ValueError, match="out_of_bounds_policy"):
        fn.decoders.image_crop(encoded, crop=[1000, 10], device="gpu")
    with pytest.raises((TypeError, ValueError)):
        fn.decoders.image(np.zeros((3, 3), np.uint8), device="gpu")
    with pytest.raises(ValueError, match="'auto', 'cuda', 'hardware' or 'cpu'"):
        fn.decoders.image(encoded, device="gpu", decoder="none")
    assert len(fn.decoders.image(encoded, device="gpu")) == len(encoded)  # and it goes on


def test_what_the_decoder_fails_on_and_many_threads(files, real):
    if real:
        pytest.skip("machine: a real GPU has what it has")
    script = f"""
from concurrent.futures import ThreadPoolExecutor
encoded = [open(f, "rb").read() for f in {files!r}[:12]]
want = [np.array(i) for i in fn.decoders.image(encoded)]
crops = [np.array(i) for i in fn.decoders.image_crop(encoded, crop=[32, 40])]
def work(k):
    if k % 2:
        images = fn.decoders.image(encoded, device="gpu", decoder="hardware" if k % 3 == 0 else "auto")
    else:
        images = fn.decoders.image_crop(encoded, crop=[32, 40], device="gpu")
    for a, b in zip(images.as_cpu(), want if k % 2 else crops, strict=True):
        np.testing.assert_array_equal(np.array(a), b)
with ThreadPoolExecutor(6) as pool:
    list(pool.map(work, range(40)))
"""
    run(script, __name__, PENSTOCK_EMULATED_DECODER_FAILS="3", PENSTOCK_EMULATED_LANES="2")


def test_without_a_decoder_the_cpu_does_it_and_says_so(files, real):
    if real:
        pytest.skip("machine: a real GPU has what it has")
    script = f"""
import warnings
encoded = [open(f, "rb").read() for f in {files!r}[:6]]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    images = fn.decoders.image(encoded, device="gpu")
assert images.device == "gpu:0" and len(told) == 1 and "it runs on the CPU" in str(told[0].message)
with pytest.raises(ValueError, match="available are 'cpu' and 'auto'"):
    fn.decoders.image(encoded, device="gpu", decoder="cuda")
"""
    run(script, __name__, PENSTOCK_EMULATED_DECODER="0")
