# SPDX-License-Identifier: Apache-2.0
"""Operators that Python makes of those of the extension; penstock.fn has them under their names."""
