# SPDX-License-Identifier: Apache-2.0
"""Grid masks, and objects, pixels and polygons of masks against DALI. Seeds are fixed."""

import dali_oracle
import numpy as np
import pytest
import reference as ref

import penstock
from penstock import fn

LABELS = np.zeros((6, 7), np.int32)
LABELS[1, 2], LABELS[2, 3], LABELS[4, 5], LABELS[4:6, 0:3], LABELS[0, 6] = 3, 3, 7, 7, 2
POLYGONS = np.array([[0, 0, 3], [1, 3, 7], [2, 7, 10]], np.int32)
VERTICES = np.arange(20, dtype=np.float32).reshape(10, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(tile=10),
        dict(tile=16, ratio=0.25, shift_x=3.5, shift_y=2.0),
        dict(tile=15, angle=0.4),
        dict(tile=17, ratio=0.4, angle=-0.7, shift_x=3.3, shift_y=-12.0),
        dict(ratio=2.0),
        dict(ratio=-1.0),
    ],
    ids=str,
)
def test_grid_mask_equals_dali(oracle, arguments):
    for dtype in ("uint8", "int16", "int32", "float32"):
        x = (np.random.default_rng(1).random((60, 80, 3)) * 200 + 1).astype(dtype)
        (want,) = oracle.call("grid_mask", [x], layout="HWC", **arguments)
        np.testing.assert_array_equal(
            np.array(fn.grid_mask(penstock.batch([x], layout="HWC"), **arguments)[0].numpy()), want
        )


def test_grid_mask_refuses_what_dali_does(oracle):
    x = np.ones((4, 5, 3), np.uint8)
    for tile in (0, -5):
        with pytest.raises(ValueError, match="positive"):
            fn.grid_mask(x, tile=tile)
        with pytest.raises(dali_oracle.DaliError):
            oracle.call("grid_mask", [x], layout="HWC", tile=tile)


def outcomes(name, n=400, mask=LABELS, **arguments):
    """The results of n draws, as a set of tuples."""
    out = getattr(fn.segmentation, name)(penstock.batch([mask] * n), seed=3, **arguments)
    batches = out if isinstance(out, (list, tuple)) else [out]
    columns = [[tuple(np.atleast_1d(np.array(t.numpy())).tolist()) for t in b] for b in batches]
    return set(zip(*columns))


def dalis(oracle, name, n=150, mask=LABELS, **arguments):
    out = oracle.call(f"segmentation.{name}", [mask] * n, **arguments)
    columns = out if isinstance(out[0], list) else [out]
    return set(zip(*[[tuple(np.atleast_1d(a).tolist()) for a in c] for c in columns]))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        dict(format="box"),
        dict(format="start_end", output_class=True),
        dict(classes=[7]),
        dict(classes=[7], k_largest=1, output_class=True),
        dict(classes=[9], output_class=True),
        dict(threshold=[2, 2], output_class=True),
        dict(threshold=2),
        dict(foreground_prob=0.0),
        dict(background=7, output_class=True),
        dict(classes=[0, 3], output_class=True),
        dict(class_weights=[0, 0, 1], output_class=True),
        dict(class_weights=[1, 1], output_class=True),
        dict(class_weights=[0, 0]),
        dict(ignore_class=True),
        dict(classes=[2, 3], foreground_prob=0.5, output_class=True),
        dict(threshold=[100, 100]),
        dict(cache_objects=True),
    ],
    ids=str,
)
def test_objects_are_those_of_dali(oracle, arguments):
    got = outcomes("random_object_bbox", **arguments)
    assert got == dalis(oracle, "random_object_bbox", **arguments)


def test_objects_in_other_dimensions_and_types(oracle):
    solid = np.zeros((3, 4, 5), np.uint8)
    solid[0, 0, 0] = solid[1, 1, 1] = solid[2, 2, 2] = solid[2, 3, 2] = 1
    for mask in (
        solid,
        LABELS[4],
        LABELS > 0,
        np.ones((3, 3), np.int8),
        np.zeros((3, 3), np.uint16),
        np.zeros((0, 3), np.uint8),
    ):
        assert outcomes("random_object_bbox", mask=mask, output_class=True) == dalis(
            oracle, "random_object_bbox", mask=mask, output_class=True
        )


