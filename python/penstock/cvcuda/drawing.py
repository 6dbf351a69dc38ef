# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: boxes and other marks on images."""
