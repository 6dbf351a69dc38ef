# SPDX-License-Identifier: Apache-2.0
"""The image processors of transformers, from the folder of tools/requirements/transformers.txt, beside torchvision."""

import contextlib
import io
import sys
from pathlib import Path

import numpy as np

FOLDERS = [str(Path(sys.prefix) / name) for name in ("transformers", "torchvision")]
sys.path[:0] = FOLDERS
import torchvision_oracle  # noqa: E402, F401  torchvision first: its compiled part may be missing

with contextlib.redirect_stderr(io.StringIO()):
    import transformers  # noqa: E402
from transformers_classes import CLASSES, NESTED  # noqa: E402


def fast(name, **fields):
    """The image processor of transformers with these fields, on torchvision."""
    return getattr(transformers, name)(**(CLASSES[name] | fields))


def slow(name, **fields):
    """The one on Pillow."""
    return getattr(transformers, f"{name}Pil")(**(CLASSES[name] | fields))


def prepared(image_processor, images):
    """{name: array} of pictures as arrays."""
    nested = type(image_processor).__name__.startswith(NESTED)
    made = image_processor([[image] for image in images] if nested else list(images), return_tensors="pt")
    return {name: np.asarray(made[name]) for name in made}