def test_boxes_are_those_of_the_reference():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        mask = rng.integers(0, 3, (9, 4 + seed)) * (rng.random((9, 4 + seed)) < 0.7)
        want = {(*begin, *end, label) for label, begin, end in ref.object_boxes(mask)}
        got = {
            (*box, *label) for box, label in outcomes("random_object_bbox", 1500, mask, format="box", output_class=True)
        }
        assert got == {tuple(int(v) for v in w) for w in want}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint8", "float32"])
def test_pixels_beyond_any_threshold(dtype):
    mask = np.array([0, 1, 2, 3, 200], dtype)
    if dtype == "int32":
        mask = np.array([-(2**31), -3, 0, 2, 2**31 - 1], dtype)
    choices = [{"threshold": t} for t in (-1e30, -3.5, -3.0, -0.5, 0.0, 1.5, 2.0, 2.0**31, 1e30)]
    for arguments in choices + [{"value": v} for v in (-3, 2, 7)]:
        wanted = mask == arguments["value"] if "value" in arguments else mask > arguments["threshold"]
        got = outcomes("random_mask_pixel", 200, mask, foreground=1, **arguments)
        assert {i for ((i,),) in got} == set(np.flatnonzero(wanted if wanted.any() else np.ones(5))), arguments


@pytest.mark.parametrize("shape", [(9, 7, 1), (1, 9, 7), (9, 1, 7), (23, 1), (1, 23), (1, 1), (4, 3, 5), (3, 4, 5, 1)])
def test_boxes_with_axes_of_one_place(shape):
    rng = np.random.default_rng(len(shape))
    mask = (rng.integers(0, 3, shape) * (rng.random(shape) < 0.7)).astype(np.uint8)
    mask.flat[0] = 1
    for least in (0, 2):  # extents of more places than one
        threshold = [min(least, n) for n in shape]
        found = [o for o in ref.object_boxes(mask) if (o[2] - o[1] >= threshold).all()]
        arguments = {"threshold": threshold} if least else {}
        got = {box for (box,) in outcomes("random_object_bbox", 500, mask, format="box", **arguments)}
        whole = {(*[0] * len(shape), *shape)}
        assert got == ({tuple(int(v) for v in (*begin, *end)) for _, begin, end in found} or whole)


def test_classes_are_as_likely_as_said():
    def share(**arguments):
        _, _, label = fn.segmentation.random_object_bbox(
            penstock.batch([LABELS] * 4000), output_class=True, seed=1, **arguments
        )
        return np.bincount([int(t.numpy()) for t in label], minlength=8)[[0, 2, 3, 7]] / 4000

    np.testing.assert_allclose(share(), [0, 1 / 3, 1 / 3, 1 / 3], atol=0.03)
    np.testing.assert_allclose(
        share(classes=[2, 3, 9], class_weights=[1, 3, 50], foreground_prob=0.8), [0.2, 0.2, 0.6, 0], atol=0.03
    )
    begin, _ = fn.segmentation.random_object_bbox(penstock.batch([LABELS] * 4000), ignore_class=True, seed=1)
    np.testing.assert_allclose(np.mean([np.array(t.numpy()).tolist() == [0, 6] for t in begin]), 0.2, atol=0.03)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(classes=[0, 3], background=3),
        dict(classes=[3, 7], class_weights=[1.0]),
        dict(format="corners"),
        dict(ignore_class=True, output_class=True),
        dict(ignore_class=True, classes=[3]),
        dict(k_largest=0),
    ],
    ids=str,
)
def test_objects_are_refused_as_in_dali(oracle, arguments):
    with pytest.raises(ValueError):
        outcomes("random_object_bbox", 2, **arguments)
    with pytest.raises(dali_oracle.DaliError):
        dalis(oracle, "random_object_bbox", 2, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        dict(foreground=1),
        dict(foreground=1, value=7),
        dict(foreground=1, threshold=5.0),
        dict(foreground=1, threshold=50.0),
    ],
    ids=str,
)
def test_pixels_are_those_of_dali(oracle, arguments):
    for mask in (LABELS, LABELS.astype(np.float32), LABELS[4], LABELS[:2, :, None]):
        got, want = (
            outcomes("random_mask_pixel", 2000, mask, **arguments),
            dalis(oracle, "random_mask_pixel", 1000, mask, **arguments),
        )
        assert got == want


