# SPDX-License-Identifier: Apache-2.0
"""The image and video processors of transformers as functions of pipelines, and as calls with lists of pictures."""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy as np

import penstock

from ..._pipeline import pipeline_def
from ..interface import Batch, DataNode, Tensor, batch
from .configuration import read
from .programs import JOINED, program

SOURCES = {1: "files", 3: "arrays", 4: "videos"}  # by the number of dimensions
BYTES = bytes, bytearray, memoryview


def _opaque(image):
    """A picture of Pillow in RGB; transformers puts transparent ones on white."""
    if "A" not in image.getbands() and image.info.get("transparency") is None:
        return image.convert("RGB")
    from PIL import Image

    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image.convert("RGBA"))
    return white.convert("RGB")


def _kind(image):
    """(one of SOURCES, the array that a pipeline gets)"""
    if isinstance(image, BYTES):
        return "files", np.frombuffer(image, np.uint8)
    if isinstance(image, (str, os.PathLike)):
        return "files", np.fromfile(image, np.uint8)
    if hasattr(image, "convert") and hasattr(image, "getbands"):
        image = _opaque(image)
    found = np.asarray(image)
    if found.dtype != np.uint8 or not (found.ndim == 1 or (found.ndim in (3, 4) and found.shape[-1] == 3)):
        raise TypeError(
            "expected files (bytes, paths, or arrays of their bytes) or decoded RGB pictures (arrays of uint8, height x width x 3), "
            f"got an array of {found.dtype} with the shape {found.shape}"
        )
    return SOURCES[found.ndim], found


def _sorted_out(images):
    images = list(images) if isinstance(images, (list, tuple, Batch)) else [images]
    if not images:
        raise ValueError("expected at least one picture, got an empty list")
    found = [_kind(image) for image in images]
    kinds = {kind for kind, _ in found}
    if len(kinds) > 1:
        raise TypeError("files and decoded pictures cannot be mixed in one call; call once for each")
    return kinds.pop(), [array for _, array in found]


def _refuse_transparent(files):
    """The decoder drops transparency, transformers does not."""
    shapes = penstock.fn.peek_image_shape(files, image_type=penstock.types.ANY_DATA)
    for k, shape in enumerate(shapes):
        if shape.numpy()[2] in (2, 4):
            raise ValueError(
                f"picture {k} is transparent, and transformers puts it on white; open it with Pillow and pass what it gives"
            )


