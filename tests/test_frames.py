# SPDX-License-Identifier: Apache-2.0
"""Arguments with one value for each frame of a sequence: their values have a layout that begins with F."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, assert_rounds_to, random_sample
from test_fusion import FUSED, SIMPLE, assert_same

import penstock
from penstock import Pipeline, _core, fn, types

seeds = st.integers(0, 2**32 - 1)
MARKED = {o: {a["name"] for a in _core.operator_schema(o)["args"] if a["per_frame"]} for o in _core.operators()}
MARKED = {o: names for o, names in MARKED.items() if names}
# Sequences of points: test_boxes.py; others that have no dtype: test_frames_of_pictures.py; matrices: test_transforms.py.
OF_IMAGES = [
    "brightness",
    "brightness_contrast",
    "color_twist",
    "contrast",
    "gaussian_blur",
    "hsv",
    "hue",
    "rotate",
    "saturation",
    "warp_affine",
]
DALIS_NAMES = {"correlate": "filter", **{o: f"experimental.{o}" for o in ("dilate", "erode", "warp_perspective")}}
VALUES = {"hue": (-180, 180), "angle": (-180, 180), "brightness_shift": (-0.3, 0.3), "sigma": (0.3, 3)}


def drawn(pick, argument, n, axes=2, per_axis=False):
    """Values of one sample: n frames, or 0: one for all of them, without that dimension."""
    frames = (n,) if n else ()
    rng = np.random.default_rng(pick.getrandbits(32))
    if argument == "window_size":
        return np.int32(rng.choice([1, 3, 5, 9], (*frames, axes) if per_axis else frames))
    if argument == "matrix":
        return np.float32(np.eye(axes, axes + 1) + rng.normal(0, 0.2, (*frames, axes, axes + 1)))
    if argument == "axis":
        return np.float32(rng.normal(0, 1, (*frames, 3)))
    low, high = VALUES.get(argument, (-0.5, 2))
    return np.float32(rng.uniform(low, high, (*frames, axes) if per_axis and argument == "sigma" else frames))


def some_arguments(pick, operator, frames, axes=2):
    """Arguments of a call as {name: (values of each sample, whether they are per frame)}; at least one is."""
    names = sorted(n for n in MARKED[operator] if axes == 3 or n != "axis")
    chosen = pick.sample(names, pick.randint(1, len(names)))
    if operator == "rotate":
        chosen = names
    result = {}
    for k, name in enumerate(chosen):
        per_frame = k == 0 or pick.random() < 0.5
        repeated = per_frame and pick.random() < 0.2  # one value for all frames
        count = lambda n: (1 if repeated else n) if per_frame else 0
        per_axis = pick.random() < 0.5
        result[name] = [drawn(pick, name, count(n), axes, per_axis) for n in frames], per_frame
    return result


def as_batch(values, per_frame):
    return fn.per_frame(penstock.batch(values)) if per_frame else penstock.batch(values)


def of_frame(values, per_frame, sample, frame):
    v = values[sample]
    v = v[frame if len(v) > 1 else 0] if per_frame else v
    return [x.item() for x in v.ravel()] if v.ndim else v.item()


def sequences(pick, layout, dtype):
    """A ragged batch; hue and its like want three channels."""
    return [
        random_sample(pick, layout, dtype, channels=(3,), extents=(2, 7, 16, 33), frames=(1, 2, 3, 5)) for _ in range(3)
    ]


def test_the_same_arguments_as_dali():
    facts = json.loads((Path(__file__).parent / "dali_arguments.json").read_text())
    for name in set(_core.operators()) - {"morphology", "threshold"}:  # which DALI does not have
        theirs = facts.get(DALIS_NAMES.get(name, name), {"arguments": {}})["arguments"]
        assert {a for a, v in theirs.items() if v.get("per_frame")} == MARKED.get(name, set()), name


@pytest.mark.parametrize("operator", OF_IMAGES)
@given(seeds)
def test_a_sequence_is_its_frames(operator, seed):
    """Bit for bit, for every type and layout."""
    pick = random.Random(seed)
    layout, dtype = pick.choice(["FHWC", "FHWC", "FCHW", "CFHW", "FDHWC"]), pick.choice(DTYPES)
    if operator == "gaussian_blur" and layout == "CFHW":
        layout = "FCHW"
    xs, f, axes = sequences(pick, layout, dtype), layout.index("F"), 3 if "D" in layout else 2
    arguments = some_arguments(pick, operator, [x.shape[f] for x in xs], axes)
    other = {"keep_size": True} if operator == "rotate" else {}
    got = getattr(fn, operator)(
        penstock.batch(xs, layout=layout), **other, **{k: as_batch(*v) for k, v in arguments.items()}
    )
    assert got.layout() == layout
    for i, x in enumerate(xs):
        for k in range(x.shape[f]):
            frame = penstock.tensor(np.ascontiguousarray(x.take(k, f)), layout=layout.replace("F", ""))
            alone = getattr(fn, operator)(frame, **other, **{n: of_frame(*v, i, k) for n, v in arguments.items()})
            np.testing.assert_array_equal(np.array(got[i].numpy()).take(k, f), alone.numpy())


@pytest.mark.parametrize("operator", OF_IMAGES)
@given(seeds)
def test_is_the_reference(operator, seed):
    pick = random.Random(seed)
    dtype = pick.choice(["uint8", "int16", "float32"])
    xs = sequences(pick, "FHWC", dtype)
    arguments = some_arguments(pick, operator, [len(x) for x in xs])
    other = {"keep_size": True} if operator == "rotate" else {}
    typed = {"dtype": types.FLOAT}
    got = getattr(fn, operator)(
        penstock.batch(xs, layout="FHWC"), **other, **typed, **{k: as_batch(*v) for k, v in arguments.items()}
    )
    takes_dtype = operator in ("brightness_contrast", "brightness", "contrast")
    for i, x in enumerate(xs):
        exact = [
            getattr(reference, operator)(
                frame,
                **other,
                **({"dtype": "float32"} if takes_dtype else {}),
                **{n: reference_value(n, of_frame(*v, i, k)) for n, v in arguments.items()},
            )
            for k, frame in enumerate(x)
        ]
        assert_rounds_to(got[i].numpy(), np.stack(exact), x, f"{operator} {arguments}")


def reference_value(name, value):
    return np.reshape(value, (2, 3)) if name == "matrix" else value


@pytest.mark.parametrize("operator", OF_IMAGES)
@given(seeds)
def test_is_dali(oracle, operator, seed):
    pick = random.Random(seed)
    dtype = pick.choice(["uint8", "int16", "float32"])
    xs = sequences(pick, "FHWC", dtype)
    arguments = some_arguments(pick, operator, [len(x) for x in xs])
    theirs = {k: {"per_frame" if per_frame else "per_sample": v} for k, (v, per_frame) in arguments.items()}
    expected = oracle.call(operator, xs, layout="FHWC", dtype=np.float32, **theirs)
    got = getattr(fn, operator)(
        penstock.batch(xs, layout="FHWC"), dtype=types.FLOAT, **{k: as_batch(*v) for k, v in arguments.items()}
    )
    for y, d, x in zip(got, expected, xs):
        assert y.numpy().shape == d.shape
        largest = max(1.0, np.abs(x.astype(float)).max(), np.abs(d).max())
        off = np.abs(y.numpy() - d) > largest * (2e-3 if operator in ("rotate", "warp_affine") else 1e-5)
        assert off.mean() <= (0.02 if operator in ("rotate", "warp_affine") else 0), (operator, arguments)


def test_dali_takes_the_same_layouts(oracle):
    """Frames after the channels, and a sequence without a layout."""
    rng = np.random.default_rng(1)
    sigma = [np.float32([0.5, 2]), np.float32([1, 0.3, 2])]
    xs = [rng.integers(0, 255, (3, n, 6, 7), np.uint8) for n in (2, 3)]
    for d, x, s in zip(oracle.call("gaussian_blur", xs, layout="CFHW", sigma={"per_frame": sigma}), xs, sigma):
        for k in range(x.shape[1]):
            assert np.abs(d[:, k].astype(int) - reference.gaussian_blur(x[:, k], layout="CHW", sigma=s[k])).max() <= 0.6
    xs = [rng.integers(0, 255, (n, 6, 7, 3), np.uint8) for n in (2, 3)]
    expected = oracle.call("brightness", xs, brightness={"per_frame": sigma})
    got = fn.brightness(penstock.batch(xs), brightness=fn.per_frame(penstock.batch(sigma)))
    assert got.layout() == oracle.layouts[0] == "FHWC"
    for y, d in zip(got, expected):
        assert np.abs(y.numpy().astype(int) - d).max() <= 1


LINKS = {
    "reverse": lambda x, a: x[::-1],
    "drop": lambda x, a: x[1:-1],
    "flip": lambda x, a: fn.flip(x, horizontal=a["flip"]()),
    "crop": lambda x, a: fn.crop(x, crop=(9, 8)),
    "resize": lambda x, a: fn.resize(x, size=[12, 11]),
    "blur": lambda x, a: fn.gaussian_blur(x, sigma=a["sigma"]()),
    "cast": lambda x, a: fn.cast(x, dtype=types.UINT8),
    "rotate": lambda x, a: fn.rotate(x, angle=a["angle"](), keep_size=True),
    "brightness": lambda x, a: fn.brightness(x, brightness=a["factor"]()),
    "add": lambda x, a: x + 3,
    "contrast": lambda x, a: fn.contrast(x, contrast=a["sample"]()),
    "hue": lambda x, a: fn.hue(x, hue=a["angle"]()),
    "sum": lambda x, a: x + a["other"](),
    "transpose": lambda x, a: fn.transpose(x, perm=[0, 3, 1, 2]),
    "saturation": lambda x, a: fn.saturation(x, saturation=a["factor"]()),
}


@given(seeds)
def test_chains_are_the_same_operator_by_operator(seed):
    pick = random.Random(seed)
    xs = [
        random_sample(
            pick, "FHWC", pick.choice(["uint8", "uint8", "float32"]), channels=(3,), extents=(16, 33), frames=(5,)
        )
    ]
    xs += [random_sample(pick, "FHWC", xs[0].dtype, channels=(3,), extents=(16, 70), frames=(5, 7)) for _ in range(2)]
    names = [pick.choice(sorted(LINKS)) for _ in range(pick.randint(2, 6))]
    if "transpose" in names:
        names = [n for n in names if n != "transpose"] + ["transpose"]
    length = [len(x) for x in xs]

    def feed(make, layout=None):
        batch = penstock.batch([make(i) for i in range(3)], **({"layout": layout} if layout else {}))
        return lambda: fn.external_source(lambda: batch, layout=layout)

    links, sizes, shape = [], list(length), [x.shape[1:3] for x in xs]
    for name in names:
        if name == "drop" and min(sizes) < 4:
            continue
        if name in ("crop", "resize"):
            shape = [(9, 8) if name == "crop" else (12, 11)] * 3
        if name == "crop" and any(h < 9 or w < 8 for h, w in shape):
            continue
        if name == "drop":
            sizes = [n - 2 for n in sizes]
        now = list(sizes)
        links.append(
            (
                LINKS[name],
                {
                    "factor": feed(lambda i: drawn(pick, "brightness", now[i]), "F"),
                    "sigma": feed(lambda i: drawn(pick, "hue", now[i]) / 100 % 2 + np.float32(0.3), "F"),
                    "angle": feed(lambda i: drawn(pick, "angle", now[i]), "F"),
                    "sample": feed(lambda i: np.float32(i / 2)),
                    "flip": feed(lambda i: np.int32(i % 2)),
                    "other": feed(
                        lambda i: (
                            np.full((now[i], 1, 1, 1), i + 1, np.int16)
                            + np.arange(now[i], dtype=np.int16)[:, None, None, None]
                        ),
                        "FHWC",
                    ),
                },
            )
        )

    def chain():
        x = fn.external_source(lambda: penstock.batch(xs, layout="FHWC"), layout="FHWC")
        for link, arguments in links:
            x = link(x, arguments)
        return [x]

    assert_same(chain, [FUSED, SIMPLE])


def test_numbers_of_frames_that_do_not_match_are_named():
    videos = penstock.batch([np.zeros((2, 4, 5, 3), np.uint8), np.zeros((3, 4, 5, 3), np.uint8)], layout="FHWC")
    frames = lambda *counts: fn.per_frame(penstock.batch([np.ones(n, np.float32) for n in counts]))
    for operator, argument in (
        ("brightness", "brightness"),
        ("gaussian_blur", "sigma"),
        ("rotate", "angle"),
        ("hue", "hue"),
    ):
        with pytest.raises(
            ValueError, match=rf"\[{operator}\] {argument} has 2 values per frame for sample 1, which has 3 frames"
        ):
            getattr(fn, operator)(videos, **{argument: frames(2, 2)})
        images = penstock.batch([np.zeros((4, 5, 3), np.uint8)] * 2, layout="HWC")
        with pytest.raises(
            ValueError, match=rf"\[{operator}\] {argument} has 4 values per frame .* no frames \(layout 'HWC'\)"
        ):
            getattr(fn, operator)(images, **{argument: frames(4, 4)})
        getattr(fn, operator)(images, **{argument: frames(1, 1)})
        with pytest.raises(ValueError, match=rf"\[{operator}\]"):
            getattr(fn, operator)(videos, **{argument: frames(0, 0)})
        with pytest.raises(ValueError, match=rf"\[{operator}\]"):  # values whose layout has no F
            getattr(fn, operator)(videos, **{argument: penstock.batch([np.ones(n, np.float32) for n in (3, 4)])})
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        x = fn.external_source(lambda: videos, layout="FHWC")
        x = fn.hue(
            fn.brightness(x, brightness=fn.per_frame(fn.external_source(lambda: frames(2, 4)))), hue=3.0
        )  # the line
        pipe.set_outputs(x)
    with pytest.raises(
        ValueError, match=r"\[brightness\] brightness has 4 values per frame for sample 1, which has 3 frames"
    ):
        pipe.run()


def test_a_tensor_holds_the_values_of_one_sequence():
    x, factor = np.random.default_rng(1).integers(0, 255, (3, 4, 5, 3), np.uint8), np.float32([0.5, 1, 0.25])
    got = fn.brightness(penstock.tensor(x, layout="FHWC"), brightness=penstock.tensor(factor, layout="F"))
    np.testing.assert_array_equal(got.numpy(), np.rint(x * np.float64(factor)[:, None, None, None]))
    assert got.layout() == "FHWC"


def test_per_frame_marks_the_first_dimension(oracle):
    one, two = penstock.batch([np.float32([1, 2])]), penstock.batch([np.float32([[1, 2, 3], [4, 5, 6]])])
    assert fn.per_frame(one).layout() == "F" and fn.per_frame(two).layout() == "F*"
    assert fn.per_frame(fn.per_frame(two)).layout() == "F*"
    letters = penstock.batch([np.float32([[1, 2, 3], [4, 5, 6]])], layout="XY")
    assert fn.per_frame(letters, replace=True).layout() == "FY"
    np.testing.assert_array_equal(fn.per_frame(letters, replace=True)[0].numpy(), letters[0].numpy())
    for values, layout, replace in (
        (np.float32([1, 2]), None, False),
        (np.ones((2, 3, 4), np.uint8), None, True),
        (np.ones((2, 3), np.float32), "XY", True),
        (np.ones((2, 3), np.float32), "FY", False),
    ):
        expected = oracle.call("per_frame", [values], layout=layout, replace=replace)[0]
        got = fn.per_frame(penstock.batch([values], layout=layout or ""), replace=replace)
        assert got.layout() == oracle.layouts[0]
        np.testing.assert_array_equal(got[0].numpy(), expected)
    with pytest.raises(ValueError, match=r"\[per_frame\].*'XY' does not start with F"):
        fn.per_frame(letters)
    with pytest.raises(ValueError, match=r"\[per_frame\].*without dimensions"):
        fn.per_frame(penstock.batch([np.float32(1)]))
