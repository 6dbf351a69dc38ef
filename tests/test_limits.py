# SPDX-License-Identifier: Apache-2.0
"""How much memory and time a few bytes may cost: limits that are checked before the first allocation."""

import io
import json
import math
import re
import subprocess
import sys
import time
import warnings
import wave

import bombs
import cv2
import numpy as np
import penstock as ps
import pytest
from penstock import Pipeline, _core, fn, types

MILLION = 1 << 20


def encoded(file):
    return np.frombuffer(bytes(file), np.uint8)


def in_a_child(code, **arguments):
    """The last line that the child prints, as JSON; `peak()` in it is the most memory that it held, in MB."""
    head = (
        "import json, resource, sys\nsys.path.insert(0, 'tests')\nimport bombs, numpy as np, penstock as ps\n"
        "from penstock import fn, Pipeline\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "encoded = lambda file: np.frombuffer(bytes(file), np.uint8)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + code, json.dumps(arguments)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_no_format_takes_memory_for_what_a_header_claims():
    with pytest.raises(ps.DataError) as told:
        fn.decoders.image(encoded(b"text"))
    listed = re.search(r"supported format \(([^)]*)\)", str(told.value))[1].replace(" and ", ", ").split(", ")
    assert set(listed) == set(bombs.KINDS)
    result = in_a_child("""
out = {}
for kind, make in bombs.KINDS.items():
    for name, size, options in (("default", (60000, 60000), {}), ("given", (12000, 12000), {"max_pixels": 1 << 20})):
        file = encoded(make(*size))
        for call in (fn.decoders.image, fn.peek_image_shape, fn.decoders.image_random_crop):
            before = peak()
            try:
                call(file, **options)
                text = "decoded"
            except ps.DataError as e:
                text = str(e)
            out[f"{kind} {name} {call.__name__}"] = [peak() - before, text]
print(json.dumps(out))
""")
    for what, (megabytes, text) in result.items():
        limit = 1 << 20 if "given" in what else 178956970
        size = "60000 x 60000" if "default" in what else "12000 x 12000"
        assert f"{size} pixels are more than the limit of {limit}" in text, (what, text)
        assert megabytes < 20, (what, megabytes)


def test_a_large_picture_is_a_warning_and_twice_as_many_pixels_an_error():
    sides = {89478485: 9459, 178956970: 13377}  # of squares just below
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.peek_image_shape(encoded(bombs.gif(sides[89478485], sides[89478485])))
    with pytest.warns(UserWarning, match="9460 x 9460 pixels, more than half of the limit of 178956970"):
        fn.peek_image_shape(encoded(bombs.gif(9460, 9460)))
    with pytest.warns(UserWarning, match="13377 x 13377 pixels"):
        fn.peek_image_shape(encoded(bombs.gif(sides[178956970], sides[178956970])))
    with pytest.raises(ps.DataError, match="limit of 178956970"):
        fn.peek_image_shape(encoded(bombs.gif(13378, 13378)))
    with pytest.warns(UserWarning, match="20000 x 20000 pixels, more than half of the limit of 500000000"):
        assert fn.peek_image_shape(encoded(bombs.gif(20000, 20000)), max_pixels=500_000_000).tolist() == [
            20000,
            20000,
            3,
        ]
    with pytest.raises(ValueError, match="max_pixels must be at least 1"):
        fn.peek_image_shape(encoded(bombs.gif(2, 2)), max_pixels=0)


def piped(make, batch_size=1, **options):
    pipe = ps.pipeline_def(lambda: make())(batch_size=batch_size, num_threads=2, prefetch_queue_depth=1, **options)
    try:
        return [np.array(b[0].numpy()) for b in pipe.run()]
    finally:
        pipe.close()


PICTURE = encoded(cv2.imencode(".png", np.arange(30000, dtype=np.uint8).reshape(100, 100, 3))[1])


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    "decode",
    [
        lambda x, **a: fn.decoders.image(x, **a),
        lambda x, **a: fn.peek_image_shape(x, **a),
        lambda x, **a: fn.crop(fn.decoders.image(x, **a), crop=(4, 4)),
        lambda x, **a: fn.decoders.image_crop(x, crop=(4, 4), **a),
        lambda x, **a: fn.decoders.image_slice(x, [0.0, 0.0], [0.1, 0.1], **a),
        lambda x, **a: fn.decoders.image_random_crop(x, **a),
    ],
)
def test_a_pipeline_gives_its_limit_to_decoders_without_one(decode, debug):
    def made(**own):
        return decode(fn.external_source(lambda: [PICTURE], batch=True), **own)

    piped(made, debug=debug)
    piped(made, max_pixels=10000, debug=debug)
    with pytest.raises(ps.DataError, match="100 x 100 pixels are more than the limit of 9999"):
        piped(made, max_pixels=9999, debug=debug)
    piped(lambda: made(max_pixels=10000), max_pixels=9999, debug=debug)
    with pytest.raises(ps.DataError, match="the limit of 50"):
        piped(lambda: made(max_pixels=50), max_pixels=10**6, debug=debug)


