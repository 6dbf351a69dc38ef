# SPDX-License-Identifier: Apache-2.0
"""Transforms that warp by points and meshes, draw weather, lay patterns and look at other images, beside Albumentations
with the numbers that were drawn."""

import itertools
import sys

import cv2
import numpy as np
import penstock
import pytest
from albumentations_oracle import theirs
from penstock import albumentations as ours
from penstock import fn
from penstock.albumentations import functions, patterns, weather
from test_albumentations import smooth
from test_albumentations_transforms import repeated

geometric, functional = theirs.augmentations.geometric.functional, theirs.augmentations.functional
blurred = sys.modules["albumentations.augmentations.blur.functional"]
domains = theirs.augmentations.domain_adaptation.functional
SHAPES = [(47, 64), (90, 71)]


@pytest.fixture(autouse=True)
def seeded():
    """The same draws in each run: bounds of how often something differs hold for most draws, not for all."""
    penstock.seed(5)


def recorded(monkeypatch, operator):
    """The arguments of the calls of an operator."""
    calls, real = [], getattr(fn, operator)

    def called(*inputs, **arguments):
        calls.append(arguments)
        return real(*inputs, **arguments)

    monkeypatch.setattr(fn, operator, called)
    return calls


def scene(shape):
    mask = np.zeros(shape, np.uint8)
    mask[10:25, 8:30] = 3
    return {"image": smooth(*shape), "mask": mask}


def close(got, want, bound, rarely=0.0, beyond=255):
    """Differences are at most `bound`, or at most `beyond` in the part `rarely` of the numbers."""
    far = np.abs(np.asarray(got).astype(float) - want)
    assert far.max() <= beyond and (far > bound).mean() <= rarely, (far.max(), (far > bound).mean())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "name, arguments",
    [
        ("ThinPlateSpline", {}),
        ("ThinPlateSpline", {"num_control_points": 2, "scale_range": (1.0, 1.0)}),
        ("PiecewiseAffine", {"nb_rows": 3, "nb_cols": 5}),
        ("PiecewiseAffine", {"scale": (4.0, 4.0), "absolute_scale": True}),
    ],
)
def test_warps_by_points_are_theirs(monkeypatch, shape, name, arguments):
    calls, data = recorded(monkeypatch, "warp_by_points"), scene(shape)
    made = getattr(ours, name)(**arguments, p=1.0)(**data)
    points, targets = (np.reshape(calls[0][n], (-1, 2)) for n in ("points", "targets"))
    y, x = np.mgrid[: shape[0], : shape[1]]
    at = np.stack([x, y], -1).reshape(-1, 2).astype(np.float32)
    if name == "ThinPlateSpline":
        unit = [shape[1], shape[0]]
        weights = geometric.compute_tps_weights(points, targets)
        shown = geometric.tps_transform(at / unit, points, *weights) * unit
    else:
        weights = 1 / (np.square(at[:, None] - points).sum(-1) + 1e-8)
        shown = weights @ targets / weights.sum(1, keepdims=True)
    maps = [np.float32(shown[:, k].reshape(shape)) for k in (0, 1)]
    # cv2 rounds positions to 1/32 of a pixel, which counts at edges: the image's border, and those of the mask.
    close(made["image"], cv2.remap(data["image"], *maps, cv2.INTER_LINEAR), 9, 0.02)
    assert (made["mask"] != cv2.remap(data["mask"], *maps, cv2.INTER_NEAREST)).mean() < 0.01


@pytest.mark.parametrize("rows, columns, scale", [(4, 4, 0.05), (2, 6, 0.3)])
def test_jittered_points_are_theirs(monkeypatch, rows, columns, scale):
    """The maps of Albumentations, of the same numbers."""
    calls, height, width = recorded(monkeypatch, "warp_by_points"), 40, 60
    ours.PiecewiseAffine(scale=(scale, scale), nb_rows=rows, nb_cols=columns, p=1.0)(image=smooth(height, width))
    points, targets = (np.reshape(calls[0][n], (rows, columns, 2)) for n in ("points", "targets"))

    class Drawn:
        def normal(self, mean, deviation, shape):
            return (targets - points)[..., ::-1]

    maps = geometric.create_piecewise_affine_maps((height, width), (rows, columns), scale, False, Drawn())
    shown = fn.warp_by_points(
        np.stack(np.mgrid[:height, :width][::-1], -1).astype(np.float32), **{**calls[0], "fill_value": 0}
    )
    np.testing.assert_allclose(shown, np.stack(maps, -1), atol=2e-3)


