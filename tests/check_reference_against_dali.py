# SPDX-License-Identifier: Apache-2.0
"""Compares the references of tests/operators with DALI over random shapes, types and arguments, and reports the largest differences.

Run with the Python of the tests, with PENSTOCK_DALI_PYTHON set (or .venv-dali there):
`python tests/check_reference_against_dali.py [rounds [check..]]`. pytest runs the same checks from test_reference.py.
The unit of the difference is the output's: one step of an integer type; floats are relative to the largest input.
Ends with 1 if an operator differs by more than is known (`ALLOWED`).
"""

import sys
from collections import defaultdict

import numpy as np
import reference as ref
from dali_oracle import DaliError, Oracle

ALLOWED = defaultdict(
    lambda: (1.0, 1e-5),
    {  # operator: (integer steps, relative for floats)
        "resize.table": (2.0, 5e-3),
        "resize.gaussian": (2.0, 4e-2),
        "rotate": (1.0, 2e-3),
        "warp_affine": (1.0, 2e-3),
        "brightness_contrast": (1.0, 1e-4),
    },
)
oracle, worst = Oracle(), {}


def sample(random, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.uniform(-1, 1, shape).astype(dtype)
    if dtype == bool:
        return random.random(shape) < 0.5
    limit = np.iinfo(dtype)
    return random.integers(limit.min, limit.max, shape, dtype, endpoint=True)


def compare(name, expected, got, text, scale=1.0, ignore=0.0):
    """Notes the largest difference; `ignore` is the share of values that may be anything (warps at pixel borders)."""
    if expected.shape != got.shape:
        worst[name, "shape"] = (np.inf, f"{text}: shape {expected.shape} but DALI has {got.shape}")
        return
    if got.size == 0:
        return
    exact = np.atleast_1d(np.asarray(expected, np.float64))
    got = np.atleast_1d(got)
    if got.dtype.kind in "iu":
        exact = np.clip(exact, np.iinfo(got.dtype).min, np.iinfo(got.dtype).max)
        scale = max(1.0, np.abs(exact).max() * 2.0**-22)
    with np.errstate(invalid="ignore"):
        d = np.abs(exact - got.astype(np.float64)) / scale
    d[(exact == got) | (np.isnan(exact) & np.isnan(got.astype(np.float64)))] = 0
    d = np.sort(d.ravel())[: max(1, d.size - int(np.ceil(d.size * ignore)))]
    kind = "int" if got.dtype.kind in "iu" else "float"
    key = (name, kind)
    if d[-1] > worst.get(key, (-1, ""))[0]:
        worst[key] = (float(d[-1]), text)


FILTERS = ["nn", "linear", "triangular", "gaussian", "cubic", "lanczos3"]
DALI_FILTER = {f: "INTERP_" + f.upper() for f in FILTERS}
LAYOUTS = {"HWC": 2, "CHW": 2, "FHWC": 2, "FCHW": 2, "CFHW": 2, "DHWC": 3, "CDHW": 3}


def shape_of(random, layout, low=1, high=24):
    return [
        int(random.integers(low, high))
        if c in "DHW"
        else int(random.integers(1, 4))
        if c == "F"
        else int(random.integers(1, 5))
        for c in layout
    ]


def resize_size(random, d):
    pick = random.integers(0, 7)
    number = lambda: float(
        random.choice([random.integers(1, 40), random.uniform(0.6, 40)]) * random.choice([1, 1, 1, -1])
    )
    if pick == 0:
        return dict(resize_shorter=abs(number()))
    if pick == 1:
        return dict(resize_longer=abs(number()))
    if pick == 2:
        return dict(resize_x=number())
    if pick == 3:
        return dict(resize_x=number(), resize_y=number())
    size = [number() if random.random() < 0.8 else 0.0 for _ in range(d)]
    return dict(size=size, mode=str(random.choice(["default", "stretch", "not_larger", "not_smaller"])))


def check_resize(random):
    layout = str(random.choice(list(LAYOUTS)))
    d = LAYOUTS[layout]
    x = sample(random, shape_of(random, layout, 2), random.choice(["u1", "u2", "i2", "f4"]))
    a = resize_size(random, d)
    if random.random() < 0.3:
        limits = [float(random.integers(1, 50)) for _ in range(d)]
        a["max_size"] = limits if random.random() < 0.5 else limits[0]
    if random.random() < 0.4:
        extents = [x.shape[i] for i in ref.spatial_axes(layout)]
        relative = bool(random.random() < 0.5)
        a["roi_start"] = [float(np.float32(random.uniform(-0.2, 1.2) * (1 if relative else e))) for e in extents]
        a["roi_end"] = [float(np.float32(random.uniform(-0.2, 1.2) * (1 if relative else e))) for e in extents]
        a["roi_relative"] = relative
    if random.random() < 0.4:
        a["subpixel_scale"] = False
    f, dali = {}, {}
    for name in ("interp_type", "min_filter", "mag_filter"):
        if random.random() < 0.5:
            f[name] = str(random.choice(FILTERS))
            dali[name] = DALI_FILTER[f[name]]
    if random.random() < 0.4:
        f["antialias"] = dali["antialias"] = bool(random.random() < 0.5)
    used = set(f.values())
    name = (
        "resize.nearest"
        if "nn" in used
        else "resize.gaussian"
        if "gaussian" in used
        else "resize.table"
        if used & {"cubic", "lanczos3"}
        else "resize"
    )
    axes = ref.spatial_axes(layout)
    geometry = ref.resize_geometry([x.shape[i] for i in axes], **a)
    outside = any(max(l, h) < 1 or min(l, h) > x.shape[i] - 1 for i, (l, h, n) in zip(axes, geometry))
    if max(n for *_, n in geometry) > 300 or outside:  # outside: DALI's process crashes
        return
    same = [abs(abs(h - l) / n - 1) < 1e-4 for l, h, n in geometry]
    filters = [f.get(k) or f.get("interp_type") for k in ("min_filter", "mag_filter")]
    if any(same) and filters[0] != filters[1]:
        return  # the filter at scale 1 depends on float32 rounding errors
    if "gaussian" in used:
        at = [l + (np.arange(n) + 0.5) * (h - l) / n for l, h, n in geometry]
        if any(np.any(np.abs(t - 0.5 - np.round(t - 0.5)) < 1e-4) for t in at):
            return  # DALI's stray tap, see KNOWN_DIFFERENCES
    if "nn" in used:
        if filters != ["nn", "nn"] or any(max(l, h) > x.shape[i] for i, (l, h, n) in zip(axes, geometry)):
            return  # DALI's faults, see KNOWN_DIFFERENCES
        at = [l + (np.arange(n) + 0.5) * (h - l) / n for l, h, n in geometry]
        if any(np.any(np.abs(t - np.round(t)) < 1e-4) for t in at):
            return  # ties
    dtype = np.float32 if random.random() < 0.5 or name in ("resize.table", "resize.gaussian") else x.dtype
    got = oracle.call("resize", [x], layout=layout, dtype=dtype, **a, **dali)[0]
    scale = max(1.0, np.abs(x.astype(float)).max())
    compare(name, ref.resize(x, layout=layout, **a, **f), got, f"{layout} {x.shape} {x.dtype} {a} {f}", scale)


def check_resize_crop_mirror(random):
    x = sample(random, shape_of(random, "HWC", 8), "u1")
    size = [int(random.integers(6, 40)) for _ in range(2)]
    window = [int(random.integers(1, s + 1)) for s in size]
    pos, mirror = [float(np.float32(random.random())) for _ in range(2)], int(random.integers(0, 4))
    rounding = str(random.choice(["round", "truncate"]))
    got = oracle.call(
        "resize_crop_mirror",
        [x],
        layout="HWC",
        size=size,
        crop=window,
        crop_pos_y=pos[0],
        crop_pos_x=pos[1],
        mirror=mirror,
        rounding=rounding,
        dtype=np.float32,
    )[0]
    compare(
        "resize_crop_mirror",
        ref.resize_crop_mirror(x, size=size, crop=window, crop_pos=pos, mirror=mirror, rounding=rounding),
        got,
        f"{x.shape} {size} {window} {pos} {mirror} {rounding}",
        255,
    )


def check_crop(random):
    layout = str(random.choice(["HWC", "CHW", "FHWC", "DHWC"]))
    d = LAYOUTS[layout]
    x = sample(random, shape_of(random, layout), random.choice(["u1", "i1", "i4", "i8", "f2", "f4", "f8"]))
    window = [int(random.integers(0, 30)) for _ in range(d)]
    pos = [float(np.float32(random.choice([0, 0.5, 1, random.random()]))) for _ in range(d)]
    policy = str(random.choice(["constant", "trim_to_shape", "error"]))
    fill = float(random.integers(0, 100))
    rounding = str(random.choice(["round", "truncate"]))
    names = ["crop_pos_z", "crop_pos_y", "crop_pos_x"][3 - d :]
    text = f"{layout} {x.shape} {window} {pos} {policy} {rounding}"
    arguments = dict(crop=window, out_of_bounds_policy=policy, fill_values=fill, rounding=rounding)
    try:
        got = oracle.call("crop", [x], layout=layout, **arguments, **dict(zip(names, pos)))[0]
    except DaliError:
        try:
            ref.crop(x, layout=layout, crop_pos=pos, **arguments)
        except IndexError:
            return
        worst["crop", "error"] = (np.inf, text)
        return
    compare("crop", ref.crop(x, layout=layout, crop_pos=pos, **arguments), got, text)


def check_slice(random):
    x = sample(random, random.integers(1, 12, random.integers(1, 5)), random.choice(["u1", "i4", "f4"]))
    axes = [int(a) for a in random.permutation(x.ndim)[: random.integers(1, x.ndim + 1)]]
    policy = str(random.choice(["error", "constant", "trim_to_shape", "edge", "reflect", "reflect_101", "wrap"]))
    number = lambda low, high: [int(random.integers(low, high)) for _ in axes]
    digits = int(random.integers(1, 8))  # few digits: coordinates on halves
    real = lambda low, high: [float(np.float32(np.round(random.uniform(low, high), digits))) for _ in axes]
    a = {}
    start, stop = random.integers(0, 3), random.integers(0, 5)
    start = start or int(stop == 0)
    if start == 1:
        a["start"] = number(-6, 6)
    if start == 2:
        a["rel_start"] = real(-0.5, 0.6)
    if stop == 1:
        a["end"] = number(6, 20)
    if stop == 2:
        a["rel_end"] = real(0.6, 1.6)
    if stop == 3:
        a["shape"] = number(0, 20)
    if stop == 4:
        a["rel_shape"] = real(0.2, 1.5)
    fill = float(random.integers(0, 90))
    text = f"{x.shape} {axes} {a} {policy}"
    try:
        expected = ref.slice(x, axes=axes, out_of_bounds_policy=policy, fill_values=fill, **a)
    except (IndexError, ValueError):
        expected = None
    try:
        got = oracle.call("slice", [x], axes=axes, out_of_bounds_policy=policy, fill_values=fill, **a)[0]
    except DaliError as error:
        if expected is not None:
            worst["slice", "error"] = (np.inf, text + str(error)[-300:])
        return
    if expected is None:
        worst["slice", "error"] = (np.inf, text + " DALI takes it")
        return
    compare("slice", expected, got, text)


def check_pad(random):
    n, rank = 3, int(random.integers(1, 5))
    xs = [sample(random, random.integers(1, 9, rank), "i4") for _ in range(n)]
    axes = [int(a) for a in random.permutation(rank)[: random.integers(1, rank + 1)]]
    a = dict(axes=axes, fill_value=float(random.integers(-9, 9)))
    if random.random() < 0.5:
        a["shape"] = [int(random.choice([-1, random.integers(1, 12)])) for _ in axes]
    if random.random() < 0.5:
        a["align"] = [int(random.integers(1, 6)) for _ in axes]
    largest = np.max([x.shape for x in xs], 0)
    for x, got in zip(xs, oracle.call("pad", xs, **a)):
        compare("pad", ref.pad(x, largest=largest, **a), got, f"{x.shape} {a}")


def check_flip(random):
    layout = str(random.choice(["HWC", "CHW", "FHWC", "FCHW", "DHWC", "CDHW"]))
    x = sample(random, shape_of(random, layout), random.choice(["u1", "i8", "f4", "f8"]))
    a = {k: int(random.integers(0, 3)) for k in ("horizontal", "vertical")}
    if "D" in layout:
        a["depthwise"] = int(random.integers(0, 2))
    compare("flip", ref.flip(x, layout=layout, **a), oracle.call("flip", [x], layout=layout, **a)[0], f"{layout} {a}")


def check_transpose(random):
    x = sample(random, random.integers(1, 6, random.integers(1, 6)), "i2")
    perm = [int(p) for p in random.permutation(x.ndim)] if random.random() < 0.8 else None
    a = {"perm": perm} if perm else {}
    compare("transpose", ref.transpose(x, **a), oracle.call("transpose", [x], **a)[0], f"{x.shape} {a}")


def check_erase(random):
    x = sample(random, shape_of(random, "HWC", 2), random.choice(["u1", "i2", "f4"]))
    axes = [[0, 1], [1, 0], [1]][random.integers(0, 3)]
    names = "".join("HWC"[a] for a in axes)
    k = len(axes) * int(random.integers(1, 4))
    flags = {f: bool(random.random() < 0.5) for f in ("normalized_anchor", "normalized_shape", "centered_anchor")}
    anchor = random.uniform(-0.2, 1, k) * (1 if flags["normalized_anchor"] else 20)
    shape = random.uniform(0, 0.7, k) * (1 if flags["normalized_shape"] else 12)
    fill = [float(v) for v in random.integers(0, 99, x.shape[2] if random.random() < 0.5 else 1)]
    single = lambda values: [float(np.float32(v)) for v in values]
    a = dict(anchor=single(anchor), shape=single(shape), fill_value=fill, **flags)
    got = oracle.call("erase", [x], layout="HWC", axis_names=names, **a)[0]
    compare("erase", ref.erase(x, axes=axes, channel=2, **a), got, f"{x.shape} {names} {a}")


def check_cat_stack(random):
    shape = [int(v) for v in random.integers(1, 5, random.integers(1, 4))]
    axis, n = int(random.integers(0, len(shape))), int(random.integers(1, 5))
    varied = lambda: [s if a != axis else int(random.integers(1, 5)) for a, s in enumerate(shape)]
    xs = [sample(random, varied(), "i2") for _ in range(n)]
    compare("cat", ref.cat(*xs, axis=axis), oracle.call("cat", [[x] for x in xs], axis=axis)[0], f"{shape} {axis}")
    xs = [sample(random, shape, "f4") for _ in range(n)]
    axis = int(random.integers(-len(shape), len(shape) + 1))
    got = oracle.call("stack", [[x] for x in xs], axis=axis)[0]
    compare("stack", ref.stack(*xs, axis=axis), got, f"{shape} {axis}")


def check_reshape(random):
    x = sample(random, [2, 6, 4], "i2")
    for a in (
        dict(shape=[12, -1]),
        dict(shape=[48]),
        dict(rel_shape=[2.0, 0.5]),
        dict(rel_shape=[0.5, -1.0]),
        dict(src_dims=[1, 0, 2]),
        dict(src_dims=[2, -1, 0, 1]),
        dict(src_dims=[1, 0, 2], rel_shape=[0.5, 2, 1]),
    ):
        if a.get("rel_shape") == [2.0, 0.5]:
            y = x.reshape(2, 24)
            compare("reshape", ref.reshape(y, **a), oracle.call("reshape", [y], **a)[0], str(a))
            continue
        compare("reshape", ref.reshape(x, **a), oracle.call("reshape", [x], **a)[0], str(a))
    y = x[None, :, None]
    compare("squeeze", ref.squeeze(y, axes=[0, 2]), oracle.call("squeeze", [y], axes=[0, 2])[0], "")
    compare("expand_dims", ref.expand_dims(x, axes=[0, 2]), oracle.call("expand_dims", [x], axes=[0, 2])[0], "")
    compare("copy", ref.copy(x), oracle.call("copy", [x])[0], "")


def check_warp_affine(random):
    layout = str(random.choice(["HWC", "FHWC", "DHWC"]))
    d = LAYOUTS[layout]
    x = sample(random, shape_of(random, layout, 3), random.choice(["u1", "i2", "f4"]))
    m = np.float32(np.column_stack([np.eye(d) + random.normal(0, 0.3, (d, d)), random.normal(0, 3, d)]))
    a = dict(matrix=[float(v) for v in m.ravel()], inverse_map=bool(random.random() < 0.5))
    if random.random() < 0.5:
        a["size"] = [float(v) for v in random.uniform(3, 20, d)]
    if random.random() < 0.6:
        a["fill_value"] = float(random.integers(0, 50))
    nearest = bool(random.random() < 0.4)
    got = oracle.call(
        "warp_affine",
        [x],
        layout=layout,
        interp_type="INTERP_NN" if nearest else "INTERP_LINEAR",
        dtype=np.float32,
        **a,
    )[0]
    compare(
        "warp_affine.nearest" if nearest else "warp_affine",
        ref.warp_affine(x, layout=layout, interp_type="nn" if nearest else "linear", **a),
        got,
        f"{layout} {x.shape} {a}",
        max(1.0, np.abs(x.astype(float)).max()),
        0.1 if nearest else 0.01,
    )


def check_rotate(random):
    layout = str(random.choice(["HWC", "FHWC", "DHWC"]))
    d = LAYOUTS[layout]
    x = sample(random, shape_of(random, layout, 3), random.choice(["u1", "i2", "f4"]))
    a = dict(angle=float(np.float32(random.choice([random.uniform(-400, 400), 15.0 * random.integers(-24, 25)]))))
    nearest = bool(random.random() < 0.4) and a["angle"] % 15 != 0  # there samples lie on pixel borders
    if d == 3:
        a["axis"] = [float(np.float32(v)) for v in random.normal(0, 1, 3)]
    pick = random.random()
    if pick < 0.3:
        a["size"] = [float(v) for v in random.integers(3, 20, d)]
    elif pick < 0.6:
        a["keep_size"] = True
    if random.random() < 0.6:
        a["fill_value"] = float(random.integers(0, 50))
    got = oracle.call(
        "rotate", [x], layout=layout, interp_type="INTERP_NN" if nearest else "INTERP_LINEAR", dtype=np.float32, **a
    )[0]
    expected = ref.rotate(x, layout=layout, interp_type="nn" if nearest else "linear", **a)
    compare(
        "rotate.nearest" if nearest else "rotate",
        expected,
        got,
        f"{layout} {x.shape} {a}",
        max(1.0, np.abs(x.astype(float)).max()),
        0.1 if nearest else 0.01,
    )


def check_brightness_contrast(random):
    x = sample(random, shape_of(random, "HWC"), random.choice(["u1", "i2", "f4"]))
    dtype = random.choice(["u1", "i2", "i4", "f4"])
    a = dict(brightness=random.uniform(0, 2), contrast=random.uniform(0, 2), brightness_shift=random.uniform(-1, 1))
    if random.random() < 0.5:
        a["contrast_center"] = random.uniform(0, 100)
    a = {k: float(np.float32(v)) for k, v in a.items()}
    got = oracle.call("brightness_contrast", [x], layout="HWC", dtype=dtype, **a)[0]
    compare(
        "brightness_contrast",
        ref.brightness_contrast(x, dtype=dtype, **a),
        got,
        f"{x.dtype} {dtype} {a}",
        max(1.0, np.abs(x.astype(float)).max()),
    )


def check_color(random):
    x = sample(random, shape_of(random, "HWC")[:2] + [3], random.choice(["u1", "i2", "f4"]))
    dtype = random.choice(["u1", "i2", "f4"])
    values = dict(
        hue=random.uniform(-200, 200),
        saturation=random.uniform(0, 2),
        value=random.uniform(0, 2),
        brightness=random.uniform(0, 2),
        contrast=random.uniform(0, 2),
    )
    values = {k: float(np.float32(v)) for k, v in values.items()}
    for name, keys in dict(
        hue=["hue"],
        saturation=["saturation"],
        hsv=["hue", "saturation", "value"],
        color_twist=["hue", "saturation", "brightness", "contrast"],
    ).items():
        a = {k: values[k] for k in keys}
        got = oracle.call(name, [x], layout="HWC", dtype=dtype, **a)[0]
        compare(
            name, getattr(ref, name)(x, **a), got, f"{x.dtype} {dtype} {a}", max(1.0, 4 * np.abs(x.astype(float)).max())
        )


def check_color_space(random):
    names = ["RGB", "BGR", "GRAY", "YCbCr"]
    a = dict(zip(("image_type", "output_type"), (str(v) for v in random.choice(names, 2, replace=False))))
    x = sample(random, shape_of(random, "HWC")[:2] + [1 if a["image_type"] == "GRAY" else 3], "u1")
    got = oracle.call("color_space_conversion", [x], layout="HWC", **a)[0]
    compare("color_space_conversion", ref.color_space_conversion(x, **a), got, str(a))


def check_gaussian_blur(random):
    layout = str(random.choice(["HWC", "CHW", "HW", "FHWC", "DHWC", "CDHW"]))
    n = sum(c not in "FC" for c in layout)
    x = sample(random, shape_of(random, layout, 1), random.choice(["u1", "i2", "i4", "f4"]))
    a = {}
    pick = random.integers(0, 3)
    values = lambda f: f() if random.random() < 0.5 else [f() for _ in range(n)]
    if pick != 0:
        a["sigma"] = values(lambda: float(np.float32(random.uniform(0.2, 4))))
    if pick != 1:
        a["window_size"] = values(lambda: int(random.integers(1, 6)) * 2 + 1)
    got = oracle.call("gaussian_blur", [x], layout=layout, dtype=np.float32, **a)[0]
    compare(
        "gaussian_blur",
        ref.gaussian_blur(x, layout=layout, **a),
        got,
        f"{layout} {x.shape} {a}",
        max(1.0, np.abs(x.astype(float)).max()),
    )


def check_normalize(random):
    x = sample(random, random.integers(2, 6, random.integers(1, 5)), random.choice(["u1", "i2", "f4"]))
    a = dict(
        scale=float(np.float32(random.uniform(0.5, 3))),
        shift=float(np.float32(random.uniform(-1, 1))),
        epsilon=float(np.float32(random.choice([0.01, 1.0]))),
        ddof=int(random.integers(0, 2)),
    )
    axes = [int(v) for v in random.permutation(x.ndim)[: random.integers(1, x.ndim + 1)]]
    for k in ("mean", "stddev"):
        if random.random() < 0.3:
            a[k] = float(np.float32(random.uniform(1, 9)))
    if random.random() < 0.8 and not ("mean" in a and "stddev" in a):
        a["axes"] = sorted(axes)
    got = oracle.call("normalize", [x], **a)[0]
    expected = ref.normalize(x, **a)
    compare("normalize", expected, got, f"{x.shape} {x.dtype} {a}", max(1.0, np.abs(x.astype(float)).max()))


def check_crop_mirror_normalize(random):
    layout = str(random.choice(["HWC", "CHW", "FHWC"]))
    x = sample(random, shape_of(random, layout, 3), random.choice(["u1", "i2", "f4"]))
    c = x.shape[layout.index("C")]
    many = lambda low, high: [
        float(np.float32(v)) for v in random.uniform(low, high, c if random.random() < 0.5 else 1)
    ]
    a = dict(
        mean=many(0, 100),
        std=many(20, 100),
        mirror=int(random.integers(0, 2)),
        pad_output=bool(random.random() < 0.4),
        scale=float(np.float32(random.uniform(0.5, 2))),
        shift=float(np.float32(random.uniform(-1, 1))),
    )
    if random.random() < 0.7:
        a["crop"] = [int(random.integers(1, 30)) for _ in range(2)]
        a["out_of_bounds_policy"] = str(random.choice(["constant", "trim_to_shape"]))
        a["fill_values"] = many(0, 9)
        if len(a["fill_values"]) > 1 and (c & (c - 1) and a["pad_output"] or max(len(a["mean"]), len(a["std"])) == 1):
            del a["fill_values"]  # DALI refuses the first and reads past its arrays in the second
    order = {"HWC": ["HWC", "CHW"], "CHW": ["CHW", "HWC"], "FHWC": ["FHWC", "FCHW", "CFHW"]}[layout]
    output_layout = str(random.choice(order))
    pos = [float(np.float32(random.random())) for _ in range(2)]
    got = oracle.call(
        "crop_mirror_normalize",
        [x],
        layout=layout,
        output_layout=output_layout,
        crop_pos_y=pos[0],
        crop_pos_x=pos[1],
        **a,
    )[0]
    expected = ref.crop_mirror_normalize(x, layout=layout, output_layout=output_layout, crop_pos=pos, **a)
    compare(
        "crop_mirror_normalize",
        expected,
        got,
        f"{layout}->{output_layout} {x.shape} {a}",
        max(1.0, np.abs(x.astype(float)).max() / 20),
    )


def check_cast_mean(random):
    kinds = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "?"]
    x = sample(random, [50], random.choice(kinds))
    if x.dtype.kind == "f":
        x = np.floor(x * 300) + random.choice([0, 0.25, 0.75], x.shape).astype(x.dtype)  # no ties
    dtype = random.choice(kinds)
    got = oracle.call("cast", [x], dtype=dtype)[0]
    expected = ref.cast(x, dtype=dtype)
    worst.setdefault(("cast", "all"), (0.0, ""))
    if not np.array_equal(got, expected):
        worst["cast", str(dtype)] = (np.inf, f"{x.dtype} to {dtype}: {x[got != expected][:3]}")
    x = sample(random, random.integers(1, 6, random.integers(1, 5)), random.choice(["u1", "i2", "i4", "f4"]))
    a = dict(keep_dims=bool(random.random() < 0.5))
    if random.random() < 0.7:
        a["axes"] = sorted(int(v) for v in random.permutation(x.ndim)[: random.integers(1, x.ndim + 1)])
    compare(
        "reductions.mean",
        ref.mean(x, **a),
        oracle.call("reductions.mean", [x], **a)[0],
        f"{x.shape} {a}",
        max(1.0, np.abs(x.astype(float)).max()),
    )


