# SPDX-License-Identifier: Apache-2.0
"""color_space_conversion of cameras' and videos' frames, and of color spaces that OpenCV has: OpenCV's bytes, or the formulas of
ITU-R BT.601, 709 and 2020 in float64."""

import os

import cv2
import numpy as np
import pytest

import penstock.fn as fn
from penstock import pipeline_def, tensor

CASES = int(os.environ.get("PENSTOCK_TEST_COUNT", "45"))  # of each pair of formats
SPACES = ["HSV", "HLS", "HSV_FULL", "HLS_FULL", "Lab", "Luv", "XYZ", "YCrCb", "YUV"]
# The largest difference from OpenCV, of uint8: integers are equal; hues in float32 and roots are not OpenCV's.
APART = {"HSV": 1, "HLS": 1, "HSV_FULL": 1, "HLS_FULL": 1, "Lab": 2, "Luv": 2}
FRAMES = ["NV12", "NV21", "I420", "YV12", "YUYV", "UYVY", "YVYU"]
TWO_BYTES = ["BGR565", "BGR555"]
COLORS = {"RGB": 3, "BGR": 3, "RGBA": 4, "BGRA": 4, "GRAY": 1}


def code(source, target):
    if source in FRAMES:
        return getattr(cv2, f"COLOR_YUV2{target}_{source}")
    if target in FRAMES:
        return getattr(cv2, f"COLOR_{source}2YUV_{target}")
    full = "_FULL" if source.endswith("_FULL") or target.endswith("_FULL") else ""
    return getattr(cv2, f"COLOR_{source}2{target}".replace("_FULL", "") + full)


def convert(x, source, target, **arguments):
    return fn.color_space_conversion(x, image_type=source, output_type=target, **arguments)


def rows_and_channels(name, h, w):
    if name in FRAMES[:4]:
        return h * 3 // 2, w, 1
    return h, w, 2 if name in FRAMES[4:] + TWO_BYTES else COLORS.get(name, 3)


def pictures(random, name, even, dtype=np.uint8, n=3):
    """A ragged batch: 1 and 2 pixels, odd extents, wide ones, few different values."""
    batch = []
    for _ in range(n):
        h, w = (int(v) for v in random.choice([1, 2, 3, 5, 8, 17, 33, 70], 2))
        if random.random() < 0.04:
            w = int(random.integers(1000, 2100))
        if even:
            h, w = 2 * h, 2 * w
        shape = rows_and_channels(name, h, w)
        if dtype == np.float32:
            batch.append(random.random(shape, np.float32))
        else:
            most = np.iinfo(dtype).max
            few = random.integers(0, 4) == 0
            x = random.choice([0, 1, 16, 128, 235, 254, most], shape) if few else random.integers(0, most + 1, shape)
            batch.append(x.astype(dtype))
    return batch


def opencv(x, source, target):
    y = cv2.cvtColor(x if x.shape[-1] > 1 else x[..., 0], code(source, target))
    return y if y.ndim == 3 else y[..., None]


