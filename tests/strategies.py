# SPDX-License-Identifier: Apache-2.0
"""Random calls of every operator of the registry, each with its result by tests/reference.py.

CASES maps an operator's name to a function that draws a Case. What an operator's reference needs beyond the sample and
the arguments (a layout, the batch's largest extents) is bound there, and nowhere else.
"""

import math

import box_strategies
import item_strategies
import mask_strategies
import numpy as np
import picture_strategies
import reference as ref
import signal_strategies
import tensor_strategies
import transform_strategies
from hypothesis import assume
from hypothesis import strategies as st
from operator_calls import Case, values

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
NUMBERS = INTEGERS + FLOATS
DTYPES = ["bool"] + NUMBERS
EXTENTS = [1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 67]

# Operators that no random array calls, or that have no function of their name in tests/reference.py, and why.
NO_ARRAYS = {
    "readers.file": "reads files: test_determinism.py, test_bad_input.py",
    "readers.caffe": "reads files: test_containers.py, test_lmdb.py",
    "readers.caffe2": "reads files: test_containers.py, test_lmdb.py",
    "readers.coco": "reads files: test_coco.py",
    "readers.numpy": "reads files: test_numpy_files.py",
    "readers.lmdb": "reads files: test_containers.py, test_lmdb.py",
    "readers.mxnet": "reads files: test_containers.py, test_recordio_tar.py",
    "readers.webdataset": "reads files: test_containers.py, test_recordio_tar.py",
    "readers.tfrecord": "reads files: test_containers.py, test_tfrecord.py",
    "readers.video": "reads files: test_video_readers.py",
    "readers.fits": "reads files: test_fits.py",
    "readers.nemo_asr": "reads files: test_nemo_asr.py",
    "readers.indices": "an order alone: test_dataset_source.py",
    "readers.mix": "reads through readers: test_readers_mix.py",
    "experimental.readers.video": "reads files: test_video_readers.py",
    "external_source": "carries every pipeline of these tests",
    "decoders.audio": "takes files: test_audio.py compares with libsndfile and DALI",
    "experimental.inputs.video": "takes files: test_video_inputs.py",
    "decoders.video": "takes files: test_video.py compares with FFmpeg's command and DALI",
    "decoders.image": "takes files: the decoders' own tests compare with libjpeg-turbo, Pillow and OpenCV",
    "decoders.image_crop": "as decoders.image",
    "decoders.image_random_crop": "as decoders.image",
    "decoders.image_slice": "as decoders.image",
    "peek_image_shape": "as decoders.image",
    "batch_permutation": "an order alone: test_batch_order.py",
    "decoders.inflate": "takes compressed bytes: test_decoded_bytes.py",
    "decoders.numpy": "takes files: test_decoded_bytes.py",
    "io.file.read": "reads files: test_decoded_bytes.py",
    "dump_image": "writes files: test_decoded_bytes.py",
    "readers.sequence": "reads files: test_decoded_bytes.py",
    "ssd_random_crop": "finds windows as random_bbox_crop: test_pictures.py",
    "python_function": "calls the user's functions: test_python_function.py",
    "numba_function": "calls the user's functions: test_numba_function.py",
}


def extent(draw):
    return draw(st.sampled_from(EXTENTS))


def image_shape(draw, layout, channels=None, empty=False):
    shape = [extent(draw) if letter in "HW" else draw(st.integers(1, 4)) for letter in layout]
    for i, letter in enumerate(layout):
        if letter == "C" and channels:
            shape[i] = channels
    spatial = [i for i, letter in enumerate(layout) if letter in "HW"]
    odd = draw(st.integers(0, 19))
    if odd == 0:
        shape[spatial[-1]] = 1031  # one that takes several tiles
    elif odd == 1 and empty:
        shape[spatial[0]] = 0
    return tuple(shape)


def images(draw, layouts, dtypes=DTYPES, channels=None, same_shape=False, empty=True, same_channels=False):
    """(samples, layout, dtype): a ragged batch of one to three samples."""
    layout, dtype = draw(st.sampled_from(layouts)), draw(st.sampled_from(dtypes))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    if same_channels and not channels:
        channels = draw(st.integers(1, 4))
    shapes = [image_shape(draw, layout, channels, empty) for _ in range(n)]
    if same_shape:
        shapes = shapes[:1] * n
    return [values(dtype, s, seed + i) for i, s in enumerate(shapes)], layout, dtype