def test_points_are_drawn_as_theirs(monkeypatch):
    calls = recorded(monkeypatch, "warp_by_points")
    image = np.zeros((30, 50, 1), np.uint8)
    for _ in range(60):
        ours.ThinPlateSpline(p=1.0)(image=image)
    by = np.array([np.subtract(c["targets"], c["points"]) for c in calls])
    scale = np.linspace(0.02, 0.04, 1001)
    assert abs(by.std() / np.sqrt(np.square(scale).mean()) - 1) < 0.1 and abs(by.mean()) < 0.002
    for _ in range(60):
        ours.PiecewiseAffine(scale=(0.1, 0.1), p=1.0)(image=image)
    by = np.array([np.subtract(c["targets"], c["points"]) for c in calls[60:]]).reshape(60, 4, 4, 2)
    assert abs(by[:, 1:-1, 1:-1].std() - 1.0) < 0.12  # 0.1 * 30 / 3 pixels
    targets = np.array([c["targets"] for c in calls[60:]]).reshape(-1, 2)
    assert targets.min() >= 0 and (targets.max(0) <= [49, 29]).all()


def tiles_of(call):
    rows, columns = (np.int64(call[n]) for n in ("rows", "columns"))
    return np.array([(a, c, b, d) for a, b in zip(rows, rows[1:]) for c, d in zip(columns, columns[1:])])


@pytest.mark.parametrize("shape, grid", [((47, 64), (4, 4)), ((90, 71), (5, 3)), ((33, 41), (1, 2))])
def test_deformed_grids_are_theirs(monkeypatch, shape, grid):
    calls, data = recorded(monkeypatch, "warp_by_mesh"), scene(shape)
    made = ours.GridElasticDeform(num_grid_xy=grid, magnitude=4, p=1.0)(**data)
    tiles, moves = tiles_of(calls[0]), np.reshape(calls[0]["moves"], (grid[1] + 1, grid[0] + 1, 2))
    assert np.abs(moves).max() <= 4 and (moves == moves.round()).all() and not moves[[0, -1]].any()
    mesh = []
    for k, (top, left, bottom, right) in enumerate(tiles):
        i, j = divmod(k, grid[0])
        corners = [(left, top, i, j), (right, top, i, j + 1), (right, bottom, i + 1, j + 1), (left, bottom, i + 1, j)]
        mesh.append([left, top, right, bottom, *(v for x, y, p, q in corners for v in (x, y) + moves[p, q])])
    want = geometric.distort_image(data["image"], np.float32(mesh), cv2.INTER_LINEAR)
    close(made["image"], want, 9, 0.04)  # pixels at edges of cells are of one of two cells
    assert (made["mask"] != geometric.distort_image(data["mask"], np.float32(mesh), cv2.INTER_NEAREST)).mean() < 0.02


@pytest.mark.parametrize("shape, grid", [((47, 64), (3, 3)), ((90, 71), (2, 4)), ((33, 41), (1, 5))])
def test_shuffled_tiles_are_theirs(monkeypatch, shape, grid):
    boxes = np.float32([[3, 5, 30, 22], [20, 10, 40, 31]])
    points = np.float32([[3, 4], [31, 20], [17, 30]])
    for _ in range(4):
        calls, data = recorded(monkeypatch, "shuffle_tiles"), scene(shape)
        params = {"bbox_params": {"format": "pascal_voc", "label_fields": ["labels"], "min_area": 9}}
        compose = ours.Compose(
            [ours.RandomGridShuffle(grid=grid, p=1.0)], **params, keypoint_params=ours.KeypointParams("xy")
        )
        made = compose(**data, bboxes=boxes, labels=["a", "b"], keypoints=points)
        tiles, order = tiles_of(calls[-1]), list(calls[-1]["order"])
        for name in ("image", "mask"):
            np.testing.assert_array_equal(made[name], geometric.swap_tiles_on_image(data[name], tiles, order))
        np.testing.assert_array_equal(
            made["keypoints"], geometric.swap_tiles_on_keypoints(points, tiles, np.array(order))
        )
        want = geometric.bboxes_grid_shuffle(np.c_[boxes, [0, 1]], tiles, order, shape, 9, 0)
        rows = lambda found: sorted(map(tuple, found))  # noqa: E731
        assert rows(np.c_[made["bboxes"], [ord(v) - 97 for v in made["labels"]]]) == rows(want)


