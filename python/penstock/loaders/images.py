# SPDX-License-Identifier: Apache-2.0
"""penstock.image_folder: classification."""

from __future__ import annotations

import os

from .common import MEAN, STD, Recipe, options_of, pair, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .loader import Loader


def image_folder(
    path: Any,
    *,
    size: int | Sequence[int] = 224,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    text: Sequence[str] = (),
    **arguments: Any,
) -> Loader:
    """Makes a loader of images with class labels, for training or validation.

    Training: random_resized_crop, augment, a random flip. Validation (training=False): the shorter side
    becomes size / 0.875, then the center is cropped. Batches are dicts: "image" float32 (N, 3, H, W), "label"
    int64 (N,).

    Args:
        path: A folder with one subfolder for each class, or a list (.csv, .tsv, .jsonl, .parquet) with a
            column of files and one of labels.
        size: Pixels of height and width.
        mean: The means of the three channels, for values from 0 to 255.
        std: Likewise.
        text: Columns of a list that batches have as lists of str.
        **arguments: batch_size, training, shuffle, limit, where, weights, sampler, augment, device,
            device_id, num_threads, prefetch, seed, shard_id, num_shards, last_batch, on_error, late, framework:
            see "Begin with one line" in the documentation.

    Returns:
        A Loader. print(loader.program) shows the pipeline.

    Raises:
        FileNotFoundError: There is no such folder or list.
        TypeError: There is no such argument.
        ValueError: An argument has a value that it cannot have.

    Example:
        train = penstock.image_folder("photos/train", batch_size=64, augment="rand_augment")
        val = penstock.image_folder("photos/val", batch_size=64, training=False)
        for batch in train:
            loss = criterion(model(batch["image"]), batch["label"])
    """
    o, size = options_of("image_folder", arguments), pair(size)
    path = path_of("image_folder", "a folder of classes or a list of files", path)
    recipe = Recipe(
        o, ("image_folder" if os.path.isdir(path) or not os.path.splitext(path)[1] else "manifest", [path], {})
    )
    names = ["label", *text]
    recipe.add(f"{', '.join(names)} = table.look_up(row, {', '.join(map(repr, names))})")
    recipe.add(f'image = fn.decoders.image(data, device="{recipe.decoder}")')
    if o.training:
        recipe.add(f"image = fn.random_resized_crop(image, size={size})")
        recipe.augment("image")
    else:
        larger = [round(s / 0.875) for s in size]
        recipe.add(
            f'image = fn.resize(image, size={larger}, mode="not_smaller")', f"image = fn.crop(image, crop={size})"
        )
    recipe.normalize(mean, std, mirror=o.training)
    texts = {"texts": list(text)} if text else {}
    return recipe.loader(["image", *names], ["image", *names], **texts)
