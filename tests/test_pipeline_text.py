# SPDX-License-Identifier: Apache-2.0
"""The readable form of a graph before and after planning, and its JSON form, for three pipelines that people write."""

import json
import re
import textwrap

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, types


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from PIL import Image

    root = tmp_path_factory.mktemp("text")
    rng = np.random.default_rng(0)
    for label in "ab":
        (root / label).mkdir()
        for k in range(3):
            Image.fromarray(rng.integers(0, 256, (40 + 9 * k, 50, 3), np.uint8)).save(root / label / f"{k}.jpg")
    return root


@pipeline_def(batch_size=2, num_threads=2, seed=5)
def training(folder):
    encoded, label = fn.readers.file(file_root=str(folder), random_shuffle=True, name="reader")
    image = fn.decoders.image(encoded)
    image = fn.random_resized_crop(image, size=[24, 24])
    image = fn.crop_mirror_normalize(
        image, mirror=fn.random.coin_flip(), mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0]
    )
    return image, label


@pipeline_def(batch_size=2, num_threads=2, seed=5)
def evaluation(folder):
    encoded, label = fn.readers.file(file_root=str(folder), name="reader")
    image = fn.resize(fn.decoders.image(encoded), resize_shorter=32)
    image = fn.crop_mirror_normalize(image, crop=[24, 24], dtype=types.FLOAT16)
    return image, label


@pipeline_def(batch_size=2, num_threads=2, seed=5)
def arithmetic(folder):
    x = fn.external_source(lambda: [np.arange(12, dtype=np.uint8).reshape(2, 2, 3)] * 2, name="x", layout="HWC")
    y = fn.brightness_contrast(x, contrast=fn.random.uniform(range=[0.5, 1.5])) * 2 + 1
    return y, fn.gaussian_blur(fn.flip(y), window_size=3), x.shape()


GRAPHS = {
    training: (
        """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER' random_shuffle=True
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = random_resized_crop(%1) size=[24, 24]
        %3: int32 0-d = random.coin_flip()
        %4: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3
        return %4, %0.1
        """,
        """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize (reads files)
        """,
        """
        source: %0 readers.file
        stage: %1 decoders.image (reads files)
        stage: %2 random_resized_crop
        whole: %3 random.coin_flip
        stage: %4 crop_mirror_normalize
        """,
    ),
    evaluation: (
        """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER'
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = resize(%1) resize_shorter=32
        %3: float16 CHW = crop_mirror_normalize(%2) crop=[24.0, 24.0] dtype=8
        return %3, %0.1
        """,
        """
        source: %0 readers.file
        stage: %1 decoders.image %2 resize %3 crop_mirror_normalize (reads files)
        """,
        """
        source: %0 readers.file
        stage: %1 decoders.image (reads files)
        stage: %2 resize
        stage: %3 crop_mirror_normalize
        """,
    ),
    arithmetic: (
        """
        %0: ? HWC = external_source() layout=['HWC'] ndim=[3]
        %1: float32 0-d = random.uniform() range=[0.5, 1.5]
        %2: ? HWC = brightness_contrast(%0) contrast=%1
        %3: ? HWC = _mul(%2) right=2 right_type=6
        %4: ? HWC = _add(%3) right=1 right_type=6
        %5: ? HWC = flip(%4)
        %6: ? HWC = gaussian_blur(%5) window_size=3
        %7: int64 1-d = shapes(%0)
        return %4, %6, %7
        """,
        """
        source: %0 external_source
        whole: %1 random.uniform
        stage: %2 brightness_contrast %3 _mul %4 _add
        stage: %5 flip %6 gaussian_blur
        whole: %7 shapes
        """,
        """
        source: %0 external_source
        whole: %1 random.uniform
        stage: %2 brightness_contrast
        stage: %3 _mul
        stage: %4 _add
        stage: %5 flip
        stage: %6 gaussian_blur
        whole: %7 shapes
        """,
    ),
}


def graph_text(pipe, folder):
    """Without the lines of this file, whose presence is tested apart, and the temporary folder."""
    lines = pipe.text().strip().splitlines()
    assert all(re.search(r"  # \S*test_pipeline_text\.py:\d+$", line) for line in lines[:-1]), lines
    return "\n".join(re.sub(r"  # \S+$", "", line) for line in lines).replace(str(folder), "FOLDER")


@pytest.mark.parametrize("define", GRAPHS, ids=lambda d: d.__name__)
def test_text(folder, define, monkeypatch):
    for name in ("PENSTOCK_EXEC", "PENSTOCK_PUSH_DOWN"):
        monkeypatch.delenv(name, raising=False)
    graph, fused, simple = (textwrap.dedent(t).strip() for t in GRAPHS[define])
    pipe = define(folder)
    pipe.build()
    assert graph_text(pipe, folder) == graph
    assert pipe.text(planned=True).strip() == fused
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    pipe = define(folder)
    pipe.build()
    assert graph_text(pipe, folder) == graph
    assert pipe.text(planned=True).strip() == simple


