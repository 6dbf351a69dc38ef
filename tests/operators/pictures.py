# SPDX-License-Identifier: Apache-2.0
"""Operators on pictures (filters, histograms, noise, distortions): the references and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.image_values import equalize_as_pillow
from operators.picture_draws import NUMBERS, of_axes, per_sample, pictures, some

BORDERS = {
    "reflect_101": "reflect",
    "reflect_1001": "symmetric",
    "reflect": "symmetric",
    "wrap": "wrap",
    "clamp": "edge",
    "replicate": "edge",
    "constant": "constant",
}


def planes(x, layout, function):
    """`function` of every (H, W) plane."""
    h, w = layout.index("H"), layout.index("W")
    moved = np.moveaxis(x, (h, w), (-2, -1))
    out = np.array([function(p) for p in moved.reshape(-1, *moved.shape[-2:])])
    return np.moveaxis(out.reshape(*moved.shape[:-2], *out.shape[-2:]), (-2, -1), (h, w))


def gaussian(x, mean=0.0, stddev=0.0):
    assert stddev == 0
    return x.astype(np.float64) + mean


def salt_and_pepper(x, prob=0.05, salt_vs_pepper=0.5, salt_val=None, pepper_val=None):
    assert prob in (0, 1) and salt_vs_pepper in (0, 1)
    low, high = (
        (-1, 1)
        if x.dtype.kind == "f"
        else (0, 1)
        if x.dtype == bool
        else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    )
    if not prob:
        return x
    value = (high if salt_val is None else salt_val) if salt_vs_pepper else (low if pepper_val is None else pepper_val)
    return np.full(x.shape, float(value))


def shot(x, factor=0.0):
    assert factor == 0
    return x


def equalize(x, layout, rule="opencv"):
    one = {"opencv": cv2.equalizeHist, "pillow": equalize_as_pillow}[rule]
    return planes(x, layout, lambda p: one(np.ascontiguousarray(p)) if p.size else p)


def histogram(x, layout, num_bins=256, range=(0, 256)):
    bins = np.floor((x.astype(np.float64) - range[0]) * (num_bins / (range[1] - range[0])))
    axes = [layout.index(k) for k in "HW"]
    count = lambda k: np.sum((bins == k) & (x < range[1]), axis=tuple(axes))
    return np.stack([count(k) for k in np.arange(num_bins)], -1)


def laplacian(
    x, axes, window_size=3, smoothing_size=None, scale=1.0, normalized_kernel=False, border_mode="reflect_101"
):
    listed = lambda v: [v] * len(axes) if np.ndim(v) == 0 else v * len(axes) if len(v) == 1 else v
    windows = listed(window_size)
    smooths = None if smoothing_size is None else listed(smoothing_size)

    def binomial(n):
        w = np.ones(1)
        for _ in range(n - 1):
            w = np.convolve(w, [1, 1])
        return w

    total = 0
    for i, (size, factor) in enumerate(zip(windows, listed(scale))):
        part, smoothing = x.astype(np.float64), smooths or [size] * len(axes)
        for k, axis in enumerate(axes):
            w = np.convolve([1, -2, 1], binomial(max(size - 2, 1))) if k == i else binomial(smoothing[k])
            part = _slide(part, axis, w, BORDERS[border_mode])
        if normalized_kernel:
            factor = 2.0 ** -(max(size, 3) + sum(smoothing) - smoothing[i] - len(axes) - 2)
        total = total + factor * part
    return total


def _slide(x, axis, weights, mode="reflect"):
    r = len(weights) // 2
    padded = np.pad(x, [(r, r) if a == axis else (0, 0) for a in range(x.ndim)], mode)
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis)
    return windows @ np.asarray(weights, np.float64)


def jpeg_compression_distortion(x, quality=50):
    if x.ndim == 4:
        return np.array([jpeg_compression_distortion(f, quality) for f in x]).reshape(x.shape)
    if not x.size:
        return x
    ok, data = cv2.imencode(".jpg", x[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, int(np.clip(quality, 1, 100))])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]


def _borders(x, layout, before, after, border, fill=0.0):
    """x in float64 with so many elements more before and after H and W."""
    pads = [(0, 0)] * x.ndim
    for letter, b, a in zip("HW", before, after):
        pads[layout.index(letter)] = (b, a)
    mode = BORDERS[border]
    return np.pad(x, pads, mode, **({"constant_values": fill} if mode == "constant" else {}))


def _windows(x, layout, size, anchor, border, fill=0.0):
    """The elements under a window of (height, width), as a last axis."""
    padded = _borders(x, layout, anchor, [s - 1 - a for s, a in zip(size, anchor)], border, fill)
    axes = [layout.index("H"), layout.index("W")]
    view = np.lib.stride_tricks.sliding_window_view(padded, size, axes)
    return view.reshape(*view.shape[:-2], -1)


def correlate(x, weights, layout, anchor=-1, border="reflect_101", mode="same", fill=0.0):
    size = weights.shape
    at = [s // 2 if a < 0 else a for s, a in zip(size, [anchor] * 2 if np.ndim(anchor) == 0 else anchor)]
    if mode == "valid":
        view = np.lib.stride_tricks.sliding_window_view(
            x.astype(np.float64), size, [layout.index("H"), layout.index("W")]
        )
        return view.reshape(*view.shape[:-2], -1) @ weights.astype(np.float64).ravel()
    return _windows(x.astype(np.float64), layout, size, at, border, fill) @ weights.astype(np.float64).ravel()


def _morphology(x, layout, pick, neutral, mask_size, anchor, iterations, border_mode):
    width, height = mask_size
    ax, ay = (s // 2 if a < 0 else a for s, a in zip(mask_size, anchor))
    exact = x.astype(object) if x.dtype.kind in "iu" and x.dtype.itemsize == 8 else x.astype(np.float64)
    for _ in range(iterations):
        exact = pick(_windows(exact, layout, (height, width), (ay, ax), border_mode, neutral), -1)
    return exact.astype(x.dtype)


def dilate(x, layout, mask_size=(3, 3), anchor=(-1, -1), iterations=1, border_mode="constant"):
    return _morphology(x, layout, np.max, -np.inf, mask_size, anchor, iterations, border_mode)


def erode(x, layout, mask_size=(3, 3), anchor=(-1, -1), iterations=1, border_mode="constant"):
    return _morphology(x, layout, np.min, np.inf, mask_size, anchor, iterations, border_mode)


def median_blur(x, layout, window_size=(3, 3)):
    width, height = window_size
    return np.sort(_windows(x, layout, (height, width), (height // 2, width // 2), "clamp"), -1)[
        ..., width * height // 2
    ]


def _bordered(at, n, border):
    """Indices, -1: the constant."""
    at = at.astype(np.int64)
    if border == "constant":
        return np.where((at >= 0) & (at < n), at, -1)
    if border in ("replicate", "clamp"):
        return np.clip(at, 0, n - 1)
    if border == "wrap":
        return at % n
    table = np.pad(
        np.arange(n), (0, n if border != "reflect_101" else max(n - 2, 0)), BORDERS[border] if n > 1 else "edge"
    )
    return table[at % len(table)]


def sampled(x, ys, xs, kind, border, fill=0.0):
    """A (H, W, ...) picture at coordinates, (0, 0) the middle of its first pixel."""
    h, w = x.shape[:2]
    fill = np.broadcast_to(np.asarray(fill, np.float64), x.shape[2:])
    ys, xs = np.clip(ys, -1e9, 1e9), np.clip(xs, -1e9, 1e9)

    def tap(v, u):
        v, u = _bordered(v, h, border), _bordered(u, w, border)
        got = x[np.maximum(v, 0), np.maximum(u, 0)].astype(np.float64)
        return np.where(((v < 0) | (u < 0)).reshape(v.shape + (1,) * (x.ndim - 2)), fill, got)

    if kind == 0:
        return tap(np.floor(ys + 0.5), np.floor(xs + 0.5))
    y0, x0 = np.floor(ys), np.floor(xs)
    if kind == 1:
        weight = lambda d: np.maximum(0, 1 - np.abs(d))
        reach = range(2)
    else:

        def weight(d):
            d = np.abs(d)
            return np.where(
                d < 1, 1.25 * d**3 - 2.25 * d**2 + 1, np.where(d < 2, -0.75 * (d**3 - 5 * d**2 + 8 * d - 4), 0)
            )

        reach = range(-1, 3)
    total = 0
    for j in reach:
        for i in reach:
            k = weight(ys - y0 - j) * weight(xs - x0 - i)
            total = total + tap(y0 + j, x0 + i) * k.reshape(k.shape + (1,) * (x.ndim - 2))
    return total


def warp_perspective(
    x, matrix, size=None, border_mode="constant", fill_value=0.0, interp_type=1, inverse_map=True, pixel_origin="corner"
):
    h, w = size or x.shape[:2]
    shift = 0.5 if pixel_origin == "corner" else 0.0
    m = np.asarray(matrix, np.float64).reshape(3, 3)
    m = m if inverse_map else np.linalg.inv(m)
    py, px = np.mgrid[:h, :w] + shift
    X, Y, W = (row[0] * px + row[1] * py + row[2] for row in m)
    with np.errstate(divide="ignore"):
        scale = np.where(W == 0, 0, 1 / W)
    return sampled(x, Y * scale - shift, X * scale - shift, interp_type, border_mode, fill_value)


def clahe_plane(x, tiles_x, tiles_y, clip_limit, bins=256):
    h, w = x.shape
    source, bins = x, min(bins, 256)
    if h % tiles_y or w % tiles_x:
        source = np.pad(
            x, [(0, tiles_y - h % tiles_y), (0, tiles_x - w % tiles_x)], "reflect" if min(h, w) > 1 else "edge"
        )
    th, tw = source.shape[0] // tiles_y, source.shape[1] // tiles_x
    limit = max(int(clip_limit * th * tw / bins), 1) if clip_limit > 0 else th * tw
    tables = np.zeros((tiles_y, tiles_x, bins))
    for j in range(tiles_y):
        for i in range(tiles_x):
            tile = source[j * th : (j + 1) * th, i * tw : (i + 1) * tw].astype(int) * bins // 256
            counts = np.bincount(tile.ravel(), minlength=bins)
            over = int(np.maximum(counts - limit, 0).sum())
            counts = np.minimum(counts, limit) + over // bins
            rest = over % bins
            if rest:
                counts[np.arange(0, bins, max(bins // rest, 1))[:rest]] += 1
            tables[j, i] = np.clip(
                np.rint((np.cumsum(counts).astype(np.float32) * (np.float32(255) / np.float32(th * tw)))), 0, 255
            )
    single = np.float32  # which decides what is halfway
    fy, fx = (np.arange(n, dtype=single) * (single(1) / single(t)) - single(0.5) for n, t in ((h, th), (w, tw)))
    y0, x0 = np.floor(fy).astype(int), np.floor(fx).astype(int)
    wy, wx = (fy - y0.astype(single))[:, None], (fx - x0.astype(single))[None]
    tables = tables.astype(single)
    pick = lambda j, i: tables[
        np.clip(j, 0, tiles_y - 1)[:, None], np.clip(i, 0, tiles_x - 1)[None], x.astype(int) * bins // 256
    ]
    return (pick(y0, x0) * (1 - wx) + pick(y0, x0 + 1) * wx) * (1 - wy) + (
        pick(y0 + 1, x0) * (1 - wx) + pick(y0 + 1, x0 + 1) * wx
    ) * wy


def lab_of(x):
    """CIE Lab in 8-bit integers by OpenCV's tables: the same L, and the same a and b except for some in 100,000 colors."""
    v = np.arange(256) / 255
    linear = np.rint(2040 * np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)).astype(np.int64)
    t = (np.arange(3072, dtype=np.float32) * np.float32(1 / 2040)).astype(np.float64)
    root = np.rint(32768 * np.where(t < 0.008856, t * 7.787 + 16 / 116, np.cbrt(t))).astype(np.int64)
    matrix = np.array([[1777, 1541, 778], [871, 2929, 296], [73, 448, 3575]])
    fx, fy, fz = np.moveaxis(root[(linear[x] @ matrix.T + 2048) >> 12], -1, 0)
    lab = np.stack([296 * fy - 1336934, 500 * (fx - fy) + 4194304, 200 * (fy - fz) + 4194304], -1)
    return np.clip((lab + 16384) >> 15, 0, 255).astype(np.uint8)