def test_tiles_are_drawn_among_those_of_their_size(monkeypatch):
    calls = recorded(monkeypatch, "shuffle_tiles")
    image = np.zeros((31, 41, 1), np.uint8)
    for _ in range(120):
        ours.RandomGridShuffle(grid=(2, 2), p=1.0)(image=image)
    lines = {tuple(c["rows"]) for c in calls}, {tuple(c["columns"]) for c in calls}
    assert lines == ({(0, 15, 31), (0, 16, 31)}, {(0, 20, 41), (0, 21, 41)})
    assert {tuple(c["order"]) for c in calls} == {(0, 1, 2, 3)}  # four sizes
    for _ in range(200):
        ours.RandomGridShuffle(grid=(1, 3), p=1.0)(image=image[:, :39])
    orders = [tuple(c["order"]) for c in calls[120:]]
    assert set(orders) == set(itertools.permutations(range(3)))
    assert max(orders.count(o) for o in set(orders)) < 60


@pytest.mark.parametrize(
    "arguments", [{}, {"keep_size": False}, {"fit_output": True}, {"fit_output": True, "keep_size": False}]
)
def test_a_perspective_of_the_same_corners_is_theirs(monkeypatch, arguments):
    drawn = np.array([0.9, -1.2, 0.4, 0.7, -0.3, 1.1, 1.6, -0.8])
    left = iter([*drawn] * 2)
    monkeypatch.setattr(fn.random, "normal", lambda **_: np.float32(next(left)))

    class Generator:
        def normal(self, mean, scale, shape):
            return drawn.reshape(shape) * scale

    points = geometric.generate_perspective_points
    monkeypatch.setattr(geometric, "generate_perspective_points", lambda s, c, g: points(s, c, Generator()))
    data = {**scene((60, 80)), "bboxes": np.float32([[10, 12, 40, 50]]), "labels": [1], "keypoints": [[20.0, 30.0]]}
    made = []
    for module in (ours, theirs):
        params = {
            "bbox_params": {"format": "pascal_voc", "label_fields": ["labels"]},
            "keypoint_params": {"format": "xy", "remove_invisible": False},
        }
        transform = module.Perspective(scale=(0.1, 0.1), **arguments, p=1.0)
        made.append(module.Compose([transform], **params)(**data))
    got, want = made
    assert got["image"].shape == want["image"].shape
    close(got["image"], want["image"], 6, 0.02)  # cv2 rounds positions to 1/32 of a pixel
    assert (got["mask"] != want["mask"]).mean() < 0.01
    np.testing.assert_allclose(got["keypoints"], np.float32(want["keypoints"])[:, :2], atol=2e-3)
    np.testing.assert_allclose(got["bboxes"], want["bboxes"], atol=0.7)


def discs(call):
    ends = np.reshape(call["segments"], (-1, 4))
    return ends[:, :2].astype(int), np.asarray(call["radius"]).astype(int)


def test_fog_is_theirs(monkeypatch):
    calls, image = recorded(monkeypatch, "draw_segments"), smooth(90, 120)
    for intensity in (0.3, 0.8):
        fog = {"fog_coef_range": (intensity, intensity), "alpha_coef": 0.5}
        made = ours.RandomFog(**fog, p=1.0)(image=image)["image"]
        places, radii = discs(calls[-1])
        want = functional.add_fog(image, intensity, 0.5, [tuple(map(int, p)) for p in places], [int(r) for r in radii])
        close(made, want, 2)
        transform = theirs.RandomFog(**fog, p=1.0)
        params = transform.get_params_dependent_on_data({"shape": image.shape}, {})
        theirs_at, theirs_radii = np.array(params["particle_positions"]), params["radiuses"]
        assert len(places) == len(theirs_at)
        np.testing.assert_allclose(places.mean(0), theirs_at.mean(0), atol=6)
        np.testing.assert_allclose(places.std(0), theirs_at.std(0), rtol=0.15)
        assert set(radii) == set(theirs_radii)


