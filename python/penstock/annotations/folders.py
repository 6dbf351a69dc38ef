# SPDX-License-Identifier: Apache-2.0
"""Folders of images: a class for each subfolder, or pairs of images and masks."""

from __future__ import annotations

import os

import numpy as np

from .._core import DataError
from ..progress import steps
from .table import Table

_IMAGES = (
    ".jpg",
    ".jpeg",
    ".png",
    ".bmp",
    ".gif",
    ".tif",
    ".tiff",
    ".webp",
    ".jp2",
    ".pnm",
    ".ppm",
    ".pgm",
    ".pbm",
    ".heic",
    ".avif",
)


def image_files(folder):
    """The paths of all images below a folder, sorted."""
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder!r}")
    found = [
        os.path.join(f, n)
        for f, _, names in steps(os.walk(folder, followlinks=True), f"list {folder}", unit="folder")
        for n in names
        if n.lower().endswith(_IMAGES)
    ]
    if not found:
        raise DataError(f"no image is below the folder (file: {folder}); names end in {', '.join(_IMAGES)}")
    return sorted(found)


def image_folder(folder: str) -> Table:
    """Lists the images of a folder with one subfolder for each class, as torchvision's ImageFolder does.

    Args:
        folder: The folder. Its subfolders, sorted, are the classes.

    Returns:
        A Table with the column "label".

    Raises:
        FileNotFoundError: There is no such folder.
        DataError: It has no subfolder, or a subfolder has no image.

    Example:
        table = penstock.annotations.image_folder("photos/train")
    """
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder!r}")
    classes = sorted(e.name for e in os.scandir(folder) if e.is_dir())
    if not classes:
        flat = any(e.name.lower().endswith(_IMAGES) for e in os.scandir(folder))
        how = (
            ": its images have no classes; a list, such as a .csv file with the columns file and label, names some"
            if flat
            else ""
        )
        raise DataError(f"the folder has no subfolders; each class needs one{how} (file: {folder})")
    files = [image_files(os.path.join(folder, name)) for name in classes]
    labels = np.repeat(np.arange(len(classes), dtype=np.int32), [len(f) for f in files])
    return Table([f for part in files for f in part], {"label": labels}, classes)


def image_pairs(images: str, masks: str, *, classes_only: bool = False) -> Table:
    """Lists images and their masks, files of the same names in two folders; endings may differ.

    Args:
        images: The folder of the images.
        masks: The folder of the masks.
        classes_only: Refuse PNG files with a palette or several channels, and JPEG: their gray values are not class
            numbers.

    Returns:
        A Table with the column "mask_file".

    Raises:
        DataError: An image has no mask, or classes_only refuses one.

    Example:
        table = penstock.annotations.image_pairs("images", "masks")
    """
    pictures = image_files(images)
    found = {os.path.splitext(os.path.relpath(f, masks))[0]: f for f in image_files(masks)}
    names = [os.path.splitext(os.path.relpath(f, images))[0] for f in pictures]
    for picture, name in zip(steps(pictures, f"find masks in {masks}"), names):
        if name not in found:
            raise DataError(f"no file {name}.* is in the folder of masks {masks} (file: {picture})")
        if classes_only:
            _check_channels(found[name])
    return Table(pictures, {"mask_file": [found[n] for n in names]})


def _check_channels(file):
    with open(file, "rb") as opened:
        head = opened.read(26)
    if head[:3] == b"\xff\xd8\xff":
        raise DataError(f"the mask is JPEG, which changes the numbers of classes: write it as PNG (file: {file})")
    if head[:4] == b"\x89PNG" and len(head) == 26 and head[25] not in (0, 4):
        kind = "a palette" if head[25] == 3 else "three colors"
        raise DataError(
            f"the mask has {kind}, so its gray values are not class numbers: write it with one channel, such as "
            f"PIL.Image.fromarray(np.array(PIL.Image.open(file))).save(file) for a palette (file: {file})"
        )