def clahe(x, tiles_x, tiles_y, clip_limit, bins=256, luma_only=True):
    arguments = (tiles_x, tiles_y, clip_limit, bins)
    if x.ndim == 2:
        return clahe_plane(x, *arguments)
    if x.shape[-1] == 1 or not luma_only:
        return np.dstack([clahe_plane(x[..., k], *arguments) for k in range(x.shape[-1])])
    lab = lab_of(x)
    lab[..., 0] = np.rint(clahe_plane(lab[..., 0], *arguments)).astype(np.uint8)
    real = (lab - np.float32([0, 128, 128])) * np.float32(
        [100 / 255, 1, 1]
    )  # integers are off by up to 18 in dark channels
    return cv2.cvtColor(real.astype(np.float32), cv2.COLOR_LAB2RGB).astype(np.float64) * 255


def paste(x, fill_value, ratio, paste_x=0.5, paste_y=0.5, min_canvas_size=0.0):
    single = np.float32
    canvas = [max(int(single(ratio) * single(n)), int(min_canvas_size)) for n in x.shape[:2]]
    out = np.empty((*canvas, x.shape[2]))
    out[...] = fill_value
    y, x0 = (int(single(p) * single(c - n)) for p, c, n in zip((paste_y, paste_x), canvas, x.shape))
    out[y : y + x.shape[0], x0 : x0 + x.shape[1]] = x
    return out


