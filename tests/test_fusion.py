# SPDX-License-Identifier: Apache-2.0
"""Chains give the same bytes fused, operator by operator, and with and without push-down into decoders."""

import os
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operator_calls import values
from operators.draws import number

import penstock
from penstock import Pipeline, fn, types

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "20"))
chains = settings(
    max_examples=COUNT,
    deadline=None,
    derandomize="PENSTOCK_TEST_COUNT" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
FUSED, ALONE, SIMPLE = {}, {"PENSTOCK_PUSH_DOWN": "0"}, {"PENSTOCK_EXEC": "simple"}


@contextmanager
def environment(**names):
    """PENSTOCK_EXEC and PENSTOCK_PUSH_DOWN as given, otherwise unset; they are read when a pipeline is made."""
    before = {n: os.environ.pop(n, None) for n in ("PENSTOCK_EXEC", "PENSTOCK_PUSH_DOWN")}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def run(define, mode, batch_size=3, iterations=1):
    """The bytes of the outputs, and the plan's text."""
    with environment(**mode):
        pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=7, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(*define())
        results = [[(np.array(t.numpy()), b.layout()) for b in pipe.run() for t in b] for _ in range(iterations)]
        text = pipe.text() + pipe.text(planned=True)
        pipe.close()
    return [r for batch in results for r in batch], text


def assert_same(define, modes, **options):
    expected, text = run(define, modes[0], **options)
    for mode in modes[1:]:
        got, other = run(define, mode, **options)
        assert len(got) == len(expected)
        for k, ((a, layout), (b, layout_b)) in enumerate(zip(got, expected)):
            where = f"result {k}\n{text}\nand\n{other}"
            assert (a.dtype, a.shape, layout) == (b.dtype, b.shape, layout_b), where
            if a.tobytes() != b.tobytes():
                wrong = np.argwhere((a != b) & ~((a != a) & (b != b)))
                at = tuple(wrong[0]) if len(wrong) else ()
                raise AssertionError(f"{len(wrong)} of {a.size} differ, first at {at}: {a[at]} and {b[at]}; {where}")


# Links of a chain: (name, function of a value). Each draws its arguments once, so that every mode gets the same ones.
def _fed(items, dtype):
    batch = penstock.batch([np.asarray(v, dtype) for v in items])
    return lambda: fn.external_source(lambda: batch)


def constant_or_fed(draw, value, dtype=np.float32):
    """An argument as a function of nothing: a constant, or an external source of one value a sample."""
    if draw(st.booleans()):
        v = draw(value)
        return lambda: v
    return _fed([draw(value) for _ in range(3)], dtype)


def link_flip(draw):
    h, v = (constant_or_fed(draw, st.integers(0, 1), np.int32) for _ in range(2))
    return lambda x: fn.flip(x, horizontal=h(), vertical=v())


def link_crop(draw):
    policy = draw(st.sampled_from(["edge", "constant", "reflect_101", "trim_to_shape"]))
    h, w = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    x_, y_ = constant_or_fed(draw, number(0, 1)), constant_or_fed(draw, number(0, 1))
    return lambda x: fn.crop(
        x,
        crop_h=float(h),
        crop_w=float(w),
        crop_pos_x=x_(),
        crop_pos_y=y_(),
        out_of_bounds_policy=policy,
        fill_values=[3.0],
    )


def link_slice(draw):
    low, high = [draw(number(0, 0.375)) for _ in "yx"], [draw(number(0.75, 1)) for _ in "yx"]  # never empty
    return lambda x: fn.slice(x, rel_start=low, rel_end=high, axis_names="HW")


def link_resize(draw):
    kind, antialias = draw(st.integers(0, 5)), draw(st.booleans())
    h, w = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    return lambda x: fn.resize(x, resize_x=float(w), resize_y=float(h), interp_type=kind, antialias=antialias)


def link_resize_shorter(draw):
    n = constant_or_fed(draw, st.integers(5, 40).map(float))
    return lambda x: fn.resize(x, resize_shorter=n(), interp_type=types.INTERP_LINEAR)


def link_random_resized_crop(draw):
    size = [draw(st.integers(1, 40)), draw(st.integers(1, 40))]
    return lambda x: fn.random_resized_crop(x, size=size)


def link_rotate(draw):
    angle, keep = constant_or_fed(draw, number(-180, 180)), draw(st.booleans())
    fill = draw(st.sampled_from([None, 9.0]))
    return lambda x: fn.rotate(x, angle=angle(), keep_size=keep, interp_type=types.INTERP_LINEAR, fill_value=fill)


def link_warp_affine(draw):
    matrix = [1.0, draw(number(-0.5, 0.5)), draw(number(-3, 3)), draw(number(-0.5, 0.5)), 1.0, draw(number(-3, 3))]
    kind = draw(st.sampled_from([types.INTERP_NN, types.INTERP_LINEAR]))
    return lambda x: fn.warp_affine(x, matrix=matrix, interp_type=kind, fill_value=1.0)


def link_brightness_contrast(draw):
    b, c = constant_or_fed(draw, number(0, 2)), constant_or_fed(draw, number(0, 2))
    out = draw(st.sampled_from([None, types.UINT8, types.FLOAT, types.INT16, types.FLOAT16]))
    return lambda x: fn.brightness_contrast(x, brightness=b(), contrast=c(), dtype=out)


def link_color_twist(draw):
    s, h = constant_or_fed(draw, number(0, 2)), constant_or_fed(draw, number(-180, 180))
    return lambda x: fn.color_twist(x, saturation=s(), hue=h(), brightness=1.1)


def link_color_space(draw):
    a, b = draw(st.sampled_from([(0, 3), (3, 0), (0, 1), (1, 0)]))
    return lambda x: fn.color_space_conversion(x, image_type=a, output_type=b)


def link_cast(draw):
    out = draw(st.sampled_from(["uint8", "int16", "int32", "int64", "float16", "float32", "float64", "uint16"]))
    return lambda x: fn.cast(x, dtype=types.to_penstock_type(out))


def link_constant(draw):
    sign, k = draw(st.sampled_from("+-*/")), draw(st.one_of(st.integers(1, 9), number(0.5, 3)))
    left = draw(st.booleans()) and sign != "/"
    apply = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}[sign]
    return lambda x: apply(k, x) if left else apply(x, k)


