# SPDX-License-Identifier: Apache-2.0
"""The programs of the image processors of transformers give the CPU's bytes on a GPU."""

import numpy as np
import pytest

from penstock import _core
from penstock.plugin.transformers import processor
from penstock.plugin.transformers.configuration import DEFAULTS

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SIZES = {"LlavaNextImageProcessor": {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}}
TILES = {"size": {"longest_edge": 200}, "max_image_size": {"longest_edge": 64}}
PAN = {"min_crop_size": 30, "max_num_crops": 2, "min_ratio_to_activate": 1.2}
SMALL = {
    "Idefics3ImageProcessor": TILES,
    "SmolVLMImageProcessor": TILES,
    "SmolVLMVideoProcessor": TILES,
    "Idefics2ImageProcessor": {"do_image_splitting": True, "size": {"shortest_edge": 50, "longest_edge": 100}},
    "GotOcr2ImageProcessor": {"crop_to_patches": True, "size": {"height": 64, "width": 60}},
    "Gemma3ImageProcessor": {"do_pan_and_scan": True} | {f"pan_and_scan_{field}": v for field, v in PAN.items()},
    "MllamaImageProcessor": {"size": {"height": 64, "width": 64}},
    "Qwen2VLVideoProcessor": {"min_pixels": 3136, "max_pixels": 6272},
    "Qwen3VLVideoProcessor": {"size": {"shortest_edge": 4096, "longest_edge": 20000}, "do_sample_frames": False},
    "LlavaOnevisionImageProcessor": {"image_grid_pinpoints": [[384, 384], [384, 768]]},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_gpu_gives_the_cpus_tensors(name):
    random = np.random.default_rng(1)
    frames = (3,) if "Video" in name else ()
    images = [random.integers(0, 256, (*frames, *size, 3), np.uint8) for size in ((90, 120), (77, 61))]
    configuration = {"image_processor_type": name} | SIZES.get(name, {}) | SMALL.get(name, {})
    here, there = (processor(configuration, device=device)(images) for device in ("cpu", "gpu"))
    assert list(here) == list(there)
    assert next(iter(there.values())).device == "gpu:0"
    for key, expected in here.items():
        np.testing.assert_array_equal(
            there[key].cpu().numpy() if hasattr(there[key], "cpu") else there[key], expected.numpy()
        )
