# SPDX-License-Identifier: Apache-2.0
"""Operators on boxes and labels: DALI gives the same, labels stay with their boxes, and random results keep their rules."""

import numpy as np
import penstock
import pytest
from operators import boxes as ref
from penstock import fn, pipeline_def, types

SEEDS = range(12)


def boxes_of(random, least=1, dims=2):
    return np.sort(random.random((random.integers(least, 7), 2, dims), np.float32), 1).reshape(-1, 2 * dims)


def close(ours, dali, error=2e-6):
    assert len(ours) == len(dali)
    for a, b in zip(ours, dali):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=error, atol=error)


def arrays(batch):
    return [np.array(t.numpy()) for t in batch]


@pytest.mark.parametrize("seed", SEEDS)
def test_flips_and_pastes_are_dalis(oracle, seed):
    random = np.random.default_rng(seed)
    xs, ltrb = [boxes_of(random) for _ in range(3)], bool(seed % 2)
    flips = {
        "horizontal": random.integers(0, 2, 3).astype(np.int32),
        "vertical": random.integers(0, 2, 3).astype(np.int32),
    }
    close(
        arrays(fn.bb_flip(xs, ltrb=ltrb, **{k: penstock.batch(list(v)) for k, v in flips.items()})),
        oracle.call("bb_flip", xs, ltrb=ltrb, **{k: {"per_sample": list(v)} for k, v in flips.items()}),
    )
    paste = {
        "ratio": np.float32(random.uniform(1, 4, 3)),
        "paste_x": np.float32(random.random(3)),
        "paste_y": np.float32(random.random(3)),
    }
    close(
        arrays(fn.bbox_paste(xs, ltrb=ltrb, **{k: penstock.batch(list(v)) for k, v in paste.items()})),
        oracle.call("bbox_paste", xs, ltrb=ltrb, **{k: {"per_sample": list(v)} for k, v in paste.items()}),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_one_hot_is_dalis(oracle, seed):
    random = np.random.default_rng(seed)
    dims = int(random.integers(0, 4))
    shapes = [(1,) * dims if seed % 3 == 0 else tuple(random.integers(1, 4, dims)) for _ in range(3)]
    xs = [random.integers(-1, 6, s).astype(random.choice(["i4"])) for s in shapes]
    more = {} if random.random() < 0.5 else {"axis": int(random.integers(-1, dims + 1))}
    more.update(num_classes=5, on_value=3.0, off_value=-2.0, **({"dtype": "int16"} if seed % 2 else {}))
    layout = "ABC"[:dims]
    if random.random() < 0.5:
        more["axis_name"] = "X"
    want = oracle.call("one_hot", xs, layout=layout, **more)
    got = fn.one_hot(
        penstock.batch(xs, layout=layout), **{**more, **({"dtype": types.INT16} if "dtype" in more else {})}
    )
    close(arrays(got), want)
    assert got.layout() == oracle.layouts[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_coord_transform_is_dalis(oracle, seed):
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 5, 2)
    xs = [random.uniform(-9, 9, (random.integers(1, 6), n)).astype(np.float32) for _ in range(3)]
    number = lambda *shape: random.uniform(-2, 2, shape).astype(np.float32)
    given = [
        {"M": [number(m, n) for _ in xs], "T": [number(m) for _ in xs]},
        {"MT": [number(m, n + 1) for _ in xs]},
        {"M": [number() for _ in xs]},
        {"T": [number(n) for _ in xs]},
    ][seed % 4]
    close(
        arrays(fn.coord_transform(xs, **{k: penstock.batch(v) for k, v in given.items()})),
        oracle.call("coord_transform", xs, **{k: {"per_sample": v} for k, v in given.items()}),
        1e-5,
    )


def test_coord_transform_of_frames_is_dalis(oracle):
    random = np.random.default_rng(0)
    xs = [random.uniform(-9, 9, (f, 4, 2)).astype(np.float32) for f in (3, 5)]
    M, T = [random.random((len(x), 3, 2), np.float32) for x in xs], [random.random((len(x), 3), np.float32) for x in xs]
    want = oracle.call("coord_transform", xs, layout="FNC", M={"per_frame": M}, T={"per_frame": T})

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        frames = lambda values: fn.per_frame(fn.external_source(lambda: values))
        return fn.coord_transform(fn.external_source(lambda: xs, layout="FNC"), M=frames(M), T=frames(T))

    close(arrays(pipe().run()[0]), want, 1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_rotated_boxes_are_dalis(oracle, seed):
    random = np.random.default_rng(seed)
    xs = [boxes_of(random) * 1.2 - 0.1 for _ in range(3)]
    labels = [np.arange(len(x), dtype=np.int32)[:, None] if seed % 2 else np.arange(len(x), dtype=np.int32) for x in xs]
    image = [int(v) for v in random.integers(20, 90, 2)]
    more = {
        "mode": str(random.choice(["expand", "fixed", "halfway"])),
        "remove_threshold": float(np.float32(random.uniform(0, 0.9))),
        "bbox_layout": str(random.choice(["xyXY", "xyWH"])),
        "keep_size": bool(random.random() < 0.5),
    }
    if not more["keep_size"] and random.random() < 0.5:
        more["size"] = [float(v) for v in random.integers(20, 90, 2)]
    if more["bbox_layout"] == "xyWH":
        for x in xs:
            x[:, 2:] -= x[:, :2]
    if random.random() < 0.5:
        more["bbox_normalized"] = False
        xs = [x * np.float32(image[::-1] * 2) for x in xs]
    order = str(random.choice(["HW", "WH", "CHW"]))
    shape = {"HW": image + [3], "WH": image[::-1], "CHW": [3] + image}[order]
    angle = np.float32(random.choice([random.uniform(-200, 200), 90, -180]))
    more.update(input_shape=shape, shape_layout=order, angle=float(angle))
    want = oracle.call("bbox_rotate", [xs, labels], **more)
    got = fn.bbox_rotate(xs, labels, **more)
    close(arrays(got[0]), want[0], 1e-4 if "bbox_normalized" in more else 1e-5)
    close(arrays(got[1]), want[1])
    close(arrays(fn.bbox_rotate(xs, **more)), arrays(got[0]), 0)


@pytest.mark.parametrize("seed", range(24))
def test_encoded_boxes_are_dalis(oracle, seed):
    random = np.random.default_rng(seed)
    steps = 4 if seed % 2 else 2**20  # few places make equals
    sides = lambda n: (
        np.hstack([low := random.integers(0, steps, (n, 2)), low + random.integers(1, steps, (n, 2))]).astype(
            np.float32
        )
        / steps
    )
    xs = [sides(random.integers(1, 6)) for _ in range(3)]
    labels = [random.integers(1, 90, len(x)).astype(np.int32) for x in xs]
    anchors = sides(random.integers(1, 30))
    more = {"criteria": float(np.float32(random.choice([0.5, 0.25, random.random()])))}
    if seed % 3:
        more.update(offset=True, scale=300.0, means=[0.0, 0.1, 0.2, -0.1], stds=[0.1, 0.1, 0.2, 0.2])
    want = oracle.call("box_encoder", [xs, labels], anchors=anchors.ravel().tolist(), **more)
    got = fn.box_encoder(xs, labels, anchors=anchors.ravel().tolist(), **more)
    close(arrays(got[1]), want[1])
    close(arrays(got[0]), want[0], 2e-4 if "offset" in more else 2e-6)


def test_encoding_without_boxes():
    boxes, labels = fn.box_encoder(
        [np.zeros((0, 4), np.float32)], [np.zeros(0, np.int32)], anchors=[0.0, 0, 1, 0.5] * 3
    )
    assert arrays(labels)[0].tolist() == [0, 0, 0] and arrays(boxes)[0].tolist() == [[0.5, 0.25, 1, 0.5]] * 3


# ---------------------------------------------------------------------------------------------------------- random_bbox_crop
def crops(x, n=300, seed=1, labels=None, **arguments):
    """n draws for one sample: lists of anchors, shapes, boxes and what else was requested."""
    out = fn.random_bbox_crop([x] * n, *([] if labels is None else [[labels] * n]), seed=seed, **arguments)
    return [arrays(o) for o in out]


TWO = np.float32([[0.1, 0.1, 0.15, 0.15], [0.5, 0.5, 0.9, 0.9]])


@pytest.mark.parametrize("prune", [None, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("dims", [2, 3])
def test_boxes_labels_and_rows_belong_to_the_window(dims, prune):
    random = np.random.default_rng(dims)
    for seed in range(20):
        x = boxes_of(random, dims=dims)
        labels = np.arange(10, 10 + len(x), dtype=np.int64)[:, None]
        more = {} if prune is None else {"bbox_prune_threshold": prune}
        anchors, shapes, boxes, names, rows = crops(
            x,
            10,
            seed,
            labels,
            scaling=[0.3, 1.0],
            aspect_ratio=[0.5, 2.0],
            output_bbox_indices=True,
            total_num_attempts=50,
            quiet=True,
            **more,
        )
        for k in range(10):
            want, stay = ref.random_bbox_crop(x, anchor=anchors[k], shape=shapes[k], prune=prune)
            if stay.tolist() != rows[k].tolist():  # a middle or an area that lies on the limit, within float32
                near = [
                    ref.random_bbox_crop(x, anchor=anchors[k] + d, shape=shapes[k] - 2 * d, prune=prune)[1].tolist()
                    for d in (-1e-5, 1e-5)
                ]
                assert rows[k].tolist() in near or prune == 1.0
                continue
            np.testing.assert_allclose(boxes[k], want, atol=1e-5)
            assert names[k].tolist() == labels[stay].tolist() and names[k].dtype == rows[k].dtype == np.int32


def test_windows_keep_their_ranges():
    anchors, shapes, boxes = crops(TWO, scaling=[0.3, 0.9], aspect_ratio=[0.5, 2.0], allow_no_crop=False)
    shapes, anchors = np.array(shapes), np.array(anchors)
    assert (
        shapes.min() >= 0.3 - 1e-6 and shapes.max() <= 0.9 + 1e-6 and shapes.max(0).min() > 0.85 and shapes.min() < 0.4
    )
    ratio = shapes[:, 0] / shapes[:, 1]
    assert ratio.min() >= 0.5 - 1e-5 and ratio.max() <= 2 + 1e-5 and ratio.min() < 0.6 and ratio.max() > 1.7
    assert anchors.min() >= 0 and (anchors + shapes).max() <= 1 + 1e-6 and anchors.max() > 0.4
    assert all(len(b) for b in boxes)  # a window keeps a box


def test_an_aspect_ratio_in_pixels():
    for limits in ([0.9, 1.1], [1.0, 1.0]):
        shapes = np.array(
            crops(TWO, scaling=[0.1, 1.0], aspect_ratio=limits, input_shape=[200, 50], allow_no_crop=False)[1]
        )
        ratio = shapes[:, 0] * 200 / (shapes[:, 1] * 50)
        assert ratio.min() >= limits[0] - 1e-4 and ratio.max() <= limits[1] + 1e-4
    turned = crops(
        TWO, scaling=[0.1, 1.0], aspect_ratio=[0.9, 1.1], input_shape=[50, 200], shape_layout="HW", allow_no_crop=False
    )
    assert np.allclose(np.array(turned[1])[:, 0] * 4 / np.array(turned[1])[:, 1], 1, atol=0.12)


def overlap(window, box, kind):
    if kind == "iou":
        return float(ref.overlaps(np.float64(window)[None], np.float64(box)[None])[0, 0])
    low, high = np.maximum(window[:2], box[:2]), np.minimum(window[2:], box[2:])
    return float(np.prod(np.maximum(high - low, 0)) / np.prod(box[2:] - box[:2]))


@pytest.mark.parametrize("kind", ["iou", "overlap"])
@pytest.mark.parametrize("every", [True, False])
def test_thresholds_are_honored(kind, every):
    x = np.float32([[0.2, 0.2, 0.6, 0.6], [0.3, 0.4, 0.8, 0.8]])
    threshold = {"iou": 0.3, "overlap": 0.8}[kind]
    anchors, shapes, _ = crops(
        x,
        scaling=[0.3, 1.0],
        aspect_ratio=[0.5, 2.0],
        thresholds=[threshold],
        threshold_type=kind,
        all_boxes_above_threshold=every,
        allow_no_crop=False,
    )
    got = [[overlap(np.hstack([a, a + s]), b, kind) for b in x] for a, s in zip(anchors, shapes)]
    assert all((min if every else max)(g) >= threshold - 1e-5 for g in got)
    assert every or any(min(g) < threshold for g in got)


def test_a_threshold_is_drawn_at_a_time():
    """Each of thresholds is as likely as the whole image, where the first window meets any of them."""
    shapes = np.array(crops(TWO, 4000, scaling=[0.95, 0.99], thresholds=[0.0, 0.0, 0.0], num_attempts=5)[1])
    assert abs(float((shapes == 1).all(1).mean()) - 0.25) < 0.03
    assert not (np.array(crops(TWO, scaling=[0.9, 0.99], allow_no_crop=False)[1]) == 1).all(1).any()
    assert (np.array(crops(TWO)[1]) == 1).all() and (np.array(crops(TWO)[0]) == 0).all()


def test_windows_of_given_pixels():
    anchors, shapes, boxes = crops(TWO, crop_shape=[60, 30], input_shape=[100, 50])
    anchors = np.array(anchors)
    assert (np.array(shapes) == [60, 30]).all() and (anchors == np.rint(anchors)).all()
    assert anchors.min() >= 0 and anchors.max(0).tolist() == [40, 20]
    for a, b in zip(anchors, boxes):
        want, _ = ref.random_bbox_crop(TWO, anchor=a / [100, 50], shape=[0.6, 0.6])
        np.testing.assert_allclose(b, want, atol=1e-5)
    large = np.array(crops(TWO, crop_shape=[50, 30], input_shape=[100, 40], shape_layout="HW")[0])
    assert large.min(0)[0] >= 0 and large.max() <= 50  # x has 40 - 30 places, y has 100 - 50
    assert large[:, 0].max() == 10


def test_the_best_window_where_none_meets_its_threshold():
    with pytest.warns(UserWarning, match="no window met its threshold"):

        @pipeline_def(batch_size=4, num_threads=1)
        def pipe():
            return tuple(
                fn.random_bbox_crop(
                    fn.external_source(lambda: [TWO] * 4),
                    scaling=[0.3, 0.3],
                    thresholds=[1.0],
                    total_num_attempts=20,
                    allow_no_crop=False,
                )
            )

        pipe().run()
    few, many = (
        crops(
            TWO,
            200,
            scaling=[0.3, 0.6],
            thresholds=[1.0],
            total_num_attempts=n,
            allow_no_crop=False,
            quiet=True,
            all_boxes_above_threshold=False,
        )
        for n in (1, 60)
    )
    best = lambda out: np.mean([max(overlap(np.hstack([a, a + s]), b, "iou") for b in TWO) for a, s in zip(*out[:2])])
    assert best(many) > best(few) + 0.1
    with pytest.raises(ValueError, match="no window of 1000000 keeps a box"):
        crops(TWO[:1], 1, scaling=[0.01, 0.01], thresholds=[1.0], allow_no_crop=False)


def test_an_image_without_boxes():
    out = crops(TWO[:0], 50, scaling=[0.3, 0.5], thresholds=[0.7], allow_no_crop=False)
    assert all(b.shape == (0, 4) for b in out[2]) and np.array(out[1]).max() < 0.51


def test_other_layouts_of_boxes():
    x, sides = TWO, np.hstack([TWO[:, :2], TWO[:, 2:] - TWO[:, :2]])
    want = crops(x, 20, scaling=[0.5, 0.9])
    for given, more in (
        (sides, {"ltrb": False}),
        (sides, {"bbox_layout": "xyWH"}),
        (sides[:, [1, 0, 3, 2]], {"bbox_layout": "yxHW"}),
        (x[:, [2, 3, 0, 1]], {"bbox_layout": "XYxy"}),
    ):
        got = crops(np.ascontiguousarray(given), 20, scaling=[0.5, 0.9], **more)
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(got[0], want[0]))
        back = {
            "xyWH": lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]]),
            "yxHW": lambda b: np.hstack([b[:, [1, 0]], b[:, [1, 0]] + b[:, [3, 2]]]),
            "XYxy": lambda b: b[:, [2, 3, 0, 1]],
        }[more.get("bbox_layout", "xyWH")]
        assert all(np.allclose(back(a), b, atol=1e-5) for a, b in zip(got[2], want[2]))


