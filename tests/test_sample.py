# SPDX-License-Identifier: Apache-2.0
"""Parts of a Sample move together: each is compared with pixels that say where they came from."""

import json

import numpy as np
import pytest

import penstock
from penstock import DataNode, Pipeline, augment, fn, pipeline_def, types
from penstock.sample import Boxes, Image, Mask, Other, Sample

OUTSIDE = -1000.0


def positions(height, width):
    """An image whose pixels hold where their centers are: linear filters keep such values."""
    y, x = np.mgrid[:height, :width].astype(np.float32) + 0.5
    return np.stack([x, y, np.zeros_like(x)], -1)


def geometric(rng, height, width):
    """(name, arguments) of an operator that moves pixels, drawn."""
    turn = np.deg2rad(rng.uniform(-40, 40))
    c, s = np.cos(turn), np.sin(turn)
    makers = {
        "flip": lambda: {"horizontal": int(rng.integers(2)), "vertical": int(rng.integers(2))},
        "crop": lambda: {
            "crop_h": int(rng.integers(height // 2, height + 1)),
            "crop_w": int(rng.integers(width // 2, width + 1)),
            "crop_pos_x": rng.uniform(),
            "crop_pos_y": rng.uniform(),
        },
        "resize": lambda: {
            "size": [int(rng.integers(height // 2, 2 * height)), int(rng.integers(width // 2, 2 * width))]
        },
        "random_resized_crop": lambda: {"size": [48, 56], "random_area": [0.3, 0.9], "seed": int(rng.integers(1000))},
        "rotate": lambda: {"angle": rng.uniform(-180, 180), "fill_value": OUTSIDE, "keep_size": bool(rng.integers(2))},
        "warp_affine": lambda: {
            "matrix": [c, -s, rng.uniform(-9, 9), s, c * 1.2, rng.uniform(-9, 9)],
            "fill_value": OUTSIDE,
        },
        "warp_perspective": lambda: {
            "matrix": [1.1, 0.1, rng.uniform(-9, 9), -0.1, 0.9, rng.uniform(-9, 9), 1e-3, -5e-4, 1.0],
            "fill_value": [OUTSIDE],
            "pixel_origin": str(rng.choice(["corner", "center"])),
            "inverse_map": bool(rng.integers(2)),
        },
        "paste": lambda: {"fill_value": [OUTSIDE], "ratio": 1.3, "paste_x": rng.uniform(), "paste_y": rng.uniform()},
        "slice": lambda: {"rel_start": [0.1, 0.2], "rel_shape": [0.7, 0.6], "axis_names": "HW"},
        "crop_mirror_normalize": lambda: {
            "crop": [height * 3 // 4, width * 3 // 4],
            "mirror": 1,
            "output_layout": "HWC",
        },
        "resize_crop_mirror": lambda: {"size": [60, 70], "crop": [40, 50], "mirror": 1},
    }
    name = str(rng.choice(list(makers)))
    return name, makers[name]()


def chain(seed, sample, steps=3):
    rng = np.random.default_rng(seed)
    names = []
    for _ in range(steps):
        height, width = sample["image"].shape[:2]
        name, arguments = geometric(rng, height, width)
        sample = getattr(fn, name)(sample, **arguments)
        names.append(name)
    return sample, names


def inside(image):
    """Positions of output pixels whose neighbors all come from the image, and what they show."""
    known = image[..., 0] > 0
    near = known.copy()
    for shift in (-2, -1, 1, 2):
        near[:, max(0, shift) : known.shape[1] + min(0, shift)] &= known[
            :, max(0, -shift) : known.shape[1] - max(0, shift)
        ]
        near[max(0, shift) : known.shape[0] + min(0, shift)] &= known[max(0, -shift) : known.shape[0] - max(0, shift)]
    near[:3], near[-3:], near[:, :3], near[:, -3:] = False, False, False, False
    v, u = np.nonzero(near)
    return u + 0.5, v + 0.5, image[v, u]


@pytest.mark.parametrize("seed", range(60))
def test_points_lie_where_pixels_show_them(seed):
    """The position that a pixel shows moves to that pixel."""
    height, width = 64, 80
    image = positions(height, width)
    sample, names = chain(seed, Sample(image=image, points=np.zeros((1, 2), np.float32)))
    u, v, shown = inside(sample["image"])
    if len(u) == 0:
        return
    again, _ = chain(seed, Sample(image=image, points=np.ascontiguousarray(shown[:, :2])))
    away = np.abs(again["points"] - np.stack([u, v], -1)).max(-1)
    # Borders are repeated where a crop reads outside its window: there pixels do not show where they came from.
    # The weights of a filter of few taps are not quite symmetric.
    assert np.quantile(away, 0.75) < 0.15, (names, np.quantile(away, [0.5, 0.75, 0.9]))


@pytest.mark.parametrize("seed", range(40))
def test_masks_are_the_images_classes(seed):
    height, width = 64, 80
    image = positions(height, width)
    mask = (image[..., 0] // 8 + 10 * (image[..., 1] // 8) + 1).astype(np.uint8)[..., None]
    sample, names = chain(seed, Sample(image=image, mask=Mask(mask, fill=0)), steps=2)
    assert sample["mask"].dtype == np.uint8 and sample["mask"].shape[:2] == sample["image"].shape[:2]
    assert set(np.unique(sample["mask"])) <= {0, *np.unique(mask)}, names
    u, v, shown = inside(sample["image"])
    x, y = shown[:, 0], shown[:, 1]
    sure = (np.abs(x % 8 - 4) < 2.5) & (np.abs(y % 8 - 4) < 2.5)  # not near the border of two classes
    expected = (x // 8 + 10 * (y // 8) + 1).astype(np.uint8)
    got = sample["mask"][(v - 0.5).astype(int), (u - 0.5).astype(int), 0]
    if sure.any():
        assert (got == expected)[sure].mean() > 0.97, names


@pytest.mark.parametrize("layout", ["ltrb", "xywh", "cxcywh"])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_boxes_surround_what_was_drawn(layout, normalized, seed):
    rng = np.random.default_rng([seed, 7])
    height, width = 96, 120
    ltrb = np.float32([[20, 24, 60, 50], [70, 40, 100, 80]])
    masks = np.zeros((height, width, 2), np.uint8)
    for k, (left, top, right, bottom) in enumerate(ltrb.astype(int)):
        masks[top:bottom, left:right, k] = 1
    to = {"ltrb": lambda b: b, "xywh": lambda b: np.hstack([b[:, :2], b[:, 2:] - b[:, :2]])}
    to["cxcywh"] = lambda b: np.hstack([(b[:, :2] + b[:, 2:]) / 2, b[:, 2:] - b[:, :2]])
    back = {"ltrb": lambda b: b, "xywh": lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]])}
    back["cxcywh"] = lambda b: np.hstack([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2])
    unit = np.float32([width, height, width, height]) if normalized else np.float32(1)
    boxes = to[layout](ltrb) / unit
    sample = Sample(
        image=positions(height, width), mask=masks, boxes=Boxes(boxes, layout, normalized), labels=np.int32([5, 6])
    )
    name, arguments = geometric(rng, height, width)
    moved = getattr(fn, name)(sample, **arguments)
    new_height, new_width = moved["mask"].shape[:2]
    unit = np.float32([new_width, new_height, new_width, new_height]) if normalized else np.float32(1)
    got = dict(zip(moved["labels"].tolist(), (back[layout](moved["boxes"] * unit)).tolist()))
    for k, label in enumerate((5, 6)):
        rows, columns = np.nonzero(moved["mask"][..., k])
        if len(rows) == 0:
            area = (lambda b: (b[2] - b[0]) * (b[3] - b[1]))(got[label]) if label in got else 0
            assert area < 3 * max(new_height, new_width), name
            continue
        drawn = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        np.testing.assert_allclose(got[label], drawn, atol=1.5, err_msg=name)


def test_boxes_are_dropped_by_area_and_visibility():
    image = np.zeros((40, 40, 3), np.uint8)
    boxes = np.float32([[0, 0, 10, 10], [15, 15, 25, 25], [18, 18, 22, 22], [30, 30, 40, 40]])
    kept = lambda **limits: fn.crop(
        Sample(image=image, boxes=Boxes(boxes, **limits), labels=np.arange(4)),
        crop=[20, 20],
        crop_pos_x=0.0,
        crop_pos_y=0.0,
    )
    assert kept()["labels"].tolist() == [0, 1, 2]
    assert kept(min_area=5)["labels"].tolist() == [0, 1]
    assert kept(min_visibility=0.26)["labels"].tolist() == [0]
    np.testing.assert_array_equal(kept()["boxes"], [[0, 0, 10, 10], [15, 15, 20, 20], [18, 18, 20, 20]])


def test_no_box_is_left():
    sample = Sample(image=np.zeros((40, 40, 3), np.uint8), boxes=np.float32([[30, 30, 40, 40]]), labels=np.int64([[3]]))
    left = fn.crop(sample, crop=[20, 20], crop_pos_x=0.0, crop_pos_y=0.0)
    assert left["boxes"].shape == (0, 4) and left["labels"].shape == (0, 1)
    empty = Sample(
        image=np.zeros((8, 8, 3), np.uint8), boxes=np.zeros((0, 4), np.float32), points=np.zeros((0, 3), np.float32)
    )
    assert fn.flip(empty)["boxes"].shape == (0, 4) and fn.flip(empty)["points"].shape == (0, 3)


def test_pixel_operators_change_images_alone():
    image, mask = np.full((8, 8, 3), 100, np.uint8), np.full((8, 8, 1), 3, np.uint8)
    sample = Sample(image=image, mask=mask, boxes=np.float32([[1, 1, 5, 5]]), points=np.float32([[1, 2]]), name="a.jpg")
    for change in (
        lambda s: fn.brightness(s, brightness=0.5),
        lambda s: fn.gaussian_blur(fn.brightness(s, brightness=0.5), window_size=3),
        lambda s: fn.noise.gaussian(s, stddev=20.0),
        lambda s: fn.erase(s, anchor=[0.0, 0.0], shape=[4.0, 4.0], axes=[0, 1]),
    ):
        changed = change(sample)
        assert type(changed) is Sample and (changed["image"] != image).any()
        assert all(changed[name] is sample[name] for name in ("mask", "boxes", "points", "name"))


def test_others_refuse_a_sample():
    sample = Sample(image=np.zeros((8, 8, 3), np.uint8))
    for call in (
        lambda: fn.transpose(sample, perm=[1, 0, 2]),
        lambda: fn.reductions.mean(sample),
        lambda: fn.water(sample),
        lambda: fn.reshape(sample, shape=[192]),
    ):
        with pytest.raises(TypeError, match="does not say where the parts of a Sample move"):
            call()
    with pytest.raises(TypeError, match="needs an image, a volume or a mask"):
        Sample(boxes=np.zeros((0, 4), np.float32))


def test_a_sample_draws_once():
    """Random crops of all pixel parts, and of the map of the points, show the same window."""
    penstock.seed(5)
    image = positions(64, 64)
    for _ in range(20):
        s = fn.random_resized_crop(
            Sample(image=image, again=Image(image), points=np.float32([[32, 32]])), size=[64, 64]
        )
        np.testing.assert_array_equal(s["image"], s["again"])
        x, y = s["points"][0]
        if 4 < x < 60 and 4 < y < 60:
            np.testing.assert_allclose(s["image"][int(y), int(x), :2], 32, atol=1.0)


def test_replay():
    """What was drawn is plain data, and gives the same bytes again, also for another sample."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (60, 70, 3), np.uint8)
    for _ in range(10):
        s = Sample(
            image=image, points=np.float32([[30, 30]]), boxes=np.float32([[10, 10, 50, 50]]), labels=np.int32([1])
        )
        first = fn.random_resized_crop(s, size=[32, 40])
        first = fn.rotate(first, angle=rng.uniform(-90, 90), fill_value=0, keep_size=True)
        first = fn.noise.gaussian(fn.brightness(first, brightness=np.float32(rng.uniform(0.5, 1.5))), stddev=20.0)
        again = s.replay(json.loads(json.dumps(first.params)))
        assert all((np.asarray(first[k]) == np.asarray(again[k])).all() for k in first)
        other = Sample(image=255 - image).replay(first.params)
        assert other["image"].shape == (32, 40, 3) and [p["op"] for p in other.params] == [
            p["op"] for p in first.params
        ]


def test_in_a_pipeline():
    """Values of a pipeline, drawn arguments, several threads: the same map for all parts of each sample."""
    image = positions(64, 80)
    points = np.float32([[10, 20, 1], [40, 30, 0], [70, 60, 1]])
    boxes = np.float32([[30, 20, 50, 40]])

    @pipeline_def(batch_size=6, num_threads=2, seed=3)
    def moved():
        pictures = fn.external_source(lambda: [image] * 6, layout="HWC")
        corners = fn.external_source(lambda: [boxes] * 6)
        spots = fn.external_source(lambda: [points] * 6)
        sample = Sample(image=pictures, boxes=Boxes(corners, min_visibility=0.1), points=spots, label=Other(corners))
        assert isinstance(sample["image"], DataNode)
        sample = fn.rotate(sample, angle=fn.random.uniform(range=[-30.0, 30.0]), fill_value=OUTSIDE)
        sample = fn.random_resized_crop(sample, size=[64, 64], random_area=[0.5, 1.0])
        return fn.flip(sample, horizontal=fn.random.coin_flip())

    pipe = moved()
    assert isinstance(pipe, Pipeline)
    found = 0
    for _ in range(5):
        out = pipe.run()
        out = out if isinstance(out, dict) else dict(zip(("image", "boxes", "points", "label"), out))
        for k in range(6):
            picture, spots = np.asarray(out["image"][k]), np.asarray(out["points"][k])
            assert spots.shape == (3, 3) and (spots[:, 2] == points[:, 2]).all()
            for (x, y, _), (from_x, from_y, _) in zip(spots, points):
                if 3 < x < 61 and 3 < y < 61:
                    np.testing.assert_allclose(picture[int(y), int(x), :2], [from_x, from_y], atol=1.5)
                    found += 1
    assert found > 20


def read_back(pipe):
    return {name: [np.asarray(v[k]) for k in range(len(v))] for name, v in pipe.run().items()}


def test_arguments_of_channels_do_not_concern_points():
    """A pipeline's map of points knows the extents of an image, not its channels."""

    @pipeline_def(batch_size=2, num_threads=1)
    def moved():
        image = fn.external_source(lambda: [positions(32, 40)] * 2, layout="HWC")
        sample = Sample(image=image, points=fn.external_source(lambda: [np.float32([[10, 20]])] * 2))
        sample = fn.crop(sample, crop=[64, 64], out_of_bounds_policy="pad", fill_values=[1.0, 2.0, 3.0])
        return fn.crop_mirror_normalize(sample, crop=[16, 16], mean=[1.0, 2.0, 3.0], std=[4.0, 5.0, 6.0], mirror=1)

    out = read_back(moved())
    assert out["image"][0].shape == (3, 16, 16)
    np.testing.assert_allclose(out["points"][0], [[16 - (10 + 12 - 24), 20 + 16 - 24]])


def test_samples_in_conditions():
    """A branch a sample: parts that a branch moved are moved for its samples alone, and what waits before it stays right."""
    image, points = positions(32, 32), np.float32([[4, 6]])

    @pipeline_def(batch_size=8, num_threads=1, seed=1)
    def conditional():
        sample = Sample(
            image=fn.external_source(lambda: [image] * 8, layout="HWC"), points=fn.external_source(lambda: [points] * 8)
        )
        sample = fn.flip(sample, horizontal=1)
        turned = fn.random.coin_flip()
        if turned:
            sample = fn.flip(sample, horizontal=0, vertical=1)
            sample = fn.flip(sample)
        return {**sample, "turned": turned}

    out = read_back(conditional())
    assert {int(t) for t in out["turned"]} == {0, 1}
    for turned, picture, spots in zip(out["turned"], out["image"], out["points"]):
        np.testing.assert_array_equal(spots, [[4, 26]] if turned else [[28, 6]])
        x, y = spots[0]
        np.testing.assert_allclose(picture[int(y), int(x), :2], points[0], atol=0.51)


def test_a_branch_moves_parts_once():
    """Each part that a branch reads adds no nodes of its own."""

    @pipeline_def(batch_size=2, num_threads=1)
    def branched():
        image = fn.external_source(lambda: [positions(8, 8)] * 2, layout="HWC")
        points = fn.external_source(lambda: [np.float32([[1, 2]])] * 2)
        sample, total = fn.flip(Sample(image=image, points=points, keypoints=points)), 0.0
        if fn.random.coin_flip():
            total = fn.reductions.sum(sample["points"]) + fn.reductions.sum(sample["keypoints"])
        return total

    pipe = branched()
    pipe.build()
    assert pipe.text().count("= points.flip(") == 1


def test_parts_that_follow_leave_pixels_in_one_stage():
    image = positions(64, 64)

    def steps(with_points):
        @pipeline_def(batch_size=2, num_threads=1)
        def moved():
            parts = {"image": fn.external_source(lambda: [image] * 2, layout="HWC")}
            if with_points:
                parts["points"] = fn.external_source(lambda: [np.float32([[1, 2]])] * 2)
            sample = fn.resize(Sample(**parts), size=[32, 32])
            sample = fn.crop(sample, crop=[16, 16])
            return fn.brightness(fn.flip(sample), brightness=2.0)

        pipe = moved()
        pipe.build()
        return sum("resize" in line and "flip" in line for line in str(pipe.plan()).splitlines())

    assert steps(False) == steps(True) == 1


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32", "bool"])
@pytest.mark.parametrize("seed", range(12))
def test_masks_keep_their_type(dtype, seed):
    """Every operator that moves pixels keeps the type of a mask, with and without a cast."""
    rng = np.random.default_rng(seed)
    mask = (rng.integers(0, 2, (64, 80, 1)) * (1 if dtype in ("uint8", "bool") else 100)).astype(dtype)
    for _ in range(4):
        name, arguments = geometric(rng, 64, 80)
        moved = getattr(fn, name)(Sample(image=positions(64, 80), mask=mask), **arguments)["mask"]
        assert moved.dtype == mask.dtype, name
        assert set(np.unique(moved)) <= {0, *np.unique(mask)}, name


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float64"])
def test_class_numbers_that_float32_lacks_stay(dtype):
    mask = (np.arange(20 * 24).reshape(20, 24, 1) + 2**24 + 1).astype(dtype)
    window = {"crop": [11, 13], "crop_pos_x": 0.3, "mirror": 1}
    expected = fn.flip(fn.crop(mask, crop=[11, 13], crop_pos_x=0.3))

    @pipeline_def(batch_size=1, num_threads=1)
    def normalized():
        image = fn.external_source(lambda: [positions(20, 24)], layout="HWC")
        classes = fn.external_source(lambda: [mask], layout="HWC")
        return fn.crop_mirror_normalize(Sample(image=image, mask=classes), **window)

    made = fn.crop_mirror_normalize(Sample(image=positions(20, 24), mask=mask), **window)["mask"]
    for got in (made, read_back(normalized())["mask"][0]):
        assert got.dtype == mask.dtype and got.shape == (11, 13, 1)
        np.testing.assert_array_equal(got, expected)


def test_moves_of_a_mask_are_one_stage():
    @pipeline_def(batch_size=2, num_threads=1)
    def moved():
        image = fn.external_source(lambda: [positions(64, 64)] * 2, layout="HWC")
        mask = fn.external_source(lambda: [np.ones((64, 64, 1), np.uint8)] * 2, layout="HWC")
        return fn.flip(fn.crop(fn.resize(Sample(image=image, mask=mask), size=[32, 32]), crop=[16, 16]))

    pipe = moved()
    pipe.build()
    assert sum("resize" in line and "crop" in line and "flip" in line for line in str(pipe.plan()).splitlines()) == 2


def test_the_line_of_a_part_that_follows():
    @pipeline_def(batch_size=1, num_threads=1)
    def wrong():
        image = fn.external_source(lambda: [positions(8, 8)], layout="HWC")
        boxes = fn.external_source(lambda: [np.float32([[300, 300, 400, 400]])])
        sample = fn.flip(Sample(image=image, boxes=boxes))  # the line
        return sample["boxes"]

    with pytest.raises(ValueError, match="boxes must be within 0 and 8") as error:
        wrong().run()
    (line,) = [k for k, text in enumerate(open(__file__), 1) if text.rstrip().endswith("# the line")]
    assert f"{__file__}:{line}" in str(error.value)


def test_debug_mode():
    @pipeline_def(batch_size=2, num_threads=1, debug=True)
    def moved():
        image = fn.external_source(lambda: [positions(8, 8)] * 2, layout="HWC")
        points = fn.external_source(lambda: [np.float32([[1, 2]])] * 2)
        return fn.flip(fn.resize(Sample(image=image, points=points), size=[16, 16]))

    np.testing.assert_allclose(read_back(moved())["points"][1], [[14, 4]])


def test_batches_and_layouts():
    images = [positions(40, 50), positions(64, 30)]
    points = [np.float32([[10, 20]]), np.float32([[5, 6], [7, 8]])]
    batch = Sample(image=penstock.batch(images, layout="HWC"), points=penstock.batch(points))
    moved = fn.flip(batch)
    np.testing.assert_allclose(np.asarray(moved["points"][0]), [[40, 20]])
    np.testing.assert_allclose(np.asarray(moved["points"][1]), [[25, 6], [23, 8]])
    planes = penstock.tensor(np.ascontiguousarray(images[0].transpose(2, 0, 1)), "CHW")
    moved = fn.resize(Sample(image=planes, points=points[0]), size=[80, 25])
    np.testing.assert_allclose(np.asarray(moved["points"]), [[5, 40]])


def test_volumes():
    z, y, x = np.mgrid[:20, :24, :28].astype(np.float32) + 0.5
    volume = penstock.tensor(np.stack([x, y, z], -1), "DHWC")
    moved = fn.flip(Sample(image=volume, points=np.float32([[3, 4, 5]])), horizontal=1, depthwise=1)
    np.testing.assert_allclose(moved["points"], [[25, 4, 15]])
    boxes = Boxes(np.float32([[1, 2, 3, 4, 5, 6]]), layout="xyzXYZ")
    moved = fn.crop(
        Sample(image=volume, boxes=boxes),
        crop_d=10,
        crop_h=12,
        crop_w=14,
        crop_pos_x=0.0,
        crop_pos_y=0.0,
        crop_pos_z=0.0,
    )
    np.testing.assert_allclose(moved["boxes"], [[1, 2, 3, 4, 5, 6]])


def test_frames_with_a_map_each_are_refused():
    frames = penstock.tensor(np.zeros((3, 16, 16, 3), np.uint8), "FHWC")
    angles = penstock.tensor(np.float32([0, 10, 20]), "F")
    with pytest.raises(ValueError, match="one value for each frame"):
        fn.rotate(Sample(image=frames, points=np.float32([[1, 1]])), angle=angles)
    moved = fn.rotate(Sample(image=frames, points=np.float32([[1, 1]])), angle=90.0)
    np.testing.assert_allclose(moved["points"], [[1, 15]], atol=1e-5)


def test_points_follow_transform_points():
    matrix = [2.0, 0.5, 3.0, -0.5, 1.0, 4.0, 1e-3, 2e-3, 1.0]
    points = np.float32([[1, 2, 7], [30, 40, 8]])
    got = fn.transform_points(points, matrix=matrix)
    full = np.hstack([points[:, :2].astype(np.float64), np.ones((2, 1))]) @ np.array(matrix).reshape(3, 3).T
    np.testing.assert_allclose(got, np.hstack([full[:, :2] / full[:, 2:], points[:, 2:]]), rtol=1e-6)
    with pytest.raises(ValueError, match="9 or 16"):
        fn.transform_points(points, matrix=[1.0, 0.0])


def test_interpolation_of_masks_is_nearest():
    mask = np.uint8([[0, 200]])[..., None].repeat(2, 0)
    sample = Sample(image=np.zeros((2, 2, 3), np.uint8), mask=mask)
    grown = fn.resize(sample, size=[8, 8], interp_type=types.INTERP_CUBIC)
    assert set(np.unique(grown["mask"])) == {0, 200}


AUGMENTATIONS = {
    "random_horizontal_flip": lambda s: augment.random_horizontal_flip(s),
    "random_rotation": lambda s: augment.random_rotation(s, 30),
    "random_affine": lambda s: augment.random_affine(s, 20, (0.1, 0.1), (0.8, 1.2), 5),
    "random_perspective": lambda s: augment.random_perspective(s, 0.3, p=1.0),
    "rand_augment": lambda s: augment.rand_augment(s),
    "trivial_augment_wide": lambda s: augment.trivial_augment_wide(s),
    "color_jitter": lambda s: augment.color_jitter(s, 0.4, 0.4, 0.4),
    "random_erasing": lambda s: augment.random_erasing(s, p=1.0),
    "one_of": lambda s: augment.one_of(s, [fn.flip, fn.invert]),
    "some_of": lambda s: augment.some_of(s, [fn.flip, fn.invert, lambda x: fn.flip(x, horizontal=0, vertical=1)], n=2),
}


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_augmentations_move_all_parts(name):
    """Where a bright square goes, its point goes."""
    image = np.zeros((64, 64, 3), np.uint8)
    image[20:28, 36:44] = 255
    mask = (image[..., :1] > 0).astype(np.uint8)

    @pipeline_def(batch_size=16, num_threads=1, seed=5)
    def moved():
        parts = {"image": fn.external_source(lambda: [image] * 16, layout="HWC")}
        parts["mask"] = fn.external_source(lambda: [mask] * 16, layout="HWC")
        parts["points"] = fn.external_source(lambda: [np.float32([[40, 24]])] * 16)
        return AUGMENTATIONS[name](Sample(**parts))

    out = read_back(moved())
    for square, (point,) in zip(out["mask"], out["points"]):
        rows, columns = np.nonzero(square[..., 0])
        if len(rows) > 30:
            np.testing.assert_allclose(point, [columns.mean() + 0.5, rows.mean() + 0.5], atol=1.0)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_filters_do_not_mix_channels_of_arrays(channels):
    """As of a Tensor with a layout: along its last axis, too, an array of three axes would be blurred."""
    image = np.random.default_rng(1).integers(0, 256, (20, 24, channels), np.uint8)
    taken = penstock.tensor(image, layout="HWC")
    for name, how in (("gaussian_blur", {"window_size": [5], "sigma": [1.1]}), ("box_blur", {"window_size": [3]})):
        made = getattr(fn, name)(Sample(image=image, labels=np.zeros(2)), **how)["image"]
        assert isinstance(made, np.ndarray) and made.shape == image.shape
        np.testing.assert_array_equal(made, getattr(fn, name)(taken, **how).numpy())
    made = augment.gaussian_blur(Sample(image=image), 5, 1.1)["image"]
    np.testing.assert_array_equal(made, augment.gaussian_blur(image, 5, 1.1))
