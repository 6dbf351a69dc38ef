# SPDX-License-Identifier: Apache-2.0
"""What errors and warnings say to newcomers: the choices, the argument that was meant, the user's line and no other."""

import random
import re
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import penstock
from penstock import fn, types

IMAGE = np.arange(9 * 8 * 3, dtype=np.uint8).reshape(9, 8, 3)


def pipeline(function, **options):
    @penstock.pipeline_def(batch_size=2, num_threads=1, **options)
    def pipe():
        return function(fn.external_source(lambda: [IMAGE] * 2, layout="HWC", dtype="uint8", batch=True))

    return pipe()


def here():
    """A line near the caller's, as errors name it."""
    first = traceback.extract_stack(limit=2)[0].lineno
    return f"at .*test_messages.py:({'|'.join(str(first + k) for k in range(-4, 3))})$"


@pytest.mark.parametrize(
    "name, number",
    [
        ("nearest", 0),
        ("nn", 0),
        ("linear", 1),
        ("bilinear", 1),
        ("BICUBIC", 2),
        ("cubic", 2),
        ("lanczos3", 3),
        ("triangular", 4),
        ("gaussian", 5),
        ("INTERP_LINEAR", 1),
    ],
)
def test_filters_have_names(name, number):
    want = fn.resize(IMAGE, size=(5, 11), interp_type=types.InterpType(number))
    np.testing.assert_array_equal(fn.resize(IMAGE, size=(5, 11), interp_type=name), want)
    np.testing.assert_array_equal(pipeline(lambda x: fn.resize(x, size=(5, 11), interp_type=name)).run()[0].at(1), want)
    one = fn.resize(IMAGE, size=(5, 11), min_filter=name, mag_filter=name)
    np.testing.assert_array_equal(one, fn.resize(IMAGE, size=(5, 11), min_filter=number, mag_filter=number))


def test_color_spaces_have_names_and_wrong_names_list_the_choices():
    for a, b in (("RGB", "BGR"), ("rgb", "gray"), ("BGR", "YCbCr")):
        numbers = [int(types.ImageType[k]) for k in (a.upper(), b.upper() if b != "YCbCr" else b)]
        np.testing.assert_array_equal(
            fn.color_space_conversion(IMAGE, image_type=a, output_type=b),
            fn.color_space_conversion(IMAGE, image_type=numbers[0], output_type=numbers[1]),
        )
    with pytest.raises(
        ValueError, match=r"interp_type must be one of 'nearest', 'linear', 'cubic', 'lanczos3', .* got 'smooth'"
    ):
        fn.resize(IMAGE, size=3, interp_type="smooth")
    with pytest.raises(ValueError, match=r"(?s)output_type must be one of 'rgb', 'bgr', .* got 'cmyk'.*" + here()):
        pipeline(lambda x: fn.color_space_conversion(x, image_type="rgb", output_type="cmyk"))


def test_help_shows_names_and_short_numbers():
    text = fn.resize.__text_signature__ + fn.resize.__doc__
    assert "interp_type='linear'" in text and "default 'linear'" in text
    assert "dtype='float32'" in fn.crop_mirror_normalize.__text_signature__
    assert "random_area=[0.08, 1.0]" in fn.random_resized_crop.__text_signature__
    for name in penstock._core.operators():
        for a in penstock._core.operator_schema(name)["args"]:
            assert not re.search(r"\.\d{8}", a["default_text"]), (name, a["name"])


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x: fn.resize(x, (224, 224)), "size"),
        (lambda x: fn.rotate(x, 30.0), "angle"),
        (lambda x: fn.crop_mirror_normalize(x, [1, 2, 3]), ""),
    ],
)
def test_an_argument_in_the_place_of_an_input(call, argument):
    message = rf"takes 1 input, got 2; arguments are given by name, such as {argument}"
    with pytest.raises(ValueError, match=message):
        call(IMAGE)
    with pytest.raises(ValueError, match=message):
        pipeline(call)


