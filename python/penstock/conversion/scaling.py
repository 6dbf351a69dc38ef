# SPDX-License-Identifier: Apache-2.0
"""Makes pictures smaller on their way: decode, resize, encode as JPEG, in the pipeline that reads them."""

from __future__ import annotations

import json

import numpy as np

from .. import _core, control, fn, types


def boxes_of(objects):
    """Returns left, top, right, bottom of annotations in COCO's form, (n, 4) float32; zeros where one has no box.

    Args:
        objects: The annotations.
    """
    boxes = np.array([o.get("bbox") or [0, 0, 0, 0] for o in objects], np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes.astype(np.float32)


class Scaling:
    """Pictures whose shorter side is longer than `shorter` get that size; others keep their bytes.

    Args:
        shorter: Pixels.
        quality: The quality of the JPEG files that are written.
    """

    def __init__(self, shorter, quality):
        self.shorter, self.quality = shorter, quality

    def add(self, fields, nodes):
        """Puts the operators after the reader.

        Args:
            fields: The fields.
            nodes: A value of the pipeline for each; those of pictures are replaced.

        Returns:
            The shape of each picture before it was scaled, as values of the pipeline.
        """
        shapes = []
        for k, field in enumerate(fields):
            if field.kind == "image":
                shapes.append(fn.peek_image_shape(nodes[k]))
                nodes[k] = self._smaller(nodes[k], shapes[-1])
        if not shapes:
            raise ValueError("shorter= needs a field of pictures")
        return shapes

    def _smaller(self, file, shape):
        def scaled():
            picture = fn.decoders.image(file, output_type=types.RGB)
            picture = fn.resize(picture, resize_shorter=float(self.shorter), interp_type=types.INTERP_TRIANGULAR)
            return fn.encoders.jpeg(picture, quality=self.quality)

        return control.if_(fn.reductions.min(shape[:2]) > self.shorter, scaled, lambda: file)

    def changed(self, fields, values, about, shapes):
        """Returns the values of a sample whose pictures are scaled: boxes in pixels are scaled as well.

        Args:
            fields: The fields.
            values: A value for each.
            about: What is known of all samples.
            shapes: The shapes of the pictures before.

        Raises:
            DataError: An annotation cannot be scaled.
        """
        if about.get("annotations") != "coco":
            return values
        picture = next(v for f, v in zip(fields, values) if f.kind == "image")
        now = fn.peek_image_shape(np.frombuffer(picture, np.uint8))
        y, x = (float(now[axis]) / float(shapes[0][axis]) for axis in (0, 1))
        return values if (y, x) == (1, 1) else self._moved(fields, values, x, y)

    def _moved(self, fields, values, x, y):
        made = {field.name: value for field, value in zip(fields, values)}
        if "coco" in made:
            root = json.loads(made["coco"])
            for item in root["annotations"]:
                item.update(_scaled(item, x, y))
            made["coco"] = json.dumps(root, separators=(",", ":"), sort_keys=True).encode()
        if "boxes" in made:
            moved = (made["boxes"] * np.float32([x, y, x, y])).astype(np.float32)
            made["boxes"] = boxes_of(root["annotations"]) if "coco" in made else moved
        return list(made.values())


def _scaled(item, x, y):
    """What of an annotation in COCO's form is in pixels."""
    made, outline = {}, item.get("segmentation")
    if isinstance(outline, dict):
        raise _core.DataError(
            f"annotation {item.get('id')} has a mask of run lengths, which is not scaled: convert without shorter="
        )
    if "bbox" in item:
        made["bbox"] = [round(v * s, 3) for v, s in zip(item["bbox"], (x, y, x, y))]
    if "area" in item:
        made["area"] = round(item["area"] * x * y, 3)
    if isinstance(outline, list):
        made["segmentation"] = [[round(v * (y if k % 2 else x), 3) for k, v in enumerate(part)] for part in outline]
    if "keypoints" in item:
        made["keypoints"] = [
            v if k % 3 == 2 else round(v * (y if k % 3 else x), 3) for k, v in enumerate(item["keypoints"])
        ]
    return made