def multi_paste(images, regions, size):
    """Each region is (image, y, x, height, width, y and x on the canvas)."""
    out = np.zeros((*images[0].shape[:-3], *size, images[0].shape[-1]))
    for k, y, x, h, w, v, u in regions:
        out[..., v : v + h, u : u + w, :] = images[k][..., y : y + h, x : x + w, :]
    return out


def _displaced(x, ys, xs, mask, interp_type, fill_value):
    return x.astype(np.float64) if not mask else sampled(x, ys - 0.5, xs - 0.5, interp_type, "constant", fill_value)


def sphere(x, mask=1, interp_type=0, fill_value=0.0):
    h, w = x.shape[:2]
    my, mx = h // 2, w // 2
    y, u = np.mgrid[:h, :w] + 0.5
    r = np.sqrt((y - my) ** 2 + (u - mx) ** 2) / max(my, mx, 0.5)
    return _displaced(x, my + r * (y - my), mx + r * (u - mx), mask, interp_type, fill_value)


def water(
    x,
    ampl_x=10.0,
    ampl_y=10.0,
    freq_x=0.049087,
    freq_y=0.049087,
    phase_x=0.0,
    phase_y=0.0,
    mask=1,
    interp_type=0,
    fill_value=0.0,
):
    y, u = np.mgrid[: x.shape[0], : x.shape[1]].astype(np.float64)
    single = [float(np.float32(v)) for v in (ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y)]
    ax, ay, fx, fy, px, py = single
    return _displaced(x, y + ay * np.cos(fy * u + py), u + ax * np.sin(fx * y + px), mask, interp_type, fill_value)