def test_options_of_a_pipeline():
    for wrong, kind, message in (
        ({"device_id": "cuda"}, TypeError, "device_id is the number of a GPU or None, got 'cuda'"),
        ({"seed": "a"}, TypeError, "seed is an integer or None, got 'a'"),
        ({"on_error": "ignore"}, ValueError, "on_error must be 'raise', 'skip' or 'replace', got 'ignore'"),
    ):
        with pytest.raises(kind, match=message):
            penstock.Pipeline(batch_size=1, **wrong)


def test_functions_of_numpy_name_the_operator_and_the_line():
    for call, message in (
        (np.mean, r"numpy.mean\(\) .* use fn.reductions.mean\(x\)"),
        (np.clip, "numpy.clip"),
        (np.asarray, "has no elements"),
        (lambda x: np.stack([x, x]), r"numpy.stack\(\) .* use fn.stack"),
        (np.fft.fft, "numpy.fft"),
    ):
        arguments = (0, 1) if call is np.clip else ()
        with pytest.raises(TypeError, match=rf"(?s){message}.*" + here()):
            pipeline(lambda x: call(x, *arguments))


def test_normalize_blames_no_file_and_names_the_axes():
    for arguments in (
        {"mean": [1.0, 2.0, 3.0]},
        {"mean": [1.0, 2.0, 3.0], "stddev": [1.0, 2.0, 3.0]},
        {"stddev": [1.0, 2.0, 3.0]},
    ):
        for call in (
            lambda: fn.normalize(IMAGE, **arguments),
            lambda: pipeline(lambda x: fn.normalize(x, **arguments)).run(),
        ):
            with pytest.raises(
                ValueError, match=r'has 3 values, but all axes are reduced: .* axis_names="HW"'
            ) as error:
                call()
            assert "(file:" not in str(error.value) and "(sample" not in str(error.value)
    got = fn.normalize(IMAGE, mean=[1.0, 2.0, 3.0], stddev=[1.0, 2.0, 4.0], axes=[0, 1])
    np.testing.assert_allclose(got, (IMAGE.astype(np.float64) - [1, 2, 3]) / [1, 2, 4], rtol=1e-6)


def test_numbers_of_torchvision_on_integers_are_warned_of():
    numbers = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
    penstock._core.take_notices()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            fn.crop_mirror_normalize(IMAGE, **numbers)
            fn.crop_mirror_normalize(IMAGE, scale=1 / 255, **numbers)
            fn.crop_mirror_normalize(IMAGE.astype(np.float32), **numbers)
            fn.crop_mirror_normalize(IMAGE, mean=[100.0], std=[50.0])
    assert [str(w.message)[:80] for w in seen] == [
        "crop_mirror_normalize: mean and std between 0 and 1 are for pixels from 0 to 1, "
    ]


def test_numbers_that_python_draws_once_are_warned_of():
    def by_python(x):
        return fn.brightness(x, brightness=random.uniform(0.5, 1.5))

    def by_numpy(x):
        return fn.brightness(x, brightness=np.random.uniform(0.5, 1.5))

    for draw, name in ((by_python, "random"), (by_numpy, "numpy.random")):
        with pytest.warns(UserWarning, match=rf"drew numbers of {name}: .* fn.random.uniform") as seen:
            pipeline(draw)
        assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = random.Random(3)
        pipeline(lambda x: fn.brightness(x, brightness=own.uniform(0.5, 1.5)))
        pipeline(lambda x: fn.brightness(x, brightness=fn.random.uniform(range=[0.5, 1.5])))


def test_numbers_that_python_draws_in_a_block_are_warned_of():
    def block(draw):
        with penstock.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
            x = fn.external_source(lambda: [IMAGE] * 2, layout="HWC", dtype="uint8", batch=True)
            pipe.set_outputs(fn.brightness(x, brightness=draw()))
        return pipe

    with pytest.warns(
        UserWarning, match=rf"`with pipeline:` \({re.escape(__file__)}:\d+\) drew numbers of random: it"
    ) as seen:
        block(lambda: random.uniform(0.5, 1.5))
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block(lambda: random.uniform(0.5, 1.5))  # said already
        block(lambda: fn.random.uniform(range=[0.5, 1.5]))
        fn.brightness(IMAGE, brightness=random.uniform(0.5, 1.5))  # a call outside draws anew each time
        with pytest.raises(KeyError):
            block(lambda: {}["x"])


