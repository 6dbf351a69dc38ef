# SPDX-License-Identifier: Apache-2.0
"""Programs that cut a picture into tiles, beside the whole picture."""


def _in_tiles(text, of, size, tile):
    """The picture `of` as `tiles`, with the layout FHWC, row by row."""
    text.value("axes", size, "tile_axes", tile=tile)
    text.line(f"tiles = fn.transpose(fn.reshape({of}, axes), perm=[0, 2, 1, 3, 4])")
    text.line(f'tiles = fn.reshape(tiles, shape=[-1, {tile}, {tile}, 3], layout="FHWC")')


def _one(of, tile):
    return f'fn.reshape({of}, shape=[1, {tile}, {tile}, 3], layout="FHWC")'


def llava_next(text, configuration):
    """LLaVA-NeXT and Onevision: the whole picture, then the tiles of the grid that fits best."""
    side = configuration.sides("size")
    if side[0] != side[1]:
        configuration.refuse("size", "tiles are squares")
    tile = side[0]
    if configuration["crop_size"] is not None and configuration.sides("crop_size") != side:
        configuration.refuse("crop_size", f"tiles have the size {tile}, and are not cropped to another")
    pinpoints = [tuple(pair) for pair in configuration["image_grid_pinpoints"]]
    if any(extent % tile for pair in pinpoints for extent in pair):
        configuration.refuse("image_grid_pinpoints", f"expected multiples of the tile, {tile}")
    new = text.computed("grid", "shape", "tiles", pinpoints=pinpoints)
    text.resized(new, to="large")
    text.line("# in the middle of its grid")
    text.line('large = fn.crop(large, crop_h=grid[2], crop_w=grid[3], rounding="truncate", out_of_bounds_policy="pad")')
    _in_tiles(text, "large", "grid[2:]", tile)
    text.resized((tile, tile))
    text.line(f"tiles = fn.cat({_one('images', tile)}, tiles, axis=0)")
    text.normalized("pixel_values", None, of="tiles", layout="FCHW")
    if configuration["do_pad"]:
        text.line("pixel_values = fn.pad(pixel_values, axes=[0])")
    text.line("image_sizes = shape[:2]")
    names = ["pixel_values", "image_sizes"]
    if configuration.name == "LlavaOnevisionImageProcessor":
        text.line("batch_num_images = fn.constant(idata=1, shape=[], dtype=types.INT64)  # of each prompt")
        names.append("batch_num_images")
    text.result(*names)


def idefics3(text, configuration):
    """Idefics3: tiles of one size, then the whole picture."""
    size, tile = configuration.size(), configuration.size("max_image_size")
    if set(tile) != {"longest_edge"}:
        configuration.refuse("max_image_size", "expected longest_edge")
    tile = tile["longest_edge"]
    if configuration["do_resize"]:
        if set(size) == {"longest_edge"}:
            text.resized(text.computed("longest", "shape", "longest_edge", edge=size["longest_edge"]))
        else:
            text.resized(configuration.sides("size"))
    names = ["pixel_values"]
    if configuration["do_image_splitting"]:
        _split(text, configuration, tile, size)
    else:
        text.resized((tile, tile))
        text.normalized("images", None)
        text.line("pixel_values = fn.expand_dims(images, axes=[0])")
    if configuration["do_pad"]:
        text.line("pixel_attention_mask = fn.ones_like(pixel_values[:, 0], dtype=types.INT64)")
        text.line("pixel_values = fn.pad(pixel_values, axes=[0])")
        text.line("pixel_attention_mask = fn.pad(pixel_attention_mask, axes=[0])")
        names.append("pixel_attention_mask")
    if configuration["return_row_col_info"] and configuration["do_image_splitting"]:
        text.value("grid", "size", "tile_rows", tile=tile)
        text.line("rows, cols = grid[0], grid[1]")
        names += ["rows", "cols"]
    text.result(*names)


def _split(text, configuration, tile, size):
    of = "longest" if configuration["do_resize"] and set(size) == {"longest_edge"} else "shape"
    if configuration["do_resize"] and of == "shape":
        configuration.refuse("size", "do_image_splitting needs longest_edge")
    text.resized(text.computed("size", of, "whole_tiles", tile=tile))
    text.line("# the picture of all tiles is the source of the small one")
    text.resized((tile, tile), to="whole")
    _in_tiles(text, "images", "size", tile)
    text.line(f"tiles = fn.cat(tiles, {_one('whole', tile)}, axis=0)")
    text.value("count", "size", "tile_count", tile=tile)
    text.line("tiles = fn.slice(tiles, end=count, axes=[0])")
    text.normalized("pixel_values", None, of="tiles", layout="FCHW")


def idefics2(text, configuration):
    """Idefics2: the picture within limits; the pictures of a batch are padded, and a mask says where."""
    if configuration["do_image_splitting"]:
        configuration.refuse("do_image_splitting", "the quarters of Idefics2 are not supported; give False")
    size = configuration.size()
    if configuration["do_resize"]:
        if set(size) == {"shortest_edge", "longest_edge"}:
            limits = {"shortest": size["shortest_edge"], "longest": size["longest_edge"]}
            text.resized(text.computed("size", "shape", "between", **limits))
        else:
            text.resized(configuration.sides("size"))
    text.normalized("pixel_values", None)
    names = ["pixel_values"]
    if configuration["do_pad"]:
        text.line("pixel_attention_mask = fn.ones_like(pixel_values[:1], dtype=types.INT64)")
        text.line("pixel_attention_mask = fn.pad(pixel_attention_mask, axes=[1, 2])")
        text.line("pixel_values = fn.pad(pixel_values, axes=[1, 2])")
        text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
        names.append("pixel_attention_mask")
    else:
        text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
    text.result(*names)
