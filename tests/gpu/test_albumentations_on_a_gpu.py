# SPDX-License-Identifier: Apache-2.0
"""Transforms of penstock.albumentations on images of a GPU give the bytes that they give on the CPU: all of them in
`make test-long`, since a kernel is compiled for each."""

import os

import numpy as np
import penstock
import pytest
from penstock import albumentations as A
from penstock import fn

ARGUMENTS = {
    "CenterCrop": {"height": 20, "width": 30},
    "Crop": {"x_max": 30, "y_max": 20},
    "CropAndPad": {"px": (-5, 6)},
    "GridElasticDeform": {"num_grid_xy": (3, 2), "magnitude": 4},
    "HistogramMatching": {"reference_images": [np.zeros((4, 5, 3), np.uint8)], "read_fn": lambda v: v},
    "Lambda": {"image": lambda x: x},
    "PixelDistributionAdaptation": {
        "reference_images": [np.eye(4, 5, dtype=np.uint8)[..., None].repeat(3, -1)],
        "read_fn": lambda v: v,
        "transform_type": "standard",
    },
    "RandomCrop": {"height": 20, "width": 30},
    "RandomResizedCrop": {"size": (20, 30)},
    "RandomSizedCrop": {"min_max_height": (20, 30), "size": (20, 30)},
    "Resize": {"height": 20, "width": 30},
    "TemplateTransform": {"templates": np.zeros((9, 8, 3), np.uint8)},
    "XYMasking": {"num_masks_x": (1, 3), "num_masks_y": 2, "mask_x_length": 10, "mask_y_length": (3, 5)},
}
LOOK = {"AtLeastOneBBoxRandomCrop", "BBoxSafeRandomCrop", "CropNonEmptyMaskIfExists", "RandomSizedBBoxSafeCrop"}
LOOK |= {"MaskDropout"}

OF_PYTHON = {"FDA", "GlassBlur", "OverlayElements", "Superpixels", "TextImage"}  # functions, or what a call describes
OF_VOLUMES = {name for name in A.table.TABLE if name.endswith("3D")} | {"CubicSymmetry"}

ALL = sorted(set(A.table.TABLE) - LOOK - OF_PYTHON - OF_VOLUMES - {"ToTensorV2"})
FEW = [
    "ChannelDropout",
    "CropAndPad",
    "GridDropout",
    "HueSaturationValue",
    "MotionBlur",
    "RandomGamma",
    "RandomRain",
    "SafeRotate",
]
FEW += ["ThinPlateSpline"]


@pytest.mark.parametrize("name", ALL if "PENSTOCK_TEST_COUNT" in os.environ else FEW)
def test_bytes_are_those_of_the_cpu(name):
    image = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    transform = A.Compose([getattr(A, name)(**ARGUMENTS.get(name, {}), p=1.0)])

    def run(gpu):
        @penstock.pipeline_def(batch_size=2, num_threads=1, seed=3, device_id=0)
        def pipeline():
            images = fn.external_source(lambda: [image] * 2, layout="HWC", dtype=penstock.types.UINT8, ndim=3)
            return transform(image=images.gpu() if gpu else images)["image"]

        (made,) = pipeline().run()
        return [x.numpy() for x in made.cpu()]

    for got, want in zip(run(True), run(False)):
        np.testing.assert_array_equal(got, want)
