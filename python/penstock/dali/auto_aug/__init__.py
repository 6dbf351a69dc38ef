# SPDX-License-Identifier: Apache-2.0
"""Automatic augmentations with DALI's names: AutoAugment, RandAugment and TrivialAugment, and what they are made of. Each
sample draws its own operations; penstock.augment has those with torchvision's numbers."""

from . import augmentations, auto_augment, core, rand_augment, trivial_augment

__all__ = ["augmentations", "auto_augment", "core", "rand_augment", "trivial_augment"]