def compare(source, target, dtype=np.uint8, apart=0, cases=CASES, change=None):
    random = np.random.default_rng(sum(map(ord, source + target)))
    even = source in FRAMES or target in FRAMES
    for _ in range(cases // 3 + 1):
        xs = pictures(random, source, even, dtype)
        if change:
            xs = [change(x) for x in xs]
        for x, sample in zip(xs, convert(xs, source, target), strict=True):
            y = sample.numpy()
            want = opencv(x, source, target)
            assert y.shape == want.shape and y.dtype == want.dtype
            if apart == 0:
                np.testing.assert_array_equal(y, want, f"{source} to {target}, {x.shape}")
            else:
                far = np.abs(y.astype(np.float64) - want)
                assert far.max() <= apart, f"{source} to {target}, {x.shape}: {far.max()}"


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rgb", ["RGB", "BGR"])
def test_color_spaces_are_opencvs(space, rgb):
    compare(rgb, space, apart=0 if "HSV" in space else APART.get(space, 0))
    # Values that colors have: OpenCV's vectors and its scalar code differ for others.
    compare(
        space,
        rgb,
        apart=6 if space == "Luv" else APART.get(space, 0),
        change=lambda x: cv2.cvtColor(x, code("RGB", space)),
    )


@pytest.mark.parametrize("rgb", ["RGB", "BGR"])
def test_lab_of_bytes_by_tables_is_that_of_the_pixel_function(rgb):
    """Alone, bytes go through tables; before another operator a stage computes pixels in float32."""
    steps = np.arange(0, 256, 3, np.uint8)
    lattice = np.stack(np.meshgrid(steps, steps, steps), -1).reshape(-1, 86, 3)
    colors = np.random.default_rng(12).integers(0, 256, (301, 1003, 3), np.uint8)

    @pipeline_def(batch_size=2, num_threads=1)
    def both():
        x = fn.external_source(lambda: [lattice, colors], layout="HWC")
        lab = convert(x, rgb, "Lab")
        return lab, fn.crop_mirror_normalize(convert(x, rgb, "Lab"), dtype=np.float32, output_layout="HWC")

    alone, in_stage = both().run()
    for a, b in zip(alone, in_stage, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert a.numpy().dtype == np.uint8


def test_whole_vectors_of_hues_are_opencvs():
    hsv = np.random.default_rng(1).integers(0, 256, (64, 256, 3), np.uint8)
    hsv[..., 0] %= 180
    np.testing.assert_array_equal(convert(hsv, "HSV", "RGB"), cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))
    np.testing.assert_array_equal(convert(hsv, "HLS", "RGB"), cv2.cvtColor(hsv, cv2.COLOR_HLS2RGB))


@pytest.mark.parametrize("space", ["XYZ", "YCrCb", "YUV"])
def test_color_spaces_of_16_bits_are_opencvs(space):
    compare("RGB", space, np.uint16, cases=CASES // 2)
    compare(space, "BGR", np.uint16, cases=CASES // 2)


@pytest.mark.parametrize("space", [s for s in SPACES if "FULL" not in s])
def test_color_spaces_of_float32_are_opencvs(space):
    scale = {"HSV": 360, "HLS": 360, "Lab": 100, "Luv": 100}.get(space, 1)
    apart = {"Lab": 0.8, "Luv": 1.2}.get(space, 3e-6 * scale)
    compare("RGB", space, np.float32, apart, CASES // 2)
    random = np.random.default_rng(3)
    for _ in range(20):
        rgb = random.random((9, 33, 3), np.float32)
        x = cv2.cvtColor(rgb, code("RGB", space))
        np.testing.assert_allclose(convert(x, space, "RGB"), opencv(x, space, "RGB"), rtol=0, atol=0.02)


TO_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
WHITE = np.array([0.950456, 1, 1.088754])


def lab_and_luv(rgb):
    """By CIE's formulas in float64, where OpenCV interpolates in tables."""
    xyz = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ TO_XYZ.T
    root = lambda t: np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    x, y, z = np.moveaxis(root(xyz / WHITE), -1, 0)
    light = np.where(xyz[..., 1] > 0.008856, 116 * y - 16, 903.3 * xyz[..., 1])
    uv = lambda v: np.stack([4 * v[..., 0], 9 * v[..., 1]], -1) / np.maximum(v @ [1, 15, 3], 1e-9)[..., None]
    chroma = 13 * light[..., None] * (uv(xyz) - uv(WHITE))
    return np.stack([light, 500 * (x - y), 200 * (y - z)], -1), np.concatenate([light[..., None], chroma], -1)


def test_lab_and_luv_are_cies():
    rgb = np.random.default_rng(11).random((64, 64, 3), np.float32)
    lab, luv = lab_and_luv(rgb.astype(np.float64))
    for space, want in (("Lab", lab), ("Luv", luv)):
        got = convert(rgb, "RGB", space)
        assert np.abs(got - want).max() < 0.02
        assert np.abs(convert(got, space, "RGB") - rgb).max() < 2e-3


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("colors", COLORS)
def test_frames_are_opencvs(frame, colors):
    compare(frame, colors)
    if frame not in ("NV12", "NV21") and colors != "GRAY":
        compare(colors, frame)


@pytest.mark.parametrize("order", ["RGB", "BGRA", "GRAY"])
def test_nv12_of_colors_is_opencvs_i420(order):
    random = np.random.default_rng(4)
    for x in pictures(random, order, True, n=30):
        h, w = x.shape[:2]
        rgb = x if order == "RGB" else x[..., 2::-1] if order == "BGRA" else x.repeat(3, -1)
        planes = cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2YUV_I420).reshape(-1)
        u, v = planes[h * w :].reshape(2, h // 2, w // 2)
        want = np.concatenate([planes[: h * w].reshape(h, w), np.stack([u, v], -1).reshape(h // 2, w)])
        np.testing.assert_array_equal(convert(x, order, "NV12")[..., 0], want)
        want[h:] = np.stack([v, u], -1).reshape(h // 2, w)
        np.testing.assert_array_equal(convert(x, order, "NV21")[..., 0], want)


@pytest.mark.parametrize("bits", TWO_BYTES)
@pytest.mark.parametrize("colors", ["RGB", "BGR", "RGBA", "BGRA", "GRAY"])
def test_pixels_of_two_bytes_are_opencvs(bits, colors):
    if colors == "RGB":  # OpenCV names what comes out by the order of the colors in the bits
        random = np.random.default_rng(5)
        for x in pictures(random, "RGB", False, n=30):
            np.testing.assert_array_equal(
                convert(x, "RGB", bits), cv2.cvtColor(np.ascontiguousarray(x[..., ::-1]), code("BGR", bits))
            )
        return
    if colors == "RGBA":
        return
    compare(bits, colors)
    compare(colors, bits)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("source,target", [(a, b) for a in COLORS for b in COLORS if "A" in (a[-1], b[-1]) and a != b])
def test_alpha_is_opencvs(source, target, dtype):
    compare(source, target, dtype, apart=2e-7 if dtype == np.float32 else 0, cases=60)


WEIGHTS = {"BT.601": (0.299, 0.114), "BT.709": (0.2126, 0.0722), "BT.2020": (0.2627, 0.0593)}


def to_ycbcr(rgb, spec, full):
    r, b = WEIGHTS[spec]
    y = rgb @ [r, 1 - r - b, b]
    c = np.stack([(rgb[..., 2] - y) / (2 - 2 * b), (rgb[..., 0] - y) / (2 - 2 * r)], -1)
    return np.concatenate(
        [y[..., None] if full else 16 + y[..., None] * 219 / 255, 128 + (c if full else c * 224 / 255)], -1
    )


def of_ycbcr(x, spec, full):
    r, b = WEIGHTS[spec]
    y, c = (x[..., 0], x[..., 1:] - 128) if full else ((x[..., 0] - 16) * 255 / 219, (x[..., 1:] - 128) * 255 / 224)
    red, blue = y + (2 - 2 * r) * c[..., 1], y + (2 - 2 * b) * c[..., 0]
    return np.stack([red, (y - r * red - b * blue) / (1 - r - b), blue], -1)


@pytest.mark.parametrize("spec", WEIGHTS)
@pytest.mark.parametrize("full", [False, True])
def test_matrices_are_those_of_the_standards(spec, full):
    arguments = {"color_spec": spec, "range": "full" if full else "limited"}
    random = np.random.default_rng(6)
    rgb = random.integers(0, 256, (64, 64, 3), np.uint8)
    # One rounding to the nearest, and what constants of few digits cost.
    want = to_ycbcr(rgb.astype(np.float64), spec, full)
    assert np.abs(np.clip(want, 0, 255) - convert(rgb, "RGB", "YCbCr", **arguments)).max() <= 0.51
    ycc = random.integers(0 if full else 16, 256, (64, 64, 3), np.uint8)
    want = of_ycbcr(ycc.astype(np.float64), spec, full)
    assert np.abs(np.clip(want, 0, 255) - convert(ycc, "YCbCr", "RGB", **arguments)).max() <= 0.51
    frame = np.concatenate([ycc[..., 0].reshape(-1), ycc[..., 1:].reshape(-1)]).reshape(3 * 64, 64, 1)
    few = 1.3 if (spec, full) == ("BT.601", False) else 0.51
    assert np.abs(np.clip(want, 0, 255) - convert(frame, "NV24", "RGB", **arguments)).max() <= few
    got = convert(rgb, "RGB", "NV24", **arguments)[..., 0]
    got = np.concatenate([got[:64, :, None], got[64:].reshape(64, 64, 2)], -1)
    assert np.abs(np.clip(to_ycbcr(rgb.astype(np.float64), spec, full), 0, 255) - got).max() <= 0.6


def test_nv16_has_chroma_for_each_row():
    random = np.random.default_rng(7)
    for x in pictures(random, "RGB", True, n=20):
        h, w = x.shape[:2]
        frame = convert(x, "RGB", "NV16")[..., 0]
        assert frame.shape == (2 * h, w)
        yuyv = np.empty((h, w, 2), np.uint8)
        yuyv[..., 0], yuyv[..., 1] = frame[:h], frame[h:]
        np.testing.assert_array_equal(convert(frame, "NV16", "RGB"), convert(yuyv, "YUYV", "RGB"))


@pytest.mark.parametrize("space", ["HSV", "HSV_FULL"])
@pytest.mark.parametrize("colors", ["RGB", "BGR"])
def test_bytes_side_by_side_have_the_hue_of_planes(colors, space):
    """All pairs of a largest channel and a range, in all orders; rows that do not fill a register."""
    values = np.arange(256, dtype=np.uint8)
    third = np.uint8([0, 1, 2, 60, 127, 128, 200, 254, 255])
    x = np.stack(np.meshgrid(values, values, third, indexing="ij"), axis=-1).reshape(-1, 3)
    x = np.concatenate([np.roll(x, k, axis=1) for k in range(3)])
    x = x[: len(x) // 1531 * 1531].reshape(-1, 1531, 3)
    together = convert(tensor(x, layout="HWC"), colors, space).numpy()
    apart = convert(tensor(np.ascontiguousarray(x.transpose(2, 0, 1)), layout="CHW"), colors, space).numpy()
    np.testing.assert_array_equal(together, apart.transpose(1, 2, 0))


@pytest.mark.parametrize("space", ["HSV", "HSV_FULL"])
@pytest.mark.parametrize("colors", ["RGB", "BGR"])
def test_hues_side_by_side_have_the_colors_of_planes(colors, space):
    """All hues, also those beyond a turn, with all saturations; rows that do not fill a register."""
    steps = np.arange(256, dtype=np.uint8)
    values = np.uint8([0, 1, 77, 128, 254, 255])
    x = np.stack(np.meshgrid(steps, steps, values, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[: len(x) // 1531 * 1531].reshape(-1, 1531, 3)
    together = convert(tensor(x, layout="HWC"), space, colors).numpy()
    apart = convert(tensor(np.ascontiguousarray(x.transpose(2, 0, 1)), layout="CHW"), space, colors).numpy()
    np.testing.assert_array_equal(together, apart.transpose(1, 2, 0))


@pytest.mark.parametrize("space", ["YCrCb", "YUV"])
@pytest.mark.parametrize("colors", ["RGB", "BGR"])
def test_luma_side_by_side_has_the_colors_of_planes(colors, space):
    """All pairs of chromas; rows that do not fill a register."""
    chroma = np.arange(256, dtype=np.uint8)
    luma = np.uint8([0, 1, 77, 128, 254, 255])
    x = np.stack(np.meshgrid(luma, chroma, chroma, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[: len(x) // 1531 * 1531].reshape(-1, 1531, 3)
    together = convert(tensor(x, layout="HWC"), space, colors).numpy()
    apart = convert(tensor(np.ascontiguousarray(x.transpose(2, 0, 1)), layout="CHW"), space, colors).numpy()
    np.testing.assert_array_equal(together, apart.transpose(1, 2, 0))


@pytest.mark.parametrize("frame", ["NV12", "NV21", "I420", "YV12", "NV16", "NV24"])
def test_planes_may_be_inputs(frame):
    random = np.random.default_rng(8)
    x = convert(random.integers(0, 256, (12, 20, 3), np.uint8), "RGB", frame)[..., 0]
    h, w = 12, 20
    rest = x[h:].reshape(-1)
    if frame in ("I420", "YV12"):
        chroma = list(rest.reshape(2, h // 2, w // 2))
    else:
        chroma = [rest.reshape(h if frame != "NV12" and frame != "NV21" else h // 2, -1, 2)]
    want = convert(x, frame, "RGB")
    np.testing.assert_array_equal(convert_planes(frame, x[:h], *chroma), want)
    # Rows with a pitch.
    wide = np.zeros((h, 64), np.uint8)
    wide[:, :w] = x[:h]
    np.testing.assert_array_equal(convert_planes(frame, wide[:, :w], *chroma), want)


def convert_planes(frame, *planes):
    return fn.color_space_conversion(*planes, image_type=frame, output_type="RGB")


def test_sequences_are_frames_of_their_own():
    random = np.random.default_rng(9)
    frames = random.integers(0, 256, (3, 12, 10, 1), np.uint8)
    got = convert(tensor(frames, layout="FHWC"), "NV12", "BGR")
    for f in range(3):
        np.testing.assert_array_equal(got.numpy()[f], convert(frames[f], "NV12", "BGR"))


def test_a_pipeline_gives_the_bytes_of_calls():
    random = np.random.default_rng(10)
    frames = [random.integers(0, 256, (36 + 6 * k, 40, 1), np.uint8) for k in range(3)]

    @pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def program():
        x = fn.external_source(lambda: frames, layout="HWC")
        rgb = fn.color_space_conversion(x, image_type="NV12", output_type="RGB", color_spec="BT.709")
        small = fn.resize(rgb, size=[16, 16])
        return fn.color_space_conversion(small, image_type="RGB", output_type="HSV"), rgb

    pipe = program()
    pipe.build()
    hsv, rgb = pipe.run()
    for k, x in enumerate(frames):
        want = convert(x, "NV12", "RGB", color_spec="BT.709")
        np.testing.assert_array_equal(rgb[k].numpy(), want)
        np.testing.assert_array_equal(hsv[k].numpy(), convert(fn.resize(want, size=[16, 16]), "RGB", "HSV"))


MESSAGES = [
    ("NV12", "RGB", (7, 4, 1), "rows"),
    ("NV12", "RGB", (6, 3, 1), "even"),
    ("YUYV", "RGB", (4, 3, 2), "even"),
    ("YUYV", "RGB", (4, 4, 3), "2 channels, got 3"),
    ("RGB", "NV12", (3, 4, 3), "the height must be even, got 3"),
    ("NV12", "YUYV", (6, 4, 1), "convert to RGB in between"),
    ("HSV", "Lab", (6, 4, 3), "convert to RGB in between"),
    ("HSV", "RGB", (6, 4, 1), "three channels, got 1"),
]


@pytest.mark.parametrize("source,target,shape,words", MESSAGES)
def test_wrong_calls_say_what_is_wrong(source, target, shape, words):
    with pytest.raises((ValueError, TypeError), match=words) as refused:
        convert(np.zeros(shape, np.uint8), source, target)
    assert "color_space_conversion" in str(refused.value) and "@" not in str(refused.value)


def test_wrong_arguments_are_refused():
    x = np.zeros((6, 4, 3), np.uint8)
    with pytest.raises(ValueError, match=r'color_spec must be "BT.601", "BT.709" or "BT.2020", got "709"'):
        convert(x, "RGB", "NV12", color_spec="709")
    with pytest.raises(ValueError, match='range must be "limited" or "full"'):
        convert(x, "RGB", "YCbCr", range="studio")
    with pytest.raises(ValueError, match="nv12.*got 'NV13'"):
        convert(x, "RGB", "NV13")
    with pytest.raises(TypeError, match="needs uint8, got float32"):
        convert(x.astype(np.float32), "RGB", "NV12")
    with pytest.raises(ValueError, match="RGB is one input, got 2"):
        fn.color_space_conversion(x, x, image_type="RGB", output_type="BGR")
    with pytest.raises(ValueError, match="chroma of NV12"):
        convert_planes("NV12", np.zeros((4, 4), np.uint8), np.zeros((4, 2, 2), np.uint8))


def test_empty_pictures_stay_empty():
    assert convert(np.zeros((0, 4, 3), np.uint8), "RGB", "HSV").shape == (0, 4, 3)
    assert convert(np.zeros((0, 4, 3), np.uint8), "RGB", "NV12").shape == (0, 4, 1)
    assert convert(np.zeros((0, 4, 1), np.uint8), "NV12", "RGBA").shape == (0, 4, 4)
