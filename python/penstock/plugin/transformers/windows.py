# SPDX-License-Identifier: Apache-2.0
"""Programs that resize several windows of a picture."""


def _window(text, index, of, arguments, function, size):
    """Window `index` of the picture as part{index}, resized; returns the name of its size."""
    text.value("window", of, function, index=index, **arguments)
    part = f"part{index}"
    text.line(f"{part} = fn.slice(images, start=window[:2], shape=window[2:], axes=[0, 1])")
    if callable(size):
        size = size(f"size{index}")
    if size is not None:
        text.resized(size, to=part, of=part)
    return part


def _limited(text, configuration):
    """A function that writes the size of a window, None where nothing is resized."""
    size = configuration.size()
    if not configuration["do_resize"]:
        return lambda name: text.line(f"{name} = window[2:]")
    if set(size) != {"shortest_edge", "longest_edge"}:
        sides = configuration.sides("size")

        def fixed(name):
            text.line(f"{name} = fn.constant(fdata={[float(s) for s in sides]})")
            return sides

        return fixed
    limits = {"shortest": size["shortest_edge"], "longest": size["longest_edge"]}
    return lambda name: text.computed(name, "window[2:]", "between", **limits)


def idefics2(text, configuration):
    """Idefics2: the picture within limits, after its quarters; those of a batch are padded, and a mask says where."""
    if configuration["do_image_splitting"]:
        return _quarters(text, configuration)
    size, each = configuration.size(), "shape"
    if configuration["do_resize"]:
        if set(size) == {"shortest_edge", "longest_edge"}:
            limits, each = {"shortest": size["shortest_edge"], "longest": size["longest_edge"]}, "size"
            text.resized(text.computed("size", "shape", "between", **limits))
        else:
            each = None
            text.resized(configuration.sides("size"))
    if not configuration["do_pad"]:
        text.normalized("pixel_values", None)
        text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
        return text.result("pixel_values")
    if each == "shape":
        text.needs_shape()
    text.padded("pixel_values", each)
    text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
    return text.result("pixel_values", "pixel_attention_mask")


def _quarters(text, configuration):
    limited = _limited(text, configuration)
    for index in range(5):
        _window(text, index, "shape", {}, "tilings.quarter", limited)
    names = ["pixel_values"]
    if configuration["do_pad"]:
        text.value("most", ", ".join(f"size{k}" for k in range(5)), "tilings.largest")
        names.append("pixel_attention_mask")
    for k in range(5):
        text.normalized(f"values{k}", None, of=f"part{k}")
        if configuration["do_pad"]:
            text.line(f"mask{k} = fn.pad(fn.ones_like(values{k}[0], dtype=types.INT64), axes=[0, 1], shape=most)")
            text.line(f"values{k} = fn.pad(values{k}, axes=[1, 2], shape=most)")
    text.line(f"pixel_values = fn.stack({', '.join(f'values{k}' for k in range(5))}, axis=0)")
    if configuration["do_pad"]:
        text.line(f"pixel_attention_mask = fn.stack({', '.join(f'mask{k}' for k in range(5))}, axis=0)")
        text.line("pixel_values = fn.pad(pixel_values, axes=[2, 3])")
        text.line("pixel_attention_mask = fn.pad(pixel_attention_mask, axes=[1, 2])")
    text.result(*names)


def gemma3(text, configuration):
    """Gemma 3: the whole picture, then windows of a long one where `do_pan_and_scan` says so."""
    size = configuration.sides("size")
    if not configuration["do_pan_and_scan"]:
        if configuration["do_resize"]:
            text.resized(size)
        text.normalized("pixel_values", None)
        text.line("pixel_values = fn.expand_dims(pixel_values, axes=[0])")
        text.line("num_crops = fn.constant(idata=0, shape=[], dtype=types.INT64)")
        return text.result("pixel_values", "num_crops")
    names = {"smallest": "min_crop_size", "most": "max_num_crops", "ratio": "min_ratio_to_activate"}
    limits = {name: configuration[f"pan_and_scan_{field}"] for name, field in names.items()}
    for name, field in names.items():
        if not isinstance(limits[name], (int, float)) or limits[name] <= 0:
            configuration.refuse(f"pan_and_scan_{field}", "do_pan_and_scan needs a positive number")
    text.value("windows", "shape", "tilings.pan_and_scan", **limits)
    parts = [_window(text, k, "shape, windows", {}, "tilings.window", size) for k in range(int(limits["most"]))]
    text.resized(size)
    text.line(f"tiles = fn.stack(images, {', '.join(parts)}, axis=0)")
    text.value("count", "windows", "tilings.and_one")
    text.line("tiles = fn.slice(tiles, end=count, axes=[0])")
    text.line('tiles = fn.reshape(tiles, layout="FHWC")')
    text.normalized("pixel_values", None, of="tiles", layout="FCHW")
    text.line("num_crops = windows[0]")
    text.result("pixel_values", "num_crops")
