# SPDX-License-Identifier: Apache-2.0
"""What each operator means and how it is called, a file for each family (or for one operator).

A file holds, for its operators:
- a reference: a function in NumPy that takes one sample and the arguments and returns the exact result, in float64 or, where the
  result is an integer by nature, in an integer type; before the conversion to the output type that `exact.to_dtype` does;
- `CASES`: operator -> a function that draws a random call as a Case. What the reference needs beyond the sample and the arguments
  (a layout, the batch's largest extents) is bound there, and nowhere else;
- `REFERENCES`, where it is needed: operator -> the name of its reference, for one that is not called as the operator, or "numpy".
`NO_ARRAYS` says why an operator has none of these, `RANDOM` names those that draw numbers.

All files of this folder are found automatically. The meaning is that of DALI 2.4 (docs/explanation/operator_semantics.md);
`tests/check_reference_against_dali.py` compares the two. Angles are in degrees, coordinates in pixels with pixel k covering [k, k + 1).
"""

import importlib
import pkgutil


def families():
    """The modules of this folder."""
    return [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name)
    ]


def gathered(name):
    """What the files define as a dict `name`, together. Two files must not have the same key."""
    together = {}
    for family in families():
        for key, value in vars(family).get(name, {}).items():
            if key in together:
                raise ValueError(f"{family.__name__}.{name} has {key}, as a file before it has")
            together[key] = value
    return together


def reference_of(operator):
    """(file, name of the reference there) for an operator that some file has in its CASES."""
    family = next(f for f in families() if operator in vars(f).get("CASES", {}))
    return family, vars(family).get("REFERENCES", {}).get(operator, operator.rpartition(".")[2])
