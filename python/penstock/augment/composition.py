# SPDX-License-Identifier: Apache-2.0
"""Functions of images, called for some of the samples, or in the order that each sample draws."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .. import control
from . import draws
from .samples import apply, augmentation, checked_functions, checked_probability, choose


@augmentation
def maybe(images: Any, function: Callable[[Any], Any], p: float = 0.5) -> Any:
    """Calls a function for a part of the samples, as torchvision's RandomApply does.

    Args:
        images: Samples of any shape and type.
        function: A function of the samples. It keeps their type, number of dimensions and layout.
        p: The probability of a call, for each sample.

    Returns:
        What the function gives, or the sample itself.

    Raises:
        TypeError: The function cannot be called, or returns None.
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.maybe(image, lambda x: fn.gaussian_blur(x, sigma=2.0), p=0.3)
    """
    (function,) = checked_functions("maybe", [function])
    taken = draws.coin(checked_probability(p))
    return control.if_(taken, lambda: apply(function, images), lambda: images)


def _table_of_order(weights, count):
    """The sums of weights, as parts of the last one."""
    if len(weights) != count or min(weights) < 0 or not sum(weights) > 0:
        raise ValueError(f"weights must be {count} numbers that are not negative and not all 0, got {weights!r}")
    sums = [sum(weights[: k + 1]) for k in range(count)]
    return [s / sums[-1] for s in sums[:-1]]


@augmentation
def one_of(images: Any, functions: Sequence[Callable[[Any], Any]], weights: Sequence[float] | None = None) -> Any:
    """Calls one of several functions for each sample, as torchvision's RandomChoice does.

    Args:
        images: Samples of any shape and type.
        functions: Functions of the samples. All give one type, number of dimensions and layout.
        weights: How often each function is called, relative to the others; default: equally often.

    Returns:
        What the function gives.

    Raises:
        TypeError: A function cannot be called, or returns None.
        ValueError: There are no functions, or the weights do not match them.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.one_of(image, [fn.flip, fn.invert], weights=[3, 1])
    """
    functions = checked_functions("one_of", functions)
    if not functions:
        raise ValueError("one_of needs at least one function")
    if weights is None:
        index = draws.below(len(functions))
    else:
        drawn, index = draws.uniform(0.0, 1.0), 0
        for sum_ in _table_of_order(list(weights), len(functions)):
            index = index + (drawn >= sum_)
    return choose(index, [lambda f=f: apply(f, images) for f in functions])


@augmentation
def some_of(images: Any, functions: Sequence[Callable[[Any], Any]], n: int | tuple[int, int]) -> Any:
    """Calls n of several functions, one after the other, in the order of the list.

    All choices of n functions are equally likely.

    Args:
        images: Samples of any shape and type.
        functions: Functions of the samples. They keep their type, number of dimensions and layout.
        n: How many functions are called, or a range (least, most) from which each sample draws.

    Returns:
        What the last function gives.

    Raises:
        TypeError: A function cannot be called, or returns None.
        ValueError: n is more than there are functions.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.some_of(image, [fn.flip, fn.invert, penstock.augment.random_grayscale], n=(1, 2))
    """
    functions = checked_functions("some_of", functions)
    low, high = _counts("n", n)
    if high > len(functions):
        raise ValueError(f"n must be at most {len(functions)}, the number of functions, got {n!r}")
    wanted = draws.below(high - low + 1) + low if low < high else low
    for k, function in enumerate(functions):  # each with the share of those that are still wanted
        taken = draws.below(len(functions) - k) < wanted
        images = control.if_(taken, lambda f=function, x=images: apply(f, x), lambda x=images: x)
        wanted = wanted - taken
    return images


@augmentation
def repeat(images: Any, function: Callable[[Any], Any], times: int | tuple[int, int]) -> Any:
    """Calls a function several times, on what it gave before; each call draws its own random numbers.

    Args:
        images: Samples of any shape and type.
        function: A function of the samples. It keeps their type, number of dimensions and layout.
        times: How often, or a range (least, most) from which each sample draws.

    Returns:
        What the last call gives.

    Raises:
        ValueError: times is negative.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.repeat(image, lambda x: penstock.augment.coarse_dropout(x, p=1.0), times=(1, 3))
    """
    (function,) = checked_functions("repeat", [function])
    low, high = _counts("times", times)
    count = draws.below(high - low + 1) + low if low < high else low
    return control.for_(control.range_(count), lambda _, x: (apply(function, x),), (images,))[0]


def _counts(name, value):
    low, high = value if isinstance(value, (list, tuple)) else (value, value)
    if low != int(low) or high != int(high) or not 0 <= low <= high:
        raise ValueError(f"{name} must be a number of calls or a range (least, most), got {value!r}")
    return int(low), int(high)
