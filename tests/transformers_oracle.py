# SPDX-License-Identifier: Apache-2.0
"""The image processors of transformers, from the folder of tools/requirements/transformers.txt, beside torchvision."""

import contextlib
import io
import sys
from pathlib import Path

FOLDERS = [str(Path(sys.prefix) / name) for name in ("transformers", "torchvision")]
sys.path[:0] = FOLDERS
import torchvision_oracle  # noqa: E402, F401  torchvision first: its compiled part may be missing

with contextlib.redirect_stderr(io.StringIO()):
    import transformers  # noqa: E402

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
}


def fast(name, **fields):
    """The image processor of transformers with these fields, on torchvision."""
    return getattr(transformers, name)(**(CLASSES[name] | fields))


def slow(name, **fields):
    """The one on Pillow."""
    return getattr(transformers, f"{name}Pil")(**(CLASSES[name] | fields))


def prepared(image_processor, images):
    """{name: array} of pictures as arrays. Idefics takes a list of pictures for each prompt."""
    nested = type(image_processor).__name__.startswith("Idefics")
    made = image_processor([[image] for image in images] if nested else list(images), return_tensors="pt")
    return {name: made[name].numpy() for name in made}
