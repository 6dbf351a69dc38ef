# SPDX-License-Identifier: Apache-2.0
"""What a Sample refuses names the part and says what it has to be; nothing is cut, saturated or read silently."""

import re

import numpy as np
import pytest

import penstock
from penstock import DataError, augment, fn, types
from penstock.sample import Boxes, Image, Instances, Keypoints, Mask, Sample

IMAGE = np.zeros((30, 40, 3), np.uint8)
MASK = np.zeros((30, 40), np.uint8)
BOXES = np.float32([[8, 8, 30, 28], [1, 2, 20, 20]])


def flip(sample):
    return fn.flip(sample)


def pad(**arguments):
    return lambda sample: fn.pad(sample, **arguments)


@pytest.mark.parametrize(
    "parts, move, error, said",
    [
        ({"mask": np.zeros(30, np.uint8)}, flip, TypeError, "'mask' has 1 dimension: an image or a mask is (H, W) or"),
        ({"mask": None}, flip, TypeError, "'mask' is None: leave out a part that is not there"),
        ({"boxes": None}, flip, TypeError, "'boxes' is None"),
        (
            {"boxes": BOXES.astype(int)},
            flip,
            TypeError,
            "'boxes' of the Sample: [transform_boxes] boxes must be float32",
        ),
        (
            {"boxes": Boxes(BOXES, layout="xy")},
            flip,
            ValueError,
            "'boxes' of the Sample: [transform_boxes] bbox_layout",
        ),
        ({"boxes": Boxes(BOXES, labels=3)}, flip, TypeError, "labels of 'boxes' must be names of parts, got 3"),
        ({"boxes": BOXES, "labels": np.int32([1])}, flip, ValueError, "'labels' has 1 row, 'boxes' has 2 rows"),
        ({"boxes": BOXES, "labels": np.int32([1, 2, 3])}, flip, ValueError, "'labels' has 3 rows, 'boxes' has 2 rows"),
        ({"boxes": BOXES, "labels": np.int32(1)}, flip, ValueError, "'labels' has no rows"),
        (
            {"boxes": BOXES, "instances": Instances(np.zeros((3, 30, 40), np.uint8))},
            flip,
            ValueError,
            "'instances' has 3 rows",
        ),
        ({"boxes": BOXES, "kp": Keypoints(np.zeros((1, 3, 3), np.float32))}, flip, ValueError, "'kp' has 1 row"),
        ({"boxes": BOXES, "instances": MASK}, flip, TypeError, "'instances' has 2 dimensions: instances are (N, H, W)"),
        (
            {"points": np.float32([[1], [2]])},
            flip,
            ValueError,
            "'points' of the Sample: [transform_points] points of 1",
        ),
        (
            {"mask": Mask(MASK, fill=-1)},
            flip,
            ValueError,
            "fill of the part 'mask' is -1, which is not a value of uint8",
        ),
        ({"mask": Mask(MASK, fill=300)}, flip, ValueError, "fill of the part 'mask' is 300"),
        ({"mask": Mask(MASK, fill=0.5)}, flip, ValueError, "fill of the part 'mask' is 0.5"),
        ({"mask": Mask(MASK, fill=float("nan"))}, flip, ValueError, "fill of the part 'mask' is nan"),
        ({"mask": Mask(MASK, fill="a")}, flip, TypeError, "fill of the part 'mask' must be a number, got 'a'"),
        (
            {"boxes": BOXES},
            pad(),
            ValueError,
            "[pad] without shape= the result is as large as the largest of the batch",
        ),
        ({"boxes": BOXES}, pad(axis_names="HW", shape=[-1, 50]), ValueError, "[pad] without shape="),
        ({"mask": MASK}, pad(axes=[2], shape=[4]), ValueError, "'mask' of the Sample: [pad] axis 2 is out of range"),
        ({}, lambda s: fn.resize(s, size=[9, 9], save_attrs=True), TypeError, "[resize] save_attrs adds an output"),
    ],
)
def test_refusals_name_the_part(parts, move, error, said):
    with pytest.raises(error, match=re.escape(said)):
        move(Sample(image=IMAGE, **parts))


def test_of_a_batch_the_sample_is_found_whose_rows_are_not_those_of_its_boxes():
    batch = Sample(
        image=penstock.batch([IMAGE] * 2),
        boxes=penstock.batch([BOXES, BOXES[:1]]),
        labels=penstock.batch([np.int32([1, 2]), np.int32([1, 2])]),
    )
    with pytest.raises(ValueError, match="'labels' has 2 rows, 'boxes' has 1 row:"):
        fn.flip(batch)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 3, 9])