def check_arithmetic(random):
    kinds = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "?"]
    op = str(random.choice("+ - * / // % ** < <= > >= == != & | ^ << >>".split()))
    a = sample(random, [20], random.choice(kinds))
    b = [sample(random, [20], random.choice(kinds)), int(random.integers(-9, 300)), float(random.uniform(-3, 3)), True]
    b = b[random.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    if op in ("**", "<<", ">>"):  # small numbers: shifts by more than the width are undefined
        a = a % 7 if a.dtype.kind in "iu" else a
        b = b % 4 if np.asarray(b).dtype != bool else b
    floats = "f" in (a.dtype.kind, np.asarray(b).dtype.kind)
    if op in ("//", "%"):
        b = np.where(b == 0, 1, b).astype(b.dtype) if isinstance(b, np.ndarray) else b or 3
    if op == "%" and floats:
        a = a % 100 if a.dtype.kind in "iu" else a  # larger integers differ, see KNOWN_DIFFERENCES
        b = b if np.asarray(b).dtype.kind == "f" else 7
    text = f"{a.dtype} {op} {b.dtype if isinstance(b, np.ndarray) else repr(b)}"
    try:
        got = oracle.call(op, [[a], [b]])[0] if isinstance(b, np.ndarray) else oracle.call(op, [a], b=b)[0]
    except DaliError as error:
        both = a.dtype == bool and (isinstance(b, bool) or getattr(b, "dtype", None) == bool)
        if not (floats and op in "& | ^ << >>" or both):
            worst["arithmetic", text] = (np.inf, str(error)[-300:])
        return
    expected = ref.arithmetic(op, a, b)
    if expected.dtype != got.dtype:
        worst["arithmetic", text] = (np.inf, f"type {expected.dtype} but DALI has {got.dtype}")
    with np.errstate(all="ignore"):
        same = (
            np.isclose(expected, got, rtol=1e-6, atol=0, equal_nan=True)
            if expected.dtype.kind == "f"
            else expected == got
        )
    worst.setdefault(("arithmetic", "all"), (0.0, ""))
    if not same.all():
        i = int(np.argmin(same))
        right = b[i] if isinstance(b, np.ndarray) else b
        worst["arithmetic", text] = (np.inf, f"{a[i]} {op} {right}: {expected[i]} but DALI has {got[i]}")


CHECKS = {name.removeprefix("check_"): f for name, f in list(globals().items()) if name.startswith("check_")}


def run(name, rounds, seed=1):
    """Runs one check and returns its findings: (operator, kind, difference, allowed, example)."""
    worst.clear()
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        CHECKS[name](random)
    found = []
    for (operator, kind), (value, text) in sorted(worst.items()):
        known = max((n for n in ALLOWED if operator.startswith(n)), key=len, default=operator)
        found.append((operator, kind, value, ALLOWED[known][0 if kind == "int" else 1], text))
    return found


def main():
    rounds, failed = int(sys.argv[1]) if len(sys.argv) > 1 else 200, 0
    for check in sys.argv[2:] or CHECKS:
        for operator, kind, value, allowed, text in run(check, rounds):
            failed += value > allowed
            verdict = "DIFFERS" if value > allowed else "ok"
            print(f"{verdict:8} {operator:26} {kind:6} {value:10.3g}  {text}", flush=True)
    oracle.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
