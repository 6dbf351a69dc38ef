# SPDX-License-Identifier: Apache-2.0
"""Image processors of transformers that tests and benchmarks compare with."""

CLASSES = {  # what a published configuration has beside the defaults of its class
    "CLIPImageProcessor": {},
    "SiglipImageProcessor": {},
    "ViTImageProcessor": {},
    "DeiTImageProcessor": {},
    "ConvNextImageProcessor": {"size": {"shortest_edge": 224}, "crop_pct": 0.875},
    "BitImageProcessor": {"size": {"shortest_edge": 256}},  # facebook/dinov2-base
    "Qwen2VLImageProcessor": {"min_pixels": 3136, "max_pixels": 602112},
    "LlavaImageProcessor": {"do_pad": True},
    "LlavaNextImageProcessor": {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    "LlavaOnevisionImageProcessor": {},
    "Idefics2ImageProcessor": {},
    "Idefics3ImageProcessor": {},
    "PixtralImageProcessor": {},
    "SmolVLMImageProcessor": {"size": {"longest_edge": 1536}, "max_image_size": {"longest_edge": 512}},  # SmolVLM2
    "GotOcr2ImageProcessor": {"crop_to_patches": True},  # InternVL
    "Gemma3ImageProcessor": {"size": {"height": 896, "width": 896}},
    "MllamaImageProcessor": {"size": {"height": 560, "width": 560}},
}
NESTED = "Idefics", "SmolVLM", "Mllama"  # that take a list of pictures for each prompt
