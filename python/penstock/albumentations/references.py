# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that look at another image."""

import numpy as np

from .. import _core, fn
from ..augment import draws, numbers
from ..augment.samples import choose, extents
from .._base.element_types import DType
from ..sample import Sample
from . import drawn
from .colors import largest, rank


def read_image(path):
    """Reads an image file as (H, W, 3).

    Args:
        path: The path of a file.
    """
    return np.asarray(fn.decoders.image(np.fromfile(path, np.uint8)))


def _blended(image, other, part):
    """The other image in this part, and the rest of the image."""
    some = numbers.greatest(part, 1e-6)
    # The sum reads both as they are, so it is one stage with what is before and after it.
    return drawn.as_type_of((image * ((1.0 - some) / some) + other) * some, image)


def of_reference(a, function):
    """function(reference) for one of the references, as arrays, that is drawn."""
    read = read_image if a.read_fn is None else a.read_fn
    return _one_of(list(a.reference_images), lambda reference: function(np.asarray(read(reference))))


def _one_of(items, function):
    return choose(draws.below(len(items)), [lambda item=item: function(item) for item in items])


def template(x, a):
    templates = list(a.templates) if isinstance(a.templates, (list, tuple)) else [a.templates]
    part = 1.0 - draws.uniform(*a.img_weight)

    def shown(array):
        array = np.asarray(array)
        picture = _core.tensor(array, layout="HWC" if array.ndim == 3 else "HW")
        if a.template_transform is not None:
            picture = a.template_transform._apply(Sample(image=fn.copy(picture)))["image"]  # of the pipeline
        if drawn.is_node(x.pixels) or list(extents(x)) != list(extents(picture)):
            picture = fn.resize(picture, size=[*extents(x)])
        if array.ndim == 2 and rank(x.pixels) == 3:
            picture = fn.expand_dims(picture, axes=[2], new_axis_names="C")
        return x.with_images(lambda image: _blended(image, picture, part))

    return _one_of(templates, shown)


def _quantiles(reference):
    """(values, the part of the pixels up to them) of each channel."""
    reference = np.asarray(reference)
    if reference.dtype != np.uint8 or reference.ndim not in (2, 3):
        raise ValueError(
            f"reference_images must give uint8 of (H, W) or (H, W, C), got {reference.dtype} of {reference.shape}"
        )
    found = []
    for channel in np.atleast_3d(reference).transpose(2, 0, 1):
        counts = np.bincount(channel.ravel(), minlength=256)
        there = np.flatnonzero(counts)
        found.append((np.float32(there), np.float32(np.cumsum(counts[there]) / channel.size)))
    return found


def _matched(counts, quantiles, part):
    """The new values of 0 to 255, of which each occurs so often; they are `part` of the result, old ones the rest."""
    seen, parts = quantiles
    so_far = drawn.total(np.tril(np.ones((256, 256), np.float32)) * drawn.shaped(counts, 1, 256), 1)
    so_far = drawn.shaped(so_far / drawn.total(counts, 0), 256, 1)
    steps, rises = (np.append(np.diff(v), end) for v, end in ((parts, 1), (seen, 0)))  # at least one step
    steps, rises = np.float32(steps), np.float32(rises)
    # Linear between the quantiles: the sum of what lies before.
    made = drawn.clipped(so_far - parts, 0.0, steps) * (rises / steps)
    matched = drawn.floor(drawn.total(made, 1) + seen[0] + 1e-3)
    own = np.arange(256, dtype=np.float32)
    return own + (matched - own) * part


def _matching(image, quantiles, part):
    """An image of bytes whose histograms are moved toward those of another one."""
    if rank(image) == 2:
        return _looked_up(image, _matched(_counts(image), quantiles[0], part))
    image = image if drawn.is_node(image) else np.asarray(image)
    if not drawn.is_node(image) and image.shape[2] != len(quantiles):
        raise ValueError(f"the image has {image.shape[2]} channels, the reference has {len(quantiles)}")
    channels = [image[:, :, k : k + 1] for k in range(len(quantiles))]
    made = [_looked_up(c, _matched(_counts(c), q, part)) for c, q in zip(channels, quantiles)]
    return fn.cat(*made, axis=2) if len(made) > 1 else made[0]


def _counts(channel):
    if drawn.is_node(channel):
        return drawn.shaped(fn.cast(fn.histogram(channel), dtype=DType.FLOAT), 256)
    return np.float32(np.bincount(np.asarray(channel).ravel(), minlength=256))


def _looked_up(channel, table):
    if drawn.is_node(channel):
        return fn.cast(table, dtype=DType.UINT8)[channel]
    return np.uint8(np.rint(table))[np.asarray(channel)]


def histogram_matching(x, a):
    part = draws.uniform(*a.blend_ratio)
    if largest(x) != 255.0:
        raise ValueError("HistogramMatching: images must be uint8")
    read = read_image if a.read_fn is None else a.read_fn

    def matched(reference):
        quantiles = _quantiles(read(reference))
        return x.with_images(lambda image: _matching(image, quantiles, part))

    return _one_of(list(a.reference_images), matched)


def _spread(image):
    """The mean and the deviation of each channel."""
    own = fn.cast(image, dtype=DType.FLOAT)
    mean = fn.reductions.mean(own, axes=[0, 1])
    return own, mean, fn.reductions.std_dev(own, mean, axes=[0, 1])


def pixel_distribution(x, a):
    if a.transform_type not in ("standard", "minmax"):
        raise ValueError(
            f"PixelDistributionAdaptation: transform_type must be 'standard' or 'minmax', got {a.transform_type!r}"
        )
    part = draws.uniform(*a.blend_ratio)
    read = read_image if a.read_fn is None else a.read_fn

    def adapted(reference):
        pixels = np.float32(read(reference)).reshape(-1, 1 if rank(x.pixels) == 2 else np.shape(read(reference))[-1])
        standard = a.transform_type == "standard"
        low = pixels.mean(0) if standard else pixels.min(0)
        size = pixels.std(0) if standard else pixels.max(0) - low

        def changed(image):
            own = fn.cast(image, dtype=DType.FLOAT)
            if standard:
                own, first, wide = _spread(image)
            else:
                first, last = (getattr(fn.reductions, n)(own, axes=[0, 1]) for n in ("min", "max"))
                wide = last - first
            return _blended(image, (own - first) / drawn.clipped_values(wide, 1e-6, 1e9) * size + low, part)

        return x.with_images(changed)

    return _one_of(list(a.reference_images), adapted)
