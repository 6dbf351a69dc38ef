# SPDX-License-Identifier: Apache-2.0
"""Samples on a GPU have the bytes of those on the CPU, however their parts are moved, mixed and dropped."""

import numpy as np
import pytest

import penstock
from penstock import augment, fn, pipeline_def
from penstock.sample import Boxes, Keypoints, Mask, Sample

if penstock._core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({penstock._core.gpu_why_not()})", allow_module_level=True)

COUNT, HEIGHT, WIDTH = 4, 48, 64


def parts_of(k):
    rng = np.random.default_rng(k)
    boxes = np.float32([[4 + k, 5, 20, 17], [30, 20, 44, 40]])
    masks = np.zeros((2, HEIGHT, WIDTH), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int)):
        mask[top:bottom, left:right] = 1
    image = rng.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    labels = np.int32([2 * k, 2 * k + 1])
    return {
        "image": image,
        "mask": masks.max(0)[..., None],
        "boxes": boxes,
        "labels": labels,
        "instances": masks,
        "points": boxes[:, :2].copy(),
        "keypoints": np.float32(rng.uniform(0, HEIGHT, (2, 3, 3))),
    }


DATA = [parts_of(k) for k in range(COUNT)]
CALLS = {
    "elastic_transform": lambda s: fn.elastic_transform(s, alpha=60.0, sigma=6.0),
    "optical_distortion": lambda s: fn.optical_distortion(s, k=fn.random.uniform(range=[-0.3, 0.5])),
    "grid_distortion": lambda s: fn.grid_distortion(
        s, steps_x=fn.random.uniform(range=[0.7, 1.3], shape=[4]), steps_y=[1.1, 0.9]
    ),
    "warp_by_points": lambda s: fn.warp_by_points(
        s, points=[0, 0, 1, 0, 0, 1, 1, 1], targets=[0.1, 0, 1, 0.1, 0, 1, 0.9, 0.9], normalized=True
    ),
    "shuffle_tiles": lambda s: fn.shuffle_tiles(
        s, columns=[0, WIDTH // 2, WIDTH // 2 * 2, WIDTH], rows=[0, HEIGHT], order=[1, 0, 2]
    ),
    "flip": lambda s: fn.flip(s, horizontal=fn.random.coin_flip()),
    "paste": lambda s: fn.paste(s, fill_value=[0.0], ratio=1.5),
    "letterbox": lambda s: augment.letterbox(s, (96, 80)),
    "random_box_safe_crop": lambda s: augment.random_box_safe_crop(s),
    "random_sized_box_safe_crop": lambda s: augment.random_sized_box_safe_crop(s, (32, 40), 0.2),
    "random_overlap_crop": lambda s: augment.random_overlap_crop(s),
    "crop_near_mask": lambda s: augment.crop_near_mask(s, (24, 30)),
    "mosaic": lambda s: augment.mosaic(s, (80, 100)),
    "copy_paste": lambda s: augment.copy_paste(s, p=0.7),
    "mixup_boxes": lambda s: augment.mixup_boxes(s),
}


def run(function, places):
    @pipeline_def(batch_size=COUNT, num_threads=1, seed=7, device_id=0)
    def made():
        layouts = {"image": "HWC", "mask": "HWC"}
        source = lambda name: lambda: [d[name] for d in DATA]  # noqa: E731
        found = {name: fn.external_source(source(name), layout=layouts.get(name, "")) for name in DATA[0]}
        found |= {name: found[name].gpu() for name in places}
        found["mask"] = Mask(found["mask"], fill=9)
        found["boxes"] = Boxes(found["boxes"], min_visibility=0.1)
        found["keypoints"] = Keypoints(found["keypoints"], flip_indices=(0, 2, 1))
        return function(Sample(**found))

    return {name: [v.numpy() for v in batch.cpu()] for name, batch in made().run().items()}


@pytest.mark.parametrize("name", CALLS)
def test_a_sample_on_a_gpu_is_that_of_the_cpu(name):
    expected = run(CALLS[name], [])
    pixels = ["image", "mask", "instances"]
    for places in (pixels, [*pixels, "boxes", "labels", "points", "keypoints"]):
        got = run(CALLS[name], places)
        for part in expected:
            for k in range(COUNT):
                np.testing.assert_array_equal(got[part][k], expected[part][k], err_msg=f"{part} {k} {places}")


@pytest.mark.parametrize("name", ["flip", "paste", "elastic_transform"])
@pytest.mark.parametrize("places", [["image"], ["image", "mask"]])
def test_parts_of_unlike_size_are_refused_on_a_gpu(name, places):
    @pipeline_def(batch_size=1, num_threads=1, device_id=0)
    def made():
        source = lambda value: fn.external_source(lambda: [value], layout="HWC")  # noqa: E731
        parts = {"image": source(DATA[0]["image"]), "mask": source(DATA[0]["mask"][:30])}
        parts |= {n: parts[n].gpu() for n in places}
        return dict(CALLS[name](Sample(**parts)))

    with pytest.raises(penstock.DataError, match=rf"^\[{name}\] 'image' is 48 x 64, 'mask' is 30 x 64:"):
        made().run()


def test_parts_of_unlike_size_are_refused_in_calls_on_a_gpu():
    image, mask = (penstock.tensor(DATA[0][n], layout="HWC").gpu() for n in ("image", "mask"))
    assert fn.flip(Sample(image=image, mask=mask))["mask"].shape() == [48, 64, 1]
    small = penstock.tensor(DATA[0]["mask"][:30], layout="HWC").gpu()
    with pytest.raises(penstock.DataError, match="'image' is 48 x 64, 'mask' is 30 x 64"):
        fn.flip(Sample(image=image, mask=small))
