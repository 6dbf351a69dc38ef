# SPDX-License-Identifier: Apache-2.0
"""States: Pipeline.state() and load_state(), before the first run, of old versions, after kill -9; and what is known of outputs."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def, types

KILLS = 1000 if os.environ.get("PENSTOCK_TEST_COUNT") else 10


def test_processes_that_are_killed_go_on_bit_for_bit(tmp_path):
    program = Path(__file__).with_name("killed_program.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), str(KILLS)], capture_output=True, text=True, timeout=3600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["equal"] and said["kills"] == KILLS


@pipeline_def(batch_size=2, num_threads=1, seed=9)
def numbers():
    index = fn.readers.indices(size=9, random_shuffle=True, name="reader")
    called = fn.external_source(lambda i: np.full((2, 1), i, np.int32), name="called")
    return index, called, fn.random.uniform(range=[0.0, 1.0])


def batch_of(pipe):
    return [b.as_array().tolist() for b in pipe.run()]


def test_a_state_has_the_counters_of_all_sources_before_the_first_run():
    pipe = numbers()
    before = pipe.state()
    assert before["version"] == 2 and before["left"] == 0 and before["pipeline"]["seed"] == 9
    assert set(before["pipeline"]["sources"]) == {"reader", "called"}
    assert before["pipeline"]["sources"]["reader"]["consumed"] == 0
    assert before["pipeline"]["sources"]["called"] == {
        "iteration": 0,
        "in_epoch": 0,
        "epoch": 0,
        "samples": 0,
        "feed": "",
    }
    first = batch_of(pipe)
    after = json.loads(json.dumps(pipe.state()))
    assert after["pipeline"]["sources"]["called"]["in_epoch"] == 1
    second = batch_of(pipe)
    assert batch_of(numbers().load_state(before)) == first
    assert batch_of(numbers().load_state(after)) == second
    assert batch_of(pipe.load_state(after)) == second  # of a pipeline that has run


def test_a_source_without_a_state_is_an_error_after_the_first_run_alone():
    @pipeline_def(batch_size=1, num_threads=1)
    def fed():
        return fn.external_source([[np.int32(k)] for k in range(3)], name="listed")

    pipe = fed()
    assert pipe.state()["pipeline"]["sources"] == {}
    pipe.run()
    with pytest.raises(ValueError, match="'listed' cannot be resumed"):
        pipe.state()


def test_states_of_all_versions_load(tmp_path):
    pipe = numbers()
    batch_of(pipe)
    state, checkpoint = pipe.state(), pipe.checkpoint(str(tmp_path / "saved"))
    expected = batch_of(pipe)
    old = {"version": 1, "pipeline": checkpoint.decode()}
    without = json.loads(checkpoint)  # as versions before wrote it before the first run
    del without["sources"]["called"]
    for saved in (state, old, checkpoint, checkpoint.decode(), str(tmp_path / "saved")):
        assert batch_of(numbers().load_state(saved)) == expected
    assert batch_of(numbers().load_state(json.dumps(without)))[0] == expected[0]
    for wrong in ({"version": 3}, {}, {"version": 2, "pipelines": [state]}, b"x", '{"penstock_checkpoint": 2}'):
        with pytest.raises(ValueError):
            numbers().load_state(wrong)


def random_images(rng):
    """A random program over pictures, and what it returns."""
    images = fn.external_source(name="images", layout="HWC", dtype=types.UINT8)
    if rng.random() < 0.8:
        images = fn.resize(images, **rng.choice([{"size": [8, 9]}, {"resize_x": 7}, {"resize_x": 5, "resize_y": 6}]))
    for _ in range(rng.randrange(4)):
        images = rng.choice(
            [
                lambda x: fn.flip(x, horizontal=fn.random.coin_flip()),
                lambda x: fn.brightness_contrast(x, brightness=fn.random.uniform(range=[0.5, 1.5])),
                lambda x: fn.crop(x, crop=[4, 5], crop_pos_x=fn.random.uniform(range=[0.0, 1.0])),
                lambda x: fn.random_resized_crop(x, size=[6, 5]),
                lambda x: fn.gaussian_blur(x, sigma=1.0),
                lambda x: fn.cast(x, dtype=types.FLOAT),
                lambda x: fn.pad(x, fill_value=0),
                lambda x: fn.rotate(x, angle=fn.random.uniform(range=[-9.0, 9.0])),
                lambda x: x * 2,
                lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.BGR),
            ]
        )(images)
    if rng.random() < 0.3:
        images = fn.filter(images, keep=fn.random.coin_flip() == 1, min_batch=0)
    if rng.random() < 0.4:
        return fn.crop_mirror_normalize(images, crop=[3, 4], mirror=fn.random.coin_flip(), output_layout="CHW")
    return rng.choice([images, fn.shapes(images), fn.transpose(images, perm=[2, 0, 1]), fn.reductions.mean(images)])


def test_what_is_known_of_outputs_is_what_comes():
    known = 0
    for seed in range(30):
        rng = random.Random(seed)
        pipe = Pipeline(batch_size=3, num_threads=1, seed=seed)
        with pipe:
            pipe.set_outputs(random_images(rng))
        (spec,) = pipe.output_spec
        for _ in range(2):
            size = (rng.randrange(6, 20), rng.randrange(6, 20), 3)
            images = [np.zeros((size[0] + k, size[1], 3), np.uint8) for k in range(3)]
            for sample in pipe.run(images=images)[0]:
                array = sample.numpy()
                assert spec.ndim in (None, array.ndim), pipe.definition.graph.text()
                assert spec.dtype in (types.NO_TYPE, sample.dtype)
                if spec.shape is not None:
                    assert len(spec.shape) == array.ndim, pipe.definition.graph.text()
                    for extent, came in zip(spec.shape, array.shape):
                        assert extent in (None, came), (spec, array.shape, pipe.definition.graph.text())
                        known += extent is not None
    assert known > 100


def test_the_spec_of_common_programs(tmp_path):
    @pipeline_def(batch_size=2, num_threads=1)
    def train():
        encoded, labels = fn.readers.file(files=["a.jpg"], name="reader")
        images = fn.decoders.image_random_crop(encoded)
        small = fn.resize(images, size=[32, 24])
        out = fn.crop_mirror_normalize(small, crop=[16, 16], mirror=fn.random.coin_flip(), output_layout="CHW")
        gray = fn.decoders.image(encoded, output_type=types.GRAY)
        return encoded, labels, images, out, gray, fn.random.uniform(shape=[4]), small

    spec = train().output_spec
    assert [s.shape for s in spec] == [(None,), (1,), (None, None, 3), (3, 16, 16), (None, None, 1), (4,), (32, 24, 3)]
    assert [s.dtype.name for s in spec[:4]] == ["UINT8", "INT32", "UINT8", "FLOAT"]
    assert [s.layout for s in spec[2:5]] == ["HWC", "CHW", "HWC"]
    with pytest.raises(TypeError, match="debug=True"):
        _ = train(debug=True).output_spec
