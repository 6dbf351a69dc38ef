# SPDX-License-Identifier: Apache-2.0
"""One image or recording as an annotation file describes it: what every format yields, and all else is made of."""

from __future__ import annotations

import dataclasses
import json
import os

import numpy as np

from .._core import DataError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST, LARGEST_SIDE, LARGEST_MASK = 1e9, 1 << 20, 1 << 29


@dataclasses.dataclass
class Record:
    """Boxes are (n, 4) left, top, right, bottom in pixels; labels n names; masks n Outlines; points (n, k, 3)."""

    file: str
    boxes: Any = None
    labels: Any = None
    masks: Any = None
    points: Any = None
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)


def fault(file, record, cause):
    """The error of a broken annotation file."""
    where = f", {record}" if record else ""
    return DataError(f"{cause} (file: {file}{where})")


def text_of(file):
    """The text of a file in UTF-8."""
    try:
        with open(file, encoding="utf-8-sig") as opened:
            return opened.read()
    except UnicodeDecodeError as error:
        raise fault(file, f"byte {error.start}", "the file is not text in UTF-8") from None


def json_of(file):
    """What a JSON file holds."""
    try:
        return json.loads(text_of(file))
    except json.JSONDecodeError as error:
        raise fault(file, f"line {error.lineno}", f"the file is not JSON: {error.msg}") from None
    except RecursionError:
        raise fault(file, "", "the JSON is nested too deeply") from None
    except ValueError as error:  # a number of too many digits
        raise fault(file, "", f"the file is not JSON: {error}") from None


def numbers(values, file, record, what, multiple=1):
    """A flat float64 array of finite numbers."""
    if not isinstance(values, (list, tuple)) or not {*map(type, values)} <= {int, float}:
        raise fault(file, record, f"{what} must be a list of numbers, got {shortened(values)}")
    if len(values) % multiple or not all(-LARGEST <= v <= LARGEST for v in values):
        of = f" in groups of {multiple}" if multiple > 1 else ""
        raise fault(file, record, f"{what} must be finite numbers{of}, got {shortened(values)}")
    return np.array(values, np.float64)


def size_of(height, width, file, record):
    """(height, width), checked before anything is allocated by it."""
    for name, side in (("height", height), ("width", width)):
        if isinstance(side, bool) or not isinstance(side, int) or not 0 < side <= LARGEST_SIDE:
            raise fault(file, record, f"{name} must be a whole number from 1 to {LARGEST_SIDE}, got {shortened(side)}")
    if height * width > LARGEST_MASK:
        raise fault(file, record, f"{height} x {width} pixels are more than {LARGEST_MASK}")
    return height, width


def file_below(folder, name, file, record, outside=False):
    """The path of an image that an annotation file names. Such a file is foreign: its names must stay below the folder."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise fault(file, record, f"the name of the image must be a text, got {shortened(name)}")
    if "\\" in name and not os.path.exists(os.path.join(folder, name)):  # written on Windows
        name = name.replace("\\", "/")
    normal = os.path.normpath(name)
    if not outside and (os.path.isabs(name) or normal == ".." or normal.startswith(".." + os.sep)):
        raise fault(file, record, f"the image {name!r} leads out of its folder; allow_outside=True reads it")
    return os.path.join(folder, name)


def shortened(value):
    """A value as the text of an error shows it."""
    said = repr(value)
    return said if len(said) <= 60 else said[:57] + "..."
