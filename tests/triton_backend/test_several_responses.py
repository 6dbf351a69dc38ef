# SPDX-License-Identifier: Apache-2.0
"""Pipelines that give other samples than they get, videos in several responses, over gRPC; cancelled requests."""

import queue
import time

import numpy as np
import pytest
from penstock import fn, pipeline_def, types
from served_pipelines import classification, of_pipeline, photograph, photographs
from triton_server import RequestError, use_installed
from video_files import encode

use_installed()
import tritonclient.grpc as grpc  # noqa: E402

FRAMES = 22


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "one.mp4"
    encode(path, "libx264", "-pix_fmt", "yuv420p", count=FRAMES)
    return path.read_bytes()


@pytest.fixture
def grpc_client(server):
    with grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
        yield client


def input_of(name, value):
    if isinstance(value, np.ndarray):
        made = grpc.InferInput(name, list(value.shape), {"u1": "UINT8", "f4": "FP32"}[value.dtype.str[1:]])
        made.set_data_from_numpy(value)
        return made
    made = grpc.InferInput(name, [len(value), 1], "BYTES")
    made.set_data_from_numpy(np.array(value, dtype=object)[:, None])
    return made


def test_grpc_gives_the_same_bytes(grpc_client, load):
    model = load("photos.penstock", classification())
    files = photographs(9)
    (expected,) = of_pipeline(classification(), jpegs=files)
    answer = grpc_client.infer(model, [input_of("jpegs", files)], request_id="a")
    np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), expected)
    with pytest.raises(grpc.InferenceServerException, match="request 'b': .decoders.image"):
        grpc_client.infer(model, [input_of("jpegs", [files[0], b"nothing"])], request_id="b")


@pipeline_def(batch_size=2, num_threads=2)
def sequences(length=4, pad=True):
    policy = "pad" if pad else "partial"
    frames = fn.experimental.inputs.video(name="video", sequence_length=length, last_sequence_policy=policy)
    return frames, fn.shapes(frames)


def streamed(client, model, data, **options):
    """The answers of a decoupled request: results, then an error if there is one."""
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    given = grpc.InferInput("video", [1], "BYTES")
    given.set_data_from_numpy(np.array([data], dtype=object))
    client.async_stream_infer(model, [given], enable_empty_final_response=True, **options)
    results = []
    while True:
        result, error = answers.get(timeout=60)
        if error is not None:
            client.stop_stream()
            return results, error
        if result.get_response().parameters["triton_final_response"].bool_param:
            client.stop_stream()
            return results, None
        results.append(result)


@pytest.mark.parametrize("length, pad", [(4, True), (4, False), (5, False), (22, False), (30, True)])
def test_a_video_in_several_responses(grpc_client, load, video, length, pad):
    model = load("video.penstock", sequences(length=length, pad=pad))
    pipeline, expected = sequences(length=length, pad=pad), []
    pipeline.feed_input("video", video)
    for _ in range(-(-FRAMES // (2 * length))):
        expected += [np.array(t) for t in pipeline.run()[0].as_cpu()]
    for _ in range(2):
        results, error = streamed(grpc_client, model, video)
        assert error is None
        got = [sequence for r in results for sequence in r.as_numpy("OUTPUT0")]
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            np.testing.assert_array_equal(one, other)


def test_a_damaged_video_is_an_error_and_the_next_one_is_not(grpc_client, load, video):
    model = load("video.penstock", sequences())
    results, error = streamed(grpc_client, model, video[:1000])
    assert not results and "inputs.video" in str(error)
    results, error = streamed(grpc_client, model, video)
    assert error is None and sum(len(r.as_numpy("OUTPUT1")) for r in results) == -(-FRAMES // 4)


def test_a_video_in_one_response(client, load, video):
    config = 'backend: "penstock"\nmodel_transaction_policy { decoupled: false }\n'
    config += 'output [{ name: "frames" data_type: TYPE_UINT8 dims: [-1, -1, -1, -1, 3] }, { name: "shapes" }]'
    model = load("whole_video", sequences(), config)
    entry = {"name": "video", "datatype": "BYTES", "shape": [1]}
    data = len(video).to_bytes(4, "little") + video
    entry["parameters"] = {"binary_data_size": len(data)}
    answer = client.send(model, [entry], data)
    pipeline, expected = sequences(), []
    pipeline.feed_input("video", video)
    for _ in range(3):
        expected += [np.array(t) for t in pipeline.run()[0].as_cpu()]
    np.testing.assert_array_equal(answer["frames"], expected)


def test_a_pipeline_that_leaves_out_samples(client, load):
    """Its answer has fewer samples than the request."""

    @pipeline_def(batch_size=8, num_threads=1)
    def bright():
        x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
        (kept,) = fn.filter([x], fn.reductions.mean(x) > 0, min_batch=0)
        return kept * 2

    model = load("bright.penstock", bright())
    x = np.array([[1, 2], [-3, 1], [0.5, 0], [-1, -1]], np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(client.infer(model, {"x": x})["OUTPUT0"], x[[0, 2]] * 2)
    with pytest.raises(RequestError, match="left out every sample"):
        client.infer(model, {"x": x[[1]]})
    np.testing.assert_array_equal(client.infer(model, {"x": x[:1]})["OUTPUT0"], x[:1] * 2)


def test_a_cancelled_request_ends_soon(server, client, grpc_client, load):
    """Of time of the server's threads on a processor; the best of some rounds, as the cancellation may come late."""

    @pipeline_def(batch_size=64, num_threads=1)
    def slow():
        images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
        return fn.reductions.mean(fn.gaussian_blur(fn.resize(images, size=[1000, 1000]), sigma=5.0), axes=[0, 1])

    model = load("slow", slow(), 'backend: "penstock"\nparameters { key: "num_threads" value { string_value: "1" } }')
    whole = server.computed()
    client.infer(model, {"jpegs": photographs(32)})
    whole = server.computed() - whole
    cancelled = 0
    for rounds in range(1, 9):
        answers = queue.Queue()
        begin = server.computed()
        call = grpc_client.async_infer(
            model, [input_of("jpegs", photographs(32))], lambda result, error: answers.put(error)
        )
        while server.computed() - begin < whole / 8:
            time.sleep(0.002)
        call.cancel()
        cancelled += "ancelled" in str(answers.get(timeout=60))
        client.infer(model, {"jpegs": [photograph(1)]})  # comes after the other one, whose rest nobody computes
        took = server.computed() - begin
        if cancelled and took < 0.8 * whole:
            break
    assert cancelled and took < 0.8 * whole
    stats = client.statistics(model, 1 + 2 * rounds)
    assert 1 <= stats["inference_stats"]["fail"]["count"] <= cancelled
