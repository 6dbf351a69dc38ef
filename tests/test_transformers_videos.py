# SPDX-License-Identifier: Apache-2.0
"""The video processors of transformers and those that penstock.plugin.transformers makes of their configurations."""

import random

import numpy as np
import pytest
import transformers_oracle as oracle
import video_files
from test_transformers import assert_prepared, picture

from penstock import fn
from penstock.plugin.transformers import films, processor, sample_frames, sampling


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


FILMS = [
    ("Qwen3VLVideoProcessor", {"size": {"shortest_edge": 4096, "longest_edge": 200000}}),
    ("Qwen3VLVideoProcessor", {"size": {"shortest_edge": 900000, "longest_edge": 2000000}}),
    ("Qwen3VLVideoProcessor", {"cap_pixels_per_frame": True, "max_video_tokens": 12}),
    ("Qwen2VLVideoProcessor", {"cap_pixels_per_frame": True, "max_video_tokens": 70, "min_pixels": 3136}),
    ("SmolVLMVideoProcessor", {"size": {"longest_edge": 120}, "max_image_size": {"longest_edge": 64}}),
    ("SmolVLMVideoProcessor", {"size": {"height": 50, "width": 70}, "max_image_size": {"longest_edge": 64}}),
    ("InternVLVideoProcessor", {"size": {"height": 70, "width": 60}}),
    ("LlavaOnevisionVideoProcessor", {"size": {"height": 70, "width": 60}}),
    ("LlavaNextVideoVideoProcessor", {"size": {"shortest_edge": 70}, "crop_size": 60}),
]


@pytest.mark.parametrize("name, fields", FILMS, ids=lambda v: v if isinstance(v, str) else "-".join(v))
def test_frames_become_the_tensors_of_their_class(name, fields):
    counts = (4, 7) if "VL" in name and "Intern" not in name else (4, 4)
    frames = [np.stack([picture(131, 177, k) for k in range(count)]) for count in counts]
    theirs = getattr(oracle.transformers, name)(do_sample_frames=False, **fields)
    made = theirs(videos=[film.transpose(0, 3, 1, 2) for film in frames], return_tensors="pt")
    ours = processor(theirs)(frames)
    for key in made:
        expected = np.asarray(made[key])
        if key in ("pixel_values", "pixel_values_videos"):
            assert_prepared({"pixel_values": ours[key]}, {"pixel_values": expected}, theirs.image_std)
        else:
            np.testing.assert_array_equal(np.asarray(ours[key]), expected)


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """The path of a video of 40 frames at 25 a second, and its frames."""
    path = video_files.encode(tmp_path_factory.mktemp("films") / "film.mkv", "mpeg4", "-q:v", 3)
    return path, np.asarray(fn.decoders.video(np.fromfile(path, np.uint8)))


SAMPLED = [
    ("Qwen2VLVideoProcessor", {"fps": 5.0, "max_pixels": 50176, "min_pixels": 3136}),
    ("Qwen2VLVideoProcessor", {"num_frames": 7, "max_pixels": 50176, "min_pixels": 3136}),
    ("Qwen3VLVideoProcessor", {"fps": 3, "size": {"shortest_edge": 4096, "longest_edge": 200000}}),
    ("Qwen3VLVideoProcessor", {"num_frames": 5, "fps": None, "size": {"shortest_edge": 4096, "longest_edge": 200000}}),
    ("SmolVLMVideoProcessor", {"video_sampling": {"fps": 1, "max_frames": 8, "video_size": {"longest_edge": 80}}}),
    ("InternVLVideoProcessor", {"num_frames": 6, "size": {"height": 40, "width": 60}}),
    ("InternVLVideoProcessor", {"num_frames": 5, "initial_shift": 2, "size": {"height": 40, "width": 60}}),
    ("LlavaOnevisionVideoProcessor", {"num_frames": 9, "size": {"height": 40, "width": 60}}),
    ("LlavaNextVideoVideoProcessor", {"fps": 4, "size": {"shortest_edge": 40}, "crop_size": 32}),
]