def link_second_input(draw):
    sign = draw(st.sampled_from("+-*"))
    dtype = draw(st.sampled_from(["uint8", "float32", "int32"]))
    other = _fed(np.array([[[[1, 2, 3]]], [[[4, 5, 6]]], [[[7, 8, 9]]]]), dtype)
    apply = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]
    return lambda x: apply(x, other())


def link_itself(draw):
    k = draw(number(0.25, 2))
    return lambda x: x * k + x


def link_comparison(draw):
    k = draw(st.integers(1, 200))
    return lambda x: (x > k) * x


def link_blur(draw):
    window = 2 * draw(st.integers(0, 3)) + 1
    return lambda x: fn.gaussian_blur(x, window_size=window)


def link_erase(draw):
    at = constant_or_fed(draw, st.lists(number(0, 20), min_size=2, max_size=2))
    return lambda x: fn.erase(x, anchor=at(), shape=[7.0, 5.0], axis_names="HW", fill_value=4.0)


def link_pad(draw):
    align = draw(st.sampled_from([1, 8]))
    return lambda x: fn.pad(x, axis_names="HW", align=[align])


def link_crop_mirror_normalize(draw):
    mirror = constant_or_fed(draw, st.integers(0, 1), np.int32)
    out = draw(st.sampled_from(["float32", "float16", "uint8"]))
    mean, std = [draw(number(0, 200)) for _ in range(3)], [draw(number(1, 80)) for _ in range(3)]
    return lambda x: fn.crop_mirror_normalize(
        x, mirror=mirror(), mean=mean, std=std, output_layout="HWC", dtype=types.to_penstock_type(out)
    )


PIXELS = [
    link_brightness_contrast,
    link_color_twist,
    link_color_space,
    link_cast,
    link_constant,
    link_second_input,
    link_itself,
    link_comparison,
    link_crop_mirror_normalize,
]
MAPS = [
    link_flip,
    link_crop,
    link_slice,
    link_resize,
    link_resize_shorter,
    link_random_resized_crop,
    link_rotate,
    link_warp_affine,
]
WHOLE = [link_blur, link_erase, link_pad]


@st.composite
def chain(draw, links, low=2, high=8):
    """A function from a value to the list of outputs: the end of the chain and perhaps values within it."""
    made = [draw(st.sampled_from(links))(draw) for _ in range(draw(st.integers(low, high)))]
    kept = draw(st.sets(st.integers(0, len(made) - 1), max_size=2)) if draw(st.integers(0, 3)) == 0 else set()

    def apply(x):
        outputs = []
        for k, link in enumerate(made):
            x = link(x)
            if k in kept:
                outputs.append(x)
        return [*outputs, x]

    return apply


@st.composite
def samples(draw):
    dtype, seed = draw(st.sampled_from(["uint8", "uint8", "float32", "int16", "float64"])), draw(st.integers(0, 999))
    shapes = [(draw(st.integers(1, 45)), draw(st.integers(1, 45)), 3) for _ in range(3)]
    return [values(dtype, shape, seed + i) for i, shape in enumerate(shapes)]


