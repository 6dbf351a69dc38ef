# SPDX-License-Identifier: Apache-2.0
"""COCO's panoptic form: a PNG for each image, whose pixels are the numbers of segments, and the segments in the JSON file."""

import numpy as np

from .. import fn, types
from .outlines import Outlines
from .records import fault, file_below, shortened, size_of

_LARGEST_ID = (1 << 24) - 1  # of three bytes; 0 is what belongs to no segment


class _Segment:
    """The mask of one segment."""

    __slots__ = ("ids", "number")

    def __init__(self, ids, number):
        self.ids, self.number = ids, number

    def mask(self):
        """(height, width) uint8, 1 where the segment is."""
        return (self.ids == self.number).view(np.uint8)


class PanopticOutlines:
    """The masks of an image's segments, read from its PNG when they are looked up."""

    __slots__ = ("file", "numbers", "others", "size")

    def __init__(self, file, size, numbers, others):
        self.file, self.size, self.numbers, self.others = file, size, numbers, others

    def __len__(self):
        return len(self.numbers)

    def in_pixels(self):
        """Outlines.

        Raises:
            DataError: The PNG has another size than the image, or other segments than the JSON file.
        """
        if self.file is None:
            return Outlines(*self.size, [])
        ids = ids_of(self.file, self.size)
        there, listed = {*np.unique(ids).tolist()} - {0}, {*self.numbers, *self.others}
        if there - listed:
            raise fault(self.file, "", f"the segment {min(there - listed)} is not in segments_info of this image")
        if listed - there:
            raise fault(self.file, "", f"no pixel has the segment {min(listed - there)} of segments_info")
        return Outlines(*self.size, [_Segment(ids, number) for number in self.numbers])


def ids_of(file, size):
    """(H, W) int32: the number of the segment of each pixel, R + 256 G + 65536 B."""
    encoded = fn.io.file.read(np.frombuffer(file.encode(), np.uint8))
    shape = tuple(int(n) for n in np.asarray(fn.peek_image_shape(encoded)))
    if shape != (*size, 3):
        raise fault(file, "", f"a panoptic PNG of this image has the shape {(*size, 3)}, got {shape}")
    pixels = np.asarray(fn.decoders.image(encoded, output_type=types.RGB)).astype(np.int32)
    return pixels[..., 0] | pixels[..., 1] << 8 | pixels[..., 2] << 16


def is_panoptic(annotations):
    """Whether these annotations are of images, with their segments, and not of objects."""
    return any("segments_info" in item for item in annotations)


class Segments:
    """The annotations of a panoptic file as those of objects, and the masks of images."""

    def __init__(self, file, folder, annotations):
        self.file, self.folder = file, folder or file.removesuffix(".json")
        self.items, self.of_image, self.objects = annotations, {}, []
        for k, item in enumerate(annotations):
            where = f"annotations[{k}]"
            if not isinstance(item.get("image_id"), int) or item["image_id"] in self.of_image:
                raise fault(file, where, f"image_id {shortened(item.get('image_id'))} is none of one image")
            self.of_image[item["image_id"]] = item
            self.objects += self._objects(item, where)

    def _objects(self, item, where):
        segments, seen = item.get("segments_info"), set()
        if not isinstance(segments, list) or not all(isinstance(s, dict) for s in segments):
            raise fault(self.file, where, f"segments_info must be a list of objects, got {shortened(segments)}")
        for segment in segments:
            number = segment.get("id")
            if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= _LARGEST_ID:
                raise fault(
                    self.file, where, f"the id of a segment is from 1 to {_LARGEST_ID}, got {shortened(number)}"
                )
            if number in seen:
                raise fault(self.file, where, f"the segment {number} occurs twice")
            seen.add(number)
        return [{**segment, "image_id": item["image_id"]} for segment in segments]

    def outlines(self, picture, number, objects, outside):
        """The masks of the objects of an image."""
        size = size_of(picture.get("height"), picture.get("width"), self.file, f"image {number}")
        item = self.of_image.get(number)
        if item is None:
            return PanopticOutlines(None, size, [], [])
        png = file_below(self.folder, item.get("file_name"), self.file, f"the annotation of image {number}", outside)
        taken = [o["id"] for o in objects]
        others = [s["id"] for s in item["segments_info"] if s["id"] not in {*taken}]
        return PanopticOutlines(png, size, taken, others)