def jitter(x, nDegree=0, mask=1):
    assert nDegree < 2 or not mask
    return x


def debayer(x, blue_position, algorithm="bilinear_ocv"):
    if x.ndim == 4 or (x.ndim == 3 and x.shape[-1] != 1):
        return np.array([debayer(f, blue_position, algorithm) for f in x])
    pattern = ["BG", "GB", "GR", "RG"][2 * blue_position[0] + blue_position[1]]
    suffix = {"edgeaware_ocv": "RGB_EA", "gray_ocv": "GRAY"}.get(algorithm, "RGB")
    out = cv2.cvtColor(np.ascontiguousarray(x.reshape(x.shape[:2])), getattr(cv2, f"COLOR_BAYER_{pattern}2{suffix}"))
    return out.reshape(*x.shape[:2], -1)


def draw_gaussian(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC"])
    constants, each, at = per_sample(draw, len(xs), "mean", st.integers(-50, 50).map(float))
    return Case(
        [xs], [layout], {**constants, "stddev": 0.0}, each, dtype=dtype, expected=lambda i: gaussian(xs[i], **at(i))
    )


def draw_salt_and_pepper(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW"])
    constants = {
        "prob": float(draw(st.integers(0, 1))),
        "salt_vs_pepper": float(draw(st.integers(0, 1))),
        **some(draw, salt_val=st.integers(-200, 300).map(float), pepper_val=st.integers(-200, 300).map(float)),
    }
    more = {"per_channel": True} if draw(st.booleans()) else {}
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        dtype=dtype,
        error=0.0,
        expected=lambda i: salt_and_pepper(xs[i], **constants),
    )


def draw_shot(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW"])
    return Case([xs], [layout], {"factor": 0.0}, dtype=dtype, error=0.0, expected=lambda i: shot(xs[i]))


def draw_equalize(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC", "FCHW"], ["uint8"], smooth=draw(st.booleans()))
    if draw(st.integers(0, 4)) == 0:
        xs[0][...] = 7
    given = draw(st.sampled_from([{}, {"rule": "opencv"}, {"rule": "pillow"}]))
    return Case([xs], [layout], given, dtype=dtype, error=0.0, expected=lambda i: equalize(xs[i], layout, **given))


def draw_histogram(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], ["uint8", "uint16", "int16", "float32"])
    constants = {"num_bins": draw(st.sampled_from([1, 8, 64])), "range": [0.0, draw(st.sampled_from([64.0, 256.0]))]}
    if dtype == "float32":
        constants["range"] = [0.0, draw(st.sampled_from([0.5, 1.0]))]
    return Case(
        [xs], [layout], constants, dtype="int32", error=0.0, expected=lambda i: histogram(xs[i], layout, **constants)
    )


def draw_laplacian(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"])
    axes = of_axes(layout)
    odd = lambda low: st.integers(low, 3).map(lambda k: 2 * k + 1)
    sizes = lambda low: st.one_of(odd(low), st.lists(odd(low), min_size=len(axes), max_size=len(axes)))
    borders = ["constant", "replicate", "reflect", "reflect_101", "wrap"]
    arguments = some(draw, window_size=sizes(0), smoothing_size=sizes(0), border_mode=st.sampled_from(borders))
    if draw(st.booleans()):
        arguments["normalized_kernel"] = True
    elif draw(st.booleans()):
        arguments["scale"] = draw(st.integers(-8, 8).map(lambda v: v / 16))
    more = {"dtype": "float32"} if draw(st.booleans()) else {}
    largest = max(float(np.abs(laplacian(np.abs(x.astype(np.float64)), axes, **arguments)).max()) for x in xs)
    return Case(
        [xs],
        [layout],
        {**arguments, **more},
        dtype=more.get("dtype", dtype),
        error=1e-5,
        largest=largest,
        expected=lambda i: laplacian(xs[i], axes, **arguments),
    )


def draw_jpeg(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "FHWC"], ["uint8"], channels=3, smooth=draw(st.booleans()))
    constants, each, at = per_sample(draw, len(xs), "quality", st.integers(-3, 104))
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: jpeg_compression_distortion(xs[i], **at(i)),
    )


def draw_correlate(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"])
    size = [draw(st.integers(1, 5)) for _ in "HW"]
    border = draw(st.sampled_from(["reflect_101", "reflect_1001", "wrap", "clamp", "constant"]))
    constants = {"border": border, "mode": draw(st.sampled_from(["same", "same", "valid"]))}
    if constants["mode"] == "valid":
        size = [min([n] + [x.shape[layout.index(k)] for x in xs]) for n, k in zip(size, "HW")]
    if draw(st.booleans()):
        constants["anchor"] = [draw(st.integers(-1, n - 1)) for n in size]
    seed = draw(st.integers(0, 2**32 - 1))
    filters = [
        (np.random.default_rng(seed + i).integers(-64, 65, size) / 16).astype(np.float32) for i in range(len(xs))
    ]
    inputs, layouts, fills = [xs, filters], [layout, ""], None
    if border == "constant" and draw(st.booleans()):
        fills = [np.array(values(dtype, (), seed + i)) for i in range(len(xs))]
        inputs, layouts = [*inputs, fills], [*layouts, ""]
    more = {"dtype": "float32"} if draw(st.booleans()) else {}
    exact = lambda i: correlate(xs[i], filters[i], layout, fill=float(fills[i]) if fills else 0.0, **constants)
    return Case(
        inputs,
        layouts,
        {**constants, **more},
        dtype=more.get("dtype", dtype),
        error=1e-6,
        expected=exact,
        largest=max(float(np.abs(exact(i)).max(initial=0)) for i in range(len(xs))),
    )


def draw_morphology(function):
    def make(draw):
        xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], [*NUMBERS, "uint64", "bool"], smallest=3)
        size = [draw(st.integers(1, 4)) for _ in range(2)]
        constants = {
            "mask_size": size,
            **some(draw, border_mode=st.sampled_from(["replicate", "constant"]), iterations=st.integers(0, 3)),
        }
        if constants.get("iterations", 1) == 1:
            constants.update(some(draw, border_mode=st.sampled_from(["reflect", "reflect_101", "wrap"])))
        if draw(st.booleans()):
            constants["anchor"] = [draw(st.integers(-1, n - 1)) for n in size]
        return Case(
            [xs], [layout], constants, dtype=dtype, error=0.0, expected=lambda i: function(xs[i], layout, **constants)
        )

    return make