def arguments(draw, n, choices):
    """Draws each argument as not given, a constant, or one value per sample; returns (constants, per_sample)."""
    constants, per_sample = {}, {}
    for name, value in choices.items():
        how = draw(st.sampled_from(["default", "constant", "per sample"]))
        if how == "constant":
            constants[name] = draw(value)
        elif how == "per sample":
            per_sample[name] = [draw(value) for _ in range(n)]
    return constants, per_sample


def number(low, high):
    """Multiples of 1/64, which float32 holds, so that no conversion counts as a difference."""
    return st.integers(math.ceil(low * 64), math.floor(high * 64)).map(lambda v: v / 64)


def output_type(draw, dtype, constants, name="dtype"):
    """A result type: not given (the input's) or one of them."""
    if draw(st.booleans()):
        return dtype
    out = draw(st.sampled_from(NUMBERS))
    constants[name] = out
    return out


def of(case_arguments, i):
    constants, per_sample = case_arguments
    return {**constants, **{k: v[i] for k, v in per_sample.items()}}


IMAGE_LAYOUTS = ["HWC", "CHW", "HW", "FHWC", "FCHW", "DHWC", "CDHW", "FDHWC", "FCDHW"]
COLOR_LAYOUTS = ["HWC", "FHWC", "DHWC", "CHW"]
KINDS = {"nn": 0, "linear": 1, "cubic": 2, "lanczos3": 3, "triangular": 4, "gaussian": 5}
GAIN = {"nn": 1, "linear": 1, "triangular": 1, "gaussian": 1, "cubic": 2, "lanczos3": 3}


# -------------------------------------------------------------------------------------------------------------- pixels
def _brightness_contrast(names, function):
    ranges = {
        "brightness": number(-2, 2),
        "brightness_shift": number(-1, 1),
        "contrast": number(-2, 2),
        "contrast_center": number(-100, 100),
    }

    def make(draw):
        xs, layout, dtype = images(draw, IMAGE_LAYOUTS, NUMBERS)
        given = arguments(draw, len(xs), {n: ranges[n] for n in names})
        out = output_type(draw, dtype, given[0])
        span = 4 * max(ref._range_of(out), 0.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max))
        takes_type = function is not ref.contrast
        return Case(
            [xs],
            [layout],
            *given,
            dtype=out,
            largest=span,
            expected=lambda i: function(
                xs[i],
                **{k: v for k, v in of(given, i).items() if k != "dtype"},
                **({"dtype": out} if takes_type else {}),
            ),
        )

    return make


def _color(names, function, default=None):
    ranges = {
        "hue": number(-360, 360),
        "saturation": number(-2, 2),
        "value": number(0, 2),
        "brightness": number(0, 2),
        "contrast": number(0, 2),
    }

    def make(draw):
        xs, layout, dtype = images(draw, COLOR_LAYOUTS, NUMBERS, channels=3)
        given = arguments(draw, len(xs), {n: ranges[n] for n in names})
        out = output_type(draw, dtype, given[0])
        if default and "dtype" not in given[0]:
            out = default
        c = layout.index("C")

        def expected(i):
            keywords = {k: v for k, v in of(given, i).items() if k != "dtype"}
            return np.moveaxis(function(np.moveaxis(xs[i], c, -1), **keywords), -1, c)

        return Case(
            [xs],
            [layout],
            *given,
            dtype=out,
            expected=expected,
            largest=20 * max([256.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size]),
        )

    return make


def _color_space_conversion(draw):
    names = ["RGB", "BGR", "GRAY", "YCbCr"]
    source, target = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    xs, layout, dtype = images(draw, ["HWC", "FHWC", "DHWC"], ["uint8"], channels=1 if source == "GRAY" else 3)
    return Case(
        [xs],
        [layout],
        {"image_type": names.index(source), "output_type": names.index(target)},
        dtype=dtype,
        expected=lambda i: ref.color_space_conversion(xs[i], image_type=source, output_type=target),
    )


