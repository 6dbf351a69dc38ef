# SPDX-License-Identifier: Apache-2.0
"""Augmentations that mix each sample of a batch with another one."""

from __future__ import annotations

from typing import Any

from .. import _core, fn
from .._base.element_types import DType
from .._graph import DataNode
from ..sample import Sample
from . import draws, numbers
from .samples import axes_of, extents


def _partners(images):
    """The number of another sample for each."""
    if isinstance(images, DataNode):
        return fn.batch_permutation(no_fixed_points=True)
    if isinstance(images, Sample):
        raise TypeError(
            "mixup and cutmix take images and labels, got a Sample: mixup(sample['image'], sample['labels']); "
            "augment.mixup_boxes(sample) blends samples with boxes"
        )
    if not isinstance(images, _core.Batch):
        raise TypeError(f"a batch is needed: a value of a pipeline or a Batch, got {type(images).__name__}")
    return fn.batch_permutation(no_fixed_points=True, batch_size=len(images))


def _once(drawn, partners):
    """A number of the whole batch, that of its first sample. A product with 0 is the number 0 of each sample."""
    return fn.permute_batch(drawn, indices=partners * 0) if isinstance(drawn, DataNode) else drawn


def _share(alpha, partners):
    if not alpha > 0:
        raise ValueError(f"alpha must be positive, got {alpha!r}")
    return _once(draws.beta(alpha, alpha), partners)


def _mixed(values, partners, share):
    """share of each value and the rest of its partner, as float32."""
    own = fn.cast(values, dtype=DType.FLOAT)
    return own * share + fn.permute_batch(own, indices=partners) * (1.0 - share)


def _mixed_labels(labels, partners, share, num_classes):
    if num_classes is not None:
        labels = fn.one_hot(labels, num_classes=num_classes)
    return _mixed(labels, partners, share)


def mixup(images: Any, labels: Any, alpha: float = 1.0, num_classes: int | None = None) -> tuple[Any, Any]:
    """Mixes each image and its label with those of another sample, as torchvision's MixUp does.

    A sample keeps a share that is drawn once for each batch, and gets the rest of another sample. torchvision's other
    sample is the one before in the batch; here a random order says which.
    Source: H. Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2017.

    Args:
        images: A batch of images of one shape.
        labels: Numbers of classes, with num_classes, or vectors of probabilities.
        alpha: The share is drawn from the beta distribution with this parameter twice.
        num_classes: The length of the vectors that numbers of classes become.

    Returns:
        (images, labels): images of the same type, and vectors of float32.

    Raises:
        TypeError: images is a single array.
        ValueError: alpha is not positive.

    Example:
        >>> images = penstock.batch([np.zeros((48, 64, 3), np.uint8)] * 2)
        >>> mixed, shares = penstock.augment.mixup(images, penstock.batch([1, 2]), num_classes=10)
    """
    partners = _partners(images)
    share = _share(alpha, partners)
    mixed = fn.cast_like(_mixed(images, partners, share), images)
    return mixed, _mixed_labels(labels, partners, share, num_classes)


def cutmix(images: Any, labels: Any, alpha: float = 1.0, num_classes: int | None = None) -> tuple[Any, Any]:
    """Replaces a rectangle of each image by that of another sample, as torchvision's CutMix does.

    The rectangle is drawn once for each batch; labels are mixed by its area. torchvision's other sample is the one
    before in the batch; here a random order says which.
    Source: S. Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features",
    2019.

    Args:
        images: A batch of images of one shape. Layouts: HWC, CHW.
        labels: Numbers of classes, with num_classes, or vectors of probabilities.
        alpha: The share of an image is drawn from the beta distribution with this parameter twice.
        num_classes: The length of the vectors that numbers of classes become.

    Returns:
        (images, labels): images of the same type, and vectors of float32.

    Raises:
        TypeError: images is a single array.
        ValueError: alpha is not positive.

    Example:
        >>> images = penstock.batch([np.zeros((48, 64, 3), np.uint8)] * 2)
        >>> mixed, shares = penstock.augment.cutmix(images, penstock.batch([1, 2]), num_classes=10)
    """
    partners = _partners(images)
    one = images if isinstance(images, DataNode) else images[0]
    height, width = extents(one)
    reach = numbers.sqrt(1.0 - _share(alpha, partners)) * 0.5
    sides = []
    for n in (height, width):
        middle = numbers.floor(_once(draws.uniform(0.0, 1.0), partners) * n)
        half = numbers.floor(reach * n)
        sides.append((numbers.greatest(middle - half, 0), numbers.least(middle + half, n)))
    (top, bottom), (left, right) = sides
    window = fn.erase(
        images * 0, anchor=[top, left], shape=[bottom - top, right - left], axes=axes_of(one), fill_value=1
    )
    mixed = fn.where(window, fn.permute_batch(images, indices=partners), images)
    share = 1.0 - (bottom - top) * (right - left) * (1.0 / (height * width))
    return mixed, _mixed_labels(labels, partners, share, num_classes)
