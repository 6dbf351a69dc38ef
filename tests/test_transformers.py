# SPDX-License-Identifier: Apache-2.0
"""The image processors of transformers and those that penstock.plugin.transformers makes of their configurations."""

import io
import json
import random

import numpy as np
import pytest
import transformers_oracle as oracle
from PIL import Image

import penstock
from penstock import fn, pipeline_def
from penstock.python_function import FunctionError
from penstock.plugin.transformers import geometry, processor, sample_frames

SIZES = [(300, 400), (711, 333), (120, 130), (64, 400), (501, 375)]


def picture(height, width, seed=0):
    """A picture with edges that filters overshoot at."""
    random_ = np.random.default_rng([seed, height, width])
    coarse = random_.integers(0, 256, (height // 9 + 2, width // 9 + 2, 3), np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC))


def jpeg(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    return out.getvalue()


def assert_prepared(ours, theirs, image_std, most=1.01):
    """The same tensors; a pixel may differ by a step of 255, and one of 10,000 by two."""
    assert set(ours) >= set(theirs)
    for name, expected in theirs.items():
        made = np.asarray(ours[name])
        assert made.shape == expected.shape and made.dtype == expected.dtype, (name, made.shape, expected.shape)
        if name != "pixel_values":
            np.testing.assert_array_equal(made, expected, name)
            continue
        steps = np.abs(made - expected) * 255 * min(image_std)
        assert (steps > most).mean() < 1e-4 and steps.max() < 2 * most + 1, (steps.max(), (steps > most).mean())


@pytest.mark.parametrize("name", oracle.CLASSES)
def test_arrays_become_the_tensors_of_transformers(name):
    images = [picture(*size) for size in SIZES]
    theirs = oracle.fast(name)
    assert_prepared(processor(theirs)(images), oracle.prepared(theirs, images), theirs.image_std)


@pytest.mark.parametrize("name", ["CLIPImageProcessor", "SiglipImageProcessor", "Qwen2VLImageProcessor"])
def test_files_become_the_tensors_of_transformers(name, tmp_path):
    files = [jpeg(picture(*size)) for size in SIZES]
    theirs = oracle.fast(name)
    expected = oracle.prepared(theirs, [np.asarray(Image.open(io.BytesIO(file))) for file in files])
    call = processor(theirs)
    assert_prepared(call(files), expected, theirs.image_std)
    paths = [tmp_path / f"{i}.jpg" for i in range(len(files))]
    for path, file in zip(paths, files):
        path.write_bytes(file)
    np.testing.assert_array_equal(call(paths)["pixel_values"], call(files)["pixel_values"])


@pytest.mark.parametrize("name", ["ViTImageProcessor", "CLIPImageProcessor"])
def test_the_processors_on_pillow_give_the_same(name):
    """Of pictures whose columns Pillow resizes first, as torchvision does."""
    images = [picture(*size) for size in [(300, 400), (240, 640)]]
    theirs = oracle.slow(name)
    assert_prepared(processor(theirs)(images), oracle.prepared(theirs, images), theirs.image_std)


VARIANTS = [
    ("CLIPImageProcessor", {"do_center_crop": False, "size": {"height": 100, "width": 151}}),
    ("CLIPImageProcessor", {"size": {"shortest_edge": 60}, "crop_size": {"height": 80, "width": 99}}),
    ("CLIPImageProcessor", {"do_normalize": False}),
    ("CLIPImageProcessor", {"do_rescale": False}),
    ("CLIPImageProcessor", {"rescale_factor": 1 / 127.5, "resample": 2}),
    ("CLIPImageProcessor", {"resample": 1}),
    ("CLIPImageProcessor", {"resample": 0}),
    ("CLIPImageProcessor", {"do_resize": False}),
    ("ViTImageProcessor", {"size": {"shortest_edge": 90, "longest_edge": 120}, "do_pad": True}),
    ("ViTImageProcessor", {"size": {"max_height": 90, "max_width": 120}, "do_pad": True}),
    (
        "ViTImageProcessor",
        {"size": {"height": 40, "width": 50}, "do_pad": True, "pad_size": {"height": 60, "width": 70}},
    ),
    ("ConvNextImageProcessor", {"size": {"shortest_edge": 384}}),
    ("Qwen2VLImageProcessor", {"max_pixels": 56 * 56, "min_pixels": 28 * 28}),
    ("Qwen2VLImageProcessor", {"patch_size": 16, "merge_size": 1, "temporal_patch_size": 1}),
    ("LlavaImageProcessor", {"do_pad": False}),
    ("Idefics3ImageProcessor", {"do_image_splitting": False}),
    ("Idefics3ImageProcessor", {"size": {"longest_edge": 364}}),
    ("PixtralImageProcessor", {"size": {"longest_edge": 300}, "patch_size": {"height": 14, "width": 14}}),
]


@pytest.mark.parametrize("name, fields", VARIANTS, ids=lambda v: v if isinstance(v, str) else "-".join(v))
def test_fields_mean_what_they_mean_there(name, fields):
    images = [picture(*size) for size in ([(301, 260)] if fields == {"do_resize": False} else SIZES)]
    theirs = oracle.fast(name, **fields)
    scale = fields.get("rescale_factor", 1 / 255) if fields.get("do_rescale", True) else 1
    steps = [v / 255 / scale for v in ([1.0] if not fields.get("do_normalize", True) else theirs.image_std)]
    assert_prepared(processor(theirs)(images), oracle.prepared(theirs, images), steps)


def test_sizes_are_those_of_transformers():
    from transformers.image_processing_utils import select_best_resolution
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    pick = random.Random(3)
    grids = [(384 * a, 384 * b) for a in range(1, 7) for b in range(1, 7)]
    for _ in range(3000):
        shape = pick.choice([1, 28, 99, pick.randint(1, 5000)]), pick.choice([14, 1000, pick.randint(1, 5000)])
        assert geometry.best_grid(shape, grids) == select_best_resolution(shape, grids)
        if max(shape) > 200 * min(shape):
            with pytest.raises(ValueError, match="200 times"):
                geometry.smart_resize(shape, 28, 3136, 1003520)
            continue
        assert tuple(geometry.smart_resize(shape, 28, 3136, 1003520)) == smart_resize(*shape, 28, 3136, 1003520)


def test_it_is_a_function_of_a_pipeline_and_its_text_is_one_too(tmp_path):
    images = [picture(*size) for size in SIZES]
    for i, image in enumerate(images):
        (tmp_path / f"{i}.jpg").write_bytes(jpeg(image))
    clip = processor({"image_processor_type": "CLIPImageProcessor"})
    space = {}
    exec(str(clip), space)

    @pipeline_def(batch_size=len(images), num_threads=2)
    def train(prepare):
        files, labels = fn.readers.file(files=sorted(map(str, tmp_path.iterdir())))
        return prepare(files)["pixel_values"], labels

    expected = np.asarray(clip(sorted(tmp_path.iterdir()))["pixel_values"])
    for prepare in (clip, space["preprocess"]):
        made = train(prepare).run()[0]
        np.testing.assert_array_equal(np.asarray(made.as_tensor()), expected)


def test_configurations_come_from_files_and_objects(tmp_path):
    fields = {"feature_extractor_type": "CLIPFeatureExtractor", "size": 98, "crop_size": 98, "resample": 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(fields))
    image = [picture(200, 300)]
    expected = processor(fields)(image)["pixel_values"]
    assert list(expected.shape()) == [1, 3, 98, 98]
    for source in (
        tmp_path,
        str(tmp_path / "preprocessor_config.json"),
        oracle.fast("CLIPImageProcessor", size=98, crop_size=98),
    ):
        np.testing.assert_array_equal(processor(source)(image)["pixel_values"], expected)


CLIP = {"image_processor_type": "CLIPImageProcessor"}


@pytest.mark.parametrize(
    "configuration, error, message",
    [
        ({}, ValueError, "the configuration: no image_processor_type"),
        ({"image_processor_type": "SamImageProcessor"}, ValueError, "SamImageProcessor is not known; known: CLIP"),
        (CLIP | {"do_flip": True}, ValueError, "CLIPImageProcessor: the field do_flip=True is not known"),
        (CLIP | {"resample": 4}, ValueError, r"resample=4: expected 0 \(nearest\), 1"),
        (CLIP | {"size": {"longest_edge": 9}}, ValueError, "size=.*height and width, or shortest_edge"),
        (CLIP | {"size": {"height": 9}}, ValueError, "size={'height': 9}: expected positive integers"),
        (CLIP | {"image_mean": 0.5}, ValueError, "image_mean=0.5: expected 3 numbers"),
        (CLIP | {"data_format": "channels_last"}, ValueError, "data_format='channels_last' is not supported"),
        (CLIP | {"do_center_crop": True, "crop_size": {"shortest_edge": -1}}, ValueError, "crop_size"),
        ({"image_processor_type": "Idefics2ImageProcessor", "do_image_splitting": True}, ValueError, "quarters"),
        (3, TypeError, "expected a dict, the path of a preprocessor_config.json or an image processor"),
    ],
    ids=str,
)
def test_what_is_not_known_is_refused_by_name(configuration, error, message):
    with pytest.raises(error, match=message):
        processor(configuration)


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(ValueError, match="c.json: not a JSON file"):
        processor(tmp_path / "c.json")


@pytest.mark.parametrize("fields", [{}, {"do_resize": False}, {"temporal_patch_size": 3, "max_pixels": 20000}], ids=str)
def test_videos_become_the_tensors_of_transformers(fields):
    size = (56, 84) if fields == {"do_resize": False} else (131, 177)
    films = [np.stack([picture(*size, k) for k in range(frames)]) for frames in (4, 5, 1)]
    fields = {"max_pixels": 50000, "min_pixels": 3136} | fields
    theirs = oracle.transformers.Qwen2VLVideoProcessor(**fields)
    made = theirs(videos=[film.transpose(0, 3, 1, 2) for film in films], return_tensors="pt")
    ours = processor(theirs)(films)
    grid, expected = made["video_grid_thw"].numpy(), made["pixel_values_videos"].numpy()
    np.testing.assert_array_equal(np.asarray(ours["video_grid_thw"]), grid)
    assert_prepared({"pixel_values": ours["pixel_values_videos"]}, {"pixel_values": expected}, theirs.image_std)


def test_frames_are_those_of_transformers():
    theirs, pick = oracle.transformers.Qwen2VLVideoProcessor(), random.Random(5)
    for _ in range(500):
        total, rate, fps = pick.randint(2, 5000), pick.choice([25, 29.97, 60]), pick.choice([0.5, 1, 2, 4])
        metadata = oracle.transformers.video_utils.VideoMetadata(total_num_frames=total, fps=rate)
        made, expected = sample_frames(total, rate, fps), theirs.sample_frames(metadata, fps=fps).numpy()
        assert len(expected) - len(made) in (0, 1)
        expected = expected[: len(made)]
        # Theirs are rounded to float32, differently on different processors: a whole number may lose 1.
        whole = np.array([total * k % len(made) == 0 for k in range(len(made))])
        assert (expected == made)[~whole].all() and np.abs(expected - made).max() <= 1
    with pytest.raises(ValueError, match="1 frames are fewer than a patch of 2"):
        sample_frames(1, 25.0)


def test_transparent_pictures_are_put_on_white():
    image = Image.fromarray(np.dstack([picture(50, 60), np.full((50, 60), 100, np.uint8)]))
    theirs = oracle.fast("CLIPImageProcessor")
    assert_prepared(processor(CLIP)([image]), oracle.prepared(theirs, [image]), theirs.image_std)
    out = io.BytesIO()
    image.save(out, "PNG")
    with pytest.raises(ValueError, match="picture 1 is transparent.*open it with Pillow"):
        processor(CLIP)([jpeg(picture(9, 9)), out.getvalue()])


def test_pictures_are_checked():
    clip = processor(CLIP)
    with pytest.raises(TypeError, match=r"float64 with the shape \(4, 4, 3\)"):
        clip([np.zeros((4, 4, 3))])
    with pytest.raises(TypeError, match="cannot be mixed"):
        clip([np.zeros((4, 4, 3), np.uint8), jpeg(picture(30, 30))])
    with pytest.raises(ValueError, match="at least one picture"):
        clip([])
    with pytest.raises(ValueError, match='device must be "cpu" or "gpu"'):
        processor(CLIP, device="tpu")
    with pytest.raises(ValueError, match="CLIPImageProcessor takes files or arrays, got bytes"):
        clip.program("bytes")
    with pytest.raises(ValueError, match="CLIPImageProcessor takes files or arrays, got videos"):
        clip([np.zeros((2, 4, 4, 3), np.uint8)])
    with pytest.raises(penstock.DataError):
        clip([b"no picture"])


def test_a_call_after_an_error_works():
    qwen = processor({"image_processor_type": "Qwen2VLImageProcessor"})
    image = picture(60, 60)
    expected = qwen([image])["pixel_values"].numpy()
    for _ in range(2):
        with pytest.raises(FunctionError, match="one side may be 200 times as long"):
            qwen([np.zeros((10, 3000, 3), np.uint8), image])
        np.testing.assert_array_equal(qwen([image])["pixel_values"], expected)
    with pytest.raises(ValueError, match="Qwen2VLVideoProcessor takes videos, got files"):
        processor({"video_processor_type": "Qwen2VLVideoProcessor"})([b"film"])
