# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators on pictures; see strategies.py."""

import numpy as np
import picture_reference as ref
from hypothesis import strategies as st
from operator_calls import Case, values

INTEGERS = ["uint8", "uint16", "uint32", "int8", "int16", "int32"]
NUMBERS = INTEGERS + ["float16", "float32", "float64"]
EXTENTS = [1, 2, 3, 5, 8, 13, 16, 17, 33]


def pictures(draw, layouts, dtypes=NUMBERS, channels=None, smallest=1, smooth=False):
    """(samples, layout, dtype): a ragged batch of one to three samples."""
    layout, dtype = draw(st.sampled_from(layouts)), draw(st.sampled_from(dtypes))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    xs = []
    for i in range(n):
        shape = [
            max(smallest, draw(st.sampled_from(EXTENTS)))
            if k in "HW"
            else channels
            if k == "C" and channels
            else draw(st.integers(1, 4))
            for k in layout
        ]
        x = values(dtype, shape, seed + i)
        if smooth:
            ramp = sum(
                np.arange(n).reshape([-1 if a == b else 1 for b in range(len(shape))]) for a, n in enumerate(shape)
            )
            x = ((x.astype(np.int64) % 32 + ramp * 5) % 256).astype(dtype)
        xs.append(x)
    return xs, layout, dtype


def some(draw, **choices):
    """Each argument given or not."""
    return {k: draw(v) for k, v in choices.items() if draw(st.booleans())}


def per_sample(draw, n, name, value):
    """(constants, per-sample, argument of sample i)."""
    if draw(st.booleans()):
        v = draw(value)
        return {name: v}, {}, lambda i: {name: v}
    vs = [draw(value) for _ in range(n)]
    return {}, {name: vs}, lambda i: {name: vs[i]}


def of_axes(layout):
    return [i for i, k in enumerate(layout) if k in "DHW"]


def _gaussian(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC"])
    constants, each, at = per_sample(draw, len(xs), "mean", st.integers(-50, 50).map(float))
    return Case(
        [xs], [layout], {**constants, "stddev": 0.0}, each, dtype=dtype, expected=lambda i: ref.gaussian(xs[i], **at(i))
    )


def _salt_and_pepper(draw):
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
        expected=lambda i: ref.salt_and_pepper(xs[i], **constants),
    )


def _shot(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW"])
    return Case([xs], [layout], {"factor": 0.0}, dtype=dtype, error=0.0, expected=lambda i: ref.shot(xs[i]))


def _equalize(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC", "FCHW"], ["uint8"], smooth=draw(st.booleans()))
    if draw(st.integers(0, 4)) == 0:
        xs[0][...] = 7
    return Case([xs], [layout], dtype=dtype, error=0.0, expected=lambda i: ref.equalize(xs[i], layout))


def _laplacian(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"])
    axes = of_axes(layout)
    odd = lambda low: st.integers(low, 3).map(lambda k: 2 * k + 1)
    sizes = lambda low: st.one_of(odd(low), st.lists(odd(low), min_size=len(axes), max_size=len(axes)))
    arguments = some(draw, window_size=sizes(1), smoothing_size=sizes(0))
    if draw(st.booleans()):
        arguments["normalized_kernel"] = True
    elif draw(st.booleans()):
        arguments["scale"] = draw(st.integers(-8, 8).map(lambda v: v / 16))
    more = {"dtype": "float32"} if draw(st.booleans()) else {}
    largest = max(float(np.abs(ref.laplacian(np.abs(x.astype(np.float64)), axes, **arguments)).max()) for x in xs)
    return Case(
        [xs],
        [layout],
        {**arguments, **more},
        dtype=more.get("dtype", dtype),
        error=1e-5,
        largest=largest,
        expected=lambda i: ref.laplacian(xs[i], axes, **arguments),
    )


def _jpeg(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "FHWC"], ["uint8"], channels=3, smooth=draw(st.booleans()))
    constants, each, at = per_sample(draw, len(xs), "quality", st.integers(-3, 104))
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: ref.jpeg_compression_distortion(xs[i], **at(i)),
    )


def _correlate(draw):
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
    exact = lambda i: ref.correlate(xs[i], filters[i], layout, fill=float(fills[i]) if fills else 0.0, **constants)
    return Case(
        inputs,
        layouts,
        {**constants, **more},
        dtype=more.get("dtype", dtype),
        error=1e-6,
        expected=exact,
        largest=max(float(np.abs(exact(i)).max(initial=0)) for i in range(len(xs))),
    )


def _morphology(name):
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
            [xs],
            [layout],
            constants,
            dtype=dtype,
            error=0.0,
            expected=lambda i: getattr(ref, name)(xs[i], layout, **constants),
        )

    return make


