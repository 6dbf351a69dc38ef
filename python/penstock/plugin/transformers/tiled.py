# SPDX-License-Identifier: Apache-2.0
"""Programs that cut a picture into tiles, beside the whole picture."""

from . import windows


def _in_tiles(text, of, size, tile, width=None):
    """The picture `of` as `tiles`, with the layout FHWC, row by row."""
    text.value("axes", size, "tile_axes", tile=tile, **({} if width is None else {"tile_width": width}))
    text.line(f"tiles = fn.transpose(fn.reshape({of}, axes), perm=[0, 2, 1, 3, 4])")
    text.line(f'tiles = fn.reshape(tiles, shape=[-1, {tile}, {width or tile}, 3], layout="FHWC")')


def _one(of, tile, width=None):
    return f'fn.reshape({of}, shape=[1, {tile}, {width or tile}, 3], layout="FHWC")'


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
        _mask(text, configuration, tile)
        text.line("pixel_values = fn.pad(pixel_values, axes=[0])")
        text.line("pixel_attention_mask = fn.pad(pixel_attention_mask, axes=[0])")
        names.append("pixel_attention_mask")
    if configuration["return_row_col_info"] and configuration["do_image_splitting"]:
        text.value("grid", "size", "tile_rows", tile=tile)
        text.line("rows, cols = grid[0], grid[1]")
        names += ["rows", "cols"]
    text.result(*names)


def _mask(text, configuration, tile):
    """Ones for each pixel of the tiles."""
    if text.device == "gpu":  # where the tiles are
        return text.line("pixel_attention_mask = fn.ones_like(pixel_values[:, 0], dtype=types.INT64)")
    extents = [1, tile, tile]
    if configuration["do_image_splitting"]:
        text.value("extents", "size", "mask_extents", tile=tile)
        extents = "extents"
    text.line(f"pixel_attention_mask = fn.ones(shape={extents}, dtype=types.INT64)")


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


def got_ocr2(text, configuration):
    """GOT-OCR2 and InternVL: the tiles of the grid whose aspect ratio is nearest, then the whole picture."""
    height, width = configuration.sides("size")
    if not configuration["crop_to_patches"]:
        if configuration["do_resize"]:
            text.resized((height, width))
        text.normalized("pixel_values", None)
        text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
        text.line("num_patches = fn.constant(idata=1, shape=[], dtype=types.INT64)")
        return text.result("pixel_values", "num_patches")
    limits = {"tile": (height, width), "least": configuration["min_patches"], "most": configuration["max_patches"]}
    text.resized(text.computed("size", "shape", "tilings.nearest_grid", **limits), to="large")
    text.resized((height, width), to="whole")
    _in_tiles(text, "large", "size", height, width)
    text.line(f"tiles = fn.cat(tiles, {_one('whole', height, width)}, axis=0)")
    text.value("num_patches", "size", "tilings.count", tile=(height, width))
    text.line("tiles = fn.slice(tiles, end=num_patches, axes=[0])  # one tile is the whole picture")
    text.normalized("pixel_values", None, of="tiles", layout="FCHW")
    text.line("num_patches = num_patches[0]")
    text.result("pixel_values", "num_patches")


def mllama(text, configuration):
    """Mllama: the tiles of the smallest canvas that a picture fits; there are as many of each picture."""
    height, width = configuration.sides("size")
    if height != width:
        configuration.refuse("size", "tiles are squares")
    for field in ("do_resize", "do_pad"):
        if not configuration[field]:
            configuration.refuse(field, "Mllama takes True alone")
    most = configuration["max_image_tiles"]
    text.resized(text.computed("grid", "shape", "tilings.canvas", tile=height, most=most))
    text.line(
        "images = fn.crop(images, crop_h=grid[2], crop_w=grid[3], crop_pos_x=0.0, crop_pos_y=0.0, "
        'out_of_bounds_policy="pad")'
    )
    _in_tiles(text, "images", "grid[2:]", height)
    text.normalized("pixel_values", None, of="tiles", layout="FCHW")
    text.line(f"pixel_values = fn.pad(pixel_values, axes=[0], shape=[{most}])")
    text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
    text.value("aspect_ratio_ids", "grid[2:]", "tilings.number_of_canvas", tile=height, most=most)
    text.value("aspect_ratio_mask", "grid[2:]", "tilings.mask_of_canvas", tile=height, most=most)
    text.value("num_tiles", "grid[2:]", "tilings.count_of_canvas", tile=height)
    text.result("pixel_values", "aspect_ratio_ids", "aspect_ratio_mask", "num_tiles")


PROGRAMS = {
    "LlavaNextImageProcessor": llava_next,
    "LlavaOnevisionImageProcessor": llava_next,
    "Idefics2ImageProcessor": windows.idefics2,
    "Idefics3ImageProcessor": idefics3,
    "SmolVLMImageProcessor": idefics3,
    "GotOcr2ImageProcessor": got_ocr2,
    "Gemma3ImageProcessor": windows.gemma3,
    "MllamaImageProcessor": mllama,
}
