# SPDX-License-Identifier: Apache-2.0
"""out= of immediate calls: results in arrays of the program."""

import numpy as np
import penstock
import pytest
from penstock import fn

RNG = np.random.default_rng(5)


def picture(height=13, width=17, dtype=np.uint8):
    return RNG.integers(0, 255, (height, width, 3)).astype(dtype)


@pytest.mark.parametrize("shape", [(1, 1), (13, 17), (130, 257)])
def test_a_result_is_written_into_an_array_and_the_array_is_returned(shape):
    image = picture(*shape)
    into = np.full((7, 5, 3), 9, np.uint8)
    assert fn.resize(image, size=[7, 5], out=into) is into
    np.testing.assert_array_equal(into, fn.resize(image, size=[7, 5]))


@pytest.mark.parametrize("kind", ["array", "list", "batch", "torch"])
def test_a_batch_is_written_into_what_has_its_samples(kind):
    import torch

    images = [picture(), picture()]
    block = np.zeros((2, 13, 17, 3), np.uint8)
    into = {
        "array": lambda: block,
        "list": lambda: [block[0], block[1]],
        "batch": lambda: penstock.batch(block, layout="HWC"),
        "torch": lambda: torch.from_numpy(block),
    }[kind]()
    assert fn.flip(penstock.batch(images, layout="HWC"), out=into) is into
    np.testing.assert_array_equal(block, np.stack(images)[:, :, ::-1])


def test_a_ragged_batch_is_written_into_a_list():
    images = [picture(3, 4), picture(9, 1)]
    into = [np.zeros_like(i) for i in images]
    fn.invert(images, out=into)
    for image, result in zip(images, into):
        np.testing.assert_array_equal(result, 255 - image)


def test_a_whole_operator_writes_into_an_array():
    image = picture()
    into = np.zeros((3, 13, 17), np.uint8)
    assert fn.transpose(image, perm=[2, 0, 1], out=into) is into
    np.testing.assert_array_equal(into, image.transpose(2, 0, 1))


def test_a_tuple_has_an_entry_for_each_of_several_results():
    image, into = picture(), np.zeros((4, 4, 3), np.uint8)
    first, extents = fn.resize(image, size=[4, 4], save_attrs=True, out=(into, None))
    assert first is into and extents.tolist() == [13, 17]
    with pytest.raises(ValueError, match="2 results: out must be a tuple"):
        fn.resize(image, size=[4, 4], save_attrs=True, out=into)
    with pytest.raises(ValueError, match="out has 1 entries for 2 results"):
        fn.resize(image, size=[4, 4], save_attrs=True, out=(into,))


@pytest.mark.parametrize("operator", [fn.flip, fn.equalize, fn.invert])
def test_strided_memory_is_written_and_nothing_beside_it(operator):
    """A region of a canvas, every other column, and rows that are turned round: of operators of both families."""
    image = picture()
    wanted = operator(image)
    for at in (np.s_[2:15, 5:22], np.s_[:13, :34:2], np.s_[12::-1, :17]):
        canvas = np.full((16, 40, 3), 77, np.uint8)
        into = canvas[at]
        assert operator(image, out=into) is into
        expected = np.full((16, 40, 3), 77, np.uint8)
        expected[at] = wanted
        np.testing.assert_array_equal(canvas, expected)


def test_memory_that_does_not_fit_is_refused_and_not_written():
    image = picture()
    read_only = np.zeros_like(image)
    read_only.flags.writeable = False
    cases = [
        (np.zeros((2, 2, 3), np.uint8), "the shape"),
        (np.zeros(image.shape, np.float32), "type float32"),
        (read_only, "read-only"),
        (image, "overlaps an input"),
        ([np.zeros_like(image)], "one sample"),
        (penstock.batch([image]), "one sample"),
        ("text", "got str"),
        (3, "got int"),
    ]
    for into, words in cases:
        with pytest.raises((ValueError, TypeError), match=words):
            fn.flip(image, out=into)
    with pytest.raises(ValueError, match="has 2 samples, but the result has 1"):
        fn.flip(penstock.batch([image]), out=[np.zeros_like(image), np.zeros_like(image)])


def test_a_list_of_batches_and_a_pipeline_have_no_out():
    batch = penstock.batch([picture()], layout="HWC")
    with pytest.raises(ValueError, match="list of batches"):
        fn.flip([batch, batch], out=[picture()])

    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return fn.flip(penstock.fn.external_source(lambda: [picture()]), out=picture())

    with pytest.raises(ValueError, match="out is for calls outside pipelines"):
        pipe()


def test_a_stream_is_accepted_without_a_gpu():
    image = picture()
    for stream in (0, 1, type("Stream", (), {"cuda_stream": 3})(), type("Stream", (), {"ptr": 3})()):
        np.testing.assert_array_equal(fn.flip(image, stream=stream), image[:, ::-1])
    with pytest.raises(TypeError, match="stream must be a number or an object"):
        fn.flip(image, stream="default")