def draw_median_blur(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], [*NUMBERS, "int64", "uint64", "bool"])
    odd = st.integers(0, 4).map(lambda k: 2 * k + 1)
    constants, each, at = per_sample(draw, len(xs), "window_size", st.tuples(odd, odd).map(list))
    return Case(
        [xs], [layout], constants, each, dtype=dtype, error=0.0, expected=lambda i: median_blur(xs[i], layout, **at(i))
    )


_BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]


def _slope(kind, xs):
    return 1e-9 * max(max(x.shape) for x in xs) * (4 if kind == 2 else 1)


def draw_warp_perspective(draw):
    xs, layout, dtype = pictures(draw, ["HWC"])
    fraction = lambda low, high: draw(st.integers(low, high)) / 61
    matrices = [
        [
            fraction(30, 90),
            fraction(-20, 20),
            fraction(-200, 200) + 0.003,
            fraction(-20, 20),
            fraction(30, 90),
            fraction(-200, 200) + 0.003,
            draw(st.integers(-20, 20)) / 6100,
            draw(st.integers(-20, 20)) / 6100,
            1.0,
        ]
        for _ in xs
    ]
    matrices = [np.asarray(m, np.float32) for m in matrices]
    constants = {
        "interp_type": draw(st.integers(1, 2)),
        **some(draw, border_mode=st.sampled_from(_BORDERS), pixel_origin=st.sampled_from(["corner", "center"])),
    }
    size = {}
    if draw(st.booleans()):
        size["size"] = [float(draw(st.integers(1, 20))) for _ in "HW"]
    fill = {"fill_value": [float(draw(st.integers(0, 100)))]} if draw(st.booleans()) else {}
    drawn_size = [int(v) for v in size["size"]] if size else None
    return Case(
        [xs],
        [layout],
        {**constants, **size, **fill},
        {"matrix": matrices},
        dtype=dtype,
        error=1e-4,
        largest=1000.0,
        expected=lambda i: warp_perspective(xs[i], matrices[i], size=drawn_size, **constants, **fill),
    )