def _cast(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    out = draw(st.sampled_from(DTYPES))
    return Case([xs], [layout], {"dtype": out}, dtype=out, expected=lambda i: ref.cast(xs[i], dtype=out))


# ---------------------------------------------------------------------------------------------------------------- maps
def _flip(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    given = arguments(
        draw,
        len(xs),
        {
            "horizontal": st.integers(0, 1),
            "vertical": st.integers(0, 1),
            **({"depthwise": st.integers(0, 1)} if "D" in layout else {}),
        },
    )
    return Case([xs], [layout], *given, dtype=dtype, expected=lambda i: ref.flip(xs[i], layout=layout, **of(given, i)))


def _copy(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    return Case([xs], [layout], dtype=dtype, expected=lambda i: ref.copy(xs[i]))


def _per_frame(draw):
    xs, layout, dtype = images(draw, ["FHWC", "FCHW", "HWC"])
    return Case([xs], [layout], {"replace": True}, dtype=dtype, expected=lambda i: ref.per_frame(xs[i]))


def _transpose(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    perm = draw(st.none() | st.permutations(range(len(layout))))
    return Case(
        [xs],
        [layout],
        {} if perm is None else {"perm": list(perm)},
        dtype=dtype,
        expected=lambda i: ref.transpose(xs[i], perm=perm),
    )


POLICIES = ["constant", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"]


def _window_policy(draw, layout, policies, dtype):
    """Options for a window that may reach outside."""
    policy = draw(st.sampled_from(policies))
    constants = {"out_of_bounds_policy": policy}
    if policy == "constant":
        high = 1 if dtype == "bool" else 100
        constants["fill_values"] = [float(draw(st.integers(0, high)))]
    return constants


def _position(draw, layout, n):
    spatial = [k for k in "DHW" if k in layout]
    names = {"D": "crop_pos_z", "H": "crop_pos_y", "W": "crop_pos_x"}
    given = arguments(draw, n, {names[k]: number(0, 1) for k in spatial})
    return given, lambda i: [of(given, i).get(names[k], 0.5) for k in spatial]


def _crop(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"], empty=False)
    given, pos = _position(draw, layout, len(xs))
    options = _window_policy(draw, layout, POLICIES, dtype)
    if draw(st.booleans()):
        options["rounding"] = "truncate"
    spatial = [k for k in "DHW" if k in layout]
    window = [draw(st.integers(1, 40)) for _ in spatial]
    constants = {**given[0], **options, **{f"crop_{k.lower()}": float(w) for k, w in zip(spatial, window)}}
    return Case(
        [xs],
        [layout],
        constants,
        given[1],
        dtype=dtype,
        expected=lambda i: ref.crop(xs[i], layout=layout, crop=window, crop_pos=pos(i), **options),
    )


def _slice(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    options = _window_policy(draw, layout, POLICIES, dtype)
    axes = [layout.index("H"), layout.index("W")]
    if draw(st.booleans()):
        starts = [[draw(st.integers(-9, 20)) for _ in axes] for _ in xs]
        extents = [[draw(st.integers(1, 30)) for _ in axes] for _ in xs]
        per_sample = {"start": starts, "shape": extents}
        keywords = lambda i: {"start": starts[i], "shape": extents[i]}
    else:
        starts = [[draw(number(0, 0.5)) for _ in axes] for _ in xs]
        ends = [[draw(number(0.5, 1)) for _ in axes] for _ in xs]
        per_sample = {"rel_start": starts, "rel_end": ends}
        keywords = lambda i: {"rel_start": starts[i], "rel_end": ends[i]}
    return Case(
        [xs],
        [layout],
        {**options, "axis_names": "HW"},
        per_sample,
        dtype=dtype,
        expected=lambda i: ref.slice(xs[i], axes=axes, channel=layout.find("C"), **keywords(i), **options),
    )


def _pad(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FDHWC"])
    constants = {"fill_value": float(draw(st.integers(0, 1 if dtype == "bool" else 100)))}
    axes = draw(st.none() | st.permutations(range(len(layout))).map(lambda p: p[:2]))
    padded = range(len(layout)) if axes is None else axes
    if axes is not None:
        named = draw(st.booleans())
        constants.update({"axis_names": "".join(layout[a] for a in axes)} if named else {"axes": axes})
    largest = [max(x.shape[a] for x in xs) for a in range(xs[0].ndim)]
    given = {}
    if draw(st.booleans()):
        given["align"] = [draw(st.sampled_from([1, 2, 16])) for _ in (padded if draw(st.booleans()) else [0])]
    if draw(st.integers(0, 3)) == 0:
        given["shape"] = [draw(st.sampled_from([-1, 1, 9, 40])) for _ in padded]
    wanted = [n if n > 0 else largest[a] for a, n in zip(padded, given.get("shape", [0] * len(padded)))]
    return Case(
        [xs],
        [layout],
        {**constants, **given},
        dtype=dtype,
        alone={"shape": wanted} if all(wanted) else {},
        expected=lambda i: ref.pad(
            xs[i],
            largest=largest,
            axes=axes,
            shape=given.get("shape"),
            align=given.get("align", 1),
            fill_value=constants["fill_value"],
        ),
    )


def _erase(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
    axes = [layout.index("H"), layout.index("W")]
    regions = draw(st.integers(1, 2))
    anchors = [[float(draw(st.integers(-5, 30))) for _ in range(2 * regions)] for _ in xs]
    shapes = [[float(draw(st.integers(0, 30))) for _ in range(2 * regions)] for _ in xs]
    fill = float(draw(st.integers(0, 1 if dtype == "bool" else 100)))
    centered = draw(st.booleans())
    return Case(
        [xs],
        [layout],
        {"fill_value": fill, "axis_names": "HW", "centered_anchor": centered},
        {"anchor": anchors, "shape": shapes},
        dtype=dtype,
        expected=lambda i: ref.erase(
            xs[i], axes=axes, anchor=anchors[i], shape=shapes[i], fill_value=fill, centered_anchor=centered
        ),
    )


def _joined(name):
    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
        count = draw(st.integers(1, 4))
        inputs = [xs] + [[values(dtype, x.shape, 100 * k + i) for i, x in enumerate(xs)] for k in range(1, count)]
        axis = draw(st.integers(0, xs[0].ndim - 1))
        return Case(
            inputs,
            [layout] * count,
            {"axis": axis},
            dtype=dtype,
            expected=lambda i: getattr(ref, name)(*[x[i] for x in inputs], axis=axis),
        )

    return make


def _reshape(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    shapes = [draw(st.permutations(x.shape)) for x in xs]
    if draw(st.booleans()):
        return Case([xs], [layout], {"shape": [-1]}, dtype=dtype, expected=lambda i: ref.reshape(xs[i], shape=[-1]))
    return Case(
        [xs],
        [layout],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        expected=lambda i: ref.reshape(xs[i], shape=shapes[i]),
    )


def _expand_dims(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
    axes = sorted(draw(st.sets(st.integers(0, xs[0].ndim), min_size=1, max_size=2)))
    return Case([xs], [layout], {"axes": axes}, dtype=dtype, expected=lambda i: ref.expand_dims(xs[i], axes=axes))


def _squeeze(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "DHWC"], empty=False)
    axis = draw(st.integers(0, xs[0].ndim - 1))
    xs = [np.ascontiguousarray(np.take(x, [0], axis)) for x in xs]
    return Case([xs], [layout], {"axes": [axis]}, dtype=dtype, expected=lambda i: ref.squeeze(xs[i], axes=[axis]))


# ---------------------------------------------------------------------------------------------------------- resampling
def _filters(draw):
    name = draw(st.sampled_from(list(KINDS)))
    constants, antialias = {"interp_type": KINDS[name]}, True
    if draw(st.booleans()):
        antialias = constants["antialias"] = False
    return constants, {"interp_type": name, "antialias": antialias}, GAIN[name]


def _size(draw, n, d):
    way = draw(st.sampled_from(["size", "shorter", "longer", "x", "mode"]))
    extent_ = st.integers(1, 50).map(float)
    if way == "size":
        return {}, {"size": [[draw(extent_) for _ in range(d)] for _ in range(n)]}
    if way == "mode":
        return {
            "mode": draw(st.sampled_from(["stretch", "not_larger", "not_smaller"])),
            "size": [draw(extent_) for _ in range(d)],
        }, {}
    if way == "x":
        return {}, {"resize_x": [draw(extent_) for _ in range(n)]}
    return {"resize_" + way: draw(extent_)}, {}


def _near_border(geometry, kind):
    """Nearest: whether a sample lies so close to a pixel's border that float64 decides otherwise than float32."""
    if kind != "nn":
        return False
    for low, high, n in geometry:
        at = low + (np.arange(n) + 0.5) * (high - low) / n
        if (np.abs(at - np.rint(at)) < 1e-4).any():
            return True
    return False


def _resize(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"], empty=False)
    spatial = [k for k in "DHW" if k in layout]
    constants, filters, gain = _filters(draw)
    size = _size(draw, len(xs), len(spatial))
    if draw(st.booleans()):
        size[0].update(
            roi_start=[0.0] * len(spatial), roi_relative=True, roi_end=[draw(number(0.25, 1)) for _ in spatial]
        )
    out = dtype
    if draw(st.booleans()):
        out = constants["dtype"] = draw(st.sampled_from(FLOATS))
    extents = [[x.shape[layout.index(k)] for k in spatial] for x in xs]
    geometry = [ref.resize_geometry(e, **of(size, i)) for i, e in enumerate(extents)]
    # A side of one sample that becomes the shorter one asks for gigabytes of the others.
    assume(all(np.prod([float(n) for _, _, n in g]) <= 1e6 for g in geometry))
    assume(not any(_near_border(g, filters["interp_type"]) for g in geometry))
    return Case(
        [xs],
        [layout],
        {**constants, **size[0]},
        size[1],
        dtype=out,
        error=1e-5 * gain,
        expected=lambda i: ref.resize(xs[i], layout=layout, **filters, **of(size, i)),
    )


def _random_resized_crop(draw):
    """The window is the whole image, so that nothing is random; what is random has tests of its own."""
    xs, layout, dtype = images(draw, ["HWC", "CHW"], empty=False)
    x = xs[0]
    size = [draw(st.integers(1, 40)) for _ in range(2)]
    h, w = (x.shape[layout.index(k)] for k in "HW")
    constants = {"size": size, "random_area": [1.0, 1.0], "random_aspect_ratio": [w / h * 0.9998, w / h * 1.0002]}
    return Case(
        [[x]],
        [layout],
        constants,
        dtype=dtype,
        expected=lambda i: ref.random_resized_crop(x, layout=layout, window=(0, 0, h, w), size=size),
    )


def _resize_crop_mirror(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "FHWC"], empty=False)
    size = [draw(st.integers(8, 50)) for _ in range(2)]
    crop = [draw(st.integers(1, n)) for n in size]
    mirror = draw(st.integers(0, 3))
    return Case(
        [xs],
        [layout],
        {"size": [float(s) for s in size], "crop": [float(c) for c in crop], "mirror": mirror},
        dtype=dtype,
        error=2e-5,
        expected=lambda i: ref.resize_crop_mirror(xs[i], layout=layout, size=size, crop=crop, mirror=mirror),
    )


def _warped(draw):
    xs, layout, dtype = images(draw, ["HWC", "FHWC"], empty=False)
    constants = {"interp_type": 1}
    if draw(st.booleans()):
        constants["fill_value"] = float(draw(st.integers(0, 1 if dtype == "bool" else 100)))
    return xs, layout, dtype, constants


def _slope(xs):
    """Coordinates are float32: a sample lies up to about 1e-4 pixels off, and neighbors differ by up to the range."""
    return 4e-4 if max(max(x.shape) for x in xs) > 100 else 5e-5


def _warp_affine(draw):
    xs, layout, dtype, constants = _warped(draw)
    matrices = [[[draw(number(-1.5, 1.5)), draw(number(-1, 1)), draw(number(-8, 20))] for _ in range(2)] for _ in xs]
    per_sample = {"matrix": matrices}
    return Case(
        [xs],
        [layout],
        constants,
        per_sample,
        dtype=dtype,
        error=_slope(xs),
        expected=lambda i: ref.warp_affine(
            xs[i], matrix=matrices[i], layout=layout, fill_value=constants.get("fill_value")
        ),
    )


def _rotate(draw):
    xs, layout, dtype, constants = _warped(draw)
    angles = [draw(st.integers(-180, 180).filter(lambda a: a % 45).map(float)) for _ in xs]
    keep = constants["keep_size"] = draw(st.booleans())
    return Case(
        [xs],
        [layout],
        constants,
        {"angle": angles},
        dtype=dtype,
        error=_slope(xs),
        expected=lambda i: ref.rotate(
            xs[i], angle=angles[i], layout=layout, keep_size=keep, fill_value=constants.get("fill_value")
        ),
    )


# --------------------------------------------------------------------------------------------------- whole and combined
def _crop_mirror_normalize(draw):
    xs, layout, _ = images(draw, ["HWC", "CHW"], NUMBERS, empty=False)
    window = [draw(st.integers(1, x)) for x in np.min([[x.shape[layout.index(k)] for k in "HW"] for x in xs], 0)]
    mirror = [draw(st.integers(0, 1)) for _ in xs]
    mean, std = [draw(number(-100, 100))], [draw(number(1, 60))]
    scale, shift = draw(number(-2, 2)), draw(number(-5, 5))
    target = draw(st.sampled_from(["CHW", "HWC"]))
    out = draw(st.sampled_from(["float32", "float16", "uint8", "int8"]))
    pad = draw(st.booleans())
    constants = {
        "crop": [float(w) for w in window],
        "mean": mean,
        "std": std,
        "scale": scale,
        "shift": shift,
        "output_layout": target,
        "dtype": out,
        "pad_output": pad,
    }
    return Case(
        [xs],
        [layout],
        constants,
        {"mirror": mirror},
        dtype=out,
        largest=200.0,
        expected=lambda i: ref.crop_mirror_normalize(
            xs[i],
            layout=layout,
            output_layout=target,
            crop=window,
            mirror=mirror[i],
            mean=mean,
            std=std,
            scale=scale,
            shift=shift,
            pad_output=pad,
        ),
    )


def _normalize(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], NUMBERS, empty=False)
    constants = {"scale": draw(number(-4, 4)), "shift": draw(number(-50, 50)), "epsilon": draw(number(0.5, 2))}
    names = draw(st.sampled_from(["", "HW", "W"]))
    axes = [layout.index(k) for k in names] or None
    return Case(
        [xs],
        [layout],
        {**constants, **({"axis_names": names} if names else {})},
        dtype="float32",
        error=1e-4,
        expected=lambda i: ref.normalize(xs[i], axes=axes, **constants),
    )


def _gaussian_blur(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC"], empty=False)
    constants = draw(
        st.one_of(
            st.builds(lambda s: {"sigma": s}, number(0.5, 3)),
            st.builds(lambda k: {"window_size": k}, st.integers(2, 13)),
            st.builds(lambda s, k: {"sigma": s, "window_size": 2 * k + 1}, number(0.5, 3), st.integers(1, 6)),
        )
    )
    return Case(
        [xs], [layout], constants, dtype=dtype, expected=lambda i: ref.gaussian_blur(xs[i], layout=layout, **constants)
    )


def _constant(draw):
    data, out = draw(st.lists(st.integers(-300, 300), min_size=1, max_size=6)), draw(st.sampled_from(DTYPES))
    return Case(
        [],
        [],
        {"idata": data, "shape": [len(data)], "dtype": out},
        dtype=out,
        size=draw(st.integers(1, 3)),
        expected=lambda i: ref.to_dtype(np.array(data), out),
    )


# ---------------------------------------------------------------------------------------------------------- arithmetic
_SIGNS = {
    "_add": "+",
    "_sub": "-",
    "_mul": "*",
    "_div": "/",
    "_fdiv": "//",
    "_mod": "%",
    "_pow": "**",
    "_lt": "<",
    "_le": "<=",
    "_gt": ">",
    "_ge": ">=",
    "_eq": "==",
    "_ne": "!=",
    "_and": "&",
    "_or": "|",
    "_xor": "^",
    "_shl": "<<",
    "_shr": ">>",
    "_neg": "-",
    "_pos": "+",
    "_not": "~",
}
UNARY = ("_neg", "_pos", "_not")


def _arithmetic(name):
    sign = _SIGNS[name]
    if sign in "&|^~<<>>" and name not in ("_lt", "_gt"):
        kinds = INTEGERS
    else:
        kinds = NUMBERS

    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], kinds)
        if name in UNARY:
            return Case(
                [xs],
                [layout],
                dtype=ref.arithmetic(sign, xs[0]).dtype.name,
                error=0.0,
                expected=lambda i: ref.arithmetic(sign, xs[i]),
            )
        other, seed = draw(st.sampled_from(kinds)), draw(st.integers(0, 2**32 - 1))
        ys = [values(other, x.shape, seed + i) for i, x in enumerate(xs)]
        if sign in ("//", "%"):
            ys = [np.where(y == 0, np.ones_like(y), y) for y in ys]
        if sign in ("<<", ">>"):
            ys = [(np.abs(y.astype(np.int64)) % 8).astype(other) for y in ys]
        if sign == "**":
            xs = [np.abs(x.astype(np.float64) % 9).astype(dtype) for x in xs]
            ys = [(np.abs(y.astype(np.float64)) % 3).astype(other) for y in ys]
        out = ref.arithmetic(sign, xs[0], ys[0]).dtype
        exact = sign not in ("**", "/", "%", "//") or out.kind != "f"
        return Case(
            [xs, ys],
            [layout, layout],
            dtype=out.name,
            error=0.0 if exact else 1e-6,
            expected=lambda i: ref.arithmetic(sign, xs[i], ys[i]),
        )

    return make


# name -> (NumPy's function, where it is defined)
_MATH = {
    "abs": (np.abs, None),
    "fabs": (np.abs, None),
    "ceil": (np.ceil, None),
    "floor": (np.floor, None),
    "sqrt": (np.sqrt, (0, 1000)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.01, 1000)),
    "cbrt": (np.cbrt, None),
    "exp": (np.exp, (-10, 10)),
    "log": (np.log, (0.01, 1000)),
    "log2": (np.log2, (0.01, 1000)),
    "log10": (np.log10, (0.01, 1000)),
    "sin": (np.sin, (-50, 50)),
    "cos": (np.cos, (-50, 50)),
    "tan": (np.tan, (-1.4, 1.4)),
    "asin": (np.arcsin, (-1, 1)),
    "acos": (np.arccos, (-1, 1)),
    "atan": (np.arctan, (-50, 50)),
    "sinh": (np.sinh, (-5, 5)),
    "cosh": (np.cosh, (-5, 5)),
    "tanh": (np.tanh, (-5, 5)),
    "asinh": (np.arcsinh, (-50, 50)),
    "acosh": (np.arccosh, (1, 50)),
    "atanh": (np.arctanh, (-0.9, 0.9)),
    "min": (np.minimum, None),
    "max": (np.maximum, None),
    "pow": (np.power, (0.1, 4)),
    "fpow": (np.power, (0.1, 4)),
    "atan2": (np.arctan2, (-50, 50)),
}


def _math(name):
    function, domain = _MATH[name]
    two, keeps = name in ("min", "max", "pow", "fpow", "atan2"), name in ("abs", "min", "max", "pow")

    def array(dtype, x, seed):
        if domain is None:
            return x
        low, high = domain
        if np.dtype(dtype).kind == "f":
            return np.random.default_rng(seed).uniform(low, high, x.shape).astype(dtype)
        low = max(math.ceil(low), 0) if np.dtype(dtype).kind == "u" else math.ceil(low)
        return np.random.default_rng(seed).integers(low, min(math.floor(high), 127) + 1, x.shape).astype(dtype)

    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], NUMBERS)
        seed = draw(st.integers(0, 2**32 - 1))
        inputs = [[array(dtype, x, seed + i) for i, x in enumerate(xs)]]
        if two:
            other = draw(st.sampled_from(NUMBERS))
            inputs.append([array(other, values(other, x.shape, seed + 9 + i), seed + 99 + i) for i, x in enumerate(xs)])
        out = ref.promote(inputs[0][0].dtype, inputs[-1][0].dtype)
        if not keeps and out.kind != "f":
            out = np.dtype(np.float32)
        if keeps and two and out.kind != "f" or keeps and not two:
            return Case(
                inputs,
                [layout] * len(inputs),
                dtype=out.name,
                error=0.0,
                expected=lambda i: function(*[x[i].astype(out) for x in inputs]),
            )
        wide = np.float32 if out == np.float16 else out  # operands are converted to the result's type first
        exact = lambda i: function(*[x[i].astype(wide).astype(np.float64) for x in inputs])
        return Case(
            inputs,
            [layout] * len(inputs),
            dtype=out.name,
            error=1e-6,
            expected=exact,
            largest=max([1.0] + [float(np.abs(exact(i)).max()) for i in range(len(xs)) if xs[i].size]),
        )

    return make


def _shape(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    return Case([xs], [layout], dtype="int64", expected=lambda i: np.array(xs[i].shape))


CASES = {
    "brightness_contrast": _brightness_contrast(
        ["brightness", "brightness_shift", "contrast", "contrast_center"], ref.brightness_contrast
    ),
    "brightness": _brightness_contrast(["brightness", "brightness_shift"], ref.brightness),
    "contrast": _brightness_contrast(["contrast", "contrast_center"], ref.contrast),
    "hue": _color(["hue"], ref.hue),
    "saturation": _color(["saturation"], ref.saturation),
    "hsv": _color(["hue", "saturation", "value"], ref.hsv, default="uint8"),
    "color_twist": _color(["brightness", "contrast", "hue", "saturation"], ref.color_twist),
    "color_space_conversion": _color_space_conversion,
    "cast": _cast,
    "copy": _copy,
    "per_frame": _per_frame,
    "flip": _flip,
    "transpose": _transpose,
    "crop": _crop,
    "slice": _slice,
    "pad": _pad,
    "erase": _erase,
    "cat": _joined("cat"),
    "stack": _joined("stack"),
    "reshape": _reshape,
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "constant": _constant,
    "resize": _resize,
    "random_resized_crop": _random_resized_crop,
    "resize_crop_mirror": _resize_crop_mirror,
    "warp_affine": _warp_affine,
    "rotate": _rotate,
    "crop_mirror_normalize": _crop_mirror_normalize,
    "normalize": _normalize,
    "gaussian_blur": _gaussian_blur,
    "shapes": _shape,
    **tensor_strategies.CASES,
    **transform_strategies.CASES,
    **mask_strategies.CASES,
    **item_strategies.CASES,
    **box_strategies.CASES,
    **signal_strategies.CASES,
    **picture_strategies.CASES,
    **{name: _arithmetic(name) for name in _SIGNS},
    **{f"_math.{name}": _math(name) for name in _MATH},
}

# Draw numbers: the same seed gives the same ones, which test_determinism.py looks at, and no formula gives them.
RANDOM = {
    "random.uniform": {"range": [-1.0, 3.0]},
    "random.normal": {"mean": 2.0},
    "random.coin_flip": {},
    "random.beta": {"alpha": 2.0},
}
# References that go by another name, or that NumPy itself is.
OTHER_REFERENCE = {
    "constant": "to_dtype",
    "shapes": "numpy",
    "cast_like": "cast",
    **tensor_strategies.NAMED,
    **transform_strategies.NAMED,
    **dict.fromkeys(tensor_strategies.NUMPY, "numpy"),
    **dict.fromkeys(item_strategies.CASES, "numpy"),
    "where": "where",
    **dict.fromkeys(_SIGNS, "arithmetic"),
    **{f"_math.{name}": "numpy" for name in _MATH},
}


def case_of(name):
    return st.composite(lambda draw: CASES[name](draw))()