def test_pixels_are_equally_likely():
    places = fn.segmentation.random_mask_pixel(penstock.batch([LABELS] * 9000), foreground=1, seed=4)
    count = np.zeros(LABELS.shape)
    for t in places:
        count[tuple(np.array(t.numpy()))] += 1
    np.testing.assert_allclose(count, 9000 / 10 * (LABELS > 0), atol=150)
    with pytest.raises(ValueError, match="mutually exclusive"):
        fn.segmentation.random_mask_pixel(LABELS, threshold=1.0, value=3)
    with pytest.raises(ValueError, match="no pixels"):
        fn.segmentation.random_mask_pixel(np.zeros((0, 3), np.uint8))


def select(ids, polygons=POLYGONS, vertices=VERTICES, **arguments):
    out = fn.segmentation.select_masks(
        *[penstock.batch([np.asarray(x)]) for x in (np.array(ids, np.int32), polygons, vertices)], **arguments
    )
    return [np.array(b[0].numpy()) for b in out]


@pytest.mark.parametrize("reindex", [False, True])
def test_selected_masks_equal_dalis(oracle, reindex):
    for ids in ([1], [2, 0], [], [0, 1, 2]):
        for vertices in (VERTICES, VERTICES.astype(np.int16), np.tile(VERTICES, 2)):
            want = oracle.call(
                "segmentation.select_masks", [[np.array(ids, np.int32)], [POLYGONS], [vertices]], reindex_masks=reindex
            )
            for a, w, r in zip(
                select(ids, vertices=vertices, reindex_masks=reindex),
                want,
                ref.select_masks(ids, POLYGONS, vertices, reindex_masks=reindex),
            ):
                assert a.dtype == w[0].dtype
                np.testing.assert_array_equal(a, w[0])
                np.testing.assert_array_equal(a, r)


def test_all_polygons_of_a_mask_are_selected():
    polygons = np.array([[1, 0, 3], [0, 3, 5], [1, 5, 7]], np.int32)
    rows, vertices = select([1], polygons)
    assert rows.tolist() == [[1, 0, 3], [1, 3, 5]]
    np.testing.assert_array_equal(vertices, VERTICES[[0, 1, 2, 5, 6]])


@pytest.mark.parametrize(
    "ids, polygons, vertices, says",
    [
        ([5], POLYGONS, VERTICES, "mask 5"),
        ([1, 1], POLYGONS, VERTICES, "twice"),
        ([1], POLYGONS.astype(np.int64), VERTICES, "int32"),
        ([1], np.array([[1, 0, 30]], np.int32), VERTICES, "0 to 30"),
        ([1], np.array([[1, 5, 3]], np.int32), VERTICES, "5 to 3"),
        ([1], np.array([[1, -1, 2]], np.int32), VERTICES, "-1 to 2"),
        ([1], POLYGONS[:, :2], VERTICES, "3 numbers"),
        ([1], POLYGONS, VERTICES[:, 0], "dimension"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_masks_are_refused_as_in_dali(oracle, ids, polygons, vertices, says):
    with pytest.raises((ValueError, TypeError), match=says):
        select(ids, polygons, vertices)
    with pytest.raises(dali_oracle.DaliError):
        oracle.call("segmentation.select_masks", [[np.array(ids, np.int32)], [polygons], [vertices]])


@pytest.mark.parametrize(
    "arguments", [{}, {"threshold": 1.5}, {"threshold": -9.0}, {"value": 3}, {"value": 300}], ids=str
)
def test_one_seed_draws_the_same_pixel_in_every_type(arguments):
    rng = np.random.default_rng(3)
    for shape in ((1,), (40, 50), (3, 4096), (5, 7, 4000), (70001,)):
        mask = rng.integers(0, 5, shape)
        is_one = mask == arguments["value"] if "value" in arguments else mask > arguments.get("threshold", 0)
        places = np.argwhere(is_one)
        seen = set()
        for dtype in ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "float16", "float32", "float64"):
            got = fn.segmentation.random_mask_pixel(mask.astype(dtype), foreground=1, seed=8, **arguments)
            seen.add(tuple(got.tolist()))
        assert len(seen) == 1
        assert not len(places) or (places == np.array(seen.pop())).all(1).any()