class Processor:
    """Prepares pictures as an image processor of transformers does. `str()` is the program that it runs.

    Make it by `processor`.

    Args:
        configuration: What the configuration says, as `processor` has read it.
        device: "cpu" or "gpu".
        num_threads: Threads of calls outside a pipeline; default: all processors.
    """

    def __init__(self, configuration: Any, device: str = "cpu", num_threads: int | None = None) -> None:
        if device not in ("cpu", "gpu"):
            raise ValueError(f'device must be "cpu" or "gpu", got {device!r}')
        self.configuration, self.device = configuration, device
        self.num_threads = num_threads or len(os.sched_getaffinity(0))
        self._functions, self._pipelines = {}, {}
        self._takes = ("files", "videos") if configuration.video else ("files", "arrays")
        self.program()

    def __str__(self) -> str:
        return self.program()

    def __repr__(self) -> str:
        return f"<Processor of {self.configuration.name}, device={self.device!r}; print it to read its program>"

    def program(self, source: str | None = None) -> str:
        """Writes the program that the processor runs, to go on from.

        Args:
            source: "files", for encoded pictures, the default; "arrays", for decoded ones; "videos", for frames.

        Returns:
            The text of a Python module with the function `preprocess`.
        """
        source = source or self._takes[0]
        if source not in self._takes:
            raise ValueError(f"{self.configuration.name} takes {' or '.join(self._takes)}, got {source}")
        return str(program(self.configuration, source, self.device))

    def __call__(self, images: Any) -> dict[str, Any]:
        """Prepares pictures.

        Args:
            images: In a pipeline: the bytes of files, or decoded pictures with the layout HWC. Outside: a list of
                files (bytes or paths), or of decoded RGB pictures (uint8, height x width x 3, or of Pillow); for a video
                processor, files, or frames (uint8, frames x height x width x 3, the layout FHWC).

        Returns:
            In a pipeline: a dict of values. Outside: a dict of Tensors with the names that transformers uses; a
            Batch where the results differ in shape.

        Raises:
            TypeError: The pictures are of another type or shape.
            ValueError: There are none.
        """
        if isinstance(images, DataNode):
            return self._function(SOURCES.get(images.ndim, self._takes[0]))(images)
        source, arrays = _sorted_out(images)
        self._function(source)  # refuses what the processor does not take
        if source == "files" and not self.configuration.video:
            _refuse_transparent(arrays)
        outputs = self._pipeline(source, len(arrays)).run(images=arrays)
        return {name: self._joined(name, outputs[name]) for name in outputs}

    def _function(self, source):
        if source not in self._functions:
            # A module of this package: errors name the line of the program that makes the pipeline.
            self._functions[source] = self._compiled(self.program(source), f"{__package__}.programs")
        return self._functions[source]

    def _compiled(self, text, module):
        space: dict[str, Any] = {"__name__": module}
        exec(compile(text, f"<program of {self.configuration.name}>", "exec"), space)
        return space["preprocess"]

    def _pipeline(self, source, count):
        made = self._pipelines.get(source)
        if made is None or made[0] < count:
            most = 1 << (count - 1).bit_length()
            made = self._pipelines[source] = most, self._built(source, most)
        return made[1]

    def _built(self, source, most):
        function = self._compiled(self.program(source), "program")  # it serves calls of many lines: errors name its own
        given = {"files": {"ndim": 1}, "arrays": {"ndim": 3, "layout": "HWC"}, "videos": {"ndim": 4, "layout": "FHWC"}}[
            source
        ]

        @pipeline_def(
            batch_size=most,
            num_threads=self.num_threads,
            device_id=0 if self.device == "gpu" else None,
            prefetch_queue_depth=1,
            enable_conditionals=False,
        )
        def prepare():
            return function(penstock.fn.external_source(name="images", dtype=penstock.types.UINT8, **given))

        made = prepare()
        made.build()
        return made

    def _joined(self, name: str, result: Batch) -> Tensor | Batch:
        """The results of all pictures: stacked, or patches one after the other."""
        if name in JOINED.get(self.configuration.name, ()):
            return result.joined()
        samples: Sequence[Tensor] = list(result)
        if len({tuple(sample.shape()) for sample in samples}) == 1:
            return result.as_tensor()
        return batch(samples)


def processor(configuration: Any, device: str = "cpu", num_threads: int | None = None) -> Processor:
    """Makes the program of an image processor of transformers.

    The classes are those of CLIP, SigLIP, ViT, DeiT, ConvNeXT, BiT (DINOv2), Qwen2-VL (and 2.5 and 3), LLaVA,
    LLaVA-NeXT, LLaVA-Onevision, Idefics2, Idefics3, SmolVLM, Pixtral, GOT-OCR2 (InternVL), Gemma 3 and Mllama, and
    those of videos for Qwen2-VL, Qwen3-VL, SmolVLM, InternVL, LLaVA-NeXT and LLaVA-Onevision. A pixel differs by at
    most one of 255 steps before it is normalized.

    Args:
        configuration: A dict, the path of a preprocessor_config.json or of its folder, or an image processor.
        device: "cpu" or "gpu": where pictures are prepared. Files for a GPU are decoded as "mixed" says.
        num_threads: Threads of calls outside a pipeline; default: all processors.

    Returns:
        A Processor.

    Raises:
        ValueError: The class or a field is not known, or has a value that is not supported.
        TypeError: The configuration is of another type.

    Example:
        >>> clip = penstock.plugin.transformers.processor({"image_processor_type": "CLIPImageProcessor"})
        >>> clip([np.zeros((300, 400, 3), np.uint8)])["pixel_values"].shape()
        [1, 3, 224, 224]
    """
    return Processor(read(configuration), device, num_threads)
