# SPDX-License-Identifier: Apache-2.0
"""Random chains of operators on a Sample, and where brute force sees its parts: for tests on the CPU and on a GPU."""

import numpy as np

from penstock import fn

HEIGHT, WIDTH, SPREAD = 96, 128, 2.5


def step(rng, height, width):
    """(name, arguments) of an operator, drawn; what comes from outside is 0."""
    c, s = np.cos(rng.uniform(-0.5, 0.5)), np.sin(rng.uniform(-0.5, 0.5))
    zero = {"fill_value": 0.0}
    size = [int(rng.integers(height * 3 // 4, height * 3 // 2)), int(rng.integers(width * 3 // 4, width * 3 // 2))]
    linear = {"interp_type": 1, "antialias": False}
    choices = [
        ("flip", {"horizontal": int(rng.integers(2)), "vertical": int(rng.integers(2))}),
        ("crop", {"crop": [height * 4 // 5, width * 4 // 5], "crop_pos_x": rng.uniform(), "crop_pos_y": rng.uniform()}),
        ("resize", {"size": size, **linear}),
        ("rotate", {"angle": rng.uniform(-180, 180), "interp_type": 1, **zero}),
        ("warp_affine", {"matrix": [c, -s, 9.0, s, c, -5.0], "interp_type": 1, **zero}),
        ("warp_perspective", {"matrix": [1.0, 0.1, 2.0, -0.1, 0.9, 4.0, 1e-3, -5e-4, 1.0], "fill_value": [0.0]}),
        ("paste", {"fill_value": [0.0], "ratio": 1.2, "paste_x": rng.uniform(), "paste_y": rng.uniform()}),
        ("elastic_transform", {"alpha": 60.0, "sigma": 8.0, "seed": int(rng.integers(1000))}),
        ("optical_distortion", {"k": rng.uniform(-0.25, 0.4)}),
        (
            "grid_distortion",
            {"steps_x": rng.uniform(0.7, 1.3, 4).tolist(), "steps_y": rng.uniform(0.7, 1.3, 3).tolist()},
        ),
    ]
    return choices[int(rng.integers(len(choices)))]


def calls_of(seed, height=HEIGHT, width=WIDTH):
    """The chain of this seed: (name, arguments) of one to three operators, for a picture of this size."""
    rng, calls = np.random.default_rng([seed, 1]), []
    shape = np.zeros((height, width, 1), np.uint8)
    for _ in range(int(rng.integers(1, 4))):
        name, arguments = step(rng, *shape.shape[:2])
        shape = getattr(fn, name)(shape, **arguments)
        calls.append((name, arguments))
    return calls


def moved(sample, calls):
    for name, arguments in calls:
        sample = getattr(fn, name)(sample, **arguments)
    return sample


def parts_of(seed):
    """The arrays of a sample: a picture of its parts, and the parts."""
    rng = np.random.default_rng(seed)
    corner = rng.integers([4, 4], [WIDTH - 50, HEIGHT - 50], (3, 2))
    boxes = np.hstack([corner, corner + rng.integers(12, 40, (3, 2))]).astype(np.float32)
    points = rng.uniform([10, 10], [WIDTH - 10, HEIGHT - 10], (4, 2)).astype(np.float32)
    picture = drawn(boxes, points)
    instances = np.ascontiguousarray(picture[..., :3].transpose(2, 0, 1)).astype(np.uint8)
    return {"image": picture, "boxes": boxes, "labels": np.arange(3), "instances": instances, "points": points}


def check(sample, calls, about):
    """Where the parts of a moved sample (arrays) are is where its picture shows them. Returns the points that were seen."""
    seen = sample["image"]
    assert len(sample["boxes"]) == len(sample["labels"]) == len(sample["instances"]), about
    check_boxes(sample, seen, len(calls), about)
    return check_points(sample, seen[..., 3:], about)


def drawn(boxes, points):
    """A picture with a channel for each box and each point."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    rectangles = [(x > b[0]) & (x < b[2]) & (y > b[1]) & (y < b[3]) for b in boxes]
    spots = [np.exp(-((x - p[0]) ** 2 + (y - p[1]) ** 2) / (2 * SPREAD**2)) for p in points]
    return np.stack([*rectangles, *spots], -1).astype(np.float32)


def around(mask):
    y, x = np.nonzero(mask)
    return np.array([x.min(), y.min(), x.max() + 1, y.max() + 1])


def check_boxes(sample, seen, steps, about):
    """The box of a part that is whole is around its pixels; a box of several turns may be wider, never narrower."""
    kept = sample["labels"].tolist()
    for label in range(3):
        pixels = seen[..., label] > 0.5
        if label not in kept:
            assert pixels.sum() < 3 * sum(pixels.shape), about
            continue
        mask = sample["instances"][kept.index(label)] > 0
        edge = np.abs(seen[..., label] - 0.5) < 0.499
        assert np.mean((mask != pixels)[~edge]) < 0.01, about
        if not pixels.any():
            continue
        box, tight = sample["boxes"][kept.index(label)], around(pixels)
        assert (box[:2] <= tight[:2] + 1.6).all() and (box[2:] >= tight[2:] - 1.6).all(), (about, box, tight)
        whole = (box[:2] > 2).all() and (box[2:] < np.array(pixels.shape[::-1]) - 2).all()
        if steps == 1 and whole:
            np.testing.assert_allclose(box, tight, atol=2.6, err_msg=about)


def check_points(sample, spots, about):
    """A point that is inside lies where its spot is brightest. Returns how many there were."""
    found = 0
    height, width = spots.shape[:2]
    for k, (x, y) in enumerate(sample["points"]):
        spot = spots[..., k]
        if not (6 < x < width - 6 and 6 < y < height - 6) or spot.max() < 0.85:  # cut, and then turned
            continue
        v, u = np.unravel_index(np.argmax(spot), spot.shape)
        found += 1
        assert abs(u + 0.5 - x) < 2.1 and abs(v + 0.5 - y) < 2.1, (about, k, (x, y), (u + 0.5, v + 0.5))
    return found
