# SPDX-License-Identifier: Apache-2.0
"""What docs/reference/color_jitter.md says about color_twist and torchvision's ColorJitter, with Pillow as the oracle."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from penstock import fn, pipeline_def

PICTURE = np.array(Image.open(Path(__file__).parent.parent / "docs" / "demo.jpg").convert("RGB"))


@pipeline_def(batch_size=1, num_threads=1)
def adjusted(factor):
    x = fn.external_source(lambda: [PICTURE], layout="HWC", dtype="uint8", batch=True)
    gray = fn.color_space_conversion(x, image_type="RGB", output_type="GRAY")
    return (
        fn.brightness(x, brightness=factor),
        fn.saturation(x, saturation=factor),
        fn.contrast(x, contrast=factor, contrast_center=fn.reductions.mean(gray)),
        fn.contrast(x, contrast=factor),
    )


@pytest.mark.parametrize("factor", [0.6, 1.4])
def test_the_page_of_color_jitter(factor):
    image = Image.fromarray(PICTURE)
    brightness, saturation, about_mean, contrast = (b.at(0).astype(int) for b in adjusted(factor).run())
    off = lambda got, judge: np.abs(got - np.array(judge(image).enhance(factor)))  # noqa: E731
    assert off(brightness, ImageEnhance.Brightness).max() <= 1
    assert off(saturation, ImageEnhance.Color).mean() < 1
    assert off(about_mean, ImageEnhance.Contrast).mean() < 1 < off(contrast, ImageEnhance.Contrast).mean()