@pytest.mark.parametrize("draw,warned", [("get_state", 0), ("rand", 1)])
def test_a_module_that_loads_numpys_generator_draws_nothing_of_it(draw, warned):
    """NumPy loads it late; the function of a pipeline may be the first to import a package that uses it, such as Numba."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"""
import sys
from penstock import pipeline_def, types
@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def pipe():
    assert "numpy.random" not in sys.modules
    import numpy.random
    numpy.random.{draw}()
    return types.Constant([1.0])
pipe()
""",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("drew numbers of numpy.random") == warned


def test_a_function_is_warned_of_once():
    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return types.Constant(np.float32([random.random()]), shape=[1])

    with pytest.warns(UserWarning, match="'pipe' .*test_messages.py"):
        pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe()


def in_branches(x):
    k = fn.random.coin_flip()
    if k == 1:
        if k == 0:
            for _ in range(2):
                if k == 2:
                    x = 255 - x
    return x


def frames_of(error):
    return [f.filename for f in traceback.extract_tb(error.__traceback__)]


def test_tracebacks_show_the_users_lines(monkeypatch):
    with pytest.raises(TypeError, match=r"fn.cast\(x, dtype='uint8'\) converts\n  at .*test_messages.py") as error:
        pipeline(in_branches)
    files = frames_of(error.value)
    assert sum("penstock/" in f for f in files) <= 2 and files[-1].endswith("test_messages.py")
    assert traceback.extract_tb(error.value.__traceback__)[-1].line == "if k == 2:"
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.value.__traceback__)]
    assert len(places) == len(set(places))
    monkeypatch.setenv("PENSTOCK_TRACEBACK", "full")
    with pytest.raises(TypeError) as error:
        pipeline(in_branches)
    assert sum("penstock/" in f for f in frames_of(error.value)) > 10


def test_tracebacks_of_runs_end_in_the_users_lines(monkeypatch):
    def broken(info):
        raise KeyError("mine")

    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def source():
        return fn.external_source(broken, batch=False)

    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def files():
        return fn.readers.file(file_root="nowhere")[0]

    for pipe, kind, last in ((source(), KeyError, 'raise KeyError("mine")'), (files(), FileNotFoundError, "")):
        with pytest.raises(kind) as error:
            pipe.run()
        frames = traceback.extract_tb(error.value.__traceback__)
        assert sum("penstock/" in f.filename for f in frames) <= 1
        assert not last or frames[-1].line == last
    monkeypatch.setenv("PENSTOCK_TRACEBACK", "full")
    with pytest.raises(FileNotFoundError) as error:
        files().run()
    assert sum("penstock/" in f for f in frames_of(error.value)) > 2


def test_errors_of_lambdas_say_where_they_are():
    space = {}  # two that look alike in one line cannot be distinguished
    exec(
        compile(
            "two = (lambda x: x if x[0, 0, 0] > 3 else x), (lambda x: x if x[0, 0, 0] > 3 else x)", __file__, "exec"
        ),
        space,
    )
    choose, line = space["two"][0], 1
    for call in (choose, lambda x: helper(x, choose)):
        with pytest.raises(TypeError, match=r"the lambda of .*test_messages.py:\d+ is not converted") as error:
            pipeline(call)
    assert f"test_messages.py:{line}" in str(error.value)


def helper(x, call):
    return call(x)


def test_show_tells_its_own_name():
    with pytest.raises(TypeError, match=r"^show\(\) got an unexpected keyword argument 'colors'"):
        penstock.batch([IMAGE]).show(colors=3)


def test_points_follow_a_rotated_image_by_the_other_sign():
    x = np.zeros((41, 61, 1), np.uint8)
    x[10, 45] = 255
    for angle in (90.0, 30.0, -17.0):
        turned = fn.rotate(x, angle=angle, keep_size=True, interp_type=1)
        row, column = np.unravel_index(np.argmax(turned[..., 0]), (41, 61))
        center = [30.5, 20.5]
        point = fn.coord_transform(np.float32([[45.5, 10.5]]), MT=fn.transforms.rotation(angle=-angle, center=center))
        assert np.abs(np.array(point)[0] - [column + 0.5, row + 0.5]).max() <= 1


def test_lists_with_commas_and_labels_of_text_say_what_to_give(tmp_path):
    def read(op, **arguments):
        pipe = penstock.Pipeline(batch_size=1, num_threads=1)
        with pipe:
            pipe.set_outputs(op(**arguments)[0])
        pipe.run()

    at = tmp_path / "train.csv"
    for text, line, why in (
        ("path,label\na.jpg,3\n", 1, "expected a path, white space and a label"),
        ("a.jpg 3\nb c.jpg;cat\n", 2, "expected a whole number as the label after the path"),
    ):
        at.write_text(text)
        with pytest.raises(penstock.DataError) as told:
            read(fn.readers.file, file_list=str(at))
        said = f"line {line}: {why}; CSV is not supported: give the columns as files= and labels=, which are whole numbers: "
        assert f'[readers.file] {said}"{text.splitlines()[line - 1]}" (file: {at})' in str(told.value)
    at.write_text("a.mp4,3\n")
    with pytest.raises(
        penstock.DataError, match='CSV is not supported: give the columns as filenames= and labels=.*: "a.mp4,3"'
    ):
        read(fn.readers.video, file_list=str(at), sequence_length=1)
    for labels in (["cat"], "cat"):
        with pytest.raises(TypeError, match=r"\[readers.file\] labels: expected a list of integers, got (\['|')"):
            read(fn.readers.file, files=["a.jpg"], labels=labels)
    with pytest.raises(TypeError, match=r"mean: expected a list of numbers, got \['"):
        fn.crop_mirror_normalize(IMAGE, mean=["1", "2", "3"])


class Raising(list):
    """A list whose items are functions, and one of them fails."""

    def __len__(self):
        return 2

    def __getitem__(self, at):
        raise RuntimeError("no item")


class Uncounted(Raising):
    def __len__(self):
        raise RuntimeError("no length")


@pytest.mark.parametrize("call", ["fn.resize(IMAGE, size=x)", "fn.flip(x)", "fn.flip([IMAGE, x])", "fn.flip([[1], x])"])
def test_errors_of_the_items_of_a_list_are_passed_on(call):
    """Ended the process, or was a SystemError: the library answered although Python had an error."""
    for made, words in ((Raising, "no item"), (Uncounted, "no length")):
        with pytest.raises(RuntimeError, match=words):
            exec(call, {"fn": fn, "IMAGE": IMAGE, "x": made()})


def test_an_array_method_that_gives_no_array_is_refused():
    class Itself:
        def __array__(self, *_, **__):
            return self

    with pytest.raises(TypeError, match=r"__array__\(\) of Itself"):
        fn.flip(Itself())


def test_an_error_names_the_operator_of_several_that_run_in_one_pass():
    """And its line: the first one, the middle one, the last one; in a pipeline and in a compiled function."""

    def chain(x, crop, sigma, end):
        x = fn.crop(x, crop=crop)
        x = fn.gaussian_blur(x, sigma=sigma)
        return fn.slice(x, start=[0, 0], end=[end, 2], axis_names="HW")

    first = chain.__code__.co_firstlineno + 1
    for line, (arguments, said) in enumerate(
        (
            (([50, 4], 1.0, 3), r"\[crop\] the window"),
            (([5, 4], -1.0, 3), r"\[gaussian_blur\] sigma must be from 0 to 1e6, got -1"),
            (([5, 4], 1.0, 30), r"\[slice\] the window"),
        )
    ):
        made = rf"(?s){said}.*\n  at {re.escape(__file__)}:{first + line}$"
        with pytest.raises(ValueError, match=made):
            pipeline(lambda x: chain(x, *arguments)).run()
        with pytest.raises(ValueError, match=made):
            pipeline(lambda x: chain(x, *arguments)).compile()(penstock.batch([IMAGE]))
