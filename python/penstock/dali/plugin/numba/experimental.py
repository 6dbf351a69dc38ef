# SPDX-License-Identifier: Apache-2.0
"""numba_function as a class."""

from ...ops import NumbaFunction

__all__ = ["NumbaFunction"]
