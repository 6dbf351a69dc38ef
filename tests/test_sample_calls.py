# SPDX-License-Identifier: Apache-2.0
"""Every operator of images and every function of penstock.augment, called with a Sample of all kinds of parts: it works, or says
in one sentence what to write."""

import itertools
import re

import numpy as np
import pytest
from augment_calls import CALLS
from test_sample_extents import MOVES

import penstock
from penstock import _core, augment, fn, pipeline_def
from penstock.sample import Instances, Other, Sample

RNG = np.random.default_rng(0)
PARTS = {
    "image": RNG.integers(0, 255, (30, 40, 3), dtype=np.uint8),
    "mask": RNG.integers(0, 3, (30, 40), dtype=np.uint8),
    "boxes": np.float32([[8, 8, 30, 28], [1, 2, 20, 20]]),
    "points": np.float32([[3, 3], [5, 6]]),
    "labels": np.int32([1, 2]),
}
LAYOUTS = {"image": "HWC", "mask": "HW"}
# Arguments of operators that need some, and of those whose result is not as large without.
NEEDED = {
    **MOVES,
    "adjust_hue": {"hue_factor": 0.1},
    "color_matrix": {"coefficients": [1.0, 0, 0, 0, 1, 0, 0, 0, 1]},
    "draw_circles": {"centers": [9, 9], "radius": 3},
    "draw_lines": {"lines": [1, 1, 9, 9]},
    "draw_segments": {"segments": [1.0, 1, 9, 9], "color": [255]},
    "draw_text": {"text": ["a"], "positions": [1, 9]},
    "gaussian_blur": {"sigma": 1.0},
}
# Functions of augment that CALLS has not, and what each of them says of a Sample; "": it works.
SOUND = r"takes sound or features, not a Sample: call it with one part, as in augment.\w+\(sample\['image'\]\)"
IN_BATCHES = r"must be values of a pipeline or Batches, which penstock.batch\(\[...\]\) makes"
MORE = {
    "letterbox": (lambda x: augment.letterbox(x, (40, 40)), ""),
    "letterbox_back": (lambda x: augment.letterbox_back(x, (40, 40), (30, 40)), r"sample.boxes_back\(boxes\)"),
    "five_crop": (lambda x: augment.five_crop(x, (20, 20)), ""),
    "ten_crop": (lambda x: augment.ten_crop(x, (20, 20)), ""),
    "mosaic": (lambda x: augment.mosaic(x, (40, 40)), IN_BATCHES),
    "copy_paste": (lambda x: augment.copy_paste(x), IN_BATCHES),
    "mixup_boxes": (lambda x: augment.mixup_boxes(x), IN_BATCHES),
    "crop_near_mask": (lambda x: augment.crop_near_mask(x, (20, 20)), ""),
    "random_box_safe_crop": (lambda x: augment.random_box_safe_crop(x), ""),
    "random_overlap_crop": (lambda x: augment.random_overlap_crop(x), ""),
    "random_sized_box_safe_crop": (lambda x: augment.random_sized_box_safe_crop(x, (20, 20)), ""),
    "cutmix": (lambda x: augment.cutmix(x, x["labels"]), r"got a Sample: mixup\(sample\['image'\]"),
    "mixup": (lambda x: augment.mixup(x, x["labels"]), r"augment.mixup_boxes\(sample\)"),
    "frequency_masking": (lambda x: augment.frequency_masking(x, 3), SOUND),
    "time_masking": (lambda x: augment.time_masking(x, 3), SOUND),
    "gain": (lambda x: augment.gain(x, 3), SOUND),
    "add_noise": (lambda x: augment.add_noise(x, x, 3), SOUND),
    "clip": (lambda x: augment.clip(x, 0.5), SOUND),
    "codec": (lambda x: augment.codec(x, 8000), SOUND),
    "deltas": (lambda x: augment.deltas(x), SOUND),
    "normalize_loudness": (lambda x: augment.normalize_loudness(x, 8000), SOUND),
    "pitch_shift": (lambda x: augment.pitch_shift(x, 8000), SOUND),
    "resample": (lambda x: augment.resample(x, 8000, 16000), SOUND),
    "reverberate": (lambda x: augment.reverberate(x, x), SOUND),
    "speed_perturbation": (lambda x: augment.speed_perturbation(x, [1.1]), SOUND),
    "telephone": (lambda x: augment.telephone(x, 8000), SOUND),
    "time_stretch": (lambda x: augment.time_stretch(x, 1.1), SOUND),
    "trim_silence": (lambda x: augment.trim_silence(x), SOUND),
}
MIXES = "aug_mix blends pictures that were moved in different ways"


