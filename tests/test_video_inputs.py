# SPDX-License-Identifier: Apache-2.0
"""experimental.inputs.video and readers.video_resize: what they give against FFmpeg's own command and the operators they join."""

import functools
import pathlib
import tempfile
import threading

import numpy as np
import pytest
import video_files

import penstock
from penstock import Pipeline, fn, pipeline_def

pytestmark = video_files.needs_ffmpeg
FOLDER = tempfile.TemporaryDirectory()


@functools.lru_cache(maxsize=None)
def video(kind):
    path = video_files.make(pathlib.Path(FOLDER.name), kind)
    return np.fromfile(path, np.uint8), video_files.decode(path)


def inputs(batch_size=3, threads=2, prefetch=2, **arguments):
    @pipeline_def(batch_size=batch_size, num_threads=threads, prefetch_queue_depth=prefetch)
    def pipeline():
        return fn.experimental.inputs.video(name="video", **arguments)

    return pipeline()


def batches_of(pipe, count):
    return [[np.array(sample) for sample in pipe.run()[0]] for _ in range(count)]


@pytest.mark.parametrize("policy", ["partial", "pad"])
@pytest.mark.parametrize("threads, prefetch", [(1, 2), (2, 1), (3, 3)])
def test_a_video_comes_in_sequences(policy, threads, prefetch):
    data, frames = video("h264")  # 40 frames
    pipe = inputs(3, threads, prefetch, sequence_length=6, last_sequence_policy=policy)
    pipe.feed_input("video", [data])
    batches = batches_of(pipe, 3)
    assert [len(b) for b in batches] == [3, 3, 1]
    for k, got in enumerate(sum(batches, [])):
        expected = frames[6 * k : 6 * k + 6]
        np.testing.assert_array_equal(got[: len(expected)], expected)
        assert len(got) == (6 if policy == "pad" else len(expected)) and not got[len(expected) :].any()
    with pytest.raises(IndexError, match="'video' has no frames left"):
        pipe.run()
    pipe.feed_input("video", data)  # the pipeline goes on
    np.testing.assert_array_equal(batches_of(pipe, 1)[0][0], frames[:6])


def test_videos_wait_in_a_queue_and_are_copied():
    kinds = ["h264", "vp9_vfr", "mjpeg"]
    pipe = inputs(4, sequence_length=5)
    for kind in kinds:
        data = video(kind)[0].copy()
        pipe.feed_input("video", data[None])
        data[:] = 0
    for kind in kinds:
        got = np.concatenate(sum(batches_of(pipe, 2), []))
        np.testing.assert_array_equal(got, video(kind)[1])


def test_bytes_and_no_copy():
    data, frames = video("h264")
    pipe = inputs(8, sequence_length=40, no_copy=True)
    pipe.feed_input("video", data.tobytes())
    np.testing.assert_array_equal(batches_of(pipe, 1)[0][0], frames)


def test_blocking_waits_for_another_thread():
    data, frames = video("h264")
    pipe = inputs(4, sequence_length=10, blocking=True)
    pipe.build()
    feeder = threading.Thread(target=lambda: [pipe.feed_input("video", data) for _ in range(3)])
    feeder.start()
    try:
        for got in batches_of(pipe, 3):
            np.testing.assert_array_equal(np.concatenate(got), frames)
    finally:
        feeder.join()


def test_a_pipeline_that_waits_can_be_closed():
    pipe = inputs(2, sequence_length=4, blocking=True)
    pipe.build()
    pipe.schedule_run()
    del pipe


def test_a_saved_pipeline_is_fed_as_well():
    data, frames = video("h264")
    loaded = Pipeline.deserialize(inputs(4, sequence_length=10).serialize())
    loaded.feed_input("video", data)
    np.testing.assert_array_equal(np.concatenate(batches_of(loaded, 1)[0]), frames)


