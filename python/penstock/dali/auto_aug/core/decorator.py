# SPDX-License-Identifier: Apache-2.0
"""Functions of samples and a parameter, as augmentations with magnitudes."""

from __future__ import annotations

from typing import Any, Callable

from ...._control_flow import statements
from . import arguments, magnitudes

_KEPT = object()  # stands for an argument that is not given
_SETTINGS = ("mag_range", "randomly_negate", "mag_to_param", "param_device", "name")


class Augmentation:
    """A function of samples and a parameter that automatic augmentations call with a magnitude bin. `@augmentation` makes
    it."""

    def __init__(
        self,
        op: Callable[..., Any],
        mag_range: Any = None,
        randomly_negate: bool | None = None,
        mag_to_param: Callable[[float], Any] | None = None,
        param_device: str | None = None,
        name: str | None = None,
    ) -> None:
        self._op, self._name = op, name
        self._mag_range, self._randomly_negate = mag_range, randomly_negate
        self._mag_to_param, self._param_device = mag_to_param, param_device
        if isinstance(op, Augmentation):
            raise TypeError(
                f"`{op.name}` is an augmentation already: `{op.name}.augmentation(mag_range=...)` makes another one of it"
            )
        if arguments.positional(op) < 2:
            raise TypeError(
                f"the function {self.name} must take two arguments by position, the samples and the parameter, to be an "
                f"augmentation; it takes {arguments.positional(op)}"
            )
        if param_device not in (None, "cpu", "gpu", "auto"):
            raise ValueError(f'`param_device` must be "cpu", "gpu" or "auto", got {param_device!r}')

    op = property(lambda self: self._op, doc="The function.")
    mag_range = property(lambda self: self._mag_range, doc="The first and last magnitude, an array of all, or None.")
    mag_to_param = property(lambda self: self._mag_to_param, doc="What makes a parameter of a magnitude, or None.")
    randomly_negate = property(lambda self: bool(self._randomly_negate), doc="Whether samples draw a sign.")
    param_device = property(lambda self: self._param_device or "cpu", doc='"cpu", "gpu" or "auto".')
    name = property(lambda self: self._name or getattr(self._op, "__name__", repr(self._op)), doc="The name.")

    def __repr__(self):
        given = "".join(f", {name}={value!r}" for name in _SETTINGS if (value := getattr(self, f"_{name}")) is not None)
        return f"Augmentation({self._op!r}{given})"

    def __call__(
        self, data: Any, *, magnitude_bin: Any = None, num_magnitude_bins: int | None = None, **kwargs: Any
    ) -> Any:
        """Augments samples.

        Args:
            data: A value of the pipeline.
            magnitude_bin: An integer, a value of the pipeline, or what signed_bin() gives; not needed without magnitudes.
            num_magnitude_bins: The number of bins.
            **kwargs: Further arguments. The function gets those that it has parameters for.

        Returns:
            What the function gives.

        Raises:
            TypeError: An argument is missing.
            ValueError, IndexError: The bin is none of num_magnitude_bins.
        """
        given, parameter = arguments.taken(self, kwargs), None
        if self.mag_range is not None:
            for name, value in (("magnitude_bin", magnitude_bin), ("num_magnitude_bins", num_magnitude_bins)):
                if value is None:
                    raise TypeError(f"the augmentation `{self.name}` has magnitudes: pass `{name}`")
            arguments.check_count("num_magnitude_bins", num_magnitude_bins)
            device = data.device if self.param_device == "auto" else self.param_device
            parameter = magnitudes.parameter(self, magnitude_bin, num_magnitude_bins, device)
        return statements.call(self.op)(data, parameter, **given)

    def augmentation(
        self,
        mag_range: Any = _KEPT,
        randomly_negate: Any = _KEPT,
        mag_to_param: Any = _KEPT,
        param_device: Any = _KEPT,
        name: Any = _KEPT,
        augmentation_cls: type | None = None,
    ) -> Augmentation:
        """Makes another augmentation of the same function.

        Args:
            mag_range, randomly_negate, mag_to_param, param_device, name: As those of @augmentation; what is not given is kept.
            augmentation_cls: The class of the new one.

        Returns:
            The augmentation. This one does not change.
        """
        new = zip(_SETTINGS, (mag_range, randomly_negate, mag_to_param, param_device, name))
        settings = {key: getattr(self, f"_{key}") if value is _KEPT else value for key, value in new}
        return (augmentation_cls or type(self))(self._op, **settings)


def augmentation(
    function: Callable[..., Any] | None = None,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[float], Any] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type | None = None,
) -> Any:
    """Makes a function of samples and a parameter an augmentation, which takes a magnitude bin instead of the parameter.

    The parameter of a sample is `mag_to_param(magnitudes[magnitude_bin])`, with a sign that the sample draws if
    `randomly_negate` is set. Parameters of all magnitudes are computed once, when the pipeline is defined.

    Args:
        function: The function. Parameters after the second are further arguments of the augmentation.
        mag_range: The magnitudes of the first and the last bin, others are in equal steps between; or a NumPy array with the
            magnitudes of all bins. Without it the parameter is None.
        randomly_negate: Each sample negates its magnitude with probability 0.5.
        mag_to_param: Makes the parameter of a magnitude: a number or an array, of one type and shape for all. Default: the
            magnitude itself.
        param_device: "cpu", "gpu", or "auto" for the device of the samples. Default: "cpu".
        name: The name in policies and messages. Default: the function's.
        augmentation_cls: The class of the augmentation.

    Returns:
        An Augmentation; without `function` a decorator.

    Raises:
        TypeError: The function does not take two arguments by position.

    Example:
        >>> from penstock.dali.auto_aug.core import augmentation
        >>> @augmentation(mag_range=(0, 45), randomly_negate=True)
        ... def turned(images, angle):
        ...     return fn.rotate(images, angle=angle, keep_size=True)
        >>> turned.name, turned.randomly_negate
        ('turned', True)
    """
    made = augmentation_cls or Augmentation

    def decorate(function):
        return made(function, mag_range, randomly_negate, mag_to_param, param_device, name)

    return decorate if function is None else decorate(function)