def test_a_saved_pipeline_keeps_its_limits():
    pipe = Pipeline(batch_size=1, num_threads=1, max_pixels=77, max_samples=5)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(name="x")))
    saved = pipe.serialize()
    assert json.loads(saved)["max_pixels"] == 77 and "max_pixels" not in json.dumps(json.loads(saved)["graph"])
    for loaded, words in (
        (Pipeline.deserialize(saved), "limit of 77"),
        (Pipeline.deserialize(saved, max_pixels=78), "limit of 78"),
    ):
        loaded.feed_input("x", [PICTURE])
        with pytest.raises(ps.DataError, match=words):
            loaded.run()
        loaded.close()


def test_recordings_and_videos_have_limits(tmp_path):
    sound = io.BytesIO()
    with wave.open(sound, "wb") as w:
        w.setnchannels(2), w.setsampwidth(2), w.setframerate(8000), w.writeframes(bytes(4000))
    sound = encoded(sound.getvalue())
    assert fn.decoders.audio(sound, max_samples=2000)[0].shape == (1000, 2)
    with pytest.raises(ps.DataError, match="1000 samples of 2 channels are more than the limit of 1999"):
        fn.decoders.audio(sound, max_samples=1999)
    with pytest.raises(ps.DataError, match="limit of 1999"):
        piped(lambda: fn.decoders.audio(fn.external_source(lambda: [sound], batch=True))[0], max_samples=1999)
    import video_files

    name = str(tmp_path / "v.mp4")
    video_files.encode(name, "mpeg4", count=12)
    clip, pixels = np.fromfile(name, np.uint8), video_files.WIDTH * video_files.HEIGHT
    assert len(fn.decoders.video(clip, max_pixels=pixels, max_frames=12)) == 12
    with pytest.raises(ps.DataError, match="12 frames are more than the limit of 11"):
        fn.decoders.video(clip, max_frames=11)
    with pytest.raises(ps.DataError, match=f"more than the limit of {pixels - 1}"):
        fn.decoders.video(clip, max_pixels=pixels - 1)
    with pytest.raises(ps.DataError):
        piped(lambda: fn.readers.video(filenames=[name], sequence_length=2), max_pixels=pixels - 1)
    assert piped(lambda: fn.readers.video(filenames=[name], sequence_length=2), max_pixels=pixels)[0].shape[0] == 2


def test_an_animations_first_picture_takes_no_canvas():
    from PIL import Image

    for frame, canvas, offset in (
        ((30, 40), (30, 40), (0, 0)),
        ((30, 40), (50, 70), (6, 12)),
        ((3, 5), (9, 8), (6, 2)),
    ):
        file = bombs.animation(frame, canvas, offset)
        want = np.asarray(Image.open(io.BytesIO(file)).convert("RGBA"))
        np.testing.assert_array_equal(fn.decoders.image(encoded(file), output_type=types.ANY_DATA), want)
        y, x = offset
        for start, shape in (((0, 0), (2, 2)), ((y, x), (2, 3)), ((max(0, y - 1), max(0, x - 1)), (2, 2))):
            got = fn.decoders.image_slice(
                encoded(file), start=start, shape=shape, axes=[0, 1], output_type=types.ANY_DATA
            )
            np.testing.assert_array_equal(got, want[start[0] : start[0] + shape[0], start[1] : start[1] + shape[1]])
    megabytes = in_a_child("""
file = encoded(bombs.animation((16, 16), (9000, 9000)))
before = peak()
fn.decoders.image_slice(file, start=[0, 0], shape=[8, 10], axes=[0, 1])
print(peak() - before)
""")
    assert megabytes < 20  # WebPAnimDecoder: 648


def test_memory_limit_is_asked_before_the_batch_is_made():
    grown, text = in_a_child("""
file = encoded(bombs.gif(13000, 13000))
pipe = Pipeline(batch_size=8, num_threads=2, memory_limit=1 << 28)
with pipe:
    pipe.set_outputs(fn.decoders.image(fn.external_source(lambda: [file] * 8, batch=True)))
before = peak()
try:
    pipe.run()
    text = "made"
except MemoryError as e:
    text = str(e)
print(json.dumps([peak() - before, text]))
""")
    assert "[decoders.image]" in text and "exceeds the pipeline's memory_limit of 268435456" in text
    assert grown < 30


@pytest.mark.parametrize(
    "make",
    [
        lambda x: fn.resize(x, size=[1024, 1024]),
        lambda x: fn.cast(fn.resize(x, size=[600, 600]), dtype=types.FLOAT),
        lambda x: fn.cat(x, x, x, x, axis=0),
        lambda x: fn.random.uniform(shape=[1000000]),
    ],
)
def test_memory_limit_holds_for_every_kind_of_step(make):
    data = np.zeros((500, 500, 3), np.uint8)
    limit = 3 * 2**20
    with pytest.raises(MemoryError, match="memory_limit"):
        piped(lambda: make(fn.external_source(lambda: [data], batch=True, layout="HWC")), memory_limit=limit - 2**19)
    piped(lambda: make(fn.external_source(lambda: [data], batch=True, layout="HWC")), memory_limit=8 * limit)


