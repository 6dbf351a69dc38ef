# SPDX-License-Identifier: Apache-2.0
"""Pixel operators against the float64 reference over types, layouts and ragged batches, against DALI and OpenCV."""

import dali_oracle
import numpy as np
import pytest
import reference
from hypothesis import given, strategies as st

import penstock
from penstock import fn, types

DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
NAMED = {
    "bool": types.BOOL,
    "float16": types.FLOAT16,
    "float32": types.FLOAT,
    "float64": types.FLOAT64,
    **{f"{u}int{n}": getattr(types, f"{u}int{n}".upper()) for u in ("", "u") for n in (8, 16, 32, 64)},
}


def image(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.random(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def check(got, exact, dtype, scale):
    """Integers: the rounding of a value within the float tolerance; floats: within 2^-20 of the largest input or term."""
    got, exact, dtype = np.asarray(got), np.asarray(exact, np.float64), np.dtype(dtype)
    assert got.dtype == dtype and got.shape == exact.shape
    slack = scale * (2.0**-44 if dtype.itemsize >= 4 and dtype != np.float32 else 2.0**-20)
    if dtype.kind == "f":
        slack += {2: 2.0**-11, 4: 2.0**-24, 8: 0}[dtype.itemsize] * np.abs(exact)
        with np.errstate(over="ignore"):  # what leaves the type is infinite, as IEEE 754 says
            low, high = (exact - slack).astype(dtype), (exact + slack).astype(dtype)
            near = np.abs(got.astype(np.float64) - exact) <= slack
        leaves = np.isinf(low) | np.isinf(high)
        assert np.all(np.where(leaves, (got >= low) & (got <= high), near))
    else:
        low, high = reference.to_dtype(exact - slack, dtype), reference.to_dtype(exact + slack, dtype)
        assert np.all((got >= low) & (got <= high))


shapes = st.tuples(st.integers(1, 40), st.integers(1, 40))
factors = st.floats(-2, 3, width=32)


@given(
    st.integers(0, 999),
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES + [None]),
    shapes,
    st.sampled_from(["HWC", "CHW", "FHWC", "HW", "DHWC"]),
    factors,
    st.floats(-1, 1, width=32),
    factors,
)
def test_brightness_contrast(seed, dtype, out, hw, layout, brightness, shift, contrast):
    rng = np.random.default_rng(seed)
    extents = {"H": hw[0], "W": hw[1], "C": 3, "F": 2, "D": 2}
    x = image(rng, dtype, [extents[c] for c in layout])
    given = dict(brightness=brightness, brightness_shift=shift, contrast=contrast)
    as_type = {} if out is None else {"dtype": NAMED[out]}
    got = fn.brightness_contrast(penstock.tensor(x, layout=layout), **given, **as_type)
    assert got.layout() == layout
    exact = reference.brightness_contrast(x, **given, dtype=out)
    largest = max(
        1.0, float(np.max(np.abs(x.astype(np.float64)))), reference.range_of(out or dtype), reference.range_of(dtype)
    )
    check(got.numpy(), exact, out or dtype, 16 * largest)


def test_a_value_that_leaves_float16_is_infinite():
    x = np.full((1, 1, 3), 2**31, np.uint32)
    for out in fn.brightness_contrast(x, brightness=1.0, dtype=types.FLOAT16), fn.cast(x, dtype=types.FLOAT16):
        assert np.all(np.isposinf(out))


@given(st.integers(0, 999), st.sampled_from(["uint8", "int16", "float32"]), factors)
def test_brightness_and_contrast_are_parts_of_brightness_contrast(seed, dtype, factor):
    x = image(np.random.default_rng(seed), dtype, (31, 17, 3))
    np.testing.assert_array_equal(fn.brightness(x, brightness=factor), fn.brightness_contrast(x, brightness=factor))
    np.testing.assert_array_equal(
        fn.contrast(x, contrast=factor, contrast_center=3.0),
        fn.brightness_contrast(x, contrast=factor, contrast_center=3.0),
    )


def test_arguments_per_sample_in_a_ragged_batch():
    rng = np.random.default_rng(0)
    batch = [image(rng, "uint8", (h, w, 3)) for h, w in ((70, 81), (3, 4), (64, 64))]
    factor = np.array([0.5, 1.5, 2.0], np.float32)
    got = fn.brightness_contrast(batch, brightness=penstock.per_sample(factor.tolist()))
    for i, x in enumerate(batch):
        np.testing.assert_array_equal(got.at(i), reference.to_dtype(x * np.float64(factor[i]), np.uint8))


@given(
    st.integers(0, 999),
    st.sampled_from(DTYPES),
    st.sampled_from(["HWC", "CHW", "FHWC"]),
    shapes,
    st.floats(-360, 360, width=32),
    factors,
    factors,
    factors,
)
def test_colors(seed, dtype, layout, hw, hue, saturation, value, contrast):
    rng = np.random.default_rng(seed)
    last = image(rng, dtype, (2, *hw, 3) if "F" in layout else (*hw, 3))
    x = penstock.tensor(np.ascontiguousarray(np.moveaxis(last, -1, 0)) if layout == "CHW" else last, layout=layout)
    largest = max(1.0, float(np.max(np.abs(last.astype(np.float64)))), 128)
    for got, exact, to in (
        (fn.hue(x, hue=hue), reference.hue(last, hue=hue), dtype),
        (fn.saturation(x, saturation=saturation), reference.saturation(last, saturation=saturation), dtype),
        (
            fn.hsv(x, hue=hue, saturation=saturation, value=value, dtype=NAMED["float32"]),
            reference.hsv(last, hue=hue, saturation=saturation, value=value),
            "float32",
        ),
        (
            fn.color_twist(x, hue=hue, saturation=saturation, contrast=contrast, brightness=value),
            reference.color_twist(last, hue=hue, saturation=saturation, contrast=contrast, brightness=value),
            dtype,
        ),
    ):
        out = got.numpy()
        check(np.moveaxis(out, 0, -1) if layout == "CHW" else out, exact, to, 64 * largest)


def test_colors_need_three_channels_and_a_layout_with_them():
    with pytest.raises(ValueError, match="three channels"):
        fn.hue(np.zeros((4, 4, 1), np.uint8), hue=3.0)
    with pytest.raises(TypeError, match="channels"):
        fn.hue(np.zeros((4, 4), np.uint8), hue=3.0)
    assert fn.hsv(np.zeros((4, 4, 3), np.float32)).dtype == np.uint8


SPACES = {"RGB": 0, "BGR": 1, "GRAY": 2, "YCbCr": 3}


@pytest.mark.parametrize("source", SPACES)
@pytest.mark.parametrize("target", SPACES)
def test_color_space_conversion(source, target):
    rng = np.random.default_rng(5)
    for shape in ((5, 6), (70, 90)):
        x = image(rng, "uint8", (*shape, 1 if source == "GRAY" else 3))
        got = fn.color_space_conversion(x, image_type=SPACES[source], output_type=SPACES[target])
        check(got, reference.color_space_conversion(x, image_type=source, output_type=target), "uint8", 512)
        planar = fn.color_space_conversion(
            penstock.tensor(np.ascontiguousarray(np.moveaxis(x, -1, 0)), layout="CHW"),
            image_type=SPACES[source],
            output_type=SPACES[target],
        )
        np.testing.assert_array_equal(np.moveaxis(planar.numpy(), 0, -1), got)


def test_gray_is_opencv_s():
    cv2 = pytest.importorskip("cv2")
    x = image(np.random.default_rng(1), "uint8", (97, 131, 3))
    ours = fn.color_space_conversion(x, image_type=0, output_type=2)[..., 0].astype(int)
    assert (
        np.max(np.abs(ours - cv2.cvtColor(x, cv2.COLOR_RGB2GRAY).astype(int))) <= 1
    )  # OpenCV's coefficients have 14 bits


@pytest.mark.parametrize("source", ["bool", *DTYPES])
@pytest.mark.parametrize("target", ["bool", *DTYPES])
def test_cast_between_all_types(source, target):
    rng = np.random.default_rng(9)
    source = np.dtype(source)
    if source == bool:
        x = rng.integers(0, 2, 300).astype(bool)
    elif source.kind == "f":
        x = np.concatenate(
            [rng.normal(0, s, 200) for s in (1, 100, 1e5, 1e10, 1e20)]
            + [
                np.arange(-20, 20) / 2,
                [
                    np.nan,
                    np.inf,
                    -np.inf,
                    65519.9,
                    65520,
                    2.0**31,
                    2.0**63,
                    2.0**64,
                    -(2.0**63),
                    1e-7,
                    6e-8,
                    -0.0,
                    1 + 2.0**-11 + 2.0**-40,
                ],
            ]
        )
        with np.errstate(over="ignore"):
            x = x.astype(source)
    else:
        info = np.iinfo(source)
        x = np.concatenate(
            [
                rng.integers(info.min, info.max, 300, dtype=source, endpoint=True),
                np.array([info.min, info.max, 0, 1], source),
            ]
        )
    with np.errstate(over="ignore"):
        want = reference.to_dtype(x, target)
    got = fn.cast(x, dtype=NAMED[np.dtype(target).name])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.fixture(scope="module")
def oracle():
    if not dali_oracle.available():
        pytest.skip("needs DALI")
    return dali_oracle.Oracle()


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("brightness_contrast", dict(brightness=1.3, contrast=0.7, brightness_shift=0.1)),
        ("brightness", dict(brightness=0.4)),
        ("contrast", dict(contrast=1.7)),
        ("hue", dict(hue=33.0)),
        ("saturation", dict(saturation=0.3)),
        ("hsv", dict(hue=-20.0, saturation=1.2, value=0.9)),
        ("color_twist", dict(hue=10.0, brightness=1.1, contrast=0.8, saturation=1.4)),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_against_dali(oracle, name, arguments, dtype):
    x = image(np.random.default_rng(4), dtype, (33, 45, 3))
    got, want = getattr(fn, name)(x, **arguments), oracle.call(name, [x], layout="HWC", **arguments)[0]
    assert got.dtype == want.dtype
    # DALI rounds half away from zero and in float32: one unit; float32: its own rounding.
    slack = 1 if want.dtype.kind != "f" else 2e-6
    assert np.max(np.abs(got.astype(np.float64) - want)) <= slack


@pytest.mark.parametrize("width", [1, 15, 16, 17, 64, 333])
def test_bytes_are_rounded_half_to_even_and_saturated_in_every_place(width):
    """Stores of interleaved and of single channels, by whole registers and their remainders."""
    values = np.array(
        [-np.inf, -1e20, -3, -0.5, 0, 0.5, 1.5, 2.5, 254.5, 254.6, 255.5, 300, 3e9, 1e20, np.inf, np.nan], np.float32
    )
    x = np.resize(values, (37, width, 3))
    for layout, y in (("HWC", x), ("CHW", np.ascontiguousarray(x.transpose(2, 0, 1)))):
        got = fn.cast(penstock.tensor(y, layout=layout), dtype=types.UINT8).numpy()
        np.testing.assert_array_equal(got, reference.to_dtype(y, np.uint8))
        twisted = fn.color_twist(penstock.tensor(got, layout=layout), dtype=types.FLOAT).numpy()  # the identity
        np.testing.assert_allclose(twisted, got, atol=1e-4)
        again = fn.color_twist(penstock.tensor(y, layout=layout), dtype=types.UINT8).numpy()
        axis = -1 if layout == "HWC" else 0
        with np.errstate(invalid="ignore"):
            ok = (np.abs(y) < 400).all(axis, keepdims=True) & (np.abs(y % 1 - 0.5) > 1e-3)
        np.testing.assert_array_equal(again[ok], reference.to_dtype(y, np.uint8)[ok])


COLORS = [
    ("hue", {"hue": 33.0}),
    ("saturation", {"saturation": -2.5}),
    ("color_twist", {"hue": 200.0, "brightness": 1.3, "contrast": 0.4}),
    ("color_twist", {"contrast": 3e38, "brightness": 3e38}),  # infinities, and what is not a number
    ("color_space_conversion", {"image_type": types.RGB, "output_type": types.YCbCr}),
    ("color_space_conversion", {"image_type": types.YCbCr, "output_type": types.BGR}),
]


@pytest.mark.parametrize("name, arguments", COLORS)
def test_colors_of_pixels_are_those_of_planes(name, arguments):
    """Pixels of bytes are turned in registers; planes, and parts of wider memory, go through tiles."""
    random, function = np.random.default_rng(4), getattr(fn, name)
    for shape in [(0, 5), (1, 1), (1, 7), (3, 5), (1, 16), (2, 16), (1, 33), (5, 51), (64, 64), (61, 131)]:
        x = random.integers(0, 256, (*shape, 3), dtype=np.uint8)
        wide = random.integers(0, 256, (shape[0], shape[1] + 3, 5), dtype=np.uint8)
        wide[:, : shape[1], 1:4] = x
        planes = penstock.batch([np.ascontiguousarray(x.transpose(2, 0, 1))], layout="CHW")
        want = np.array(function(planes, **arguments)[0].numpy()).transpose(1, 2, 0)
        for pixels in (x, wide[:, : shape[1], 1:4], np.flip(x[::-1].copy(), 0)):
            got = function(penstock.batch([pixels], layout="HWC"), **arguments)[0].numpy()
            np.testing.assert_array_equal(got, want, err_msg=f"{name} {arguments} {shape}")


def test_colors_of_a_large_float32_image_are_those_of_its_rows():
    """Large results are written past the caches, by aligned vectors; the rows of this one begin anywhere."""
    x = np.random.default_rng(8).normal(0, 50, (300, 401, 3)).astype(np.float32)
    twist = {"hue": 70.0, "saturation": 1.4, "contrast": 0.6, "brightness": 1.2}
    got = np.asarray(fn.color_twist(x, **twist))
    np.testing.assert_array_equal(got, np.stack([np.asarray(fn.color_twist(row[None], **twist))[0] for row in x]))
    check(got, reference.color_twist(x, **twist), np.float32, 4 * np.abs(x).max())