def draw_clahe(draw):
    channels = draw(st.sampled_from([1, 3]))
    xs, layout, dtype = pictures(draw, ["HWC"], ["uint8"], channels=channels, smallest=8, smooth=draw(st.booleans()))
    constants = {
        "tiles_x": draw(st.integers(1, 5)),
        "tiles_y": draw(st.integers(1, 5)),
        **some(draw, bins=st.sampled_from([16, 64, 256, 512]), luma_only=st.booleans()),
    }
    light = channels == 3 and constants.get("luma_only", True)
    limits, each, at = per_sample(draw, len(xs), "clip_limit", st.sampled_from([0.0, 0.5, 1.5, 2.0, 4.0]))
    return Case(
        [xs],
        [layout],
        {**constants, **limits},
        each,
        dtype=dtype,
        error=0.6 / 255 if light else 1e-4,
        expected=lambda i: clahe(xs[i], **constants, **at(i)),
    )


def draw_paste(draw):
    channels = draw(st.integers(1, 4))
    xs, layout, dtype = pictures(draw, ["HWC"], channels=channels)
    fraction = st.integers(0, 16).map(lambda v: v / 16)
    constants = {
        "fill_value": [float(draw(st.integers(0, 100))) for _ in range(channels)],
        **some(draw, paste_x=fraction, min_canvas_size=st.integers(0, 40).map(float)),
    }
    each = {"ratio": [draw(st.integers(16, 48)) / 16 for _ in xs], "paste_y": [draw(fraction) for _ in xs]}
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: paste(xs[i], **constants, **{k: v[i] for k, v in each.items()}),
    )


