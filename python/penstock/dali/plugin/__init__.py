# SPDX-License-Identifier: Apache-2.0
"""Plug-ins for frameworks, by the names of nvidia.dali.plugin."""