def test_rows_are_compared_with_the_boxes_when_a_pipeline_runs(rows, debug):
    """Surplus labels were left out, each box with the label of its place."""

    @penstock.pipeline_def(batch_size=2, num_threads=1, debug=debug)
    def pipe(names):
        labels = fn.external_source(lambda: [np.arange(2, dtype=np.int64), np.arange(rows, dtype=np.int64)])
        image = fn.external_source(lambda: [IMAGE] * 2, layout="HWC")
        boxes = fn.external_source(lambda: [BOXES] * 2)
        moved = fn.flip(fn.flip(Sample(image=image, boxes=boxes, labels=labels)))
        return tuple(moved[name] for name in names)

    counted = {0: "no rows", 1: "1 row"}.get(rows, f"{rows} rows")
    with pytest.raises(
        DataError, match=rf"\[flip\].*'labels' has {counted}, 'boxes' has 2 rows: a box has one row of each"
    ):
        pipe(["boxes", "labels"]).run()
    if not debug:  # which computes all that is written
        (image,) = pipe(["image"]).run()  # nobody reads the labels
        assert len(image) == 2


@pytest.mark.parametrize("mask", [np.zeros(30, np.uint8), np.zeros(1, np.int32), np.zeros(40, np.int32), [0] * 30])
def test_a_part_of_one_dimension_is_not_read_as_extents(mask):
    """Extents are two or three numbers, int32: others were read beyond their end."""
    compare = penstock._core.operator_function("_same_extents")
    with pytest.raises(
        TypeError, match=r"\[flip\] 'mask' has 1 dimension: an image or a mask is \(H, W\) or \(H, W, C\)"
    ):
        compare(IMAGE, mask, names=["image", "mask"], checked_for="flip")
    assert compare(np.int32([30, 40]), IMAGE, names=["size", "image"], checked_for="flip").tolist() == [30, 40]


@pytest.mark.parametrize("flip_indices", [(0, 3, 1), (1, 1, 0), (0, -1, 1), "abc", (0.5, 1)])
def test_flip_indices_are_a_permutation(flip_indices):
    with pytest.raises(ValueError, match="flip_indices must name each keypoint from 0 to "):
        Keypoints(flip_indices=flip_indices)


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("fill", [0, 255])
@pytest.mark.parametrize(
    "move",
    [
        lambda s: fn.pad(s, axis_names="HW", shape=[48, 64]),
        lambda s: fn.crop(s, crop=[48, 64], out_of_bounds_policy="pad"),
        lambda s: fn.slice(s, start=[-3, -3], end=[40, 50], axis_names="HW", out_of_bounds_policy="pad"),
        lambda s: fn.crop_mirror_normalize(s, crop=[48, 64], out_of_bounds_policy="pad"),
        lambda s: fn.crop(s, crop=[48, 64], out_of_bounds_policy="pad", fill_values=[7.0]),
        lambda s: augment.letterbox(s, (48, 48)),
    ],
)
def test_what_comes_from_outside_a_mask_is_its_fill(move, fill, pipeline):
    """Also where the images become black by default: 0 is a class."""

    def made(image, mask):
        return move(Sample(image=image, mask=Mask(mask, fill=fill)))

    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def masks():
        return made(
            fn.external_source(lambda: [IMAGE], layout="HWC"), fn.external_source(lambda: [MASK + 3], layout="HW")
        )["mask"]

    mask = np.asarray(masks().run()[0][0]) if pipeline else made(IMAGE, MASK + 3)["mask"]
    assert mask.dtype == np.uint8 and set(mask.ravel()) == {3, fill}


def test_a_pad_that_needs_no_batch_stays():
    padded = fn.pad(Sample(image=IMAGE, mask=Mask(MASK.astype(np.int16), fill=-1)), axis_names="HW", align=32)
    assert padded["image"].shape == (32, 64, 3) and set(padded["mask"][30:].ravel()) == {-1}


@pytest.mark.parametrize(
    "params, said",
    [
        (None, "takes Sample.params"),
        ("[]", "takes Sample.params"),
        ([None], "takes Sample.params"),
        ([{"op": "flip"}], "a step of 'flip' lacks inputs and arguments"),
    ],
)
def test_params_that_are_none(params, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        Sample(image=IMAGE).replay(params)


def test_the_interpolation_of_a_part_has_names():
    depth = np.arange(12, dtype=np.float32).reshape(3, 4, 1)
    named, numbered = (
        fn.resize(Sample(image=Image(depth, interp_type=i)), size=[6, 9])["image"] for i in ("nn", types.INTERP_NN)
    )
    np.testing.assert_array_equal(named, numbered)