def test_rain_is_theirs(monkeypatch):
    calls, image = recorded(monkeypatch, "draw_segments"), smooth(120, 160)
    for arguments in ({}, {"slant_range": (-6, -6), "rain_type": "heavy", "drop_width": 3, "blur_value": 3}):
        made = ours.RandomRain(**arguments, p=1.0)(image=image)["image"]
        ends = np.reshape(calls[-1]["segments"], (-1, 4)).astype(int)
        slant, length = ends[0, 2] - ends[0, 0], ends[0, 3] - ends[0, 1]
        width, blur = arguments.get("drop_width", 1), arguments.get("blur_value", 7)
        color, drops = (200, 200, 200), [tuple(map(int, e[:2])) for e in ends]
        want = functional.add_rain(image, int(slant), int(length), width, color, blur, 0.7, drops)
        # Bytes of hue and saturation hold colors to a few steps; ends and steps of lines differ by pixels.
        close(made, want, 12, 0.05, 60)
        assert np.abs(made.mean((0, 1)) - want.mean((0, 1))).max() < 2.5
        transform = theirs.RandomRain(**arguments, p=1.0)
        params = transform.get_params_dependent_on_data({"shape": image.shape}, {})
        assert len(params["rain_drops"]) == len(ends) and params["drop_length"] == length
        assert (ends[:, [1, 3]].min() >= 0) and (ends[:, [1, 3]].max() <= 120)
        assert ends[:, 0].min() >= min(slant, 0) and ends[:, 0].max() <= 160


@pytest.mark.parametrize("method, bound", [("overlay", 8), ("physics_based", 4)])
def test_a_flare_is_theirs(monkeypatch, method, bound):
    made_flares, flare = [], weather._Flare
    monkeypatch.setattr(weather, "_Flare", lambda x, a: made_flares.append(flare(x, a)) or made_flares[-1])
    image = smooth(200, 300)
    arguments = {"src_radius": 60, "src_color": (255, 240, 200), "flare_roi": (0.3, 0.3, 0.6, 0.6)}
    for _ in range(3):
        made = ours.RandomSunFlare(**arguments, method=method, p=1.0)(image=image)["image"]
        at = tuple(int(v) for v in made_flares[-1].at)
        circles = [
            (alpha, tuple(int(v) for v in place), int(radius), tuple(int(v) for v in color))
            for alpha, place, radius, color in made_flares[-1].circles
            if alpha > 0
        ]
        assert 6 <= len(circles) <= 10
        draw = getattr(functional, f"add_sun_flare_{method}")
        want = draw(image, at, 60, (255, 240, 200), circles)
        close(made, want, bound, 0.03, 60)


def test_flares_are_drawn_as_theirs(monkeypatch):
    made_flares, flare = [], weather._Flare
    monkeypatch.setattr(weather, "_Flare", lambda x, a: made_flares.append(flare(x, a)) or made_flares[-1])
    image, transform = np.zeros((300, 400, 3), np.uint8), theirs.RandomSunFlare(p=1.0)
    transform.set_random_seed(5)
    found = []
    for _ in range(200):
        ours.RandomSunFlare(p=1.0, src_radius=20)(image=image)
        params = transform.get_params_dependent_on_data({"shape": image.shape}, {})
        both = [c for c in made_flares[-1].circles if c[0] > 0], params["circles"]
        at = made_flares[-1].at, params["flare_center"]
        found.append([[len(c), np.mean([d[2] for d in c]), np.mean([d[0] for d in c]), np.mean([d[3] for d in c]), *a]
                      for c, a in zip(both, at)])  # fmt: skip
    got, want = np.moveaxis(np.array(found, np.float64), 1, 0)
    np.testing.assert_allclose(got.mean(0), want.mean(0), rtol=0.25, atol=1)


