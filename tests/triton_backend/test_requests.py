# SPDX-License-Identifier: Apache-2.0
"""What a client gets: the bytes of the pipeline, and an error for each thing that is wrong."""

import struct
import threading

import numpy as np
import pytest
from penstock import fn, pipeline_def, types
from served_pipelines import classification, decoded, of_pipeline, photograph, photographs
from triton_server import RequestError, bytes_elements


@pytest.fixture
def photos(load):
    return load("photos.penstock", classification())


def test_a_saved_pipeline_needs_no_config_file(client, photos):
    files = photographs(23)
    (expected,) = of_pipeline(classification(), jpegs=files)
    (answer,) = client.infer(photos, {"jpegs": files}).values()
    np.testing.assert_array_equal(answer, expected)


def test_the_config_has_types_and_shapes_of_the_graph(client, photos):
    config = client.json("GET", f"/v2/models/{photos}/config")
    (given,), (made,) = config["input"], config["output"]
    assert (given["name"], given["data_type"], given["dims"]) == ("jpegs", "TYPE_STRING", [1])
    assert (made["name"], made["data_type"], made["dims"]) == ("OUTPUT0", "TYPE_FP32", [3, 32, 32])
    assert config["max_batch_size"] == 64 and "dynamic_batching" in config


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_any_number_of_files(client, photos, count):
    files = photographs(count, first=count)
    (expected,) = of_pipeline(classification(), jpegs=files)
    np.testing.assert_array_equal(client.infer(photos, {"jpegs": files})["OUTPUT0"], expected)


def test_a_damaged_file_fails_its_request_alone(server, client, photos):
    """Requests that the server puts into one batch: those with a damaged file get its error, the others their bytes."""
    good = photographs(3)
    (expected,) = of_pipeline(classification(), jpegs=good)
    answers = {}

    def ask(number):
        files = [*good]
        if number % 3 == 0:
            files[number % 2] = files[number % 2][: 60 + number]
        try:
            with server.client() as own:
                answers[number] = own.infer(photos, {"jpegs": files}, request_id=f"r{number}")["OUTPUT0"]
        except RequestError as error:
            answers[number] = error

    for _ in range(4):
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for number, answer in answers.items():
            if number % 3 == 0:
                assert f"request 'r{number}': [decoders.image] JPEG: the file of" in str(answer)
                assert f"sample {number % 2}" in str(answer) and answer.status == 400
            else:
                np.testing.assert_array_equal(answer, expected)
        answers.clear()


def test_outputs_of_unlike_shapes_are_refused_with_what_to_do(client, load):
    model = load("any_size.penstock", decoded())
    with pytest.raises(RequestError, match=r"output 'OUTPUT0': sample 1 has the shape .* \(fn.resize, fn.pad\)"):
        client.infer(model, {"jpegs": photographs(2)})
    files = [photograph(1), photograph(1)]
    images, shapes = of_pipeline(decoded(), jpegs=files)
    answer = client.infer(model, {"jpegs": files})
    np.testing.assert_array_equal(answer["OUTPUT0"], images)
    np.testing.assert_array_equal(answer["OUTPUT1"], shapes)


@pytest.mark.parametrize("wanted", [["OUTPUT1"], ["OUTPUT0"], ["OUTPUT1", "OUTPUT0"]])
def test_a_request_may_want_some_outputs(client, load, wanted):
    model = load("some.penstock", decoded())
    expected = dict(zip(["OUTPUT0", "OUTPUT1"], of_pipeline(decoded(), jpegs=[photograph(4)])))
    answer = client.infer(model, {"jpegs": [photograph(4)]}, outputs=wanted)
    assert set(answer) == set(wanted)
    for name in wanted:
        np.testing.assert_array_equal(answer[name], expected[name])


def test_shapes_of_unlike_pictures_alone(client, load):
    """The pictures differ, but nobody wants them."""
    model = load("shapes.penstock", decoded())
    _, shapes = of_pipeline(decoded(), jpegs=photographs(5))
    np.testing.assert_array_equal(client.infer(model, {"jpegs": photographs(5)}, ["OUTPUT1"])["OUTPUT1"], shapes)


@pipeline_def(batch_size=8, num_threads=1)
def arithmetic():
    a = fn.external_source(name="a", dtype=types.FLOAT, ndim=3, layout="HWC")
    b = fn.external_source(name="b", dtype=types.INT32, ndim=0)
    return a * 2 + b, fn.flip(a), b + 1


@pytest.mark.parametrize("size", [(1, 1), (0, 4), (5, 7), (33, 65)])
@pytest.mark.parametrize("count", [1, 8])
def test_arrays(client, load, size, count):
    model = load("arithmetic.penstock", arithmetic())
    random = np.random.default_rng(count)
    a = random.normal(size=(count, *size, 3)).astype(np.float32)
    b = random.integers(-9, 9, (count, 1), np.int32)
    answer = client.infer(model, {"b": b, "a": a})
    np.testing.assert_array_equal(answer["OUTPUT0"], (a * 2 + b[:, :, None, None]).astype(np.float32))
    np.testing.assert_array_equal(answer["OUTPUT1"], a[:, :, ::-1])
    np.testing.assert_array_equal(answer["OUTPUT2"], b + 1)


