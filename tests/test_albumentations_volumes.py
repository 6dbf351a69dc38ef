# SPDX-License-Identifier: Apache-2.0
"""Transforms of volumes of penstock.albumentations beside Albumentations: voxels, masks and points."""

import itertools

import numpy as np
import penstock
import pytest
from albumentations_oracle import theirs
from albumentations.augmentations.transforms3d import functional
from penstock import albumentations as ours
from penstock import fn
from penstock.albumentations import volumes

SHAPE = (6, 9, 11)
RNG = np.random.default_rng(8)
VOLUME, MASK = RNG.integers(0, 256, (*SHAPE, 2), np.uint8), RNG.integers(0, 5, SHAPE, np.uint8)
POINTS = np.float32([[1, 2, 3], [10, 8, 5], [0, 0, 0], [5, 4, 2]])


@pytest.fixture(autouse=True)
def seeded():
    """The same draws in each run."""
    penstock.seed(5)


def composed(module, transform, remove=False, **data):
    params = module.KeypointParams("xyz", remove_invisible=remove)
    return module.Compose([transform], keypoint_params=params)(**data)


SAME = [
    ("CenterCrop3D", {"size": (3, 5, 6)}),
    ("CenterCrop3D", {"size": (9, 4, 16), "pad_if_needed": True, "fill": 7, "fill_mask": 9}),
    ("RandomCrop3D", {"size": SHAPE}),
    ("Pad3D", {"padding": 2, "fill": 5}),
    ("Pad3D", {"padding": (1, 2, 3), "fill_mask": 4}),
    ("Pad3D", {"padding": (0, 1, 2, 3, 4, 5)}),
    ("PadIfNeeded3D", {"min_zyx": (9, 4, 16), "fill": 3, "fill_mask": 1}),
    ("PadIfNeeded3D", {"pad_divisor_zyx": (4, 3, 8)}),
]


@pytest.mark.parametrize("name, arguments", SAME)
def test_voxels_masks_and_points_are_theirs(name, arguments):
    for volume in (VOLUME, VOLUME[..., 0]):
        data = {"volume": volume, "mask3d": MASK, "keypoints": POINTS}
        got, want = (composed(m, getattr(m, name)(**arguments, p=1.0), **data) for m in (ours, theirs))
        for part in data:
            np.testing.assert_array_equal(got[part], want[part], part)


def test_random_windows_reach_all_places():
    data = {"volume": np.arange(24, dtype=np.uint8).reshape(2, 3, 4), "mask3d": np.ones((2, 3, 4), np.uint8)}
    crop = ours.RandomCrop3D((1, 2, 3))
    made = {int(crop(**data)["volume"][0, 0, 0]) for _ in range(150)}
    assert made == {12 * z + 4 * y + x for z, y, x in itertools.product(range(2), repeat=3)}
    for transform in (
        ours.RandomCrop3D((4, 2, 6), pad_if_needed=True),
        ours.PadIfNeeded3D((4, 2, 6), position="random"),
    ):
        seen = set()
        for _ in range(80):
            made = transform(**data)
            assert made["volume"].shape == (4, max(2, made["volume"].shape[1]), 6)
            np.testing.assert_array_equal(made["volume"][made["mask3d"] == 0], 0)
            seen.add(tuple(np.argwhere(made["mask3d"])[0][[0, 2]]))
        assert seen == set(itertools.product(range(3), repeat=2))


def drawn(monkeypatch, *numbers):
    left = list(numbers)
    monkeypatch.setattr(volumes.draws, "below", lambda n: left.pop(0))


def test_symmetries_are_the_48_of_albumentations(monkeypatch):
    theirs_of = {}
    for index in range(48):
        made = functional.transform_cube(VOLUME, index)
        points = functional.transform_cube_keypoints(POINTS, index, SHAPE)
        theirs_of[made.tobytes() + bytes(made.shape)] = made, points, functional.transform_cube(MASK, index)
    assert len(theirs_of) == 48
    seen = set()
    for choice in itertools.product(range(2), range(6), range(4)):
        drawn(monkeypatch, *choice)
        data = {"volume": VOLUME, "mask3d": MASK, "keypoints": POINTS}
        got = composed(ours, ours.CubicSymmetry(p=1.0), **data)
        key = got["volume"].tobytes() + bytes(got["volume"].shape)
        assert key in theirs_of, choice
        np.testing.assert_array_equal(got["mask3d"], theirs_of[key][2])
        np.testing.assert_allclose(got["keypoints"], theirs_of[key][1], atol=1e-4)
        seen.add(key)
    assert len(seen) == 48


