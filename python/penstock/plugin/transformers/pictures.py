# SPDX-License-Identifier: Apache-2.0
"""Programs that prepare a picture as a whole."""

NEEDS_SIDES = {"height", "width"}


def target(text, configuration, shape="shape"):
    """The size that the field `size` means of a picture of this shape."""
    size = configuration.size()
    if set(size) == NEEDS_SIDES:
        return size["height"], size["width"]
    if set(size) == {"shortest_edge"}:
        return text.computed("size", shape, "shortest_edge", edge=size["shortest_edge"])
    if set(size) == {"shortest_edge", "longest_edge"}:
        return text.computed("size", shape, "edges", shortest=size["shortest_edge"], longest=size["longest_edge"])
    if set(size) == {"max_height", "max_width"}:
        return text.computed("size", shape, "within", **size)
    return configuration.refuse("size", "this class takes height and width, or shortest_edge")


def least_side(configuration):
    """The least side that a resized picture can have, as far as the field `size` says."""
    size = configuration.size()
    return min(size.values()) if set(size) in (NEEDS_SIDES, {"shortest_edge"}) else 1


def finish(text, configuration, smallest, name="pixel_values", layout=None):
    """Crops, normalizes and pads; `smallest` is the least side of what comes, 0 where it is not known."""
    crop = configuration.sides("crop_size") if configuration["do_center_crop"] else None
    text.normalized(name, crop, fills=crop is not None and smallest < max(crop), layout=layout)
    if configuration["do_pad"]:
        shape = "" if configuration["pad_size"] is None else f", shape={list(configuration.sides('pad_size'))}"
        text.line(f'{name} = fn.pad({name}, axis_names="HW"{shape})')
    text.result(name)


def plain(text, configuration):
    """CLIP, SigLIP, ViT, DeiT, BiT: resize, crop, normalize."""
    smallest = 0
    if configuration["do_resize"]:
        smallest = least_side(configuration)
        crop = configuration.sides("crop_size") if configuration["do_center_crop"] else None
        columns = crop[1] if crop and smallest >= max(crop) else None
        text.resized(target(text, configuration), columns=columns)
    finish(text, configuration, smallest)


def llava(text, configuration):
    """LLaVA: pads to a square of the mean color first."""
    if not configuration["do_pad"]:
        return plain(text, configuration)
    color = [float(int(mean * 255)) for mean in configuration["image_mean"]]
    side = text.computed("square", "shape", "square")
    configuration = configuration.replaced(do_pad=False)
    edge = configuration.size()
    fill = f'rounding="truncate", out_of_bounds_policy="pad", fill_values={color})'
    if configuration["do_resize"] and set(edge) == {"shortest_edge"} and text.in_two_steps:
        text.line("# the picture in the middle of a square: columns are added now, rows when there are fewer columns")
        text.line(f"images = fn.crop(images, crop_h=0, crop_w={side[1]}, {fill}")
        between = f"images = fn.crop(images, crop_h={side[0]}, crop_w=0, {fill}"
        text.resized((edge["shortest_edge"],) * 2, between=between)
        return finish(text, configuration, edge["shortest_edge"])
    text.line("# the picture in the middle of a square")
    text.line(f"images = fn.crop(images, crop_h={side[0]}, crop_w={side[1]}, {fill}")
    if set(edge) == {"shortest_edge"}:  # of a square
        text.resized((edge["shortest_edge"],) * 2)
        return finish(text, configuration, edge["shortest_edge"])
    return plain(text, configuration)


def convnext(text, configuration):
    """ConvNeXT: below 384 pixels, larger by crop_pct and cropped; else a square."""
    edge = configuration.size().get("shortest_edge")
    if edge is None:
        configuration.refuse("size", "ConvNeXT takes shortest_edge")
    crop = None
    if configuration["do_resize"] and edge < 384:
        larger = int(edge / configuration["crop_pct"])
        text.resized(text.computed("size", "shape", "shortest_edge", edge=larger), columns=edge)
        crop = edge, edge
    elif configuration["do_resize"]:
        text.resized((edge, edge))
    if configuration["do_center_crop"]:
        configuration.refuse("do_center_crop", "ConvNeXT crops by crop_pct")
    text.normalized("pixel_values", crop)
    text.result("pixel_values")


def pixtral(text, configuration):
    """Pixtral: whole patches; the pictures of a batch are padded."""
    size, patch = configuration.size(), configuration.sides("patch_size")
    limit = (size["longest_edge"],) * 2 if set(size) == {"longest_edge"} else configuration.sides("size")
    target = ("shape[0]", "shape[1]")
    if configuration["do_resize"]:
        names = {"max_height": limit[0], "max_width": limit[1], "patch_height": patch[0], "patch_width": patch[1]}
        target = text.computed("size", "shape", "whole_patches", **names)
        text.resized(target)
    else:
        text.needs_shape()
    if configuration["do_pad"]:
        text.padded("pixel_values", target[0].split("[")[0], mask=None)
    else:
        text.normalized("pixel_values", None)
    text.line(f"image_sizes = fn.cast({target[0].split('[')[0]}[:2], dtype=types.INT64)")
    text.result("pixel_values", "image_sizes")


def qwen(text, configuration):
    """Qwen2-VL and Qwen2.5-VL: patches in a row, and the grid that they come from."""
    patch, merge, frames = (configuration[f] for f in ("patch_size", "merge_size", "temporal_patch_size"))
    size = "shape"
    if configuration["do_resize"]:
        least, most = configuration.pixels()
        text.resized(
            text.computed("size", "shape", "smart_resize", factor=patch * merge, min_pixels=least, max_pixels=most)
        )
        size = "size"
    text.line("# windows of merged patches follow each other")
    text.value("axes", size, "patch_axes", patch=patch, merge=merge)
    text.line("images = fn.transpose(fn.reshape(images, axes), perm=[0, 3, 1, 4, 6, 2, 5])")
    text.line(f"images = fn.reshape(images, shape=[-1, 3, {patch * patch}])")
    text.line("# a patch has several frames, of an image all equal")
    text.line(f"images = fn.stack({', '.join(['images'] * frames)}, axis=2)")
    text.line(f"images = fn.reshape(images, shape=[-1, {3 * frames * patch * patch}])")
    text.normalized_rows("pixel_values", "images", frames * patch * patch)
    text.value("image_grid_thw", size, "patch_grid", patch=patch)
    text.result("pixel_values", "image_grid_thw")
