# SPDX-License-Identifier: Apache-2.0
"""penstock.detection: images with boxes."""

from __future__ import annotations

import os

from .common import MEAN, STD, Recipe, options_of, pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .loader import Loader

_FORMATS = ("coco", "voc", "yolo", "labelme")


def detection(
    annotations: Any,
    images: Any = None,
    *,
    format: str | None = None,
    classes: Any = None,
    size: int | Sequence[int] = 640,
    min_visibility: float = 0.1,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    pad: float | None = None,
    **arguments: Any,
) -> Loader:
    """Makes a loader of images with boxes, which keep their ratio in a square (letterbox).

    Batches are dicts: "image" float32 (N, 3, H, W), "boxes" a list of float32 (n, 4): left, top, right,
    bottom in pixels of the resized image, "labels" a list of int64 (n,). Training also flips; augment gets a
    Sample.

    Args:
        annotations: COCO's JSON file, a folder of Pascal VOC's XML or of LabelMe's JSON files, or for YOLO
            the folder of the images.
        images: The folder of the images (YOLO: of the text files); default: as penstock.annotations finds it.
        format: "coco", "voc", "yolo" or "labelme"; default: what the files show.
        classes: Names of the classes in their order; default: those of the file.
        size: Pixels of height and width.
        min_visibility: Boxes are dropped if less than this fraction of them stays in the image.
        mean: The means of the three channels, for values from 0 to 255.
        std: Likewise.
        pad: A number: "boxes" and "labels" become tensors, filled up with it.
        **arguments: batch_size, training, shuffle, limit, where, augment, device ...: see image_folder().

    Returns:
        A Loader. print(loader.program) shows the pipeline.

    Raises:
        DataError: The annotations are broken; the text names the file, the record and the cause.
        TypeError: There is no such argument.
        ValueError: An argument has a value that it cannot have.

    Example:
        loader = penstock.detection("instances_train2017.json", "train2017", size=640, batch_size=16)
        for batch in loader:
            losses = model(batch["image"], batch["boxes"], batch["labels"])
    """
    o, size = options_of("detection", arguments, batch_size=16), pair(size)
    annotations = os.fspath(annotations)
    format = _format(annotations) if format is None else format
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {', '.join(_FORMATS)}, got {format!r}")
    recipe = Recipe(o, (format, [annotations], _more(format, images, classes)))
    recipe.add('boxes, labels = table.look_up(row, "boxes", "labels")')
    recipe.add(f'image = fn.decoders.image(data, device="{recipe.decoder}")')
    how = f"{'normalized=True, ' if format == 'yolo' else ''}min_visibility={min_visibility}"
    recipe.add(f"sample = Sample(image=image, boxes=Boxes(boxes, {how}), labels=labels)")
    if o.training:
        recipe.augment("sample")
        recipe.add("sample = fn.flip(sample, horizontal=fn.random.coin_flip())")
    recipe.add(f'sample = fn.resize(sample, size={size}, mode="not_larger")')
    recipe.add(f'sample = fn.crop(sample, crop={size}, out_of_bounds_policy="pad", fill_values=114)')
    recipe.add('image, boxes, labels = sample["image"], sample["boxes"], sample["labels"]')
    if format == "yolo":
        recipe.add(f"boxes = boxes * types.Constant([{size[1]}.0, {size[0]}.0, {size[1]}.0, {size[0]}.0])  # pixels")
    recipe.normalize(mean, std)
    names = ["image", "boxes", "labels"]
    wish = "list" if pad is None else pad
    return recipe.loader(names, names, ragged={"boxes": wish, "labels": wish})


def _format(path):
    if os.path.isfile(path) and path.endswith(".json"):
        return "coco"
    if os.path.isfile(path):
        raise ValueError(
            f"{path!r} shows no format: COCO's file ends in .json, the others are folders; or give format="
        )
    if not os.path.isdir(path):
        raise FileNotFoundError(f"there is no file or folder {path!r}")
    endings = {os.path.splitext(n)[1] for n in os.listdir(path)}
    return "voc" if ".xml" in endings else "labelme" if ".json" in endings else "yolo"


def _more(format, images, classes):
    if format == "coco" and classes is not None:
        raise ValueError("COCO's file names the classes itself: leave out classes, or use where=")
    if format == "labelme" and images is not None:
        raise ValueError("LabelMe's files name the images in relation to themselves: leave out images")
    images = None if images is None else os.fspath(images)
    return {
        "coco": {"images": images},
        "yolo": {"labels": images, "classes": classes},
        "labelme": {"classes": classes},
        "voc": {"images": images, "classes": classes},
    }[format]
