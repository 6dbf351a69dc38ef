# SPDX-License-Identifier: Apache-2.0
"""The programs of image processors: each configuration becomes the text of a function over penstock.fn."""

from . import pictures, tiled, videos
from .text import Text

PROGRAMS = {
    "ConvNextImageProcessor": pictures.convnext,
    "Qwen2VLImageProcessor": pictures.qwen,
    "LlavaImageProcessor": pictures.llava,
    "PixtralImageProcessor": pictures.pixtral,
} | tiled.PROGRAMS
# What a call joins of the results of the pictures of a list, where it is not to stack them.
JOINED = {name: {"pixel_values"} for name in ("Qwen2VLImageProcessor", "GotOcr2ImageProcessor", "Gemma3ImageProcessor")}
JOINED |= {name: {"pixel_values_videos"} for name in ("Qwen2VLVideoProcessor", "Qwen3VLVideoProcessor")}


def program(configuration, source, device):
    """The text of a function `preprocess` of the pictures.

    Args:
        configuration: A Configuration.
        source: "files", "arrays" or "videos".
        device: "cpu" or "gpu".

    Returns:
        A Text.
    """
    text = Text(configuration, source, device)
    if configuration.video:
        videos.write(text, configuration, source)
    else:
        PROGRAMS.get(configuration.name, pictures.plain)(text, configuration)
    return text