@pytest.mark.parametrize(
    "links", [PIXELS, MAPS, PIXELS + MAPS, PIXELS + MAPS + WHOLE], ids=["pixels", "maps", "both", "all"]
)
def test_fused_is_unfused(links):
    @chains
    @given(samples(), chain(links))
    def check(images, apply):
        batch = penstock.batch(images, layout="HWC")
        assert_same(lambda: apply(fn.external_source(lambda: batch, layout="HWC")), [SIMPLE, FUSED])

    check()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Photographs of every kind that a region decode treats differently."""
    from PIL import Image

    folder, rng, names = tmp_path_factory.mktemp("photos"), np.random.default_rng(1), []

    def picture(h, w, channels=3):
        small = rng.integers(0, 256, (h // 8 + 2, w // 8 + 2, channels), np.uint8)
        large = np.asarray(Image.fromarray(small.squeeze()).resize((w, h), Image.BICUBIC))
        return Image.fromarray(large)

    def save(name, image, **options):
        names.append(str(folder / name))
        image.save(names[-1], **options)

    for subsampling in (0, 1, 2):
        save(f"s{subsampling}.jpg", picture(97, 131), quality=85, subsampling=subsampling)
    save("progressive.jpg", picture(70, 90), progressive=True, subsampling=2)
    save("gray.jpg", picture(64, 80, 1).convert("L"))
    save("restarts.jpg", picture(120, 75), subsampling=2, restart_marker_blocks=3)
    for orientation in (3, 6, 7):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"turned{orientation}.jpg", picture(60, 100), exif=exif, subsampling=2)
    save("tiny.jpg", picture(9, 7), subsampling=2)
    save("plain.png", picture(50, 61))
    save("large.jpg", picture(400, 600), subsampling=2)
    return names


DECODED = [
    link_flip,
    link_crop,
    link_slice,
    link_resize,
    link_resize_shorter,
    link_random_resized_crop,
    link_rotate,
    link_crop_mirror_normalize,
    link_brightness_contrast,
]


@pytest.mark.parametrize("read", ["reader", "external source"])
def test_push_down_changes_nothing(files, read):
    @chains
    @given(chain(DECODED, 1, 5), st.sampled_from([types.RGB, types.BGR, types.YCbCr]), st.booleans())
    def check(apply, kind, upright):
        def define():
            if read == "reader":
                encoded, _ = fn.readers.file(files=files, name="reader")
            else:
                groups = iter([files[k : k + 3] for k in range(0, 12, 3)])
                encoded = fn.external_source(lambda: [np.fromfile(f, np.uint8) for f in next(groups)])
            return apply(fn.decoders.image(encoded, output_type=kind, adjust_orientation=upright))

        assert_same(define, [SIMPLE, ALONE, FUSED], iterations=4)

    check()


@pytest.mark.parametrize("kind", [types.RGB, types.BGR, types.GRAY, types.YCbCr])
def test_push_down_of_every_kind_of_image(files, kind):
    def define():
        encoded, label = fn.readers.file(files=files, name="reader")
        image = fn.decoders.image(encoded, output_type=kind)
        return [
            fn.random_resized_crop(image, size=[20, 24]),
            fn.crop(fn.decoders.image(encoded, output_type=kind), crop=(7, 5)),
            label,
        ]

    assert_same(define, [SIMPLE, ALONE, FUSED], iterations=4)


def test_decoders_with_windows_equal_the_parts(files):
    """image_crop and image_slice are decoders.image and the operator."""

    def outputs():
        encoded, _ = fn.readers.file(files=files, name="reader")
        image = fn.decoders.image(encoded)
        return [
            fn.decoders.image_crop(encoded, crop=(7, 5), crop_pos_x=0.3),
            fn.crop(image, crop=(7, 5), crop_pos_x=0.3),
            fn.decoders.image_slice(encoded, rel_start=[0.2, 0.3], rel_end=[0.7, 0.9], axis_names="HW"),
            fn.slice(image, rel_start=[0.2, 0.3], rel_end=[0.7, 0.9], axis_names="HW"),
        ]

    for mode in (SIMPLE, ALONE, FUSED):
        got, _ = run(outputs, mode, iterations=4)
        for k in range(0, len(got), 12):
            for i in range(3):
                np.testing.assert_array_equal(got[k + i][0], got[k + 3 + i][0])
                np.testing.assert_array_equal(got[k + 6 + i][0], got[k + 9 + i][0])


def test_a_stage_leaves_the_weights_of_others_alone(files):
    """Two resamplings in a thread: the region that the first one decodes must not touch what the second one keeps."""

    def define():
        encoded, _ = fn.readers.file(files=files, name="reader")
        small = fn.resize(fn.decoders.image(encoded), size=[1.0, 1.0], interp_type=types.INTERP_NN)
        return [fn.resize(small, size=[1.0, 1.0], interp_type=types.INTERP_LINEAR)]

    assert_same(define, [SIMPLE, ALONE, FUSED], iterations=8)


def test_the_training_pipeline_has_one_stage_after_the_reader(files):
    def define():
        encoded, label = fn.readers.file(files=files, name="reader", random_shuffle=True)
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[32, 32])
        return [
            fn.crop_mirror_normalize(
                image, mirror=fn.random.coin_flip(), mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0]
            ),
            label,
        ]

    assert_same(define, [SIMPLE, ALONE, FUSED], iterations=8)
    (_, fused), (_, simple) = run(define, FUSED), run(define, SIMPLE)
    assert fused.count("stage:") == 1 < simple.count("stage:")