def test_what_cannot_be_fed():
    data, _ = video("h264")
    pipe = inputs(2, sequence_length=4)
    with pytest.raises(ValueError, match="one video is fed at a time, not 2"):
        pipe.feed_input("video", [data, data])
    with pytest.raises(TypeError, match="expected the bytes of a file: 1-d uint8"):
        pipe.feed_input("video", [data.astype(np.int32)])
    with pytest.raises(penstock.DataError, match="not a video.*video 0 of those that were fed"):
        pipe.feed_input("video", np.zeros(1000, np.uint8))
    with pytest.raises(IndexError, match="no frames left"):
        pipe.run()
    with pytest.raises(ValueError, match="last_sequence_policy must be 'partial' or 'pad', got 'drop'"):
        inputs(sequence_length=4, last_sequence_policy="drop").build()
    with pytest.raises(ValueError, match="sequence_length"):
        inputs(sequence_length=0).build()


def test_damage_in_the_middle_costs_its_batches_alone():
    data, frames = video("h264")
    damaged = data.copy()
    damaged[len(data) // 2 : len(data) // 2 + 400] ^= 0x5A
    pipe = inputs(1, sequence_length=4)
    pipe.feed_input("video", damaged)
    pipe.feed_input("video", data)
    failed = 0
    for k in range(20):
        try:
            got = batches_of(pipe, 1)[0][0]
        except penstock.DataError as error:
            assert "video 0 of those that were fed" in str(error) and k < 10
            failed += 1
            continue
        np.testing.assert_array_equal(got, frames[4 * (k % 10) : 4 * (k % 10) + 4])
    assert 0 < failed < 10


def test_it_is_an_operator_of_a_graph():
    data, frames = video("h264")

    @pipeline_def(batch_size=2, num_threads=2)
    def pipeline():
        frames = fn.inputs.video(name="video", sequence_length=8)
        return frames, fn.crop(frames, crop=(32, 48))

    pipe = pipeline()
    pipe.feed_input("video", data)
    whole, part = pipe.run()
    np.testing.assert_array_equal(np.array(whole[1]), frames[8:16])
    np.testing.assert_array_equal(np.array(part[1]), frames[8:16, 16:48, 24:72])


@pytest.mark.parametrize(
    "arguments", [{"size": (20, 30)}, {"resize_shorter": 32, "interp_type": 0}, {"resize_x": 50, "antialias": False}]
)
def test_reading_and_resizing_in_one_call(arguments):
    video("h264")
    reading = {
        "filenames": [str(next(pathlib.Path(FOLDER.name).glob("h264.*")))],
        "labels": [5],
        "sequence_length": 4,
        "seed": 3,
        "enable_frame_num": True,
        "random_shuffle": True,
    }

    @pipeline_def(batch_size=3, num_threads=2)
    def joined():
        return tuple(fn.readers.video_resize(name="reader", **reading, **arguments))

    @pipeline_def(batch_size=3, num_threads=2)
    def apart():
        frames, *rest = fn.readers.video(name="reader", **reading)
        return fn.resize(frames, **arguments), *rest

    one, two = joined(), apart()
    assert one.reader_meta("reader") == two.reader_meta("reader")
    for _ in range(3):
        for a, b in zip(one.run(), two.run()):
            for x, y in zip(a, b):
                np.testing.assert_array_equal(np.array(x), np.array(y))


def test_an_argument_that_neither_has():
    @pipeline_def(batch_size=1)
    def pipeline():
        return fn.readers.video_resize(filenames=["a.mp4"], sequence_length=1, bogus=2)

    with pytest.raises(TypeError, match="bogus"):
        pipeline().build()


def test_the_index_of_bytes_is_found_by_their_content():
    """Bytes at the same place, then others; the same bytes at another place."""
    first, frames = video("h264")
    second, others = video("h264_open_gop")
    memory = np.empty(max(len(first), len(second)), np.uint8)
    for data, expected in [(first, frames), (second, others), (first, frames), (second, others)]:
        memory[: len(data)] = data
        for bytes_ in (memory[: len(data)], data.copy()):
            got = np.asarray(fn.decoders.video([bytes_], frames=[17, 3])[0])
            np.testing.assert_array_equal(got, expected[[17, 3]])
