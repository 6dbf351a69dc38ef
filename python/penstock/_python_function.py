# SPDX-License-Identifier: Apache-2.0
"""Functions of the program in pipelines: fn.python_function and its kind, and their error."""

from ._operators.python_function import FunctionError, dl_tensor_python_function, python_function

__all__ = ["FunctionError", "dl_tensor_python_function", "python_function"]
