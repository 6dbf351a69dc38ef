# SPDX-License-Identifier: Apache-2.0
"""Volumes of a Sample against brute force: points are drawn into the channels of a volume as smooth spots, and a mask as a block.
The same calls move all, and where the spots are brightest is where the points must be."""

import os

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types
from penstock.sample import Image, Keypoints, Mask, Sample, Volume

SHAPE, SPREAD = (20, 26, 32), 2.0
CHAINS = 48 if os.environ.get("PENSTOCK_TEST_COUNT") is None else 1000


def step(rng, shape):
    """(name, arguments) of an operator, drawn; what comes from outside is 0."""
    linear = {"interp_type": 1, "antialias": False}
    c, s = np.cos(rng.uniform(-0.4, 0.4)), np.sin(rng.uniform(-0.4, 0.4))
    axis = [0.0, 0.0, 1.0] if rng.integers(2) else rng.uniform(-1, 1, 3).tolist()
    places = dict(zip(("crop_pos_z", "crop_pos_y", "crop_pos_x"), rng.uniform(size=3).tolist()))
    larger = [n + int(rng.integers(6)) for n in shape]
    choices = [
        ("flip", dict(zip(("horizontal", "vertical", "depthwise"), rng.integers(0, 2, 3).tolist()))),
        ("crop", {"crop": [n * 4 // 5 for n in shape], **places}),
        ("resize", {"size": [int(n * rng.uniform(0.75, 1.4)) for n in shape], **linear}),
        ("pad", {"axis_names": "DHW", "shape": larger, "fill_value": 0.0}),
        ("slice", {"rel_start": [0.1, 0.05, 0.1], "rel_shape": [0.8, 0.9, 0.75], "axis_names": "DHW"}),
        ("rotate", {"angle": rng.uniform(-180, 180), "axis": axis, "interp_type": 1, "fill_value": 0.0}),
        (
            "warp_affine",
            {"matrix": [c, -s, 0.1, 2.0, s, c, 0, -3.0, 0, 0.05, 1.1, 1.0], "interp_type": 1, "fill_value": 0.0},
        ),
        ("resize_crop_mirror", {"size": list(larger), "crop": list(shape), "mirror": 1, **linear}),
        ("elastic_transform", {"alpha": 20.0, "sigma": 6.0, "seed": int(rng.integers(1000))}),
    ]
    return choices[int(rng.integers(len(choices)))]


def parts_of(rng):
    """(a volume with a channel for each point and one for the mask, the points, the mask)"""
    z, y, x = np.mgrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]] + 0.5
    points = rng.uniform(5, np.array(SHAPE[::-1]) - 5, (4, 3)).astype(np.float32)
    spots = [np.exp(-((x - p[0]) ** 2 + (y - p[1]) ** 2 + (z - p[2]) ** 2) / (2 * SPREAD**2)) for p in points]
    low = [int(rng.integers(2, n // 2)) for n in SHAPE]
    mask = np.zeros(SHAPE, np.uint8)
    mask[tuple(slice(k, k + n // 3) for k, n in zip(low, SHAPE))] = 7
    return np.stack([*spots, mask / 7], -1).astype(np.float32), points, mask


@pytest.mark.parametrize("part", range(4))
def test_points_and_masks_of_volumes_are_where_brute_force_sees_them(part):
    found = 0
    for seed in range(part, CHAINS, 4):
        rng = np.random.default_rng(seed)
        volume, points, mask = parts_of(rng)
        sample, names = Sample(volume=volume, mask=Mask(mask), points=points), []
        for _ in range(int(rng.integers(1, 4))):
            name, arguments = step(rng, sample["volume"].shape[:3])
            sample = getattr(fn, name)(sample, **arguments)
            names.append(name)
        seen, about = sample["volume"], f"chain {seed}: {names}"
        assert sample["mask"].shape == seen.shape[:3] and sample["mask"].dtype == np.uint8, about
        assert set(np.unique(sample["mask"])) <= {0, 7}, about
        edge = np.abs(seen[..., 4] - 0.5) < 0.45
        assert np.mean(((sample["mask"] > 0) != (seen[..., 4] > 0.5))[~edge]) < 0.01, about
        for k, p in enumerate(sample["points"]):
            spot = seen[..., k]
            if (p < 3).any() or (p > np.array(spot.shape[::-1]) - 3).any() or spot.max() < 0.8:
                continue
            found += 1
            at = np.array(np.unravel_index(np.argmax(spot), spot.shape))[::-1] + 0.5
            assert (np.abs(at - p) < 2.1).all(), (about, k, p, at)
        if "elastic_transform" not in names:
            np.testing.assert_allclose(sample.points_back(sample["points"]), points, atol=2e-3, err_msg=about)
    assert found > CHAINS // 8


@pytest.mark.parametrize("layout", ["DHW", "DHWC", "CDHW"])
@pytest.mark.parametrize("kind", ["array", "torch", "tensor", "batch"])
def test_all_axes_flip_in_every_kind_of_value(layout, kind):
    rng = np.random.default_rng(1)
    shape = {"D": 3, "H": 4, "W": 5, "C": 2}
    x = rng.integers(0, 255, [shape[axis] for axis in layout], np.uint8)
    mask = rng.integers(0, 9, (3, 4, 5), np.int32)
    wrap = {"array": lambda v: v, "tensor": penstock.tensor, "batch": lambda v: penstock.batch([v])}
    if kind == "torch":
        wrap["torch"] = pytest.importorskip("torch").from_numpy
    volume = Volume(wrap[kind](x), layout="CDHW") if layout == "CDHW" else wrap[kind](x)
    got = fn.flip(Sample(volume=volume, mask=wrap[kind](mask)), horizontal=1, vertical=1, depthwise=1)
    plain = lambda v: np.asarray(v.at(0) if kind == "batch" else v)  # noqa: E731
    np.testing.assert_array_equal(plain(got["volume"]), np.flip(x, [layout.index(axis) for axis in "DHW"]))
    np.testing.assert_array_equal(plain(got["mask"]), np.flip(mask))
    assert type(got["volume"]) is type(wrap[kind](x))


def test_operators_that_keep_positions_change_the_volume_alone():
    x = np.random.default_rng(2).integers(0, 255, (6, 7, 8), np.uint8)
    got = fn.gaussian_blur(Sample(volume=x, mask=x), sigma=1.0)
    want = fn.gaussian_blur(penstock.tensor(x, layout="DHW"), sigma=1.0).numpy()
    np.testing.assert_array_equal(got["volume"], want)
    np.testing.assert_array_equal(got["mask"], x)


@pytest.mark.parametrize("told", [{"layout": "DHW"}, {"ndim": 3}])
def test_a_pipeline_gives_the_bytes_of_calls(told):
    rng = np.random.default_rng(3)
    xs = [rng.integers(0, 255, (int(rng.integers(4, 9)), 7, 9), np.uint8) for _ in range(3)]
    points = rng.uniform(0, 4, (5, 3)).astype(np.float32)

    def moved(sample):
        sample = fn.rotate(sample, angle=30.0, axis=[0.0, 0.0, 1.0], fill_value=0.0, keep_size=True)
        return fn.crop(sample, crop=[3, 5, 6], crop_pos_z=1.0)

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def volumes():
        x = fn.external_source(lambda: xs, batch=True, **told)
        sample = moved(Sample(volume=x, mask=Mask(x), points=types.Constant(points)))
        return sample["volume"], sample["mask"], sample["points"]

    pipe = volumes()
    pipe.build()
    outputs = pipe.run()
    for i, x in enumerate(xs):
        want = moved(Sample(volume=x, mask=Mask(x), points=points))
        for out, name in zip(outputs, ("volume", "mask", "points")):
            np.testing.assert_array_equal(np.asarray(out.at(i)), want[name])


X = np.zeros((4, 5, 6), np.uint8)


@pytest.mark.parametrize(
    "parts, words",
    [
        ({"volume": X, "image": X}, r"'image' \(Image\) cannot move with the volume"),
        ({"volume": X, "depth": Image(X)}, r"'depth' \(Image\)"),
        ({"volume": X, "boxes": np.zeros((0, 4), np.float32)}, r"'boxes' \(Boxes\)"),
        ({"volume": X, "joints": Keypoints(np.zeros((1, 2, 3)))}, r"'joints' \(Keypoints\)"),
        ({"volume": X[0]}, r"'volume' has 2 dimensions: .* Volume\(value, layout='DHW'\)"),
        ({"volume": Volume(X, layout="CDHW")}, "3 dimensions and the layout CDHW"),
        ({"volume": X, "mask": X[0]}, r"'mask' has 2 dimensions"),
        ({"volume": penstock.tensor(X, layout="HWC")}, "the layout HWC"),
    ],
)
def test_parts_that_cannot_move_with_a_volume_are_refused(parts, words):
    with pytest.raises(TypeError, match=words):
        fn.flip(Sample(**parts))


def test_volumes_have_no_boxes_to_lead_back():
    moved = fn.flip(Sample(volume=X), depthwise=1)
    with pytest.raises(TypeError, match="volumes have no boxes"):
        moved.boxes_back(np.zeros((1, 4)))
    with pytest.raises(ValueError, match="x, y, z first"):
        moved.points_back(np.zeros((1, 2)))


def test_a_value_of_a_pipeline_whose_layout_is_not_known_is_refused():
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def unknown():
        return fn.flip(Sample(volume=fn.external_source(lambda: [X], batch=True)))["volume"]

    with pytest.raises(TypeError, match="unknown number of dimensions"):
        unknown().build()


def test_show_draws_the_slices_of_a_volume():
    x = np.random.default_rng(4).integers(0, 255, (6, 20, 30), np.uint8)
    shown = penstock.pictures.show(Sample(volume=x, mask=x, points=np.zeros((1, 3), np.float32)))
    assert shown.tobytes() == penstock.pictures.show(penstock.tensor(x, layout="DHW")).tobytes()