def test_a_region_far_outside_costs_no_more_than_one_inside():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (8, 9, 3), np.uint8)

    def resized(begin, end, **more):
        return fn.resize(x, size=[5.0, 5.0], roi_start=begin, roi_end=end, **more)

    for kind in (
        types.INTERP_NN,
        types.INTERP_LINEAR,
        types.INTERP_CUBIC,
        types.INTERP_LANCZOS3,
        types.INTERP_GAUSSIAN,
    ):
        begin = time.process_time()
        far = resized([-1e9, 0.0], [1e9, 8.0], interp_type=kind)
        assert time.process_time() - begin < 2, kind
        near = resized([-1e6, 0.0], [1e6, 8.0], interp_type=kind)  # which is not cut
        rows = (
            [0, 1, 3, 4] if kind == types.INTERP_NN else slice(None)
        )  # in the middle it takes one pixel of the picture
        assert np.abs(far.astype(int) - near)[rows].max() <= 1, kind
    np.testing.assert_array_equal(resized([5e6, 5e6], [6e6, 6e6]), np.broadcast_to(x[-1, -1], (5, 5, 3)))
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError):
            resized([bad, 0.0], [9.0, 9.0])
        with pytest.raises(ValueError):
            resized([0.0, 0.0], [9.0, bad])


# --- NaN in arguments --------------------------------------------------------------------------------------------------


def real_arguments():
    for name in _core.operators(True):
        for a in _core.operator_schema(name)["args"]:
            if a["type"] in ("float", "Sequence[float]"):
                yield name, a


# Data, which may be NaN (operator/any_number.h).
DATA = {
    "color",
    "fill_value",
    "fill_values",
    "on_value",
    "off_value",
    "values",
    "default_value",
    "fdata",
    "left",
    "right",
}


@pytest.mark.parametrize("name, argument", [pytest.param(n, a, id=f"{n}-{a['name']}") for n, a in real_arguments()])
def test_nan_in_an_argument_is_an_error(name, argument):
    key = argument["name"]
    given = [math.nan] if argument["type"] == "Sequence[float]" else math.nan
    with Pipeline(batch_size=1):
        schema = _core.operator_schema(name)
        inputs = [fn.external_source() for _ in range(schema["min_inputs"])]
        others = {a["name"]: fn.external_source() for a in schema["args"] if a["required"] and a["per_sample"]}
        try:
            _core.operator_function(name)(*inputs, **others | {key: given})
            told = "accepted"
        except Exception as e:  # also of what is missing beside it, if NaN is data
            told = f"{type(e).__name__}: {e}"
    refused = re.search(rf"ValueError.*{key} must be (a number|at least .*|greater than .*), got nan", told) is not None
    assert refused == (key not in DATA), told


def test_deviations_are_not_negative_or_nan():
    x = np.zeros((4, 4, 3), np.uint8)
    for bad in (-1.0, math.nan):
        with pytest.raises(ValueError, match="stddev must be at least 0"):
            fn.random.normal(shape=[4], batch_size=1, stddev=bad)
        with pytest.raises(ValueError, match="stddev must be at least 0"):
            fn.noise.gaussian(x, stddev=bad)
        with pytest.raises(ValueError, match="stddev must be"):
            piped(
                lambda: fn.noise.gaussian(
                    fn.external_source(lambda: [x], batch=True, layout="HWC"),
                    stddev=fn.external_source(lambda: [np.float32(bad)], batch=True),
                )
            )
        with pytest.raises(ValueError, match="stddev must be"):
            piped(lambda: fn.random.normal(shape=[4], stddev=fn.external_source(lambda: [np.float32(bad)], batch=True)))
    with pytest.raises(ValueError, match="brightness must be a number, got nan"):
        fn.brightness(x, brightness=math.nan)
    with pytest.raises(ValueError, match="brightness must be a number, got nan for sample 0"):
        piped(
            lambda: fn.brightness(
                fn.external_source(lambda: [x], batch=True, layout="HWC"),
                brightness=fn.external_source(lambda: [np.float32(math.nan)], batch=True),
            )
        )


@pytest.mark.parametrize(
    "name, value",
    [
        ("batch_size", 2**62),
        ("batch_size", 2**31),
        ("num_threads", 2**40),
        ("max_pixels", 2**62),
        ("max_pixels", 0),
        ("memory_limit", -1),
        ("memory_limit", 2**70),
        ("max_samples", "many"),
    ],
)
def test_numbers_of_a_pipeline_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a"):
        Pipeline(**{"batch_size": 1, name: value})
