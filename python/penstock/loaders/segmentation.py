# SPDX-License-Identifier: Apache-2.0
"""penstock.segmentation: images with a class for each pixel."""

from __future__ import annotations

import os

from .common import MEAN, STD, Recipe, options_of, pair, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .loader import Loader


def segmentation(
    images: Any,
    masks: Any,
    *,
    size: int | Sequence[int] = 512,
    ignore: int = 255,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    **arguments: Any,
) -> Loader:
    """Makes a loader of images with a class for each pixel.

    Training: random_resized_crop, augment and a flip of both; validation: a resize to size. Batches are
    dicts: "image" float32 (N, 3, H, W), "mask" int64 (N, H, W).

    Args:
        images: The folder of the images.
        masks: The folder of the masks, files of one channel with the class of each pixel and the names of the
            images; or COCO's JSON file; or, for LabelMe, the folder of the images and JSON files again. There
            a pixel is the label plus 1, 0 for the background. The PNGs of COCO's panoptic form are in the folder with
            the name of the JSON file.
        size: Pixels of height and width.
        ignore: The class of pixels that an augmentation takes from outside the image.
        mean: The means of the three channels, for values from 0 to 255.
        std: Likewise.
        **arguments: batch_size, training, shuffle, limit, where, augment, device ...: see image_folder();
            augment gets a Sample of an image and a mask.

    Returns:
        A Loader. print(loader.program) shows the pipeline.

    Raises:
        DataError: An image has no mask, or a mask has a palette, several channels, or another size than its image.
        TypeError: There is no such argument.
        ValueError: An argument has a value that it cannot have.

    Example:
        loader = penstock.segmentation("images", "masks", size=512, batch_size=8)
    """
    o, size = options_of("segmentation", arguments, batch_size=16), pair(size)
    images = path_of("segmentation", "the folder of the images", images)
    masks = path_of("segmentation", "the folder of the masks", masks)
    from_coco = masks.endswith(".json")
    from_labelme = _is_of_labelme(images, masks)
    made = ("image_pairs", [images, masks], {"classes_only": True})
    made = ("coco", [masks, images], {"masks": True}) if from_coco else made
    recipe = Recipe(o, ("labelme", [masks], {}) if from_labelme else made)
    if from_coco or from_labelme:
        recipe.add('mask = table.look_up(row, "mask")')
    else:
        recipe.add('mask = fn.io.file.read(table.look_up(row, "mask_file"))')
        recipe.add("mask = fn.decoders.image(mask, output_type=types.GRAY)")
    if o.device == "gpu":
        recipe.add("mask = mask.gpu()")
    recipe.add(f'image = fn.decoders.image(data, device="{recipe.decoder}")')
    recipe.add(f"sample = Sample(image=image, mask=Mask(mask, fill={ignore}))")
    if o.training:
        recipe.add(f"sample = fn.random_resized_crop(sample, size={size}, random_area=[0.25, 1.0])")
        recipe.augment("sample")
        recipe.add("sample = fn.flip(sample, horizontal=fn.random.coin_flip())")
    else:
        recipe.add(f"sample = fn.resize(sample, size={size})")
    recipe.add('image, mask = sample["image"], fn.cast(fn.squeeze(sample["mask"], axes=[2]), dtype=types.INT64)')
    recipe.normalize(mean, std)
    return recipe.loader(["image", "mask"], ["image", "mask"], labels=False)


def _is_of_labelme(images, masks):
    """One folder with images and JSON files, which name the images in relation to themselves."""
    same = os.path.isdir(images) and os.path.isdir(masks) and os.path.samefile(images, masks)
    return same and any(name.endswith(".json") for name in os.listdir(masks))
