# SPDX-License-Identifier: Apache-2.0
"""Operators of jax arrays, by the name under which scripts for DALI know them."""

from .function import jax_function

__all__ = ["jax_function"]
