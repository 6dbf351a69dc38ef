# SPDX-License-Identifier: Apache-2.0
"""The largest sizes that a file may claim: arguments of Pipeline."""

# Arguments of Pipeline, and of the operators that use them.
NAMES = ("max_pixels", "max_frames", "max_samples")
LARGEST = 2**40


def check_number(name, value, most, least=1):
    """ValueError unless it is None or a whole number from `least` to `most`."""
    whole = hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())
    if value is not None and (not whole or not least <= value <= most):
        kind = "a positive integer" if least else "a whole number"
        raise ValueError(f"{name} must be {kind}, {most} at most, got {value!r}")


def integer(name, value):
    """A whole number as an int; TypeError that names the argument for anything else."""
    if hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise TypeError(f"{name}: expected an integer, got {value!r}")
