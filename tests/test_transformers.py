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
from penstock._python_function import FunctionError
from penstock.plugin.transformers import geometry, processor, tilings

# Which make a hundred times as many pixels as they get.
LARGE = {"Idefics3ImageProcessor", "SmolVLMImageProcessor", "GotOcr2ImageProcessor", "MllamaImageProcessor"}
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
    """The same tensors; a pixel may differ by a step of 255."""
    assert set(ours) >= set(theirs)
    for name, expected in theirs.items():
        made = np.asarray(ours[name])
        assert made.shape == expected.shape and made.dtype == expected.dtype, (name, made.shape, expected.shape)
        if name != "pixel_values":
            np.testing.assert_array_equal(made, expected, name)
            continue
        steps = np.abs(made - expected) * 255 * min(image_std)
        assert steps.max() < most, (steps.max(), (steps > most).mean())


@pytest.mark.parametrize("name", oracle.CLASSES)
def test_arrays_become_the_tensors_of_transformers(name):
    images = [picture(*size) for size in SIZES[: 2 if name in LARGE else None]]
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
    ("CLIPImageProcessor", {"size": {"shortest_edge": 90, "longest_edge": 100}, "crop_size": 88}),
    ("Qwen2VLImageProcessor", {"do_normalize": False, "max_pixels": 56 * 56, "min_pixels": 28 * 28}),
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
    ("Idefics2ImageProcessor", {"do_image_splitting": True, "size": {"shortest_edge": 50, "longest_edge": 130}}),
    ("Idefics2ImageProcessor", {"do_image_splitting": True, "size": {"height": 50, "width": 60}}),
    ("GotOcr2ImageProcessor", {"crop_to_patches": False}),
    ("GotOcr2ImageProcessor", {"size": {"height": 60, "width": 90}, "max_patches": 6, "min_patches": 2}),
    ("MllamaImageProcessor", {"max_image_tiles": 6, "size": {"height": 100, "width": 100}}),
    (
        "Gemma3ImageProcessor",
        {
            "do_pan_and_scan": True,
            "size": {"height": 64, "width": 80},
            "pan_and_scan_min_crop_size": 64,
            "pan_and_scan_max_num_crops": 4,
            "pan_and_scan_min_ratio_to_activate": 1.2,
        },
    ),
    ("Qwen2VLImageProcessor", {"patch_size": 16, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}),  # Qwen3-VL
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


def test_grids_are_those_of_transformers():
    from transformers.models.got_ocr2.image_processing_got_ocr2 import get_optimal_tiled_canvas as nearest
    from transformers.models.mllama import image_processing_mllama as mllama

    pick = random.Random(4)
    for _ in range(2000):
        shape = tuple(pick.choice([1, 448, 896, pick.randint(1, 5000)]) for _ in range(2))
        least, most = pick.choice([(1, 12), (1, 1), (2, 6)])
        columns, rows = nearest(shape, (448, 300), least, most)
        assert tuple(tilings.nearest_grid(shape, (448, 300), least, most)) == (448 * rows, 300 * columns)
        tile = pick.choice([224, 560])
        canvas = tuple(map(int, mllama.get_optimal_tiled_canvas(*shape, most, tile)))
        new = mllama.get_image_size_fit_to_canvas(*shape, *canvas, tile)
        assert tuple(tilings.canvas(shape, tile, most)) == (*map(int, new), *canvas)


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
        (
            {"image_processor_type": "Gemma3ImageProcessor", "do_pan_and_scan": True},
            ValueError,
            "pan_and_scan_min_crop_size=None: do_pan_and_scan needs a positive number",
        ),
        ({"image_processor_type": "MllamaImageProcessor", "do_pad": False}, ValueError, "do_pad=False: .* True alone"),
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
    with pytest.raises(ValueError, match="Qwen2VLVideoProcessor takes files or videos, got arrays"):
        processor({"video_processor_type": "Qwen2VLVideoProcessor"})([image])
