# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: filters over a window."""

import numpy as np

from .. import _core, fn
from .calls import Step, each, row
from .enumerations import Border, MorphologyType
from .geometry import border_of
from .operands import batch_of, type_of, values_of
from .signatures import found, takes

_OF_CORRELATE = {
    Border.CONSTANT: "constant",
    Border.REPLICATE: "clamp",
    Border.REFLECT: "reflect_1001",
    Border.REFLECT101: "reflect_101",
    Border.WRAP: "wrap",
}
_OF_SLICE = {**_OF_CORRELATE, Border.REFLECT: "reflect", Border.REPLICATE: "edge"}


def swapped(call, argument):
    """(width, height) for all or for each image as [height, width]."""
    return each(np.ascontiguousarray(values_of(argument).reshape(-1, 2)[:, ::-1]), len(call.x), 2)


def _with_border(call, function, radii, **given):
    """A filter that has one border alone, with another: the image is extended before, and cut to its size after."""
    border = border_of(call, call.border)
    if takes(function, "border_mode") and call.border != Border.WRAP:
        return Step(found(function), call.x, border_mode=border, **given)
    rows = np.asarray(radii).reshape(-1, 2)
    extents = np.asarray(call.extents())
    rows = np.broadcast_to(rows, extents.shape)
    start, end = each(-rows, len(rows), 2), each(extents + rows, len(rows), 2)
    extended = call.step(
        fn.slice, call.x, start=start, end=end, axis_names="HW", out_of_bounds_policy=_OF_SLICE[call.border]
    )
    filtered = call.step(found(function), extended, **given)
    return Step(fn.slice, filtered, start=each(rows, len(rows), 2), shape=each(extents, len(rows), 2), axis_names="HW")


