# SPDX-License-Identifier: Apache-2.0
"""`if`, `while`, `for` and their kind on values of a pipeline: the conversion of functions, and what it calls."""