@video_files.needs_ffmpeg
@pytest.mark.parametrize("name, fields", SAMPLED, ids=lambda v: v if isinstance(v, str) else "-".join(v))
def test_files_become_the_tensors_of_the_frames_that_are_chosen(name, fields, film):
    path, frames = film
    theirs = getattr(oracle.transformers, name)(do_sample_frames=True, **fields)
    if fields.get("fps", 0) is None:
        theirs.fps = None
    metadata = {"total_num_frames": 40, "fps": 25.0, "duration": 1.6}
    made = theirs(videos=[frames.transpose(0, 3, 1, 2)], video_metadata=[metadata], return_tensors="pt")
    configuration = theirs.to_dict() | {"do_sample_frames": True} | fields
    for given in (path, path.read_bytes()):
        ours = processor(configuration)([given])
        for key in made:
            expected = np.asarray(made[key])
            if key in ("pixel_values", "pixel_values_videos"):
                assert_prepared({"pixel_values": ours[key]}, {"pixel_values": expected}, theirs.image_std)
            else:
                np.testing.assert_array_equal(np.asarray(ours[key]), expected)


def test_choices_of_frames_are_those_of_transformers():
    pick = random.Random(6)
    t = oracle.transformers
    smol, intern, even, qwen3 = (
        t.SmolVLMVideoProcessor(),
        t.InternVLVideoProcessor(),
        t.LlavaOnevisionVideoProcessor(),
        t.Qwen3VLVideoProcessor(),
    )
    for _ in range(300):
        total, rate, fps = pick.randint(1, 3000), pick.choice([24, 25, 29.97, 60]), pick.choice([0.5, 1, 2, 4])
        video = np.array([total, 480, 640, rate])
        metadata = t.video_utils.VideoMetadata(total_num_frames=total, fps=rate, duration=total / rate)
        count = pick.randint(1, total)
        found = sampling.inside(video, fps, 64)
        np.testing.assert_array_equal(found, smol.sample_frames(metadata, num_frames=64, fps=fps))
        np.testing.assert_array_equal(sampling.evenly(video, fps, None), even.sample_frames(metadata, fps=fps))
        found = sampling.evenly(video, None, count)
        np.testing.assert_array_equal(found, even.sample_frames(metadata, num_frames=count))
        found = sampling.qwen3(video, fps, None, 4, 768)
        np.testing.assert_array_equal(found, qwen3.sample_frames(metadata, fps=fps))
        for shift in (True, 0):  # theirs in float32: a whole number may lose 1, and there may be one too many
            expected = np.asarray(intern.sample_frames(metadata, num_frames=count, initial_shift=shift))
            found = sampling.shifted(video, None, count, shift)
            assert len(expected) - len(found) in (0, 1) and np.abs(expected[: len(found)] - found).max() <= 1


def test_sizes_of_videos_are_those_of_transformers():
    from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize

    pick = random.Random(7)
    for _ in range(2000):
        shape = pick.randint(2, 60), *(pick.choice([1, 32, pick.randint(1, 3000)]) for _ in range(2)), 3
        limits = pick.choice([(4096, 10**6), (65536, 3 * 10**7), (10**6, 10**6)])
        if max(shape[1:3]) > 200 * min(shape[1:3]):
            continue
        try:
            expected = smart_resize(
                *shape[:3], temporal_factor=2, factor=32, min_pixels=limits[0], max_pixels=limits[1]
            )
        except ValueError:
            with pytest.raises(ValueError, match="200 times"):
                films.size_of_all(shape, 32, *limits, frames=2)
            continue
        assert tuple(films.size_of_all(shape, 32, *limits, frames=2)) == expected


@pytest.mark.parametrize(
    "fields, given, message",
    [
        (
            {"video_processor_type": "Qwen2VLVideoProcessor", "do_sample_frames": True},
            b"",
            "it needs fps, or num_frames",
        ),
        (
            {
                "video_processor_type": "LlavaOnevisionVideoProcessor",
                "do_sample_frames": True,
                "fps": 1,
                "num_frames": 2,
            },
            b"",
            "num_frames=2: fps is given, too",
        ),
        ({"video_processor_type": "SmolVLMVideoProcessor", "do_sample_frames": True}, b"", "it needs video_sampling"),
        (
            {"video_processor_type": "Qwen3VLVideoProcessor"},
            np.zeros((2, 40, 40, 3), np.uint8),
            "do_sample_frames=True: give files.*say False",
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_cannot_be_sampled_is_refused(fields, given, message):
    with pytest.raises(ValueError, match=message):
        processor(fields)([given])


@video_files.needs_ffmpeg
def test_too_many_frames_are_an_error_of_their_video(film):
    with pytest.raises(Exception, match="50 frames of a video of 40; give another fps or num_frames"):
        processor({"video_processor_type": "LlavaOnevisionVideoProcessor", "do_sample_frames": True, "num_frames": 50})(
            [film[0]]
        )