def _median_blur(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], [*NUMBERS, "int64", "uint64", "bool"])
    odd = st.integers(0, 4).map(lambda k: 2 * k + 1)
    constants, each, at = per_sample(draw, len(xs), "window_size", st.tuples(odd, odd).map(list))
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: ref.median_blur(xs[i], layout, **at(i)),
    )


_BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]


def _slope(kind, xs):
    return 1e-9 * max(max(x.shape) for x in xs) * (4 if kind == 2 else 1)


def _warp_perspective(draw):
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
        expected=lambda i: ref.warp_perspective(xs[i], matrices[i], size=drawn_size, **constants, **fill),
    )


def _remap(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    seed, normalized = draw(st.integers(0, 2**32 - 1)), draw(st.booleans())
    size = [draw(st.integers(1, 20)) for _ in "HW"]

    def coordinates(n, k):  # multiples of 1/16 and a bit, so that none is between two pixels
        rng = np.random.default_rng(seed + k)
        v = rng.integers(-16, 16 * (n + 1), size) / 16 + 1 / 64
        return (v / max(n, 2) * 2 - 1 if normalized else v).astype(np.float32)

    mapx, mapy = ([coordinates(x.shape[a], 9 * i + a) for i, x in enumerate(xs)] for a in (1, 0))
    constants = {
        "interp": draw(st.integers(0 if not normalized else 1, 2)),
        "normalized": normalized,
        **some(
            draw,
            border_mode=st.sampled_from(_BORDERS),
            pixel_origin=st.sampled_from(["corner", "center"]),
            fill_value=st.integers(0, 100).map(float),
        ),
    }
    return Case(
        [xs, mapx, mapy],
        [layout, "", ""],
        constants,
        dtype=dtype,
        error=1e-5,
        expected=lambda i: ref.remap(xs[i], mapx[i], mapy[i], **constants),
    )


def _clahe(draw):
    channels = draw(st.sampled_from([1, 3]))
    xs, layout, dtype = pictures(draw, ["HWC"], ["uint8"], channels=channels, smallest=8, smooth=draw(st.booleans()))
    constants = {
        "tiles_x": draw(st.integers(1, 5)),
        "tiles_y": draw(st.integers(1, 5)),
        "clip_limit": draw(st.sampled_from([0.0, 0.5, 1.5, 2.0, 4.0])),
        **some(draw, bins=st.sampled_from([16, 64, 256, 512]), luma_only=st.booleans()),
    }
    light = channels == 3 and constants.get("luma_only", True)
    return Case(
        [xs],
        [layout],
        constants,
        dtype=dtype,
        error=0.6 / 255 if light else 1e-4,
        expected=lambda i: ref.clahe(xs[i], **constants),
    )


def _paste(draw):
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
        expected=lambda i: ref.paste(xs[i], **constants, **{k: v[i] for k, v in each.items()}),
    )


def _multi_paste(draw):
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
        expected=lambda i: ref.multi_paste([xs[i], ys[i]], regions[i], size),
    )


def _displacement(name, **choices):
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
            expected=lambda i: getattr(ref, name)(xs[i], **constants, **at(i)),
        )

    return make


def _jitter(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC"])
    constants = draw(st.sampled_from([{"nDegree": 0}, {"nDegree": 1}, {"nDegree": 9, "mask": 0}]))
    return Case([xs], [layout], constants, dtype=dtype, error=0.0, expected=lambda i: ref.jitter(xs[i], **constants))


def _debayer(draw):
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
        expected=lambda i: ref.debayer(xs[i], **at(i), **more),
    )


CASES = {
    "noise.gaussian": _gaussian,
    "noise.salt_and_pepper": _salt_and_pepper,
    "noise.shot": _shot,
    "equalize": _equalize,
    "laplacian": _laplacian,
    "jpeg_compression_distortion": _jpeg,
    "correlate": _correlate,
    "dilate": _morphology("dilate"),
    "erode": _morphology("erode"),
    "median_blur": _median_blur,
    "warp_perspective": _warp_perspective,
    "remap": _remap,
    "clahe": _clahe,
    "paste": _paste,
    "multi_paste": _multi_paste,
    "jitter": _jitter,
    "debayer": _debayer,
    "sphere": _displacement("sphere"),
    "water": _displacement("water", ampl_x=(0, 90), ampl_y=(0, 90), freq_x=(0, 9), phase_x=(0, 50), phase_y=(0, 50)),
}
