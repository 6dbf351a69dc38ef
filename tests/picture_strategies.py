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
        shape = [max(smallest, draw(st.sampled_from(EXTENTS))) if k in "HW" else channels if k == "C" and channels else
                 draw(st.integers(1, 4)) for k in layout]
        x = values(dtype, shape, seed + i)
        if smooth:
            ramp = sum(np.arange(n).reshape([-1 if a == b else 1 for b in range(len(shape))]) for a, n in enumerate(shape))
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
    return Case([xs], [layout], {**constants, "stddev": 0.0}, each, dtype=dtype, expected=lambda i: ref.gaussian(xs[i], **at(i)))


def _salt_and_pepper(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW"])
    constants = {"prob": float(draw(st.integers(0, 1))), "salt_vs_pepper": float(draw(st.integers(0, 1))),
                 **some(draw, salt_val=st.integers(-200, 300).map(float), pepper_val=st.integers(-200, 300).map(float))}
    more = {"per_channel": True} if draw(st.booleans()) else {}
    return Case([xs], [layout], {**constants, **more}, dtype=dtype, error=0.0,
                expected=lambda i: ref.salt_and_pepper(xs[i], **constants))


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
    return Case([xs], [layout], {**arguments, **more}, dtype=more.get("dtype", dtype), error=1e-5, largest=largest,
                expected=lambda i: ref.laplacian(xs[i], axes, **arguments))


def _jpeg(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "FHWC"], ["uint8"], channels=3, smooth=draw(st.booleans()))
    constants, each, at = per_sample(draw, len(xs), "quality", st.integers(-3, 104))
    return Case([xs], [layout], constants, each, dtype=dtype, error=0.0,
                expected=lambda i: ref.jpeg_compression_distortion(xs[i], **at(i)))


CASES = {
    "noise.gaussian": _gaussian, "noise.salt_and_pepper": _salt_and_pepper, "noise.shot": _shot, "equalize": _equalize,
    "laplacian": _laplacian, "jpeg_compression_distortion": _jpeg,
}
