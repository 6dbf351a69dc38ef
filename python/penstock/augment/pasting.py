# SPDX-License-Identifier: Apache-2.0
"""Objects and pictures of another sample of the batch, in each sample."""

from __future__ import annotations

from typing import Any

from .. import fn
from .._base.element_types import DType
from ..sample import Boxes, Image, Instances, Mask, Points
from ..sample.layouts import rows_of
from ..sample.moves import limits_of
from . import draws
from .mosaics import checked_batch, of_each, of_partners, partners_of, with_rows
from .samples import axes_of, call, checked_probability


def _first(sample, kind):
    found = [name for name, of in sample.kinds.items() if isinstance(of, kind)]
    if not found:
        raise ValueError(f"the Sample has no {kind.__name__}: {sample!r}")
    return found[0]


def copy_paste(sample: Any, p: float = 0.5) -> Any:
    """Pastes objects of another sample of the batch over each sample, by their masks.

    Boxes are those around what is left of the masks. Objects are dropped by the `min_area` and `min_visibility` of the
    Boxes, in pixels of their masks; those of which nothing is left always are. Points stay as they are.
    Source: G. Ghiasi et al., "Simple Copy-Paste is a Strong Data Augmentation Method for Instance Segmentation", 2021.

    Args:
        sample: A Sample of a pipeline or of Batches, with Boxes and Instances; all samples have one height and width.
        p: The probability of each object to be pasted.

    Returns:
        A Sample of the same size. Rows of pasted objects follow the sample's own.

    Raises:
        TypeError: sample is not a Sample of a batch.
        ValueError: It has no Boxes or no Instances, or p is not from 0 to 1.

    Example:
        >>> from penstock.sample import Sample
        >>> masks = np.zeros((1, 48, 64), np.uint8)
        >>> masks[0, 8:16, 8:24] = 1
        >>> parts = {"image": np.zeros((48, 64, 3), np.uint8), "boxes": np.float32([[8, 8, 24, 16]])}
        >>> parts["instances"] = masks
        >>> sample = Sample(**{name: penstock.batch([part] * 2) for name, part in parts.items()})
        >>> penstock.augment.copy_paste(sample, p=1.0)["boxes"][0].numpy().tolist()
        [[8.0, 8.0, 24.0, 16.0]]
    """
    checked_probability(p)
    checked_batch(sample)
    _first(sample, Boxes), _first(sample, Instances)
    return of_each([sample, of_partners(sample, partners_of(sample))], lambda two: _pasted(*two, p))


def _area(masks):
    return fn.reductions.sum(masks, axes=[1, 2], dtype=DType.INT64)


def _filled(masks):
    """1 where a mask is not 0."""
    return fn.cast(masks != 0, dtype=DType.UINT8)


def _pasted(sample, other, p):
    boxes, masks = _first(sample, Boxes), _first(sample, Instances)
    own, pasted = _filled(sample[masks]), _filled(other[masks])
    taken = fn.cast(fn.random.coin_flip(_area(pasted), probability=p), dtype=DType.BOOL)
    chosen = lambda value: call("_select_where", value, taken)  # noqa: E731
    pasted = chosen(pasted)
    covered = fn.reductions.sum(pasted, axes=[0], dtype=DType.INT64) > 0
    left = fn.cat(fn.cast(fn.where(covered, own * 0, own), dtype=DType.UINT8), pasted, axis=0)
    before = fn.cat(_area(own), _area(pasted), axis=0)
    along = [fn.reductions.max(left, axes=[axis]) for axis in (2, 1)]
    made = {}
    made[boxes], rows = call("_mask_boxes", *along, _area(left), before, **limits_of(sample.kinds[boxes]))
    for row in rows_of(sample, boxes):
        mixed = left if row == masks else fn.cat(sample[row], chosen(other[row]), axis=0)
        made[row] = call("_take", mixed, rows)
    made[masks] = fn.cast_like(made[masks], sample[masks])
    for name, kind in sample.kinds.items():
        if isinstance(kind, (Image, Mask)):
            made[name] = _over(covered, other[name], sample[name])
    return sample.mixed(made)


def _over(covered, above, below):
    """Pixels of `above` where `covered` is true."""
    layout, ndim = (value() if callable(value) else value for value in (below.layout, below.ndim))
    if "C" in layout or (not layout and ndim != 2):
        covered = fn.expand_dims(covered, axes=axes_of(below, "C"))
    return fn.where(covered, above, below)


def mixup_boxes(sample: Any, alpha: float = 32.0) -> Any:
    """Mixes the images of each sample with those of another of its batch, and keeps the boxes of both.

    A sample keeps a share of its pixels that is drawn from a beta distribution. Masks of classes stay the sample's own.
    Source: Z. Zhang et al., "Bag of Freebies for Training Object Detection Neural Networks", 2019.

    Args:
        sample: A Sample of a pipeline or of Batches, with Boxes; all samples have one height and width.
        alpha: The share is drawn from the beta distribution with this parameter twice.

    Returns:
        A Sample of the same size. Rows of boxes, labels, instances and points of the other sample follow its own.

    Raises:
        TypeError: sample is not a Sample of a batch.
        ValueError: It has no Boxes, or alpha is not positive.

    Example:
        >>> from penstock.sample import Sample
        >>> parts = {"image": np.zeros((48, 64, 3), np.uint8), "boxes": np.float32([[8, 8, 24, 16]])}
        >>> sample = Sample(**{name: penstock.batch([part] * 2) for name, part in parts.items()})
        >>> penstock.augment.mixup_boxes(sample)["boxes"][0].shape()
        [2, 4]
    """
    if not alpha > 0:
        raise ValueError(f"alpha must be positive, got {alpha!r}")
    _first(checked_batch(sample), Boxes)
    return of_each([sample, of_partners(sample, partners_of(sample))], lambda two: _mixed(*two, alpha))


def _mixed(sample, other, alpha):
    share, made = draws.beta(alpha, alpha), {}
    for name, kind in sample.kinds.items():
        if isinstance(kind, Image):
            own, its = (fn.cast(s[name], dtype=DType.FLOAT) for s in (sample, other))
            made[name] = fn.cast_like(own * share + its * (1.0 - share), sample[name])
        elif isinstance(kind, (Boxes, Points)):
            made[name] = fn.cat(sample[name], other[name], axis=0)
    return with_rows(sample, [other], made)