def at_once(call):
    return call(Sample(**PARTS))


def in_pipeline(call):
    @pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        value = lambda name, x: fn.external_source(  # noqa: E731
            itertools.repeat([x]), batch=True, dtype=str(x.dtype), ndim=x.ndim, layout=LAYOUTS.get(name, "")
        )
        made = call(Sample(**{name: value(name, x) for name, x in PARTS.items()}))
        return made if isinstance(made, Sample) else made[0]

    return pipe().run()


def message(function, *args):
    """What the error says, without the place; "": there is none."""
    try:
        function(*args)
    except Exception as error:
        return re.sub(r" \(sample 0 of epoch 0\)", "", f"{type(error).__name__}: {error}".split("\n")[0])
    return ""


def of_images():
    for name in _core.operators():
        schema = _core.operator_schema(name)
        reads = name.startswith(("decoders.", "readers.", "dump_image"))
        if not reads and (schema["images"] or schema["moves_points"] or schema["keeps_positions"]):
            yield name, schema["min_inputs"] - 1


@pytest.mark.parametrize("run", [at_once, in_pipeline])
def test_operators_of_images_take_a_sample_or_say_what_to_write(run):
    works = 0
    for name, others in of_images():
        function = _core.operator_function(name)
        call = lambda x: function(x, *[PARTS["image"]] * others, **NEEDED.get(name, {}))  # noqa: E731, B023
        said = message(run, call)
        if not said:
            works += 1
            continue
        one_part = f"TypeError: [{name}] does not say where the parts of a Sample move: call it with one part, as in "
        same = message(call, PARTS["image"])  # what an image says, too: its type or a missing argument
        assert said == one_part + f"fn.{name}(sample['image'])" or said == same, (name, said, same)
    assert works > 60


@pytest.mark.parametrize("run", [at_once, in_pipeline])
def test_functions_of_augment_take_a_sample_or_say_what_to_write(run):
    assert {n.split()[0] for n in CALLS} | set(MORE) == set(augment.__all__)
    for name, call in CALLS.items():
        said = message(run, call)
        assert (MIXES in said) if name.startswith("aug_mix") else not said, (name, said)
    for name, (call, wanted) in MORE.items():
        said = message(run, call)
        if run is in_pipeline and wanted is IN_BATCHES:
            wanted = "has no Instances" if name == "copy_paste" else ""
        assert re.search(wanted, said) and bool(said) == bool(wanted), (name, said)


def test_a_mask_without_channels_is_pasted_as_its_image():
    made = fn.paste(Sample(**PARTS), **MOVES["paste"])
    assert made["image"].shape == (45, 60, 3) and made["mask"].shape == (45, 60)
    np.testing.assert_array_equal(made["mask"][7:37, 10:50], PARTS["mask"])
    canvas = fn.paste(PARTS["mask"], ratio=2.0, fill_value=9)
    assert canvas.shape == (60, 80) and (canvas[:15] == 9).all() and (canvas[:, 60:] == 9).all()


def test_pad_to_the_batch_refuses_points_by_its_own_name():
    with pytest.raises(
        ValueError, match=r"^\[pad\] without shape= the result is as large as the largest of the batch, .*: give shape="
    ):
        fn.pad(Sample(**PARTS))
    assert fn.pad(Sample(image=PARTS["image"], mask=PARTS["mask"]))["mask"].shape == (30, 40)


def test_aug_mix_of_a_sample_of_images_alone():
    sample = Sample(image=PARTS["image"], name=Other("a"))
    penstock.seed(4)
    made = augment.aug_mix(sample)
    penstock.seed(4)
    np.testing.assert_array_equal(made["image"], augment.aug_mix(PARTS["image"]))
    assert made["name"] == "a"
    with pytest.raises(TypeError, match=r"'masks' \(Instances\) of the Sample would have no one place"):
        augment.aug_mix(Sample(image=PARTS["image"], masks=Instances(np.zeros((1, 30, 40), np.uint8))))