PASSES = {
    "trace": """
        %0 = readers.file() file_root='FOLDER' random_shuffle=True
        %1 = decoders.image(%0.0)
        %2 = random_resized_crop(%1) size=[24, 24]
        %3 = random.coin_flip()
        %4 = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3
        %5 = brightness_contrast(%2) brightness=2.0
        return %4, %0.1
        """,
    "infer": """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER' random_shuffle=True
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = random_resized_crop(%1) size=[24, 24]
        %3: int32 0-d = random.coin_flip()
        %4: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3
        %5: uint8 HWC = brightness_contrast(%2) brightness=2.0
        return %4, %0.1
        """,
    "prune": """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER' random_shuffle=True
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = random_resized_crop(%1) size=[24, 24]
        %3: int32 0-d = random.coin_flip()
        %4: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3
        return %4, %0.1
        """,
    "place": """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER' random_shuffle=True
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = random_resized_crop(%1) size=[24, 24]
        %3: int32 0-d = random.coin_flip()
        %4: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3
        return %4, %0.1
        """,
    "push_down": """
        %0: uint8 1-d, int32 1-d = readers.file() file_root='FOLDER' random_shuffle=True
        %1: uint8 HWC = decoders.image(%0.0)
        %2: uint8 HWC = random_resized_crop(%1) size=[24, 24]  -> %1
        %3: int32 0-d = random.coin_flip()
        %4: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] std=[58.0, 57.0, 57.0] mirror=%3  -> %1
        return %4, %0.1
        """,
    "group": """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize
        """,
    "add_transfers": """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize
        """,
    "add_reads": """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize (reads files)
        """,
    "decode_regions": """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize (reads files)
        """,
    "last_use": """
        source: %0 readers.file
        whole: %3 random.coin_flip
        stage: %1 decoders.image %2 random_resized_crop %4 crop_mirror_normalize (reads files); frees %0.0, %3
        """,
}


def test_text_after_each_pass(folder, monkeypatch):
    """The ResNet-50 pipeline with one operator that nobody reads, from the graph to the steps."""
    for name in ("PENSTOCK_EXEC", "PENSTOCK_PUSH_DOWN"):
        monkeypatch.delenv(name, raising=False)

    @pipeline_def(batch_size=2, num_threads=2, seed=5)
    def resnet50():
        encoded, label = fn.readers.file(file_root=str(folder), random_shuffle=True, name="reader")
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[24, 24])
        normalized = fn.crop_mirror_normalize(
            image, mirror=fn.random.coin_flip(), mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0]
        )
        fn.brightness_contrast(image, brightness=2.0)
        return normalized, label

    pipe = resnet50()
    passes = {name: text.strip().replace(str(folder), "FOLDER") for name, text in pipe.passes().items()}
    assert list(passes) == list(PASSES)
    assert passes == {name: textwrap.dedent(text).strip() for name, text in PASSES.items()}


@pytest.mark.parametrize("define", [training, evaluation], ids=lambda d: d.__name__)
def test_json_round_trip(folder, define):
    """The same text, the same JSON again, and the same bytes."""
    pipe = define(folder)
    pipe.build()
    saved = pipe.serialize()
    parsed = json.loads(saved)
    assert isinstance(parsed, dict)
    again = Pipeline.deserialize(saved)
    assert json.loads(again.serialize()) == parsed
    assert again.text() == pipe.text() and again.text(planned=True) == pipe.text(planned=True)
    for _ in range(4):
        for a, b in zip(pipe.run(), again.run()):
            assert [t.numpy().tobytes() for t in a] == [t.numpy().tobytes() for t in b]


def test_options_survive_and_may_be_replaced(folder, tmp_path):
    pipe = training(folder)
    pipe.build()
    path = tmp_path / "pipeline.json"
    pipe.serialize(filename=str(path))
    assert Pipeline.deserialize(filename=str(path)).max_batch_size == 2
    other = Pipeline.deserialize(filename=str(path), batch_size=3, num_threads=1)
    assert len(other.run()[0]) == 3
    assert [t.numpy().tobytes() for t in other.run()[0]] != []


def test_an_external_source_is_fed_after_loading(folder):
    with Pipeline(batch_size=2, num_threads=1, seed=1) as pipe:
        pipe.set_outputs(fn.external_source(name="x", layout="HWC") * 3)
    again = Pipeline.deserialize(pipe.serialize())
    batch = penstock.batch([np.full((2, 2, 3), k, np.uint8) for k in (1, 2)])
    (out,) = again.run(x=batch)
    assert [int(t.numpy()[0, 0, 0]) for t in out] == [3, 6]
