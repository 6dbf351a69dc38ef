# SPDX-License-Identifier: Apache-2.0
"""Policies: pairs, or longer sequences, of augmentations with their probabilities and magnitude bins."""

from __future__ import annotations

from typing import Any, Sequence

from ...._base.log import warn
from .arguments import check_count
from .decorator import Augmentation


class Policy:
    """Sequences of augmentations. Each sample draws one, and for each of its steps whether it is taken.

    Args:
        name: A name for messages.
        num_magnitude_bins: The number of magnitude bins.
        sub_policies: Sequences of (augmentation, probability, magnitude bin). The bin is None for augmentations without
            magnitudes.

    Raises:
        ValueError: A probability or a bin is out of its range.
        TypeError: A step is no such triple.

    Example:
        >>> from penstock.dali.auto_aug import augmentations as a
        >>> policy = penstock.dali.auto_aug.core.Policy("mine", 11, [[(a.rotate, 0.5, 3), (a.invert, 0.1, None)]])
        >>> sorted(policy.augmentations)
        ['invert', 'rotate']
    """

    def __init__(
        self,
        name: str,
        num_magnitude_bins: int,
        sub_policies: Sequence[Sequence[tuple[Augmentation, float, int | None]]],
    ) -> None:
        check_count("num_magnitude_bins", num_magnitude_bins)
        self.name, self.num_magnitude_bins = name, num_magnitude_bins
        for step in (step for sub_policy in sub_policies for step in _steps(sub_policy)):
            _check(name, num_magnitude_bins, step)
        self.sub_policies = _renamed([tuple(sub_policy) for sub_policy in sub_policies])

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """The augmentations by their names, in alphabetical order."""
        found = {step[0].name: step[0] for sub_policy in self.sub_policies for step in sub_policy}
        return dict(sorted(found.items()))

    def __repr__(self):
        rows = [str([(a.name, p, m) for a, p, m in sub_policy]) for sub_policy in self.sub_policies]
        table = "".join(f"\n\t{row}," for row in rows)
        used = "".join(f"\n\t{name!r}: {a!r}," for name, a in self.augmentations.items())
        return (
            f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, "
            f"sub_policies=[{table[:-1]}], augmentations={{{used[:-1]}}})"
        )


def _steps(sub_policy):
    if not isinstance(sub_policy, (list, tuple)):
        raise TypeError(f"a sub-policy must be a sequence of (augmentation, probability, bin), got {sub_policy!r}")
    return sub_policy


def _check(name, count, step):
    if not isinstance(step, (list, tuple)) or len(step) != 3:
        raise TypeError(f"each step of a sub-policy must be a triple (augmentation, probability, bin), got {step!r}")
    augmentation, probability, bin_ = step
    if not isinstance(augmentation, Augmentation):
        raise TypeError(
            f"each step of a sub-policy needs an augmentation, got {augmentation!r}: @augmentation makes one"
        )
    if isinstance(probability, str) or not 0 <= probability <= 1:
        raise ValueError(
            f"the probability of `{augmentation.name}` in the policy `{name}` must be from 0 to 1, got {probability!r}"
        )
    if augmentation.mag_range is None:
        if bin_ is not None:
            warn(
                "dali",
                f"`{augmentation.name}` has no magnitudes: the bin {bin_!r} in the policy `{name}` has no effect; "
                "None says so",
            )
    elif bin_ is None:
        raise ValueError(f"`{augmentation.name}` has magnitudes, so it needs a bin in the policy `{name}`, got None")
    elif isinstance(bin_, bool) or not isinstance(bin_, int) or not 0 <= bin_ < count:
        raise ValueError(
            f"the bin of `{augmentation.name}` in the policy `{name}` must be an integer from 0 to {count - 1}, got {bin_!r}"
        )


def _renamed(sub_policies):
    """The sub-policies; different augmentations of one name get numbers before it."""
    of_name: dict[str, list[Any]] = {}
    for step in (step for sub_policy in sub_policies for step in sub_policy):
        same = of_name.setdefault(step[0].name, [])
        if step[0] not in same:
            same.append(step[0])
    width = {name: len(str(len(same) - 1)) for name, same in of_name.items()}
    named = {
        id(a): a if len(same) == 1 else a.augmentation(name=f"{k:0{width[name]}}__{name}")
        for name, same in of_name.items()
        for k, a in enumerate(same)
    }
    return tuple(tuple((named[id(a)], p, m) for a, p, m in sub_policy) for sub_policy in sub_policies)
