# SPDX-License-Identifier: Apache-2.0
"""Where programs and pickles find what a room defines."""


def public(module, *values):
    """Names the module from which programs import these classes and functions. Pickles keep that name when files move."""
    for value in values:
        value.__module__ = module
