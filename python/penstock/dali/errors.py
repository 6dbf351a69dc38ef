# SPDX-License-Identifier: Apache-2.0
"""What operators and pipelines refuse, with errors that are RuntimeError, ValueError and TypeError."""

import functools

from .._base.errors import KINDS, OperatorError, raise_again

__all__ = ["KINDS", "OperatorError", "also_runtime_errors", "raise_again"]


def also_runtime_errors(function):
    """The function, whose errors are RuntimeError too."""

    @functools.wraps(function)
    def call(*args, **keywords):
        try:
            return function(*args, **keywords)
        except KINDS as error:
            raise_again(error)

    return call