def test_holes_are_distributed_as_theirs():
    volume, shares = np.full((10, 20, 30), 9, np.uint8), []
    given = {"num_holes_range": (1, 3), "hole_depth_range": (0.2, 0.6), "hole_width_range": (0.3, 0.4), "fill": 1}
    for module in (ours, theirs):
        holes = module.CoarseDropout3D(**given, p=1.0)
        if module is theirs:
            holes.set_random_seed(5)
        gone = np.array([holes(volume=volume)["volume"] == 1 for _ in range(300)])
        assert gone.any((1, 2, 3)).all()
        shares.append([gone.mean(), *(gone.any(tuple({1, 2, 3} - {k})).mean() for k in (1, 2, 3))])
    np.testing.assert_allclose(shares[0], shares[1], rtol=0.15)
    made = ours.CoarseDropout3D(fill=0, fill_mask=7, p=1.0)(volume=volume, mask3d=volume)
    np.testing.assert_array_equal(made["volume"] == 0, made["mask3d"] == 7)
    assert (made["volume"] == 0).any()
    same = ours.CoarseDropout3D(fill=0, p=1.0)(volume=volume, mask3d=volume)
    np.testing.assert_array_equal(same["mask3d"], volume)


def test_points_outside_are_dropped_and_others_keep_their_numbers():
    crop = ours.CenterCrop3D((6, 9, 5))
    made = composed(ours, crop, True, volume=VOLUME, keypoints=np.float32([[5, 2, 3, 8], [0, 2, 3, 9]]))
    np.testing.assert_array_equal(made["keypoints"], [[2, 2, 3, 8]])


CHOSEN = [
    ours.CenterCrop3D((3, 12, 6), pad_if_needed=True),
    ours.RandomCrop3D((3, 5, 14), pad_if_needed=True),
    ours.CoarseDropout3D((0, 2), fill_mask=3, p=1.0),
    ours.CubicSymmetry(),
    ours.Pad3D((1, 2, 3)),
    ours.PadIfNeeded3D(pad_divisor_zyx=(4, 3, 8), position="random"),
    ours.CenterCrop3D((3, 5, 6), p=0.5),
]


def test_pipelines_do_the_same_to_volumes():
    masks = np.uint8(VOLUME[..., :1] > 100)

    @penstock.pipeline_def(batch_size=12, num_threads=1, seed=3)
    def pipeline():
        feed = lambda value: fn.external_source(lambda: [value] * 12, layout="DHWC", dtype=penstock.types.UINT8, ndim=4)  # noqa: E731
        volume, mask, parts = feed(VOLUME), feed(masks), []
        points = fn.constant(fdata=[3.0, 4.0, 2.0], shape=[1, 3])
        for transform in CHOSEN:
            params = ours.KeypointParams("xyz", remove_invisible=False)
            made = ours.Compose([transform], keypoint_params=params)(volume=volume, mask3d=mask, keypoints=points)
            parts += [made["volume"], made["mask3d"], made["keypoints"]]
        return tuple(parts)

    outputs = [[np.asarray(value) for value in batch] for batch in pipeline().run()]
    for k, transform in enumerate(CHOSEN):
        about, kept = repr(transform), 0
        for volume, mask, points in zip(*outputs[3 * k : 3 * k + 3]):
            assert volume.shape[:3] == mask.shape[:3], about
            if "CoarseDropout3D" in about:
                np.testing.assert_array_equal(mask[(mask == 3)[..., 0]], 3)
                continue
            np.testing.assert_array_equal(mask[..., 0], volume[..., 0] > 100, about)
            at = tuple(int(round(float(v))) for v in points[0][::-1])
            if all(0 <= n < extent for n, extent in zip(at, volume.shape)):
                kept += 1
                np.testing.assert_array_equal(volume[at], VOLUME[2, 4, 3], about)
        assert kept or "CoarseDropout3D" in about, about


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ours.CenterCrop3D((9, 2, 2))(volume=VOLUME), ValueError, "pad_if_needed=True"),
        (lambda: ours.CenterCrop3D(4)(volume=VOLUME), ValueError, r"\(depth, height, width\)"),
        (lambda: ours.CubicSymmetry()(image=VOLUME[0]), ValueError, "volume="),
        (lambda: ours.Pad3D((1, 2))(volume=VOLUME), ValueError, "1, 3 or 6"),
        (lambda: ours.PadIfNeeded3D()(volume=VOLUME), ValueError, "min_zyx or pad_divisor_zyx"),
        (lambda: ours.PadIfNeeded3D((9, 9, 9), position="left")(volume=VOLUME), ValueError, "'center' or 'random'"),
        (
            lambda: ours.CoarseDropout3D(hole_depth_range=(0, 2), p=1.0)(volume=VOLUME),
            ValueError,
            "parts of the volume",
        ),
        (lambda: ours.Pad3D(1)(volume=VOLUME[0, 0]), TypeError, r"\(D, H, W\) or \(D, H, W, C\)"),
        (lambda: ours.Pad3D(1)(volume=VOLUME, mask3d=MASK[1:]), ValueError, "one depth, height and width"),
        (lambda: ours.Pad3D(1)(mask3d=MASK), TypeError, "image=, or volume="),
        (
            lambda: ours.Compose([ours.NoOp()], keypoint_params=ours.KeypointParams("xy"))(volume=VOLUME, keypoints=[]),
            ValueError,
            "format='xyz'",
        ),
    ],
)
def test_refusals_of_volumes_say_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()