def entry(name, kind, shape, data):
    return {"name": name, "datatype": kind, "shape": shape, "parameters": {"binary_data_size": len(data)}}


WHOLE = bytes_elements([b"abc", b"de"])
WRONG_FILES = {
    "cut length": (WHOLE[:-4], [2, 1], "incomplete string length|element"),
    "cut bytes": (WHOLE[:-1], [2, 1], "incomplete string data|element"),
    "too long": (struct.pack("<I", 2**31) + b"abc", [1, 1], "incomplete string data|element"),
    "more than it says": (WHOLE, [1, 1], "element|elements"),
    "nothing": (b"", [1, 1], "byte|element"),
    "no samples": (b"", [0, 1], "sample|element|byte"),
    "two elements in a sample": (WHOLE, [1, 2], "unexpected shape|elements in a sample"),
    "a wrong rank": (WHOLE, [2], "unexpected shape"),
    "more samples than a batch": (bytes_elements([b""] * 65), [65, 1], "batch-size must be <= 64"),
    "an empty file": (bytes_elements([b""]), [1, 1], "decoders.image.*empty|0 bytes"),
}


@pytest.mark.parametrize("what", WRONG_FILES)
def test_wrong_bytes(client, photos, what):
    data, shape, expected = WRONG_FILES[what]
    with pytest.raises(RequestError, match=expected) as caught:
        client.send(photos, [entry("jpegs", "BYTES", shape, data)], data)
    assert caught.value.status == 400
    (again,) = of_pipeline(classification(), jpegs=[photograph(2)])
    np.testing.assert_array_equal(client.infer(photos, {"jpegs": [photograph(2)]})["OUTPUT0"], again)


def test_wrong_names_and_types(client, load):
    model = load("arithmetic.penstock", arithmetic())
    a, b = np.zeros((2, 4, 4, 3), np.float32), np.zeros((2, 1), np.int32)
    for inputs, expected in [
        ({"a": a}, "expected 2 inputs but got 1"),
        ({"a": a, "c": b}, "unexpected|not|expected"),
        ({"a": b, "b": b}, "data-type|shape"),
        ({"a": a, "b": np.zeros((3, 1), np.int32)}, "batch size|samples"),
        ({"a": np.zeros((2, 4, 3), np.float32), "b": b}, "unexpected shape"),
    ]:
        with pytest.raises(RequestError, match=expected):
            client.infer(model, inputs)
    with pytest.raises(RequestError, match="OUTPUT7"):
        client.infer(model, {"a": a, "b": b}, outputs=["OUTPUT7"])


def test_random_operators_go_on_from_request_to_request(client, load):
    @pipeline_def(batch_size=4, num_threads=1, seed=11)
    def draws():
        x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
        return x + fn.random.uniform(range=[0.0, 1.0])

    model = load("draws.penstock", draws())
    x = np.zeros((4, 1), np.float32)
    (first,), pipeline = of_pipeline(draws(), x=x), draws()
    answers = [client.infer(model, {"x": x})["OUTPUT0"] for _ in range(2)]
    np.testing.assert_array_equal(answers[0], first)
    of_pipeline(pipeline, x=x)
    (second,) = of_pipeline(pipeline, x=x)
    np.testing.assert_array_equal(answers[1], second)


def test_operators_of_whole_batches_see_a_request(client, load):
    @pipeline_def(batch_size=8, num_threads=2)
    def padded():
        return fn.pad(fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1)))

    model = load("padded.penstock", padded())
    files = photographs(8)
    (expected,) = of_pipeline(padded(), jpegs=files)
    np.testing.assert_array_equal(client.infer(model, {"jpegs": files})["OUTPUT0"], expected)


def test_statistics_count_requests_and_samples(client, photos):
    for count in (1, 5):
        client.infer(photos, {"jpegs": photographs(count)})
    with pytest.raises(RequestError):
        client.infer(photos, {"jpegs": [b"no picture"]})
    stats = client.statistics(photos, 3)
    assert stats["inference_count"] == 6
    assert stats["inference_stats"]["success"]["count"] == 2 and stats["inference_stats"]["fail"]["count"] == 1
    assert stats["inference_stats"]["compute_infer"]["ns"] > 0


def test_json_without_binary_tensors(client, load):
    model = load("arithmetic.penstock", arithmetic())
    inputs = [
        {"name": "a", "datatype": "FP32", "shape": [1, 1, 1, 3], "data": [1, 2, 3]},
        {"name": "b", "datatype": "INT32", "shape": [1, 1], "data": [5]},
    ]
    answer = client.json("POST", f"/v2/models/{model}/infer", {"inputs": inputs})
    data = {o["name"]: o["data"] for o in answer["outputs"]}
    assert data == {"OUTPUT0": [7, 9, 11], "OUTPUT1": [1, 2, 3], "OUTPUT2": [6]}