def draw_multi_paste(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "FHWC"], channels=3, smallest=2)
    xs = [x[:1] if layout[0] == "F" else x for x in xs]
    ys = [x[..., ::-1, :1, :].copy() for x in xs]
    lead, n = len(layout) - 3, len(xs)
    size = [max(x.shape[lead + d] for x in xs) + draw(st.integers(0, 5)) for d in range(2)]
    regions, arguments = [[] for _ in xs], {"in_anchors": [], "shapes": [], "out_anchors": []}
    for i in range(n):
        rows = {k: [] for k in arguments}
        for k, image in enumerate((xs[i], ys[i])):
            have = image.shape[lead : lead + 2]
            begin = [draw(st.integers(0, e - 1)) for e in have]
            extent = [draw(st.integers(1, e - b)) for e, b in zip(have, begin)]
            place = [draw(st.integers(0, s - e)) for s, e in zip(size, extent)]
            for name, v in zip(rows, (begin, extent, place)):
                rows[name].append(v)
            regions[i].append((k, *begin, *extent, *place))
        for name, v in rows.items():
            arguments[name].append(v)
    more = {"dtype": "float32"} if draw(st.booleans()) else {}
    return Case(
        [xs, ys],
        [layout, layout],
        {"output_size": size, **more},
        arguments,
        dtype=more.get("dtype", dtype),
        error=0.0 if not more else 1e-7,
        expected=lambda i: multi_paste([xs[i], ys[i]], regions[i], size),
    )


def draw_displacement(function, **choices):
    def make(draw):
        xs, layout, dtype = pictures(draw, ["HWC", "HW"])
        constants = {
            "interp_type": 1,
            "fill_value": float(draw(st.integers(0, 100))),
            **some(draw, **{k: st.integers(*v).map(lambda v: v / 16 + 0.003) for k, v in choices.items()}),
        }
        c, each, at = per_sample(draw, len(xs), "mask", st.integers(0, 1))
        return Case(
            [xs],
            [layout],
            {**constants, **c},
            each,
            dtype=dtype,
            error=1e-5,
            expected=lambda i: function(xs[i], **constants, **at(i)),
        )

    return make


def draw_jitter(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC"])
    constants = draw(st.sampled_from([{"nDegree": 0}, {"nDegree": 1}, {"nDegree": 9, "mask": 0}]))
    return Case([xs], [layout], constants, dtype=dtype, error=0.0, expected=lambda i: jitter(xs[i], **constants))


def draw_debayer(draw):
    xs, layout, dtype = pictures(draw, ["HW", "HWC", "FHWC"], ["uint8", "uint16"], channels=1, smallest=4)
    h = layout.index("H")
    xs = [
        x[..., : x.shape[h] // 2 * 2, : x.shape[h + 1] // 2 * 2]
        if layout == "HW"
        else x[..., : x.shape[h] // 2 * 2, : x.shape[h + 1] // 2 * 2, :]
        for x in xs
    ]
    xs = [np.ascontiguousarray(x) for x in xs]
    constants, each, at = per_sample(
        draw, len(xs), "blue_position", st.tuples(st.integers(0, 1), st.integers(0, 1)).map(list)
    )
    more = some(draw, algorithm=st.sampled_from(["bilinear_ocv", "edgeaware_ocv", "gray_ocv"]))
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: debayer(xs[i], **at(i), **more),
    )


CASES = {
    "noise.gaussian": draw_gaussian,
    "noise.salt_and_pepper": draw_salt_and_pepper,
    "noise.shot": draw_shot,
    "equalize": draw_equalize,
    "histogram": draw_histogram,
    "laplacian": draw_laplacian,
    "jpeg_compression_distortion": draw_jpeg,
    "correlate": draw_correlate,
    "dilate": draw_morphology(dilate),
    "erode": draw_morphology(erode),
    "median_blur": draw_median_blur,
    "warp_perspective": draw_warp_perspective,
    "clahe": draw_clahe,
    "paste": draw_paste,
    "multi_paste": draw_multi_paste,
    "jitter": draw_jitter,
    "debayer": draw_debayer,
    "sphere": draw_displacement(sphere),
    "water": draw_displacement(water, ampl_x=(0, 90), ampl_y=(0, 90), freq_x=(0, 9), phase_x=(0, 50), phase_y=(0, 50)),
}