def test_gravel_is_theirs(monkeypatch):
    image, counts, patches, real = smooth(200, 300), [], [], weather._with_grains
    monkeypatch.setattr(weather, "_with_grains", lambda *a: patches.append(a[2:]) or real(*a))
    for _ in range(8):
        made, info = ours.RandomGravel(p=1.0)(image=image)["image"], []
        for ((left, top), _), *grains in patches[-2:]:
            for x, y, r, light in zip(*np.float64(grains)):
                x, y, r = (int(v) for v in (x + left + 0.5, y + top + 0.5, r))
                info.append([max(y - r, 0), min(y + r, 199), max(x - r, 0), min(x + r, 299), round(light)])
        want = functional.add_gravel(image, info) if info else image
        counts.append(len(info))
        assert (np.abs(made.astype(int) - want).max(-1) > 8).mean() < 0.01  # corners of squares
    transform = theirs.RandomGravel(p=1.0)
    theirs_counts = [
        len(transform.get_params_dependent_on_data({"shape": image.shape}, {})["gravels_infos"]) for _ in range(60)
    ]
    assert min(theirs_counts) - 4 <= np.mean(counts) <= max(theirs_counts) + 4


def test_main_axes_of_colors_are_theirs(monkeypatch):
    """Axes have no direction: one of the eight choices of signs is the same."""
    rng = np.random.default_rng(4)
    base = rng.normal(0, 1, (20, 30, 3)) @ [[40, 20, 5], [0, 15, 9], [0, 0, 6]]
    image = np.clip(base + [120, 100, 140], 0, 255).astype(np.uint8)
    alphas = [3.0, -8.0, 20.0]
    left = iter(alphas)
    monkeypatch.setattr(patterns.draws, "normal", lambda: next(left))
    made = ours.FancyPCA(alpha=1.0, p=1.0)(image=image)["image"]
    wanted = [functional.fancy_pca(image / 255, np.float32(alphas) * signs) * 255
              for signs in itertools.product([1, -1], repeat=3)]  # fmt: skip
    assert min(np.abs(made - w).max() for w in wanted) < 1.01
    left = iter(alphas)
    gray = np.repeat(image[..., :1], 3, -1)
    assert np.isfinite(ours.FancyPCA(p=1.0)(image=np.float32(gray) / 255)["image"]).all()


@pytest.mark.parametrize("name", ["PlasmaBrightnessContrast", "PlasmaShadow"])
def test_patterns_are_laid_over_as_theirs(monkeypatch, name):
    image = smooth(60, 80)
    pattern = np.float32(np.random.default_rng(1).random((60, 80, 1)))
    monkeypatch.setattr(patterns, "plasma", lambda x, a: penstock.tensor(pattern, layout="HWC"))
    if name == "PlasmaShadow":
        made = ours.PlasmaShadow(shadow_intensity_range=(0.6, 0.6), p=1.0)(image=image)["image"]
        want = functional.apply_plasma_shadow(image, 0.6, pattern[..., 0])
    else:
        how = {"brightness_range": (0.2, 0.2), "contrast_range": (-0.25, -0.25)}
        made = ours.PlasmaBrightnessContrast(**how, p=1.0)(image=image)["image"]
        want = functional.apply_plasma_brightness_contrast(image, 0.2, -0.25, pattern[..., 0])
    close(made, want, 1)


def test_a_plasma_is_smoother_the_larger_its_roughness_is():
    flat = np.full((64, 64, 1), 200, np.uint8)
    made = [
        repeated(ours, "PlasmaShadow", {"shadow_intensity_range": (1, 1), "roughness": r}, flat, 8) for r in (0.5, 3)
    ]
    steps = [np.abs(np.diff(m, axis=2)).mean() for m in made]
    assert steps[1] < steps[0] / 2.2
    assert all((m.min((1, 2, 3)) == 0).all() and (m.max((1, 2, 3)) == 200).all() for m in made)


def test_patterns_are_laid_over_images_without_channels():
    image = smooth(30, 40)[..., 0]
    for transform in (ours.PlasmaShadow(p=1.0), ours.PlasmaBrightnessContrast(p=1.0)):
        assert transform(image=image)["image"].shape == (30, 40)