@row(
    "T: src, kernel_size, sigma, border=Border.CONSTANT",
    "V: src, max_kernel_size, kernel_size, sigma, border=Border.CONSTANT",
    over=("gaussian_blur",),
)
def gaussian(call):
    """Blurs images with a Gaussian."""
    sizes = values_of(call.kernel_size).reshape(-1, 2)
    if (sizes % 2 == 0).any() or (sizes < 1).any():
        call.refuse(f"the extents of the kernel are odd and positive, got {sizes.tolist()}")
    sigma = np.array(values_of(call.sigma), np.float32).reshape(-1, 2)
    sigma[:, 1] = np.where(sigma[:, 1] > 0, sigma[:, 1], sigma[:, 0])
    given = {"window_size": swapped(call, sizes), "sigma": swapped(call, sigma)}
    return _with_border(call, "gaussian_blur", sizes[:, ::-1] // 2, **given)


def _kernel_step(call, kernels, anchors=None):
    """The step of weighted sums. anchors: (x, y) for all images or for each; -1 is the middle, one outside the kernel is allowed."""
    if anchors is not None:
        rows = np.broadcast_to(anchors.reshape(-1, 2)[:, ::-1], (len(kernels), 2))
        rows = np.array([[n // 2 if a < 0 else a for a, n in zip(r, k.shape)] for r, k in zip(rows, kernels)])
        kernels = [np.pad(k, [(0, max(int(a) + 1 - n, 0)) for a, n in zip(r, k.shape)]) for r, k in zip(rows, kernels)]
        anchors = each(rows, len(kernels), 2)
    given = {"border": _OF_CORRELATE[Border(call.border)]} if border_of(call, call.border) else {}
    if anchors is not None:
        given["anchor"] = anchors
    return Step(fn.correlate, call.x, _core.Batch(kernels), **given)


@row(
    "T: src, kernel_size, kernel_anchor=(-1, -1), border=Border.CONSTANT",
    "V: src, max_kernel_size, kernel_size, kernel_anchor, border=Border.CONSTANT",
    over=("box_blur", "correlate"),
)
def averageblur(call):
    """Gives each pixel the mean of a rectangle."""
    sizes = values_of(call.kernel_size).reshape(-1, 2)
    anchors = values_of(call.kernel_anchor).reshape(-1, 2)
    if (sizes < 1).any():
        call.refuse(f"the extents of the kernel are positive, got {sizes.tolist()}")
    narrow = type_of(call.x).itemsize <= 2 or type_of(call.x) == np.float32  # what box_blur takes
    if narrow and ((anchors == -1) | (anchors == sizes // 2)).all():
        return Step(
            fn.box_blur, call.x, window_size=each(sizes, len(call.x), 2), border_mode=border_of(call, call.border)
        )
    sizes = np.broadcast_to(sizes, (len(call.x), 2))
    kernels = [np.full((int(h), int(w)), 1.0 / (w * h), np.float32) for w, h in sizes]
    return _kernel_step(call, kernels, anchors)


_LAPLACE = {1: [[0, 1, 0], [1, -4, 1], [0, 1, 0]], 3: [[2, 0, 2], [0, -8, 0], [2, 0, 2]]}


@row(
    "T: src, ksize, scale=1.0, border=Border.CONSTANT",
    "V: src, ksize, scale, border=Border.CONSTANT",
    over=("correlate",),
)
def laplacian(call):
    """Gives the sum of the second derivatives; ksize is 1 or 3."""
    sizes, scales = values_of(call.ksize).reshape(-1), np.asarray(values_of(call.scale), np.float32).reshape(-1)
    if not np.isin(sizes, (1, 3)).all():
        call.refuse(f"ksize is 1 or 3, got {sizes.tolist()}")
    count = len(call.x)
    pairs = zip(np.broadcast_to(sizes, count), np.broadcast_to(scales, count))
    return _kernel_step(call, [np.float32(_LAPLACE[int(k)]) * np.float32(s) for k, s in pairs])


@row("T: src, ksize", "V: src, ksize", over=("median_blur",))
def median_blur(call):
    """Gives each pixel the median of a rectangle."""
    return Step(fn.median_blur, call.x, window_size=each(values_of(call.ksize), len(call.x), 2))


@row("V: src, kernel, kernel_anchor, border=Border.CONSTANT", over=("correlate",))
def conv2d(call):
    """Gives each pixel the weighted sum of its neighbors, with a kernel for each image."""
    kernels = [np.asarray(k.cpu("HW"), np.float32) for k in call.kernel]
    if len(kernels) != len(call.x):
        call.refuse(f"there are {len(kernels)} kernels for {len(call.x)} images")
    return _kernel_step(call, kernels, values_of(call.kernel_anchor))


_MORPH = "*, workspace=None, iteration=1, border=Border.CONSTANT"


@row(
    f"T: src, morphologyType, maskSize, anchor, {_MORPH}",
    f"V: src, morphologyType, masks, anchors, {_MORPH}",
    over=("erode", "dilate"),
)
def morphology(call):
    """Erodes, dilates, opens or closes images with a rectangle."""
    sizes, anchors = (call.masks, call.anchors) if call.varies else (call.maskSize, call.anchor)
    sizes = np.array(values_of(sizes)).reshape(-1, 2)
    sizes[sizes == -1] = 3
    given = {
        "mask_size": each(sizes, len(call.x), 2),
        "anchor": each(values_of(anchors), len(call.x), 2),
        "border_mode": border_of(call, call.border),
    }
    kind = MorphologyType(call.morphologyType)
    steps = {
        MorphologyType.ERODE: [fn.erode],
        MorphologyType.DILATE: [fn.dilate],
        MorphologyType.OPEN: [fn.erode, fn.dilate],
        MorphologyType.CLOSE: [fn.dilate, fn.erode],
    }[kind]
    x, last = call.x, steps[-1]
    for function in steps[:-1]:
        x = call.step(function, x, iterations=int(call.iteration), **given)
    return Step(last, x, iterations=int(call.iteration), **given)


def _bilateral(call, name, *guides):
    diameter = each(values_of(call.diameter), len(call.x))
    color, space = (
        each(np.asarray(values_of(s), np.float32), len(call.x)) for s in (call.sigma_color, call.sigma_space)
    )
    operator = found(name)
    return Step(
        operator,
        call.x,
        *guides,
        diameter=diameter,
        sigma_color=color,
        sigma_space=space,
        border_mode=border_of(call, call.border),
    )


@row(
    "T: src, diameter, sigma_color, sigma_space, border=Border.CONSTANT",
    "V: src, diameter, sigma_color, sigma_space, *, border=Border.CONSTANT",
    over=("bilateral_filter",),
)
def bilateral_filter(call):
    """Blurs images where colors are alike."""
    return _bilateral(call, "bilateral_filter")


@row(
    "T: src, srcColor, diameter, sigma_color, sigma_space, border=Border.CONSTANT",
    "V: src, srcColor, diameter, sigma_color, sigma_space, *, border=Border.CONSTANT",
    over=("joint_bilateral_filter",),
)
def joint_bilateral_filter(call):
    """Blurs images where the colors of another image are alike."""
    return _bilateral(call, "joint_bilateral_filter", batch_of(call.srcColor, call.name))
