# SPDX-License-Identifier: Apache-2.0
"""penstock.detection: images with boxes."""

from __future__ import annotations

import os

from .common import MEAN, STD, Recipe, options_of, pair, path_of

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
    masks: bool = False,
    keypoints: Any = False,
    flip_pairs: Sequence[Sequence[int]] | None = None,
    flip_indices: Sequence[int] | None = None,
    size: int | Sequence[int] = 640,
    min_visibility: float = 0.1,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    pad: float | None = None,
    **arguments: Any,
) -> Loader:
    """Makes a loader of images with boxes, masks and keypoints.

    Images keep their ratio, in a square (letterbox).

    Batches are dicts: "image" float32 (N, 3, H, W), "boxes" a list of float32 (n, 4): left, top, right,
    bottom in pixels of the resized image, "labels" a list of int64 (n,). With masks "masks" is a list of uint8
    (n, H, W), with keypoints "keypoints" a list of float32 (n, k, 3): x, y in pixels and the visibility, 0 also
    where a keypoint is cut away. All have a row for each box that is left. Training also flips; augment gets a
    Sample.

    Args:
        annotations: COCO's JSON file, a folder of Pascal VOC's XML or of LabelMe's JSON files, or for YOLO
            the folder of the images.
        images: The folder of the images (YOLO: of the text files); default: as penstock.annotations finds it.
        format: "coco", "voc", "yolo" or "labelme"; default: what the files show.
        classes: Names of the classes in their order; default: those of the file.
        masks: Also give the mask of each object (COCO, LabelMe, and YOLO's polygons).
        keypoints: Also give keypoints. COCO: True. YOLO: (k, 2) or (k, 3), its kpt_shape. LabelMe: the labels
            of the points, in their order.
        flip_pairs: Pairs of keypoints that change places where the image is mirrored, such as [(1, 2), (3, 4)];
            default: those of COCO and LabelMe whose names differ by left and right. [] swaps none.
        flip_indices: Instead of flip_pairs: the keypoint that takes each place, as flip_idx of YOLO.
        size: Pixels of height and width.
        min_visibility: Boxes are dropped if less than this fraction of them stays in the image.
        mean: The means of the three channels, for values from 0 to 255.
        std: Likewise.
        pad: A number: the lists become tensors, filled up with it.
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
    annotations = path_of("detection", "the annotations", annotations)
    if isinstance(images, (str, os.PathLike)) and os.path.isfile(images) and os.path.isdir(annotations):
        raise ValueError(f"detection takes the annotations first: detection({os.fspath(images)!r}, {annotations!r})")
    format = _format(annotations) if format is None else format
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {', '.join(_FORMATS)}, got {format!r}")
    more = _more(format, images, classes, masks, keypoints)
    recipe = Recipe(o, (format, [annotations], more))
    parts = _Parts(format, masks, keypoints, min_visibility)
    if keypoints:
        parts.flip_indices = recipe.program.call("table.flip_indices", pairs=flip_pairs, indices=flip_indices)
    elif flip_pairs is not None or flip_indices is not None:
        raise ValueError("flip_pairs and flip_indices are for keypoints: say keypoints=, too")
    names = parts.names()
    recipe.add(f"{', '.join(names)} = table.look_up(row, {', '.join(map(repr, parts.columns()))})")
    if masks and o.device == "gpu":
        recipe.add("masks = masks.gpu()")
    recipe.add(f'image = fn.decoders.image(data, device="{recipe.decoder}")', *parts.sample())
    if o.training:
        recipe.augment("sample")
        recipe.add("sample = fn.flip(sample, horizontal=fn.random.coin_flip())")
    recipe.add(f'sample = fn.resize(sample, size={size}, mode="not_larger")')
    recipe.add(f'sample = fn.crop(sample, crop={size}, out_of_bounds_policy="pad", fill_values=114)')
    recipe.add(f"image, {', '.join(names)} = (sample[part] for part in {('image', *names)!r})")
    if format == "yolo":
        recipe.add(f"boxes = boxes * types.Constant([{size[1]}.0, {size[0]}.0, {size[1]}.0, {size[0]}.0])  # pixels")
    recipe.normalize(mean, std)
    names = ["image", *names]
    return recipe.loader(names, names, ragged=dict.fromkeys(names[1:], "list" if pad is None else pad))


class _Parts:
    """The parts of a sample: columns of the table, outputs of the loader, and the lines that make a Sample of them."""

    def __init__(self, format, masks, keypoints, min_visibility):
        self.format, self.masks, self.keypoints = format, bool(masks), bool(keypoints)
        self.min_visibility, self.flip_indices = min_visibility, ""

    def columns(self):
        return ["boxes", "labels", *["masks"] * self.masks, *["points"] * self.keypoints]

    def names(self):
        return ["keypoints" if n == "points" else n for n in self.columns()]

    def sample(self):
        """The lines."""
        fractions = self.format == "yolo"
        lines = []
        if self.keypoints and fractions:
            lines += [
                "height, width = fn.peek_image_shape(data)[0], fn.peek_image_shape(data)[1]",
                "unit = fn.cat(fn.cast(fn.stack(width, height), dtype=types.FLOAT), types.Constant([1.0]), axis=0)",
                "keypoints = keypoints * unit  # pixels",
            ]
        how = f"{'normalized=True, ' if fractions else ''}min_visibility={self.min_visibility}"
        lines += [f"boxes = Boxes(boxes, {how})"]
        lines += ["masks = Instances(masks)"] if self.masks else []
        lines += [f"keypoints = Keypoints(keypoints, flip_indices={self.flip_indices})"] if self.keypoints else []
        parts = ", ".join(f"{n}={n}" for n in ("image", *self.names()))
        return [*lines, f"sample = Sample({parts})"]


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


def _more(format, images, classes, masks, keypoints):
    if format == "coco" and classes is not None:
        raise ValueError("COCO's file names the classes itself: leave out classes, or use where=")
    if format == "labelme" and images is not None:
        raise ValueError("LabelMe's files name the images in relation to themselves: leave out images")
    if format == "voc" and (masks or keypoints):
        raise ValueError("files of Pascal VOC have boxes alone: leave out masks and keypoints")
    if keypoints and (keypoints is True) != (format == "coco"):
        wanted = {"coco": "True", "yolo": "(k, 2) or (k, 3)", "labelme": "the labels of the points"}[format]
        raise ValueError(f"keypoints of the format {format!r} must be {wanted}, got {keypoints!r}")
    images, masks, keypoints = None if images is None else os.fspath(images), masks or None, keypoints or None
    return {
        "coco": {"images": images, "masks": masks, "keypoints": keypoints},
        "yolo": {"labels": images, "classes": classes, "masks": masks, "keypoints": keypoints},
        "labelme": {"classes": classes, "keypoints": keypoints},
        "voc": {"images": images, "classes": classes},
    }[format]