@pytest.mark.parametrize("mode", ["fast", "exact"])
@pytest.mark.parametrize("shape", [(40, 53, 3), (31, 24, 1), (33, 21), (9, 30, 3)])
def test_glass_is_theirs(monkeypatch, mode, shape):
    """Bytes without a blur; with one, whose rounding differs by 1, before and after the swaps."""
    image = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    for reach, rounds in ((4, 2), (2, 3), (1, 1)):
        given, real = [], functions.glass_steps
        monkeypatch.setattr(functions, "glass_steps", lambda *v: given.append(real(*v)) or given[-1])
        how = {"max_delta": reach, "iterations": rounds, "mode": mode}
        sharp = ours.GlassBlur(sigma=0, **how, p=1.0)(image=image)["image"]
        soft = ours.GlassBlur(sigma=0.7, **how, p=1.0)(image=image)["image"]
        floats = ours.GlassBlur(sigma=0.9, **how, p=1.0)(image=np.float32(image) / 255)["image"]
        monkeypatch.undo()
        assert given[0].shape == (max(shape[0] - 2 * reach, 0) * max(shape[1] - 2 * reach, 0), rounds, 2)
        assert given[0].min() == -reach and given[0].max() == reach - 1
        with monkeypatch.context() as patch:
            patch.setattr(cv2, "GaussianBlur", lambda v, **_: v[..., 0].copy() if v.shape[2:] == (1,) else v)
            np.testing.assert_array_equal(sharp, blurred.glass_blur(image, 0, reach, rounds, given[0], mode))
        close(soft, blurred.glass_blur(image, 0.7, reach, rounds, given[1], mode), 2)
        want = blurred.glass_blur(np.float32(image) / 255, 0.9, reach, rounds, given[2], mode)
        np.testing.assert_allclose(floats, want, atol=1e-5)


def test_glass_leaves_images_alone_that_its_distance_does_not_fit_in():
    image = np.random.default_rng(1).integers(0, 256, (8, 30, 3), np.uint8)
    for mode in ("fast", "exact"):
        made = ours.GlassBlur(sigma=0, max_delta=4, mode=mode, p=1.0)(image=image)["image"]
        np.testing.assert_array_equal(made, image)


def test_spatter_covers_as_much_as_theirs():
    image = np.full((120, 160, 3), 100, np.uint8)
    for mode in ("mud", "rain"):
        made = [repeated(m, "Spatter", {"mode": mode}, image, 6) for m in (ours, theirs)]
        covered = [(np.abs(m - 100) > 4).any(-1).mean() for m in made]
        assert abs(covered[0] - covered[1]) < 0.07, covered
    np.testing.assert_array_less(99, made[0])  # drops are light


def test_dropped_objects_are_theirs():
    mask = np.zeros((60, 80), np.uint8)
    for k, (top, left) in enumerate([(5, 5), (5, 40), (35, 20)]):
        mask[top : top + 15, left : left + 20] = k + 1
    image, seen = smooth(60, 80) // 2 + 9, set()
    for most in ((1, 1), (2, 2), (1, 3), (5, 5)):
        for _ in range(12):
            made = ours.MaskDropout(max_objects=most, fill=7, fill_mask=9, p=1.0)(image=image, mask=mask)
            gone = made["mask"] != mask
            assert (made["mask"][gone] == 9).all() and (made["image"][gone] == 7).all()
            np.testing.assert_array_equal(made["image"][~gone], image[~gone])
            whole = [bool(gone[mask == k].all()) for k in (1, 2, 3)]
            assert whole == [bool(gone[mask == k].any()) for k in (1, 2, 3)] and not gone[mask == 0].any()
            assert most[0] <= sum(whole) <= most[1] or most == (5, 5) and all(whole)
            seen.add(tuple(whole))
    assert len(seen) == 7
    same = ours.MaskDropout(p=1.0)(image=image, mask=np.zeros((60, 80), np.uint8))
    np.testing.assert_array_equal(same["image"], image)