def test_draws_follow_the_seed_and_not_the_batch():
    one, two = crops(TWO, 6, 5, scaling=[0.3, 1.0]), crops(TWO, 3, 5, scaling=[0.3, 1.0])
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one[0], two[0]))
    assert crops(TWO, 6, 6, scaling=[0.3, 1.0])[0][0].tobytes() != one[0][0].tobytes()


def test_the_window_is_what_slice_takes():
    """Boxes drawn into an image are where the crop's boxes say."""
    x = np.float32([[0.25, 0.25, 0.5, 0.75]])
    image = np.zeros((64, 80, 1), np.uint8)
    image[16:48, 20:40] = 255

    @pipeline_def(batch_size=16, num_threads=2, seed=4)
    def pipe():
        anchor, shape, boxes, labels = fn.random_bbox_crop(
            fn.external_source(lambda: [x] * 16),
            fn.external_source(lambda: [np.int32([7])] * 16),
            scaling=[0.5, 0.9],
            aspect_ratio=[0.5, 2.0],
            allow_no_crop=False,
            bbox_layout="xyXY",
        )
        images = fn.slice(fn.external_source(lambda: [image] * 16, layout="HWC"), anchor, shape)
        return fn.resize(images, size=[100, 100], interp_type=types.INTERP_NN), boxes, labels

    images, boxes, labels = pipe().run()
    for picture, box, label in zip(arrays(images), arrays(boxes), arrays(labels)):
        rows, columns = np.flatnonzero(picture.any((1, 2))), np.flatnonzero(picture.any((0, 2)))
        seen = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
        assert np.abs(np.array(seen) - box[0] * 100).max() < 4 and label.tolist() == [7]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fn.bb_flip(np.zeros((2, 3), np.float32)), r"rows of 4 numbers, got the shape \(2, 3\)"),
        (lambda: fn.bb_flip(np.zeros((2, 4))), "boxes must be float32, got float64"),
        (lambda: fn.bbox_paste(TWO, ratio=0.0), "ratio"),
        (lambda: fn.one_hot(np.int32([[1]]), num_classes=3, axis=4), "axis must be from -1 to 2, got 4"),
        (lambda: fn.coord_transform(TWO, M=[1.0, 2, 3]), "M of 3 numbers is not a matrix for vectors of 4"),
        (lambda: fn.coord_transform(TWO, T=[1.0, 2, 3]), "T has 3 numbers for vectors of 4"),
        (lambda: fn.coord_transform(TWO, M=1.0, MT=1.0), "MT cannot be combined with M or T"),
        (lambda: fn.bbox_rotate(TWO, np.int32([1]), angle=3.0, input_shape=[9, 9]), "2 boxes do not match 1 labels"),
        (lambda: fn.bbox_rotate(TWO, angle=3.0, input_shape=[9]), "input_shape has 1 numbers, but the layout is 'HW'"),
        (
            lambda: fn.bbox_rotate(TWO, angle=3.0, input_shape=[9, 9], bbox_layout="xyXH"),
            "bbox_layout must be ltrb, xywh or cxcywh, or have the letters",
        ),
        (
            lambda: fn.bbox_rotate(TWO, angle=3.0, input_shape=[9, 9], keep_size=True, size=[3, 3]),
            "keep_size and size are mutually exclusive",
        ),
        (lambda: fn.bbox_rotate(TWO, angle=float("inf"), input_shape=[9, 9]), "angle must be finite"),
        (lambda: fn.bbox_rotate(TWO * np.float32("inf"), angle=1.0, input_shape=[9, 9]), "box 0 is not finite"),
        (lambda: fn.box_encoder(TWO, np.int32([1]), anchors=[0.0, 0, 1, 1]), "2 boxes do not match labels of shape"),
        (lambda: fn.box_encoder(TWO, np.int32([1, 2]), anchors=[0.0, 0, 1]), "anchors must have 4 numbers each, got 3"),
        (
            lambda: fn.box_encoder(TWO, np.int32([1, 2]), anchors=[0.0, 0, 1, 1], stds=[1.0, 1, 0, 1]),
            "stds must not be 0",
        ),
        (lambda: fn.random_bbox_crop(TWO * 100), "box 0 of sample 0 extends from 10"),
        (lambda: fn.random_bbox_crop(TWO, scaling=[0.9, 0.3]), "scaling must be a range"),
        (lambda: fn.random_bbox_crop(TWO, aspect_ratio=[0.0, 1.0]), "aspect_ratio must be one range"),
        (lambda: fn.random_bbox_crop(TWO, thresholds=[1.5]), "thresholds must be from 0 to 1"),
        (lambda: fn.random_bbox_crop(TWO, threshold_type="area"), "threshold_type must be iou or overlap"),
        (lambda: fn.random_bbox_crop(TWO, crop_shape=[3, 3]), "crop_shape needs input_shape"),
        (
            lambda: fn.random_bbox_crop(TWO, crop_shape=[3, 3], input_shape=[9, 9], scaling=[0.1, 0.2]),
            "mutually exclusive",
        ),
        (lambda: fn.random_bbox_crop(TWO, bbox_layout="xyzXYZ"), "does not fit boxes of 4 numbers"),
        (lambda: fn.random_bbox_crop(np.zeros((1, 5), np.float32)), "boxes must have 4 or 6 numbers each, got 5"),
    ],
)
def test_what_cannot_be(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