def test_other_images_are_looked_at_as_theirs():
    image = smooth(60, 80)
    other = np.clip(np.random.default_rng(2).normal([60, 120, 200], [20, 40, 30], (60, 80, 3)), 0, 255).astype(np.uint8)
    taken = {"reference_images": [other], "read_fn": lambda v: v, "blend_ratio": (0.7, 0.7)}
    made = ours.HistogramMatching(**taken, p=1.0)(image=image)["image"]
    close(made, domains.apply_histogram(image, other, 0.7), 1)
    gray = ours.HistogramMatching(**{**taken, "reference_images": [other[..., 0]]}, p=1.0)(image=image[..., 0])["image"]
    close(gray, domains.apply_histogram(image[..., 0], other[..., 0], 0.7), 1)
    for kind in ("standard", "minmax"):
        made = ours.PixelDistributionAdaptation(**taken, transform_type=kind, p=1.0)(image=image)["image"]
        # Albumentations 1.4 cuts the adapted image at 1, before it is one of bytes.
        scaler = {"standard": domains.StandardScaler, "minmax": domains.MinMaxScaler}[kind]
        before, after = scaler(), scaler()
        pixels = image.reshape(-1, 3).astype(float)
        before.fit(pixels), after.fit(other.reshape(-1, 3).astype(float))
        adapted = after.inverse_transform(before.transform(pixels)).reshape(image.shape)
        close(made, np.clip(image * 0.3 + adapted * 0.7, 0, 255), 1)
    made = ours.TemplateTransform(templates=other, img_weight=(0.3, 0.3), p=1.0)(image=image)["image"]
    want = theirs.TemplateTransform(templates=other, img_weight=(0.3, 0.3), p=1.0)(image=image)["image"]
    close(made, want, 1)
    flipped = ours.TemplateTransform([other], (0.3, 0.3), template_transform=ours.HorizontalFlip(p=1.0), p=1.0)
    close(flipped(image=image)["image"], image * 0.3 + other[:, ::-1] * 0.7, 1)


def test_an_image_is_read_from_a_file(tmp_path):
    path = tmp_path / "other.png"
    cv2.imwrite(str(path), np.full((9, 8, 3), 50, np.uint8))
    made = ours.HistogramMatching([str(path)], blend_ratio=(1.0, 1.0), p=1.0)(image=smooth(20, 30))["image"]
    assert (made == 50).all()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda image: ours.PiecewiseAffine(nb_rows=1, p=1.0)(image=image), "nb_rows must be at least 2"),
        (lambda image: ours.ThinPlateSpline(num_control_points=1, p=1.0)(image=image), "at least 2"),
        (lambda image: ours.GridElasticDeform((4, 4), 0, p=1.0)(image=image), "magnitude positive"),
        (lambda image: ours.RandomGridShuffle((0, 2), p=1.0)(image=image), "grid must be two numbers"),
        (lambda image: ours.RandomRain(rain_type="wet", p=1.0)(image=image), "drizzle, heavy"),
        (lambda image: ours.RandomFog(p=1.0)(image=image[..., :1]), "three channels"),
        (lambda image: ours.FancyPCA(p=1.0)(image=image[..., 0]), "three channels"),
        (lambda image: ours.RandomSunFlare(method="other", p=1.0)(image=image), "'overlay' or 'physics_based'"),
        (lambda image: ours.GlassBlur(mode="slow", p=1.0)(image=image), "'fast' or 'exact'"),
        (lambda image: ours.GlassBlur(max_delta=0, p=1.0)(image=image), "max_delta within 1"),
        (lambda image: ours.Spatter(mode="snow", p=1.0)(image=image), "'rain' or 'mud'"),
        (lambda image: ours.MaskDropout(p=1.0)(image=image), "needs a mask"),
        (lambda image: ours.PlasmaShadow(roughness=0, p=1.0)(image=image), "must be positive"),
        (lambda image: ours.HistogramMatching([image / 255], read_fn=lambda v: v, p=1.0)(image=image), "uint8"),
        (lambda image: ours.PixelDistributionAdaptation([image], p=1.0)(image=image), "'standard' or 'minmax'"),
    ],
)
def test_refusals_of_scenes_say_what_to_write(call, words):
    with pytest.raises(ValueError, match=words):
        call(smooth(40, 50))


def in_a_pipeline(transforms, image, count):
    """(count, number of transforms) results."""

    @penstock.pipeline_def(batch_size=count, num_threads=1, seed=5)
    def pipeline():
        images = fn.external_source(lambda: [image] * count, layout="HWC", dtype=penstock.types.UINT8, ndim=3)
        return tuple(ours.Compose([transform])(image=images)["image"] for transform in transforms)

    return [np.array([np.asarray(x) for x in made], np.float64) for made in pipeline().run()]


def test_pipelines_draw_as_calls_at_once():
    image, count = smooth(60, 80), 24
    chosen = [
        ("RandomFog", {"alpha_coef": 0.8}),
        ("RandomRain", {}),
        ("RandomSunFlare", {"src_radius": 30}),
        ("PlasmaShadow", {}),
        ("GlassBlur", {}),
        ("Spatter", {"mode": "mud"}),
        ("ThinPlateSpline", {}),
        ("PiecewiseAffine", {"scale": (0.2, 0.4), "nb_rows": (3, 5)}),
        ("GridElasticDeform", {"num_grid_xy": (3, 4), "magnitude": 6}),
        ("Perspective", {}),
        ("HistogramMatching", {"reference_images": [image // 2, 255 - image], "read_fn": lambda v: v}),
    ]
    piped = in_a_pipeline([getattr(ours, n)(**a, p=1.0) for n, a in chosen], image, count)
    for (name, arguments), made in zip(chosen, piped):
        again = repeated(ours, name, arguments, image, count)
        far = [np.abs(m - image).mean((1, 2, 3)) for m in (made, again)]
        assert abs(far[0].mean() - far[1].mean()) < 0.35 * far[1].mean() + 0.5, (name, far)
        assert made.std(0).mean() > 0.4 * again.std(0).mean(), name


def test_tiles_of_a_pipeline_take_all_places():
    image = np.repeat(np.uint8([10, 20, 30]), 5)[None, :, None].repeat(7, 0)
    (made,) = in_a_pipeline([ours.RandomGridShuffle(grid=(1, 3), p=1.0)], image, 60)
    orders = {tuple(m[0, ::5, 0].astype(int)) for m in made}
    assert orders == set(itertools.permutations((10, 20, 30)))
    image = np.arange(11 * 13, dtype=np.uint8).reshape(11, 13, 1)
    (made,) = in_a_pipeline([ours.RandomGridShuffle(grid=(4, 3), p=1.0)], image, 20)
    assert all((np.sort(m.ravel()) == np.sort(image.ravel())).all() for m in made)
    assert len({m.tobytes() for m in made}) == 20


def test_low_frequencies_of_another_image_are_theirs():
    other = np.clip(np.random.default_rng(2).normal([60, 120, 200], [20, 40, 30], (30, 50, 3)), 0, 255).astype(np.uint8)
    for image in (smooth(60, 80), smooth(61, 83)):
        for beta in (0.0, 0.05, 0.3):
            taken = {"reference_images": [other], "read_fn": lambda v: v, "beta_limit": (beta, beta)}
            made = ours.FDA(**taken, p=1.0)(image=image)["image"]
            want = domains.fourier_domain_adaptation(image, cv2.resize(other, image.shape[1::-1]), beta)
            close(made, want, 1)
    taken |= {"reference_images": [other[..., 0]]}
    gray = ours.FDA(**taken, p=1.0)(image=image[..., 0])["image"]
    want = domains.fourier_domain_adaptation(image[..., 0], cv2.resize(other[..., 0], image.shape[1::-1]), 0.3)
    close(gray, want, 1)
    with pytest.raises(ValueError, match="dimensions"):
        ours.FDA(**taken, p=1.0)(image=image)
    with pytest.raises(ValueError, match="within 0 and 0.5"):
        ours.FDA([other], 0.7, lambda v: v, p=1.0)(image=image)


def test_segments_are_theirs():
    image = smooth(60, 80)
    for shape, count in (((60, 80), 30), ((45, 90), 100)):
        want = functional.slic(smooth(*shape), count)
        np.testing.assert_array_equal(functions._segments(smooth(*shape), count), want)
    made = ours.Superpixels(p_replace=(1, 1), n_segments=(30, 30), max_size=None, p=1.0)(image=image)["image"]
    want = functional.superpixels(image, 30, [True], None, 1)
    first = functional.slic(image, 30) == 0  # which stays in theirs
    close(made[~first], want[~first], 0)
    assert (made[first] == made[first][0]).all()
    flat = [repeated(m, "Superpixels", {"p_replace": (0.4, 0.4), "max_size": 40}, image, 12) for m in (ours, theirs)]
    spread = [np.abs(np.diff(made, axis=2)).mean() for made in flat]
    np.testing.assert_allclose(spread[0], spread[1], rtol=0.1)
    gray = ours.Superpixels(p_replace=(1, 1), p=1.0)(image=np.float32(image[..., 0]) / 255)["image"]
    assert gray.shape == (60, 80) and gray.dtype == np.float32 and len(np.unique(gray)) <= 140
    with pytest.raises(ValueError, match="max_size"):
        ours.Superpixels(1.0, max_size=0, p=1.0)(image=image)
